package gitea_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/gitea"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// checked may look at requests before a fake gets them.
var checked = func(f *giteafake.Fake) hosttest.Fake { return f }

// fixture is a Gitea, or a Forgejo.
func fixture(forgejo bool) hosttest.Fixture {
	return hosttest.Fixture{
		Traits: hosttest.Traits{Replies: true, Unsent: true, Closes: true, Events: giteafake.Events},
		New: func(t testing.TB) hosttest.Fake {
			f := giteafake.New(t)
			f.Forgejo = forgejo
			return checked(f)
		},
		Open: func(_ testing.TB, url string, _ hosttest.Fake) codehost.Host {
			return gitea.New(gitea.Options{Client: http.DefaultClient, URL: url, Token: hosttest.Token})
		},
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for name, forgejo := range map[string]bool{"gitea": false, "forgejo": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosttest.Run(t, fixture(forgejo))
		})
	}
}

// open opens a host at a fake.
func open(t *testing.T, f *giteafake.Fake) *gitea.Host {
	t.Helper()
	server := httptest.NewServer(checked(f))
	t.Cleanup(server.Close)
	return gitea.New(gitea.Options{Client: server.Client(), URL: server.URL, Token: hosttest.Token, GitToken: "reads"})
}

// pull reads the pull request.
func pull(t *testing.T, h *gitea.Host) codehost.PullRequest {
	t.Helper()
	p, err := h.PullRequest(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, hosttest.Number)
	require.NoError(t, err)
	return p
}

func finding(fingerprint string) codehost.Step {
	return codehost.Step{Action: codehost.AddComments, Comments: []codehost.LineComment{{
		Fingerprint: fingerprint, Path: hosttest.Path, Line: 3, Body: codehost.Marker(fingerprint) + "\nA",
	}}}
}

// TestReviewOfPerson checks that what a person has begun with our account is neither
// sent nor deleted.
func TestReviewOfPerson(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	h := open(t, fake)
	fake.Begin()
	p := pull(t, h)
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Empty(t, o.Unsent)

	err = h.Do(t.Context(), p, finding("aa"))
	assert.Equal(t, codehost.Invalid, codehost.FaultOf(err))
	assert.ErrorContains(t, err, "an account of its own")
	assert.Empty(t, fake.Comments())
}

// TestStatusOfAnother checks that our status counts as missing when people see another.
func TestStatusOfAnother(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	h := open(t, fake)
	p := pull(t, h)
	failure := codehost.Step{Action: codehost.SetCheck, Check: codehost.Check{
		SHA: hosttest.Head, Verdict: codehost.Failure, Title: "3 findings", URL: "https://prwarden.example.com/r/1",
	}}
	require.NoError(t, h.Do(t.Context(), p, failure))
	fake.PostStatus(hosttest.Writer, hosttest.Head, "success")
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Nil(t, o.Check)

	require.NoError(t, h.Do(t.Context(), p, failure))
	o, err = h.Observe(t.Context(), p)
	require.NoError(t, err)
	require.NotNil(t, o.Check)
	failure.Check.Ref = o.Check.Ref
	assert.Equal(t, failure.Check, *o.Check)
}

// TestNameOfAnother checks that a repository which took the name of ours isn't read.
func TestNameOfAnother(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	h := open(t, fake)
	fake.Rename("acme/site")
	fake.Take(hosttest.Repo)
	p := pull(t, h)
	assert.Equal(t, "acme/site", p.Repository.Name)
	assert.Equal(t, hosttest.RepoID, p.Repository.ID)

	pulls, err := h.OpenPullRequests(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, time.Time{})
	require.NoError(t, err)
	require.Len(t, pulls, 1)
	assert.Equal(t, "acme/site", pulls[0].Repository.Name)
}

func TestWhoMayCommand(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	h := open(t, fake)
	r := codehost.Repository{Name: hosttest.Repo}
	may, err := h.MayCommand(t.Context(), r, codehost.Comment{Author: hosttest.Writer, AuthorID: "99"})
	require.NoError(t, err)
	assert.False(t, may, "the name is somebody else's now")
	may, err = h.MayCommand(t.Context(), r, codehost.Comment{Author: "nobody", AuthorID: "99"})
	require.NoError(t, err)
	assert.False(t, may)

	fake.NoAdmin()
	_, err = h.MayCommand(t.Context(), r, codehost.Comment{Author: hosttest.Writer, AuthorID: hosttest.People[hosttest.Writer]})
	var e *codehost.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, codehost.Forbidden, e.Fault)
	assert.Contains(t, e.Scope, "repo admins can query")
}

// TestManyReviews checks that threads count as answered when there is too much to read.
func TestManyReviews(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	h := open(t, fake)
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, finding("aa")))
	for range 50 {
		fake.Write(hosttest.Comment{Author: hosttest.Stranger, Path: hosttest.Path, Line: 9, Body: "hm"})
	}
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, o.Comments, 1)
	assert.Zero(t, o.Comments[0].Replies)

	fake.Write(hosttest.Comment{Author: hosttest.Stranger, Path: hosttest.Path, Line: 9, Body: "hm"})
	o, err = h.Observe(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, o.Comments, 1)
	assert.Equal(t, 1, o.Comments[0].Replies)
}

// TestUnsentOfOthers checks that reviews which others have not sent, and which the list
// leaves out though its total counts them, hide nothing of ours.
func TestUnsentOfOthers(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	h := open(t, fake)
	for range 120 {
		fake.BeginAs(hosttest.Stranger)
	}
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, finding("aa")))
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Len(t, o.Comments, 1)
}

func TestCredential(t *testing.T) {
	t.Parallel()
	c, err := open(t, giteafake.New(t)).Credential(t.Context(), codehost.Repository{Name: hosttest.Repo})
	require.NoError(t, err)
	assert.Equal(t, codehost.Credential{Username: "prwarden", Token: "reads"}, c)
}

// TestSignatures checks which headers sign, and how.
func TestSignatures(t *testing.T) {
	t.Parallel()
	body := []byte(`{"action": "opened"}`)
	mac := hmac.New(sha256.New, []byte(hosttest.Secret))
	mac.Write(body)
	sum := hex.EncodeToString(mac.Sum(nil))
	tests := map[string]struct {
		header map[string]string
		right  bool
	}{
		"Gitea":              {map[string]string{"X-Gitea-Signature": sum}, true},
		"Forgejo":            {map[string]string{"X-Forgejo-Signature": sum}, true},
		"as GitHub":          {map[string]string{"X-Hub-Signature-256": "sha256=" + sum}, true},
		"with a prefix":      {map[string]string{"X-Gitea-Signature": "sha256=" + sum}, false},
		"without one":        {map[string]string{"X-Hub-Signature-256": sum}, false},
		"in capitals":        {map[string]string{"X-Gitea-Signature": strings.ToUpper(sum)}, false},
		"one of two":         {map[string]string{"X-Gitea-Signature": sum, "X-Hub-Signature-256": "sha256=00"}, false},
		"the name of SHA-1":  {map[string]string{"X-Hub-Signature": "sha256=" + sum}, false},
		"none":               {nil, false},
		"empty":              {map[string]string{"X-Gitea-Signature": ""}, false},
		"without identifier": {map[string]string{"X-Gitea-Signature": sum, "X-Gitea-Delivery": ""}, false},
	}

	h := gitea.New(gitea.Options{Client: http.DefaultClient, URL: "https://gitea.example.com"})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"X-Gitea-Delivery": {"1"}}
			for key, value := range test.header {
				header.Set(key, value)
			}
			_, err := h.Verify(header, body, [][]byte{[]byte(hosttest.Secret)}, time.Time{})
			assert.Equal(t, test.right, err == nil)
		})
	}
}

// TestEmptySecret checks that anybody's signature with no secret counts for nothing.
func TestEmptySecret(t *testing.T) {
	t.Parallel()
	body := []byte(`{"action": "opened"}`)
	mac := hmac.New(sha256.New, nil)
	mac.Write(body)
	header := http.Header{"X-Gitea-Delivery": {"1"}, "X-Gitea-Signature": {hex.EncodeToString(mac.Sum(nil))}}
	h := gitea.New(gitea.Options{Client: http.DefaultClient, URL: "https://gitea.example.com"})
	for _, secrets := range [][][]byte{nil, {nil}, {{}}, {[]byte("a"), {}}} {
		_, err := h.Verify(header, body, secrets, time.Time{})
		require.ErrorIs(t, err, codehost.ErrSignature)
	}
}

func FuzzHints(f *testing.F) {
	fake := giteafake.New(f)
	for _, event := range giteafake.Events {
		header, body := fake.Deliver(event, hosttest.Secret)
		f.Add(header.Get("X-Gitea-Event"), body)
	}
	h := gitea.New(gitea.Options{Client: http.DefaultClient, URL: "https://gitea.example.com"})
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		hints, err := h.Hints(http.Header{"X-Gitea-Event": {event}}, body)
		if err != nil {
			assert.Empty(t, hints)
		}
		for _, hint := range hints {
			assert.Positive(t, hint.Number)
			assert.NotEmpty(t, hint.Repository.ID)
			assert.NotEmpty(t, hint.Repository.Name)
			assert.Contains(t, []codehost.HintKind{codehost.HintPullRequest, codehost.HintComment}, hint.Kind)
			assert.Equal(t, hint.Kind == codehost.HintComment, hint.Comment.AuthorID != "")
		}
	})
}
