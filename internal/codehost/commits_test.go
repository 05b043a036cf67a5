package codehost_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// named is the target of a scan of any commits.
func named(c finding.Commits) scan.Target {
	t := target
	t.Commits = c
	return t
}

// queue is a repository without pull refs: a merge queue's branch on top of a
// main branch that went on. It returns the commits in question.
func queue(t *testing.T) (r *Repo, root, tip, head string) {
	t.Helper()
	r = New(t)
	root = r.Commit(Text("a", "0\n"))
	tip = r.Commit(Text("a", "0\n", "main", "1\n"), root)
	head = r.Commit(Text("a", "0\npull\n"), root)
	r.Ref("refs/heads/main", tip)
	r.Ref("refs/heads/gh-readonly-queue/main/pr-1", head)
	return r, root, tip, head
}

// TestNamedHeadIsMerged: a job that comes late names a head that its base has
// already, which must not pass as a change of nothing.
func TestNamedHeadIsMerged(t *testing.T) {
	t.Parallel()
	r, _, tip, head := queue(t)
	s := source(t, serve(t, &Server{Repo: r}))
	merge := r.Commit(Text("a", "0\npull\n", "main", "1\n"), tip, head)
	after := r.Commit(Text("a", "0\npull\n", "main", "1\n2\n"), merge)
	r.Ref("refs/heads/main", after)
	change, err := s.Open(t.Context(), named(finding.Commits{Head: head, BaseRef: "main"}))
	require.NoError(t, err)
	assert.Equal(t, tip, change.BaseSHA(), "the branch as it was before the merge")
	assert.Equal(t, finding.BaseRequested, change.BaseFoundBy())
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "pull"}}}, files(t, change))

	r.Ref("refs/heads/forwarded", r.Commit(Text("a", "0\npull\n4\n"), head))
	for _, c := range []finding.Commits{
		{
			Head: head, BaseRef: "forwarded",
		}, {Head: after, BaseRef: "main"}, {Head: head, Base: after}, {Head: head, Base: head},
	} {
		_, err := s.Open(t.Context(), named(c))
		var failure *scan.Failure
		require.ErrorAs(t, err, &failure, c)
		assert.Equal(t, scan.CodeBaseUnknown, failure.Code, c)
		assert.True(t, failure.Lasting)
	}
}

func TestNamedCommits(t *testing.T) {
	t.Parallel()
	added := []seen{{path: "a", lines: map[int]string{2: "pull"}}}

	for name, change := range map[string]func(*Server){
		"plain":        func(*Server) {},
		"no filter":    func(s *Server) { s.NoFilter = true },
		"old protocol": func(s *Server) { s.Old = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, root, tip, head := queue(t)
			server := &Server{Repo: r}
			change(server)
			s := source(t, serve(t, server))
			for _, c := range []finding.Commits{
				{Head: head, Base: tip}, {Head: head, BaseRef: "main"}, {Head: head, Base: root},
			} {
				change, err := s.Open(t.Context(), named(c))
				require.NoError(t, err)
				assert.Equal(t, head, change.HeadSHA())
				if c.Base != root {
					assert.Equal(t, tip, change.BaseSHA())
				}
				assert.Equal(t, added, files(t, change))
			}

			// The branch moves on, and a cache that has its old tip must not matter.
			next := r.Commit(Text("a", "0\npull\n", "main", "2\n"), tip)
			r.Ref("refs/heads/main", next)
			change, err := s.Open(t.Context(), named(finding.Commits{Head: head, BaseRef: "main"}))
			require.NoError(t, err)
			assert.Equal(t, next, change.BaseSHA())
			files(t, change)

			// A pull request is scanned from the same cache as ever.
			r.Pull(1, r.Commit(Text("a", "0\n", "main", "1\n3\n"), tip))
			change, err = s.Open(t.Context(), target)
			require.NoError(t, err)
			assert.Equal(t, []seen{{path: "main", lines: map[int]string{2: "3"}}}, files(t, change))
		})
	}
}

// A server gives out what no ref leads to any more.
func TestNamedCommitsThatNoBranchHas(t *testing.T) {
	t.Parallel()
	r, _, tip, head := queue(t)
	r.Git("update-ref", "-d", "refs/heads/gh-readonly-queue/main/pr-1")
	change, err := source(t, serve(t, &Server{Repo: r})).Open(t.Context(), named(finding.Commits{Head: head, Base: tip}))
	require.NoError(t, err)
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "pull"}}}, files(t, change))
}

func TestNamedCommitsFail(t *testing.T) {
	t.Parallel()
	r, root, tip, head := queue(t)
	gone := strings.Repeat("1", 40)
	blob := r.Object("blob", []byte("text"))
	tagged := tag(r, head)
	r.Ref("refs/tags/x", tagged)
	stranger := r.Commit(Text("b", "0\n"))
	r.Ref("refs/heads/other", stranger)
	hosts := map[string]organization.Host{"file": fileHost(r), "http": serve(t, &Server{Repo: r})}

	for name, test := range map[string]struct {
		commits finding.Commits
		code    string
		message string
	}{
		"no such head":     {finding.Commits{Head: gone, Base: tip}, scan.CodeCommitNotFound, gone},
		"no such base":     {finding.Commits{Head: head, Base: gone}, scan.CodeCommitNotFound, gone},
		"no such branch":   {finding.Commits{Head: head, BaseRef: "release"}, scan.CodeBaseUnknown, `no branch "release"`},
		"part of a branch": {finding.Commits{Head: head, BaseRef: "mai"}, scan.CodeBaseUnknown, `no branch "mai"`},
		"a tag":            {finding.Commits{Head: head, BaseRef: "x"}, scan.CodeBaseUnknown, `no branch "x"`},
		"an option": {
			finding.Commits{Head: head, BaseRef: "--upload-pack=touch x"}, scan.CodeBaseUnknown, "can't be the name",
		},
		"a pattern": {finding.Commits{Head: head, BaseRef: "ma*"}, scan.CodeBaseUnknown, "can't be the name"},
		"a refspec": {
			finding.Commits{Head: head, BaseRef: "main:refs/heads/x"}, scan.CodeBaseUnknown, "can't be the name",
		},
		"no base": {finding.Commits{Head: head}, scan.CodeBaseUnknown, "base_sha or base_ref"},
		"two bases": {
			finding.Commits{Head: head, Base: tip, BaseRef: "main"}, scan.CodeBaseUnknown, "base_sha or base_ref",
		},
		"head is a tag":      {finding.Commits{Head: tagged, Base: root}, scan.CodeCommitNotFound, ""},
		"head is a blob":     {finding.Commits{Head: blob, Base: root}, scan.CodeCommitNotFound, ""},
		"no common history":  {finding.Commits{Head: head, Base: stranger}, scan.CodeNoMergeBase, ""},
		"branch of no kin":   {finding.Commits{Head: head, BaseRef: "other"}, scan.CodeNoMergeBase, ""},
		"head and base swap": {finding.Commits{Head: gone, BaseRef: "main"}, scan.CodeCommitNotFound, gone},
	} {
		for kind, settings := range hosts {
			t.Run(name+" over "+kind, func(t *testing.T) {
				t.Parallel()
				_, err := source(t, settings).Open(t.Context(), named(test.commits))
				var f *scan.Failure
				require.ErrorAs(t, err, &f)
				assert.Equal(t, test.code, f.Code, "%v", f)
				assert.True(t, f.Lasting)
				assert.Contains(t, f.Message, test.message)
			})
		}
	}
}
