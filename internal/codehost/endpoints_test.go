package codehost_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// tag stores a tag of a commit.
func tag(r *Repo, commit string) string {
	text := "object " + commit + "\ntype commit\ntag x\ntagger A <a@example.com> 1700000000 +0000\n\nx\n"
	return r.Object("tag", []byte(text))
}

func TestEnds(t *testing.T) {
	t.Parallel()
	var (
		zero = Text("a", "0\n")
		main = Text("a", "0\n", "main", "1\n")
		pull = Text("a", "0\npull\n")
		both = Text("a", "0\npull\n", "main", "1\n")
	)

	// Each returns the base there must be, or the code of the failure.
	tests := map[string]func(r *Repo) (base, code string){
		"open": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			tip := r.Commit(main, root)
			r.Ref("refs/heads/main", tip)
			r.Pull(1, r.Commit(pull, root))
			return tip, ""
		},
		"merge ref": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			release := r.Commit(Text("a", "0\n", "release", "1\n"), root)
			r.Ref("refs/heads/main", r.Commit(main, root))
			head := r.Commit(pull, root)
			r.Pull(1, head)
			r.Ref("refs/pull/1/merge", r.Commit(both, release, head))
			return release, ""
		},
		"merge ref of an older head": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			tip := r.Commit(main, root)
			r.Ref("refs/heads/main", tip)
			old := r.Commit(zero, root)
			r.Pull(1, r.Commit(pull, old))
			r.Ref("refs/pull/1/merge", r.Commit(both, root, old))
			return tip, ""
		},
		"empty by merge ref": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			tip := r.Commit(main, root)
			r.Ref("refs/heads/main", tip)
			r.Pull(1, root)
			r.Ref("refs/pull/1/merge", r.Commit(main, tip, root))
			return tip, ""
		},
		"merged": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			before := r.Commit(main, root)
			head := r.Commit(pull, root)
			merge := r.Commit(both, before, head)
			r.Ref("refs/heads/main", r.Commit(zero, r.Commit(both, merge)))
			r.Pull(1, head)
			return before, ""
		},
		"merged by way of another branch": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			before := r.Commit(main, root)
			head := r.Commit(pull, root)
			dev := r.Commit(both, r.Commit(Text("a", "0\n", "dev", "1\n"), root), head)
			r.Ref("refs/heads/main", r.Commit(both, before, dev))
			r.Pull(1, head)
			return before, ""
		},
		"squashed": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			tip := r.Commit(both, r.Commit(main, root))
			r.Ref("refs/heads/main", tip)
			r.Pull(1, r.Commit(pull, root))
			return tip, ""
		},
		"fast-forwarded": func(r *Repo) (string, string) {
			head := r.Commit(pull, r.Commit(zero))
			r.Ref("refs/heads/main", r.Commit(both, head))
			r.Pull(1, head)
			return "", scan.CodeBaseUnknown
		},
		"no common history": func(r *Repo) (string, string) {
			r.Ref("refs/heads/main", r.Commit(main))
			r.Pull(1, r.Commit(pull))
			return "", scan.CodeNoMergeBase
		},
		"unknown pull request": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			r.Ref("refs/heads/main", root)
			r.Pull(11, r.Commit(pull, root))
			return "", scan.CodePullRequestNotFound
		},
		"empty repository": func(r *Repo) (string, string) {
			return "", scan.CodePullRequestNotFound
		},
		"HEAD without its branch": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			r.Ref("refs/heads/trunk", root)
			r.Pull(1, r.Commit(pull, root))
			return "", scan.CodeBaseUnknown
		},
		"head is a tag": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			r.Ref("refs/heads/main", root)
			head := r.Commit(pull, root)
			r.Pull(1, tag(r, head))
			return root, ""
		},
		"head is no commit": func(r *Repo) (string, string) {
			r.Ref("refs/heads/main", r.Commit(zero))
			r.Pull(1, r.Object("blob", []byte("text")))
			return "", scan.CodeRepositoryInvalid
		},
		"criss-cross": func(r *Repo) (string, string) {
			root := r.Commit(zero)
			one, two := r.Commit(main, root), r.Commit(pull, root)
			left, right := r.Commit(both, one, two), r.Commit(with(both, Text("right", "1\n")), two, one)
			tip := r.Commit(with(both, Text("left", "1\n")), left)
			r.Ref("refs/heads/main", tip)
			r.Pull(1, r.Commit(with(both, Text("right", "1\n2\n")), right))
			return tip, ""
		},
	}

	foundBy := map[string]finding.BaseFoundBy{ // else by the default branch
		"merge ref": finding.BaseMergeRef, "empty by merge ref": finding.BaseMergeRef,
		"merged": finding.BaseMergeCommit, "merged by way of another branch": finding.BaseMergeCommit,
	}
	required := target
	required.RequireBase = true

	for name, build := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(t)
			base, code := build(r)
			if code != "" {
				f := failure(t, t.Context(), source(t, fileHost(r)))
				assert.Equal(t, code, f.Code, "%v", f)
				assert.True(t, f.Lasting)
				return
			}
			c := open(t, r)
			assert.Equal(t, base, c.BaseSHA())
			by := cmp.Or(foundBy[name], finding.BaseDefaultBranch)
			assert.Equal(t, by, c.BaseFoundBy())
			files(t, c)
			agrees(t, r)

			c, err := source(t, fileHost(r)).Open(t.Context(), required)
			if !by.Guessed() {
				require.NoError(t, err)
				assert.NoError(t, c.Close())
				return
			}
			var f *scan.Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, scan.CodeBaseUnknown, f.Code)
			assert.Equal(t, name != "merge ref of an older head", f.Lasting, "a trial merge may come")
		})
	}
}

func TestPullRequestMovesOn(t *testing.T) {
	t.Parallel()
	r := New(t)
	base, head := r.Change(Text("a", "0\n"), Text("a", "0\n1\n"))
	s := source(t, fileHost(r))
	c, err := s.Open(t.Context(), target)
	require.NoError(t, err)
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "1"}}}, files(t, c))

	r.Pull(1, r.Commit(Text("a", "0\n2\n"), base)) // forced
	c, err = s.Open(t.Context(), target)
	require.NoError(t, err)
	assert.NotEqual(t, head, c.HeadSHA())
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "2"}}}, files(t, c))

	r.Git("update-ref", "-d", "refs/pull/1/head")
	assert.Equal(t, scan.CodePullRequestNotFound, failure(t, t.Context(), s).Code)
}

func TestRefTemplates(t *testing.T) {
	t.Parallel()
	r := New(t)
	base := r.Commit(Text("a", "0\n"))
	r.Ref("refs/heads/main", base)
	head := r.Commit(Text("a", "1\n"), base)
	r.Ref("refs/merge-requests/1/head", head)
	r.Ref("refs/merge-requests/1/headless", base) // begins alike
	settings := fileHost(r)
	settings.HeadRef, settings.MergeRef = "refs/merge-requests/{number}/head", "refs/merge-requests/{number}/merge"
	c, err := source(t, settings).Open(t.Context(), target)
	require.NoError(t, err)
	assert.Equal(t, head, c.HeadSHA())
	require.NoError(t, c.Close())
}

func TestOrganizationsAndRepositories(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "1\n"))
	s := source(t, fileHost(r))

	tests := map[string]struct {
		target scan.Target
		code   string
	}{
		"unknown repository": {scan.Target{Organization: org, Repo: "owner/none", Number: 1}, scan.CodeRepositoryNotFound},
		"no name":            {scan.Target{Organization: org, Repo: "owner", Number: 1}, scan.CodeRepositoryNotFound},
		"option": {
			scan.Target{Organization: org, Repo: "--upload-pack=touch/evil", Number: 1}, scan.CodeRepositoryNotFound,
		},
		"dots":            {scan.Target{Organization: org, Repo: "owner/..", Number: 1}, scan.CodeRepositoryNotFound},
		"deeper":          {scan.Target{Organization: org, Repo: "owner/name/x", Number: 1}, scan.CodeRepositoryNotFound},
		"number 0":        {scan.Target{Organization: org, Repo: Name, Number: 0}, scan.CodePullRequestNotFound},
		"negative number": {scan.Target{Organization: org, Repo: Name, Number: -1}, scan.CodePullRequestNotFound},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Open(t.Context(), test.target)
			var f *scan.Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, test.code, f.Code, "%v", f)
			assert.True(t, f.Lasting)
		})
	}
}

func TestHostsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]organization.Host{
		"no host":      {},
		"unknown kind": {Kind: "svn", URL: "https://example.com/{repo}"},
		"option":       {Kind: organization.KindGit, URL: "--upload-pack={repo}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := failure(t, t.Context(), source(t, host))
			assert.Equal(t, scan.CodeHostMisconfigured, f.Code)
			assert.True(t, f.Lasting)
		})
	}
}
