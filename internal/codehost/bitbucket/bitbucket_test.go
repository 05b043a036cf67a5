package bitbucket_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketfake"
)

// checked may look at requests before a fake gets them.
var checked = func(f *bitbucketfake.Fake) hosttest.Fake { return f }

const apiToken = bitbucketfake.Email + ":" + hosttest.Token

func fixture(noSize bool) hosttest.Fixture {
	return hosttest.Fixture{
		Traits: hosttest.Traits{
			Annotations: true, Replies: true, Closes: true, NoLabels: true, NoReactions: true, Events: bitbucketfake.Events,
		},
		New: func(t testing.TB) hosttest.Fake {
			f := bitbucketfake.New(t)
			f.NoSize = noSize
			return checked(f)
		},
		Open: func(_ testing.TB, url string, _ hosttest.Fake) codehost.Host {
			return host(bitbucket.Options{APIURL: url, Token: apiToken, Workspaces: []string{"acme"}})
		},
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for name, noSize := range map[string]bool{"lists with their size": false, "lists without it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosttest.Run(t, fixture(noSize))
		})
	}
}

// host makes one, with the address of Bitbucket unless the API's is given.
func host(o bitbucket.Options) *bitbucket.Host {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	o.URL = "https://bitbucket.org"
	h, err := bitbucket.New(o)
	if err != nil {
		panic(err)
	}

	return h
}

// open opens a host at a fake.
func open(t *testing.T, f *bitbucketfake.Fake, o bitbucket.Options) *bitbucket.Host {
	t.Helper()
	server := httptest.NewServer(checked(f))
	t.Cleanup(server.Close)
	o.Client, o.APIURL = server.Client(), server.URL
	return host(o)
}

// pull reads the pull request.
func pull(t *testing.T, h *bitbucket.Host) codehost.PullRequest {
	t.Helper()
	p, err := h.PullRequest(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, hosttest.Number)
	require.NoError(t, err)
	return p
}

// TestAccessToken checks that an access token, which can't ask whose it is, works when the
// connection says it.
func TestAccessToken(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: hosttest.Token})
	_, err := h.Access(t.Context())
	assert.Equal(t, codehost.Invalid, codehost.FaultOf(err))
	require.ErrorContains(t, err, "name the UUID of its user in account")

	account := "{" + hosttest.People[hosttest.Account] + "}"
	for _, account := range []string{account, strings.Trim(account, "{}")} {
		h = open(t, fake, bitbucket.Options{Token: hosttest.Token, Account: account})
		a, err := h.Access(t.Context())
		require.NoError(t, err)
		assert.Equal(t, hosttest.People[hosttest.Account], a.ID)
	}
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker}))
	fake.Write(hosttest.Comment{Author: hosttest.Stranger, Body: codehost.SummaryMarker})
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Len(t, o.Summaries, 1)

	fake.Revoke()
	_, err = h.Access(t.Context())
	assert.Equal(t, codehost.Revoked, codehost.FaultOf(err))
}

// TestAccountOfAnother checks that nothing stays which would not be known again.
func TestAccountOfAnother(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: hosttest.Token, Account: hosttest.People[hosttest.Writer]})
	err := h.Do(t.Context(), pull(t, h), codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
	assert.Equal(t, codehost.Revoked, codehost.FaultOf(err), "%v", err)
	assert.Empty(t, fake.Comments())

	_, err = bitbucket.New(bitbucket.Options{Client: http.DefaultClient, Token: "t", Account: "prwarden"})
	assert.ErrorContains(t, err, "UUID")
	h = open(t, fake, bitbucket.Options{Token: apiToken, Account: "prwarden"}) // the last test of the connection kept it
	a, err := h.Access(t.Context())
	require.NoError(t, err)
	assert.Equal(t, hosttest.People[hosttest.Account], a.ID)
}

func TestMissingScopes(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	fake.Restrict()
	a, err := open(t, fake, bitbucket.Options{Token: apiToken}).Access(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"write:pullrequest:bitbucket", "read:repository:bitbucket"}, a.Missing)
}

func TestCredential(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		token, gitToken string
		want            codehost.Credential
	}{
		{"api", "reads", codehost.Credential{Username: "x-token-auth", Token: "reads"}},
		{"api", "", codehost.Credential{Username: "x-token-auth", Token: "api"}},
		{"api", "bot@example.com:reads", codehost.Credential{Username: "x-bitbucket-api-token-auth", Token: "reads"}},
	} {
		h := host(bitbucket.Options{Token: test.token, GitToken: test.gitToken})
		c, err := h.Credential(t.Context(), codehost.Repository{Name: hosttest.Repo})
		require.NoError(t, err)
		assert.Equal(t, test.want, c)
	}
}

// TestStatusOfAnother checks that a status which another wrote is not ours to believe.
func TestStatusOfAnother(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: apiToken})
	p := pull(t, h)
	fake.PostStatus(hosttest.Writer, hosttest.Head, "SUCCESSFUL")
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Nil(t, o.Check)
	err = h.Do(t.Context(), p, codehost.Step{Action: codehost.SetCheck, Check: codehost.Check{
		SHA: hosttest.Head, Verdict: codehost.Failure, Title: "3 findings", ReviewID: "rev_1",
	}})
	assert.Equal(t, codehost.Forbidden, codehost.FaultOf(err))
}

// TestCheck checks what is read back, and that a new check has none of the old one's
// annotations.
func TestCheck(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: apiToken})
	p := pull(t, h)
	c := codehost.Check{
		SHA: hosttest.Head, Verdict: codehost.Broken, Title: "It failed", ReviewID: "rev_1", URL: "https://prwarden.example.com/r/1",
	}
	set := func() {
		t.Helper()
		require.NoError(t, h.Do(t.Context(), p, codehost.Step{Action: codehost.SetCheck, Check: c}))
	}
	set()
	require.NoError(t, h.Do(t.Context(), p, codehost.Step{
		Action: codehost.AddAnnotations, Check: c, Annotations: []codehost.Annotation{{
			Fingerprint: "aa", Path: hosttest.Path, Line: 3, Severity: "info", RuleID: "x", Message: strings.Repeat("ü", 500),
		}},
	}))
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	require.NotNil(t, o.Check)
	c.Ref = o.Check.Ref
	assert.Equal(t, c, *o.Check)
	assert.Equal(t, 1, o.Annotations)

	set()
	assert.Equal(t, 1, fake.Annotations(hosttest.Head))
	c.Ref = ""
	set()
	assert.Zero(t, fake.Annotations(hosttest.Head))
}

// TestNameOfAnother checks that a repository which took the name of ours isn't read.
func TestNameOfAnother(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: apiToken})
	fake.Rename("acme/site")
	fake.Take(hosttest.Repo)
	p := pull(t, h)
	assert.Equal(t, codehost.Repository{ID: hosttest.RepoID, Name: "acme/site", Private: true}, p.Repository)
}

func TestWhoMayCommand(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: apiToken})
	r := codehost.Repository{Name: hosttest.Repo}
	for _, id := range []string{"99", "", `11}" OR permission="admin`} {
		may, err := h.MayCommand(t.Context(), r, codehost.Comment{Author: hosttest.Writer, AuthorID: id})
		require.NoError(t, err)
		assert.False(t, may, id)
	}

	fake.NoAdmin()
	_, err := h.MayCommand(t.Context(), r, codehost.Comment{AuthorID: hosttest.People[hosttest.Writer]})
	assert.Equal(t, codehost.Forbidden, codehost.FaultOf(err))
}

// TestAcknowledge checks that only a refused command is answered, and once.
func TestAcknowledge(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: apiToken})
	p := pull(t, h)
	c := codehost.Comment{ID: string(fake.Write(hosttest.Comment{Author: hosttest.Writer, Body: "/prwarden rescan"}))}
	for _, r := range []codehost.Reaction{codehost.Seen, codehost.Done} {
		require.NoError(t, h.Acknowledge(t.Context(), p, c, r))
	}
	assert.Len(t, fake.Comments(), 1)
	for range 2 {
		require.NoError(t, h.Acknowledge(t.Context(), p, c, codehost.Refused))
	}
	assert.Len(t, fake.Comments(), 2)
	require.NoError(t, h.Acknowledge(t.Context(), p, codehost.Comment{ID: "1"}, codehost.Refused))
	assert.Len(t, fake.Comments(), 2)
}

// TestAnswersToAnswers checks that they count for the thread that they are in.
func TestAnswersToAnswers(t *testing.T) {
	t.Parallel()
	fake := bitbucketfake.New(t)
	h := open(t, fake, bitbucket.Options{Token: apiToken})
	p := pull(t, h)
	require.NoError(t, h.Do(t.Context(), p, codehost.Step{
		Action: codehost.AddComments, Comments: []codehost.LineComment{{
			Fingerprint: "aa", Path: hosttest.Path, Line: 3, Body: codehost.Marker("aa") + "\nA",
		}},
	}))
	first := fake.Comments()[0].Ref
	fake.Reply(first, hosttest.Writer)
	fake.Reply(fake.Comments()[1].Ref, hosttest.Stranger)
	o, err := h.Observe(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, 2, o.Comments[0].Replies)
}

func TestNoWorkspace(t *testing.T) {
	t.Parallel()
	h := open(t, bitbucketfake.New(t), bitbucket.Options{Token: apiToken})
	_, err := h.Repositories(t.Context(), 10)
	assert.ErrorContains(t, err, "acme/*")
}

// TestSignatures checks which headers sign.
func TestSignatures(t *testing.T) {
	t.Parallel()
	header, body := bitbucketfake.New(t).Deliver(hosttest.Opened, hosttest.Secret)
	h := host(bitbucket.Options{})
	right := header.Get("X-Hub-Signature")
	for name, set := range map[string]func(http.Header){
		"another name":       func(x http.Header) { x.Del("X-Hub-Signature"); x.Set("X-Hub-Signature-256", right) },
		"two":                func(x http.Header) { x.Add("X-Hub-Signature", right) },
		"none":               func(x http.Header) { x.Del("X-Hub-Signature") },
		"without prefix":     func(x http.Header) { x.Set("X-Hub-Signature", strings.TrimPrefix(right, "sha256=")) },
		"in capitals":        func(x http.Header) { x.Set("X-Hub-Signature", strings.ToUpper(right)) },
		"without identifier": func(x http.Header) { x.Del("X-Request-UUID") },
	} {
		changed := header.Clone()
		set(changed)
		_, err := h.Verify(changed, body, [][]byte{[]byte(hosttest.Secret)}, time.Time{})
		assert.ErrorIs(t, err, codehost.ErrSignature, name)
	}
}

func FuzzHints(f *testing.F) {
	fake := bitbucketfake.New(f)
	for _, event := range bitbucketfake.Events {
		header, body := fake.Deliver(event, hosttest.Secret)
		f.Add(header.Get("X-Event-Key"), body)
	}
	h := host(bitbucket.Options{})
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
