package bitbucketserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucketserver"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketserverfake"
)

func TestHost(t *testing.T) {
	t.Parallel()
	hosttest.Run(t, hosttest.Fixture{
		Traits: hosttest.Traits{
			Annotations: true, Replies: true, Closes: true, NoLabels: true, Events: bitbucketserverfake.Events,
		},
		New: func(t testing.TB) hosttest.Fake { return bitbucketserverfake.New(t) },
		Open: func(_ testing.TB, url string, _ hosttest.Fake) codehost.Host {
			return bitbucketserver.New(bitbucketserver.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token})
		},
	})
}

// open opens a host at a fake.
func open(t *testing.T, f *bitbucketserverfake.Fake) *bitbucketserver.Host {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)

	return bitbucketserver.New(bitbucketserver.Options{Client: server.Client(), URL: server.URL, Token: hosttest.Token})
}

// pull reads the pull request.
func pull(t *testing.T, h *bitbucketserver.Host) codehost.PullRequest {
	t.Helper()
	p, err := h.PullRequest(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, hosttest.Number)
	require.NoError(t, err)
	return p
}

// TestNoName checks that a host which doesn't say whose a token is isn't used.
func TestNoName(t *testing.T) {
	t.Parallel()
	fake := bitbucketserverfake.New(t)
	fake.NoName = true
	h := open(t, fake)
	_, err := h.Access(t.Context())
	assert.Equal(t, codehost.Invalid, codehost.FaultOf(err))
	require.ErrorContains(t, err, "X-AUSERNAME")
	_, err = h.Observe(t.Context(), pull(t, h))
	assert.ErrorContains(t, err, "X-AUSERNAME")
}

func TestCredential(t *testing.T) {
	t.Parallel()
	h := open(t, bitbucketserverfake.New(t))
	for range 2 {
		c, err := h.Credential(t.Context(), codehost.Repository{Name: hosttest.Repo})
		require.NoError(t, err)
		assert.Equal(t, codehost.Credential{Username: hosttest.Account, Token: hosttest.Token}, c)
	}
}

// TestTokenOfRepository checks that a token without a user reads git and knows its comments.
func TestTokenOfRepository(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("X-AUSERNAME", "access-token-user%2F1%2F42")
		_, _ = w.Write([]byte(`{"isLastPage": true, "values": []}`))
	}))
	t.Cleanup(server.Close)
	h := bitbucketserver.New(bitbucketserver.Options{Client: server.Client(), URL: server.URL, Token: "a", GitToken: "b"})
	c, err := h.Credential(t.Context(), codehost.Repository{Name: hosttest.Repo})
	require.NoError(t, err)
	assert.Equal(t, codehost.Credential{Username: "x-token-auth", Token: "b"}, c)
	a, err := h.Access(t.Context())
	require.NoError(t, err)
	assert.Equal(t, codehost.Access{
		Account: "access-token-user/1/42", ID: "access-token-user/1/42", Missing: []string{"REPO_WRITE"},
	}, a)
}

// TestForgedStatus checks that a build status which somebody else wrote over counts as wrong.
func TestForgedStatus(t *testing.T) {
	t.Parallel()
	fake := bitbucketserverfake.New(t)
	h := open(t, fake)
	p := pull(t, h)
	c := codehost.Check{
		SHA: hosttest.Head, Verdict: codehost.Failure, Title: "3 findings", ReviewID: "rev_1", URL: "https://prwarden.example.com/r",
	}
	require.NoError(t, h.Do(t.Context(), p, codehost.Step{Action: codehost.SetCheck, Check: c}))
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	c.Ref = o.Check.Ref
	assert.Equal(t, c, *o.Check)

	fake.PostBuild(hosttest.Head, "SUCCESSFUL")
	o, err = h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Empty(t, o.Check.Verdict)
}

// TestConflict checks that a comment is looked at again when its version was another one.
func TestConflict(t *testing.T) {
	t.Parallel()
	fake := bitbucketserverfake.New(t)
	h := open(t, fake)
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker}))
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	edit := codehost.Step{Action: codehost.EditSummary, Ref: o.Summaries[0].Ref, Body: codehost.SummaryMarker + "\nnew"}
	fake.Interfere(1)
	require.NoError(t, h.Do(t.Context(), p, edit))
	assert.Equal(t, edit.Body, fake.Comments()[0].Body)

	fake.Interfere(99)
	err = h.Do(t.Context(), p, edit)
	assert.Equal(t, codehost.Passing, codehost.FaultOf(err), "%v", err)
	fake.Interfere(0)
	fake.Reply(edit.Ref, hosttest.Writer)
	err = h.Do(t.Context(), p, codehost.Step{Action: codehost.DeleteComment, Ref: edit.Ref})
	assert.Equal(t, codehost.Passing, codehost.FaultOf(err), "%v", err)
}

// TestNameOfAnother checks that a repository which took the name of ours isn't read.
func TestNameOfAnother(t *testing.T) {
	t.Parallel()
	fake := bitbucketserverfake.New(t)
	h := open(t, fake)
	fake.Rename("acme/site")
	fake.Take(hosttest.Repo)
	assert.Equal(t, codehost.Repository{ID: hosttest.RepoID, Name: "acme/site", Private: true}, pull(t, h).Repository)

	pulls, err := h.OpenPullRequests(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, time.Time{})
	require.NoError(t, err)
	require.Len(t, pulls, 1)
	assert.Equal(t, "acme/site", pulls[0].Repository.Name)
}

func TestWhoMayCommand(t *testing.T) {
	t.Parallel()
	h := open(t, bitbucketserverfake.New(t))
	for _, c := range []codehost.Comment{
		{Author: hosttest.Writer, AuthorID: "99"}, {Author: "walt", AuthorID: hosttest.People[hosttest.Writer]}, {},
	} {
		may, err := h.MayCommand(t.Context(), codehost.Repository{Name: hosttest.Repo}, c)
		require.NoError(t, err)
		assert.False(t, may, c)
	}
}

// TestSignatures checks which headers sign.
func TestSignatures(t *testing.T) {
	t.Parallel()
	header, body := bitbucketserverfake.New(t).Deliver(hosttest.Opened, hosttest.Secret)
	h := bitbucketserver.New(bitbucketserver.Options{Client: http.DefaultClient, URL: "https://bitbucket.example.com"})
	right := header.Get("X-Hub-Signature")
	for name, set := range map[string]func(http.Header){
		"another name":       func(x http.Header) { x.Del("X-Hub-Signature"); x.Set("X-Hub-Signature-256", right) },
		"two":                func(x http.Header) { x.Add("X-Hub-Signature", right) },
		"without prefix":     func(x http.Header) { x.Set("X-Hub-Signature", strings.TrimPrefix(right, "sha256=")) },
		"without identifier": func(x http.Header) { x.Del("X-Request-Id") },
	} {
		changed := header.Clone()
		set(changed)
		_, err := h.Verify(changed, body, [][]byte{[]byte(hosttest.Secret)}, time.Time{})
		assert.ErrorIs(t, err, codehost.ErrSignature, name)
	}
}

func FuzzHints(f *testing.F) {
	fake := bitbucketserverfake.New(f)
	for _, event := range bitbucketserverfake.Events {
		header, body := fake.Deliver(event, hosttest.Secret)
		f.Add(header.Get("X-Event-Key"), body)
	}
	h := bitbucketserver.New(bitbucketserver.Options{Client: http.DefaultClient, URL: "https://bitbucket.example.com"})
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		hints, err := h.Hints(http.Header{"X-Event-Key": {event}}, body)
		if err != nil {
			assert.Empty(t, hints)
		}
		for _, hint := range hints {
			assert.NotEmpty(t, hint.Repository.ID)
			assert.NotEmpty(t, hint.Repository.Name)
			assert.Equal(t, hint.Kind == codehost.HintRepository, hint.Number == 0)
			assert.Equal(t, hint.Kind == codehost.HintComment, hint.Comment.AuthorID != "")
		}
	})
}
