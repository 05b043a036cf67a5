package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// violations are the fields that an error names.
func violations(t *testing.T, err error) []string {
	t.Helper()
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, errs.InvalidArgument, e.Kind, "%v", err)
	var out []string
	for _, f := range e.Fields {
		assert.NotEmpty(t, f.Description)
		out = append(out, f.Field)
	}

	return out
}

func TestCommitsOfARequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sha, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	tests := map[string]struct {
		commits finding.Commits
		bad     []string
	}{
		"none":          {finding.Commits{}, nil},
		"both":          {finding.Commits{Head: sha, Base: other}, nil},
		"the same":      {finding.Commits{Head: sha, Base: sha}, nil},
		"a branch":      {finding.Commits{Head: sha, BaseRef: "main"}, nil},
		"a deep branch": {finding.Commits{Head: sha, BaseRef: "release/1.2/ünïcode"}, nil},
		"head alone":    {finding.Commits{Head: sha}, []string{"head_sha"}},
		"base alone":    {finding.Commits{Base: sha}, []string{"base_sha"}},
		"branch alone":  {finding.Commits{BaseRef: "main"}, []string{"base_ref"}},
		"no head":       {finding.Commits{Base: sha, BaseRef: "main"}, []string{"base_sha", "base_ref"}},
		"all three":     {finding.Commits{Head: sha, Base: other, BaseRef: "main"}, []string{"base_ref"}},
		"short":         {finding.Commits{Head: sha[:39], Base: other}, []string{"head_sha"}},
		"long":          {finding.Commits{Head: sha, Base: other + "b"}, []string{"base_sha"}},
		"upper case":    {finding.Commits{Head: strings.ToUpper(sha), Base: other}, []string{"head_sha"}},
		"not hexadecimal": {
			finding.Commits{Head: strings.Repeat("g", 40), Base: "HEAD"}, []string{"head_sha", "base_sha"},
		},
		"an option":           {finding.Commits{Head: sha, BaseRef: "--upload-pack=x"}, []string{"base_ref"}},
		"a reference in full": {finding.Commits{Head: sha, BaseRef: "refs/heads/main"}, nil}, // a branch may have this name
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 1, Commits: tc.commits})
			if tc.bad == nil {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tc.bad, violations(t, err))
		})
	}
}

// The names are those that git check-ref-format --branch refuses.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := func(name string) error {
		_, err := b.service.Create(t.Context(), org, review.CreateInput{
			Repo: "acme/api", PRNumber: 1, Commits: finding.Commits{Head: strings.Repeat("a", 40), BaseRef: name},
		})
		return err
	}

	for _, name := range []string{
		"-", "-x", "@", "HEAD", ".", "..", "a..b", "a.", ".a", "a/.b", "/a", "a/", "a//b", "a.lock", "a.lock/b",
		"a b", "a\tb", "a\nb",
		"a\x00b", "a\x7fb", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", `a\b`, "a@{b", strings.Repeat("a", 251),
	} {
		assert.Equal(t, []string{"base_ref"}, violations(t, create(name)), "%q", name)
	}

	for _, name := range []string{
		"a", "a-b", "a.b", "a@b", "@a", "a{b}", "a/b.lock.c", "HEAD/x", "é", "#1", "'", strings.Repeat("a", 250),
	} {
		assert.NoError(t, create(name), "%q", name)
	}
}
