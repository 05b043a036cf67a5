package difftest_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// target is pull request 1 of r.
func target(r *Repo) scan.Target {
	host := organization.Host{Kind: organization.KindGit, URL: r.URL()}
	return scan.Target{Organization: "acme", Host: host, Repo: Name, Number: 1}
}

func source(t *testing.T) scan.Source {
	t.Helper()
	store, err := git.New(git.Options{Dir: t.TempDir(), Limits: git.DefaultLimits()})
	require.NoError(t, err)
	return store
}

// wrong changes what a Source yields.
type wrong struct {
	scan.Source
	change func(*scan.File) bool // false leaves the file out
}

func (w wrong) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	c, err := w.Source.Open(ctx, t)
	return wrongChange{c, w.change}, err
}

type wrongChange struct {
	scan.Change
	change func(*scan.File) bool
}

func (c wrongChange) Files(ctx context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		for f, err := range c.Change.Files(ctx) {
			if (err != nil || c.change(f)) && !yield(f, err) {
				return
			}
		}
	}
}

func TestCompareNoticesEveryDifference(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a", "1\n2\n3\n"), Text("a", "1\nx\n3\ny\n", "odd \"name\"\t", "z\n"))
	tests := map[string]struct {
		change func(*scan.File) bool
		agree  bool
	}{
		"nothing":       {func(*scan.File) bool { return true }, true},
		"file left out": {func(f *scan.File) bool { return f.Path == "a" }, false},
		"line left out": {func(f *scan.File) bool { f.Added = f.Added[:len(f.Added)-1]; return true }, false},
		"line too many": {func(f *scan.File) bool { f.Added[0].First = 1; return true }, false},
		"other text":    {func(f *scan.File) bool { f.Content = append([]byte("\n"), f.Content...); return true }, false},
		"other path":    {func(f *scan.File) bool { f.Path += "x"; return true }, false},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := difftest.Compare(t.Context(), wrong{source(t), test.change}, r.Dir, target(r))
			require.NoError(t, err)
			assert.Equal(t, test.agree, len(result.Problems) == 0, "%q", result.Problems)
		})
	}
}

func TestCompareNoticesOtherEnds(t *testing.T) {
	t.Parallel()
	r, other := New(t), New(t)
	r.Change(Text("a", "1\n"), Text("a", "2\n"))
	other.Change(Text("a", "1\n"), Text("a", "3\n"))
	result, err := difftest.Compare(t.Context(), source(t), r.Dir, target(other))
	require.NoError(t, err)
	assert.NotEmpty(t, result.Problems)
	result, err = difftest.Compare(t.Context(), source(t), r.Dir, target(New(t))) // fails, and should not
	require.NoError(t, err)
	assert.NotEmpty(t, result.Problems)
}

func TestCompareFindings(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a.go", "one\ntwo\n"), Text("a.go", "one\ntwo 22\r\n333\n\nend", "b.txt", "44\n", "c.go", "\x0055\n"))
	regex := func(id, pattern string, multiline bool) rule.Rule {
		return rule.Rule{ID: "probe/" + id, Type: rule.TypeRegex, Pattern: pattern, Message: "m", Severity: rule.Info,
			Multiline: multiline, Origin: rule.OriginDefault, Paths: rule.Paths{Include: []string{"**/*.go"}}}
	}
	rules := []rule.Rule{regex("number", `[0-9]+$`, false), regex("across", `two[^e]+333`, true)}
	plain, err := difftest.NewRules(rules)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change   func(*scan.File) bool
		findings int
		agree    bool
	}{
		"right":         {func(*scan.File) bool { return true }, 3, true},
		"file left out": {func(*scan.File) bool { return false }, 0, false},
		"line too many": {func(f *scan.File) bool {
			f.Content = append(f.Content, "\n99"...)
			f.Added = []scan.LineRange{{First: 1, Last: 6}}
			return true
		}, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := plain.CompareFindings(t.Context(), wrong{source(t), test.change}, r.Dir, target(r))
			require.NoError(t, err)
			assert.Equal(t, map[string]int{"findings": test.findings}, result.Counts)
			assert.Equal(t, test.agree, len(result.Problems) == 0, "%q", result.Problems)
		})
	}
}
