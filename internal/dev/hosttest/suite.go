package hosttest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// test is one case of the suite.
type test struct {
	name string
	when func(Traits) bool // nil for every host
	run  func(*testing.T, *bed)
}

// Run runs the suite.
func Run(t *testing.T, f Fixture) {
	t.Helper()
	for _, c := range slices.Concat(
		reading(), permissions(), checks(), comments(), changes(), threads(), leftovers(), faults(), refused(),
		webhooks(f.Traits),
	) {
		if c.when != nil && !c.when(f.Traits) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, f.start(t))
		})
	}
}

// Fingerprints of findings.
const (
	one   = "11111111111111111111111111111111"
	two   = "22222222222222222222222222222222"
	three = "33333333333333333333333333333333"
)

// onLine is a comment of ours on a line.
func onLine(fingerprint string, line int, text string) codehost.LineComment {
	return codehost.LineComment{
		Fingerprint: fingerprint, Path: Path, OldPath: Path, Line: line, Body: codehost.Marker(fingerprint) + "\n" + text,
	}
}

// add adds comments on lines and returns what is observed of them then.
func (b *bed) add(t testing.TB, comments ...codehost.LineComment) []codehost.ObservedComment {
	t.Helper()
	for some := range slices.Chunk(comments, b.Limits().CommentsPerCall) {
		b.do(t, codehost.Step{Action: codehost.AddComments, Comments: some})
	}
	return b.observe(t).Comments
}

// reading are the cases of what is read.
func reading() []test {
	return []test{
		{"pull request", nil, func(t *testing.T, b *bed) {
			p := b.pull(t)
			assert.Equal(t, codehost.Repository{ID: RepoID, Name: Repo, Private: true}, p.Repository)
			assert.Equal(t, int32(Number), p.Number)
			assert.Equal(t, []string{Title, Stranger, Head, Base, Branch},
				[]string{p.Title, p.Author, p.HeadSHA, p.BaseSHA, p.BaseRef})
			assert.Equal(t, codehost.Open, p.State)
			assert.False(t, p.Draft)
			assert.False(t, p.Fork)
			assert.NotEmpty(t, p.AuthorID)
			assert.NotEmpty(t, p.URL)
			assert.False(t, p.UpdatedAt.IsZero())
		}},
		{"pull request by name", nil, func(t *testing.T, b *bed) {
			p, err := b.PullRequest(t.Context(), codehost.Repository{Name: Repo}, Number)
			require.NoError(t, err)
			assert.Equal(t, RepoID, p.Repository.ID)
		}},
		{"states of a pull request", nil, func(t *testing.T, b *bed) {
			for _, state := range []codehost.State{codehost.Closed, codehost.Open, codehost.Merged} {
				b.fake.SetState(state)
				assert.Equal(t, state, b.pull(t).State)
			}
		}},
		{"draft of a fork", nil, func(t *testing.T, b *bed) {
			b.fake.SetDraft(true, true)
			p := b.pull(t)
			assert.True(t, p.Draft)
			assert.True(t, p.Fork)
			assert.Equal(t, Head, p.HeadSHA)
			assert.Empty(t, p.Labels)
		}},
		{"labels", func(t Traits) bool { return !t.NoLabels }, func(t *testing.T, b *bed) {
			b.fake.SetDraft(false, false, "bug", "größer")
			assert.Equal(t, []string{"bug", "größer"}, b.pull(t).Labels)
		}},
		{"pull request that is not there", nil, func(t *testing.T, b *bed) {
			_, err := b.PullRequest(t.Context(), repository(), 999)
			assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)
		}},
		{"repository that is not there", nil, func(t *testing.T, b *bed) {
			_, err := b.PullRequest(t.Context(), codehost.Repository{Name: "acme/none"}, Number)
			assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)
		}},
		{"renamed repository is found by its ID", nil, func(t *testing.T, b *bed) {
			b.fake.Rename("acme/site")
			p := b.pull(t)
			assert.Equal(t, "acme/site", p.Repository.Name)
			assert.Equal(t, RepoID, p.Repository.ID)
			assert.Equal(t, Head, p.HeadSHA)
		}},
		{"open pull requests", nil, openPulls},
		{"repositories", nil, func(t *testing.T, b *bed) {
			b.fake.AddRepositories(120)
			all, err := b.Repositories(t.Context(), 1000)
			require.NoError(t, err)
			assert.Len(t, all, 121)
			assert.Contains(t, all, codehost.Repository{ID: RepoID, Name: Repo, Private: true})
			some, err := b.Repositories(t.Context(), 70)
			require.NoError(t, err)
			assert.Len(t, some, 70)
		}},
	}
}

// permissions are the cases of what credentials and people may do.
func permissions() []test {
	return []test{
		{"access", nil, func(t *testing.T, b *bed) {
			a, err := b.Access(t.Context())
			require.NoError(t, err)
			assert.Contains(t, a.Account, Account) // with [bot] for an App
			assert.NotEmpty(t, a.ID)
			assert.Empty(t, a.Missing)
		}},
		{"access of a token that may only read", nil, func(t *testing.T, b *bed) {
			b.fake.Restrict()
			a, err := b.Access(t.Context())
			require.NoError(t, err)
			assert.NotEmpty(t, a.Missing)
		}},
		{"credential for git", nil, func(t *testing.T, b *bed) {
			c, err := b.Credential(t.Context(), repository())
			require.NoError(t, err)
			assert.NotEmpty(t, c.Token)
			assert.NotEmpty(t, c.Username)
		}},
		{"who may command", nil, func(t *testing.T, b *bed) {
			for login, want := range map[string]bool{Writer: true, Reader: false, Stranger: false} {
				may, err := b.MayCommand(t.Context(), repository(), codehost.Comment{Author: login, AuthorID: People[login]})
				require.NoError(t, err)
				assert.Equal(t, want, may, login)
			}
		}},
		{"limits", nil, func(t *testing.T, b *bed) {
			l := b.Limits()
			for _, n := range []int{l.CommentsPerCall, l.Body, l.Title, l.CallsPerMinute, l.CallsPerHour} {
				assert.Positive(t, n)
			}
			assert.Equal(t, l.AnnotationsPerCall > 0, l.Annotations > 0)
		}},
	}
}

// openPulls checks that all that changed since a time are listed, newest first.
func openPulls(t *testing.T, b *bed) {
	b.fake.AddPulls(110)
	all, err := b.OpenPullRequests(t.Context(), repository(), b.pull(t).UpdatedAt)
	require.NoError(t, err)
	require.Len(t, all, 111)
	for i := 1; i < len(all); i++ {
		assert.False(t, all[i].UpdatedAt.After(all[i-1].UpdatedAt))
	}

	some, err := b.OpenPullRequests(t.Context(), repository(), all[10].UpdatedAt)
	require.NoError(t, err)
	assert.Len(t, some, 11)

	b.fake.SetState(codehost.Closed)
	all, err = b.OpenPullRequests(t.Context(), repository(), b.pull(t).UpdatedAt.AddDate(-1, 0, 0))
	require.NoError(t, err)
	assert.Len(t, all, 110)
}
