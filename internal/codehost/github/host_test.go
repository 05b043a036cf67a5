package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/egress"
)

var repository = codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}

// start opens a host at a fake, as the App unless an option is another.
func start(t *testing.T, change ...func(*github.Options)) (*github.Host, *githubfake.Fake, *hosttest.Faults) {
	t.Helper()
	fake := githubfake.New(true)
	faults := hosttest.NewFaults(checked(fake))
	server := httptest.NewServer(faults)
	t.Cleanup(server.Close)
	o := options(server.URL, true)
	for _, c := range change {
		c(&o)
	}
	h, err := github.New(o)
	require.NoError(t, err)
	return h, fake, faults
}

func pull(t *testing.T, h codehost.Host) codehost.PullRequest {
	t.Helper()
	p, err := h.PullRequest(t.Context(), repository, hosttest.Number)
	require.NoError(t, err)
	return p
}

func observe(t *testing.T, h codehost.Host) codehost.Observed {
	t.Helper()
	o, err := h.Observe(t.Context(), pull(t, h))
	require.NoError(t, err)
	return o
}

func do(t *testing.T, h codehost.Host, s codehost.Step) {
	t.Helper()
	require.NoError(t, h.Do(t.Context(), pull(t, h), s))
}

func set(review string, v codehost.Verdict) codehost.Step {
	return codehost.Step{Action: codehost.SetCheck, Check: codehost.Check{
		SHA: hosttest.Head, ReviewID: review, Verdict: v, Title: string(v), Summary: "What was found",
		URL: "https://prwarden.example.com/reviews/" + review,
	}}
}

func annotations(n int) (list []codehost.Annotation) {
	for i := range n {
		list = append(list, codehost.Annotation{
			Path: hosttest.Path, Line: i + 1, EndLine: i + 2, Column: 3, EndColumn: 4, Severity: "low", Message: "m",
		})
	}

	return list
}

// A check run can be found again, also by a server that did not make it.
func TestCheckIsObservedAsItWasSet(t *testing.T) {
	t.Parallel()
	h, _, _ := start(t)
	for _, v := range []codehost.Verdict{
		codehost.Pending, codehost.Success, codehost.Failure, codehost.Broken, codehost.Outdated,
	} {
		step := set("rev_1", v)
		do(t, h, step)
		seen := observe(t, h).Check
		require.NotNil(t, seen)
		assert.NotEmpty(t, seen.Ref)
		step.Check.Ref = seen.Ref
		assert.Equal(t, step.Check, *seen)
	}
}

// The same step twice makes one check run, since the first may have been done.
// A status of our name that somebody else set counts as ours missing: people see that one.
func TestStatusOfAnother(t *testing.T) {
	t.Parallel()
	fake := githubfake.New(false)
	server := httptest.NewServer(checked(fake))
	t.Cleanup(server.Close)
	h, err := github.New(options(server.URL, false))
	require.NoError(t, err)
	do(t, h, set("rev_a", codehost.Failure))
	require.NotNil(t, observe(t, h).Check)
	fake.PostStatus(hosttest.Writer, hosttest.Head, "success")
	require.Nil(t, observe(t, h).Check)
	do(t, h, set("rev_a", codehost.Failure))
	assert.Equal(t, codehost.Failure, observe(t, h).Check.Verdict)
}

func TestCheckIsMadeOnce(t *testing.T) {
	t.Parallel()
	h, _, faults := start(t)
	p := pull(t, h)
	faults.Next(hosttest.Fault{Cut: true, Done: true})
	err := h.Do(t.Context(), p, set("rev_1", codehost.Pending))
	require.Equal(t, codehost.Unknown, codehost.FaultOf(err), "%v", err)
	do(t, h, set("rev_1", codehost.Pending))
	do(t, h, set("rev_1", codehost.Success))
	posts := 0
	for _, c := range faults.Calls() {
		if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/check-runs") {
			posts++
		}
	}
	assert.Equal(t, 1, posts)
}

// A completed run can't begin again, and what another review found stays in its run. So
// another review has another run, and none is left in progress.
func TestAnotherReviewHasAnotherCheckRun(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	do(t, h, set("rev_1", codehost.Pending))
	do(t, h, codehost.Step{Action: codehost.AddAnnotations, Check: set("rev_1", "").Check, Annotations: annotations(50)})
	assert.Equal(t, 50, fake.Annotations(hosttest.Head))

	do(t, h, set("rev_2", codehost.Pending))
	assert.Equal(t, "rev_2", observe(t, h).Check.ReviewID)
	assert.Zero(t, observe(t, h).Annotations)
	assert.Equal(t, 1, fake.Unfinished())

	do(t, h, set("rev_2", codehost.Success))
	do(t, h, set("rev_2", codehost.Pending)) // somebody asked for it again
	assert.Equal(t, codehost.Pending, observe(t, h).Check.Verdict)
	do(t, h, set("rev_2", codehost.Failure))
	assert.Equal(t, codehost.Failure, fake.Check(hosttest.Head).Verdict)
	assert.Zero(t, fake.Unfinished())
}

// What was added twice can't be taken back, so the review gets another check run.
func TestCheckWithoutRefHasNoAnnotations(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	do(t, h, set("rev_1", codehost.Pending))
	do(t, h, codehost.Step{Action: codehost.AddAnnotations, Check: set("rev_1", "").Check, Annotations: annotations(2)})
	step := set("rev_1", codehost.Failure)
	step.Check.Ref = observe(t, h).Check.Ref
	do(t, h, step)
	assert.Equal(t, 2, fake.Annotations(hosttest.Head))
	do(t, h, set("rev_1", codehost.Pending))
	assert.Zero(t, fake.Annotations(hosttest.Head))
	assert.Equal(t, 1, fake.Unfinished())
}

func TestCheckWithoutSummary(t *testing.T) {
	t.Parallel()
	h, _, _ := start(t)
	step := set("rev_1", codehost.Pending)
	step.Check.Summary = ""
	do(t, h, step)
	assert.Empty(t, observe(t, h).Check.Summary)
}

func TestAnnotationsNeedTheirCheckRun(t *testing.T) {
	t.Parallel()
	h, _, _ := start(t)
	step := codehost.Step{Action: codehost.AddAnnotations, Check: set("rev_1", "").Check, Annotations: annotations(1)}
	err := h.Do(t.Context(), pull(t, h), step)
	assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)
}

// 1,000 findings are 22 writing calls with the comments and the summary, and few reading.
func TestCallsForManyFindings(t *testing.T) {
	t.Parallel()
	h, fake, faults := start(t)
	observe(t, h)
	faults.Calls()

	do(t, h, set("rev_1", codehost.Pending))
	o := observe(t, h)
	for range h.Limits().Annotations / h.Limits().AnnotationsPerCall {
		p := codehost.PullRequest{Repository: repository, Number: hosttest.Number, HeadSHA: hosttest.Head}
		require.NoError(t, h.Do(t.Context(), p, codehost.Step{
			Action: codehost.AddAnnotations, Check: *o.Check, Annotations: annotations(50),
		}))
	}
	final := set("rev_1", codehost.Failure)
	final.Check.Ref = o.Check.Ref
	do(t, h, final)
	do(t, h, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
	comments := []codehost.LineComment{}
	for i := range 20 {
		comments = append(comments, codehost.LineComment{Path: hosttest.Path, Line: i + 1, Body: codehost.Marker("1")})
	}
	do(t, h, codehost.Step{Action: codehost.AddComments, Comments: comments})

	assert.Equal(t, 1000, fake.Annotations(hosttest.Head))
	writes, reads := 0, 0
	for _, c := range faults.Calls() {
		if c.Method == http.MethodGet || strings.HasSuffix(c.Path, "/graphql") {
			reads++
		} else {
			writes++
		}
		assert.Less(t, c.Status, 300, c.Path)
	}
	assert.LessOrEqual(t, writes, 25)
	assert.LessOrEqual(t, reads, 12) // of them four because do reads the pull request each time
}

func TestThreads(t *testing.T) {
	t.Parallel()
	comment := func(h *github.Host) codehost.ObservedComment {
		do(t, h, codehost.Step{Action: codehost.AddComments, Comments: []codehost.LineComment{
			{Path: hosttest.Path, Line: 1, Body: codehost.Marker("1") + "\nx"},
		}})
		return observe(t, h).Comments[0]
	}
	step := func(a codehost.Action, c codehost.ObservedComment) codehost.Step {
		return codehost.Step{Action: a, OnLine: true, Ref: c.Ref, Thread: c.Thread, Body: codehost.Marker("1") + "\ny"}
	}

	t.Run("minimised only", func(t *testing.T) {
		t.Parallel()
		h, fake, _ := start(t)
		c := comment(h)
		do(t, h, step(codehost.CloseComment, c))
		assert.False(t, fake.Resolved(c.Ref))
		assert.True(t, observe(t, h).Comments[0].ClosedByUs)
	})
	t.Run("resolved by us", func(t *testing.T) {
		t.Parallel()
		h, fake, _ := start(t)
		fake.Grant("contents", "write")
		c := comment(h)
		for range 2 {
			do(t, h, step(codehost.CloseComment, c))
			assert.True(t, fake.Resolved(c.Ref))
			assert.True(t, observe(t, h).Comments[0].ClosedByUs)
		}
		for range 2 {
			do(t, h, step(codehost.ReopenComment, observe(t, h).Comments[0]))
			assert.False(t, fake.Resolved(c.Ref))
			assert.False(t, observe(t, h).Comments[0].Closed)
		}
	})
	t.Run("permission taken away meanwhile", func(t *testing.T) {
		t.Parallel()
		h, fake, _ := start(t)
		fake.Grant("contents", "write")
		c := comment(h)
		require.NotEmpty(t, c.Thread)
		fake.Grant("contents", "read")
		do(t, h, step(codehost.CloseComment, c))
		assert.False(t, fake.Resolved(c.Ref))
		assert.True(t, observe(t, h).Comments[0].ClosedByUs)
	})
	t.Run("minimised by somebody", func(t *testing.T) {
		t.Parallel()
		h, fake, _ := start(t)
		fake.Minimize(comment(h).Ref)
		o := observe(t, h).Comments[0]
		assert.True(t, o.Closed)
		assert.False(t, o.ClosedByUs)
	})
	t.Run("closed by us, then resolved by somebody", func(t *testing.T) {
		t.Parallel()
		h, fake, _ := start(t)
		c := comment(h)
		do(t, h, step(codehost.CloseComment, c))
		fake.Close(c.Ref, hosttest.Writer)
		assert.False(t, observe(t, h).Comments[0].ClosedByUs)
	})
	t.Run("cut off between edit and minimise", func(t *testing.T) {
		t.Parallel()
		h, _, faults := start(t)
		c := comment(h)
		faults.Next(hosttest.Fault{Cut: true, Match: func(q *http.Request) bool {
			return strings.HasSuffix(q.URL.Path, "/graphql")
		}})
		p := codehost.PullRequest{Repository: repository, Number: hosttest.Number}
		err := h.Do(t.Context(), p, step(codehost.CloseComment, c))
		require.Equal(t, codehost.Unknown, codehost.FaultOf(err), "%v", err)
		assert.False(t, observe(t, h).Comments[0].Closed)
		do(t, h, step(codehost.CloseComment, c))
		assert.True(t, observe(t, h).Comments[0].ClosedByUs)
	})
}

// Git gets a token for one repository that can only read, and only for an hour.
func TestCredential(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	for _, r := range []codehost.Repository{repository, {Name: hosttest.Repo}} {
		c, err := h.Credential(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, "x-access-token", c.Username)
		assert.NotEqual(t, hosttest.Token, c.Token, "not the installation's own")
		assert.WithinDuration(t, time.Now().Add(time.Hour), c.ExpiresAt, time.Minute)

		reader, err := github.New(github.Options{URL: "https://x.test", Token: c.Token, Client: through(checked(fake))})
		require.NoError(t, err)
		p := pull(t, reader)
		err = reader.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: "x"})
		assert.Equal(t, codehost.Forbidden, codehost.FaultOf(err), "%v", err)
	}

	_, err := h.Credential(t.Context(), codehost.Repository{ID: "43", Name: "acme/other"})
	assert.Equal(t, codehost.Forbidden, codehost.FaultOf(err), "%v", err)

	token, err := github.New(github.Options{Token: "one", GitToken: "two"})
	require.NoError(t, err)
	c, err := token.Credential(t.Context(), repository)
	require.NoError(t, err)
	assert.Equal(t, codehost.Credential{Username: "x-access-token", Token: "two"}, c)
}

// direct calls a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(q *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if q = q.Clone(q.Context()); q.Body == nil {
		q.Body = http.NoBody
	}
	d.ServeHTTP(w, q)
	return w.Result(), nil
}

func through(fake http.Handler) *http.Client { return &http.Client{Transport: direct{fake}} }

func TestInstallation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*githubfake.Fake, *github.Options)
		want   string
	}{
		"suspended": {func(f *githubfake.Fake, _ *github.Options) { f.Suspend() }, "suspended"},
		"removed":   {func(f *githubfake.Fake, _ *github.Options) { f.Remove() }, "isn't installed"},
		"never":     {func(_ *githubfake.Fake, o *github.Options) { o.Installation, o.Account = 0, "other" }, "nobody installed"},
		"wrong App": {func(_ *githubfake.Fake, o *github.Options) { o.AppID++ }, "ID or private key"},
	} {
		fake := githubfake.New(true)
		o := options("https://x.test", true)
		o.Client = through(checked(fake))
		tt.change(fake, &o)
		h, err := github.New(o)
		require.NoError(t, err)
		for kind, call := range map[string]func() error{
			"read": func() error { _, err := h.PullRequest(t.Context(), repository, 7); return err },
			"write": func() error {
				return h.Do(t.Context(), codehost.PullRequest{Repository: repository}, codehost.Step{Action: codehost.AddSummary})
			},
			"git": func() error { _, err := h.Credential(t.Context(), repository); return err },
		} {
			err := call()
			assert.Equal(t, codehost.Revoked, codehost.FaultOf(err), "%s, %s: %v", name, kind, err)
			require.ErrorContains(t, err, tt.want, "%s, %s", name, kind)
			assert.Equal(t, name == "suspended", errors.Is(err, codehost.ErrSuspended), "%s, %s", name, kind)
		}
		_, err = h.Access(t.Context())
		require.Error(t, err, name)
	}
}

// A token that somebody revoked is replaced once, without the caller's doing.
func TestTokenIsMintedAgain(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	do(t, h, set("rev_1", codehost.Pending))
	assert.Equal(t, 1, fake.Minted())
	p := pull(t, h)
	fake.Forget()
	require.NoError(t, h.Do(t.Context(), p, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker}))
	assert.Equal(t, 2, fake.Minted())
	assert.Len(t, fake.Comments(), 1)
}

func TestAccess(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	a, err := h.Access(t.Context())
	require.NoError(t, err)
	assert.Equal(t, codehost.Access{Account: "prwarden[bot]", ID: "900", Checks: true}, a)
	fake.Restrict()
	a, err = h.Access(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"pull_requests: write", "checks: write", "statuses: write"}, a.Missing)
	assert.False(t, a.Checks)
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	now := time.Now()
	fake.Log("too-old", 502, now.Add(-2*time.Hour))
	fake.Log("failed", 502, now.Add(-time.Minute))
	fake.Log("given-up", 502, now.Add(-time.Minute))
	fake.Log("came-later", 0, now.Add(-time.Minute))
	for range 2 {
		fake.Log("given-up", 502, now)
	}
	fake.Log("came-later", 202, now)
	for range 130 {
		fake.Log("fine", 202, now)
	}

	n, err := h.Redeliver(t.Context(), now.Add(-time.Hour))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, []string{"failed"}, fake.Redelivered())

	for i := range 60 {
		fake.Log(fmt.Sprint("failed-", i), 500, now)
	}
	n, err = h.Redeliver(t.Context(), now.Add(-time.Hour))
	require.NoError(t, err)
	assert.Equal(t, 50, n, "no more at a time")
}

// Limits of GraphQL come with a 200.
func TestLimitOfGraphQL(t *testing.T) {
	t.Parallel()
	h, _, faults := start(t)
	p := pull(t, h)
	now := time.Now()
	faults.Next(hosttest.Fault{
		Match:  func(q *http.Request) bool { return strings.HasSuffix(q.URL.Path, "/graphql") },
		Status: http.StatusOK, Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`,
		Header: map[string]string{
			"Date": now.UTC().Format(http.TimeFormat), "X-RateLimit-Remaining": "0",
			"X-RateLimit-Reset": fmt.Sprint(now.Unix() + 600),
		},
	})
	_, err := h.Observe(t.Context(), p)
	var e *codehost.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, codehost.Limited, e.Fault)
	assert.Equal(t, 10*time.Minute, e.After)
}

func TestCompleteManifest(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(checked(githubfake.New(true)))
	t.Cleanup(server.Close)
	app, err := github.CompleteManifest(t.Context(), github.Options{URL: server.URL}, githubfake.ManifestCode)
	require.NoError(t, err)
	assert.Equal(t, github.App{
		ID: githubfake.AppID, Slug: githubfake.Slug, Owner: "acme", URL: server.URL + "/github-apps/prwarden",
		PrivateKey: githubfake.PrivateKey(), WebhookSecret: githubfake.WebhookSecret,
	}, app)

	for code, want := range map[string]codehost.Fault{
		githubfake.ManifestCode: codehost.Gone, "another": codehost.Gone, "": codehost.Invalid, "../x": codehost.Invalid, "a b": codehost.Invalid,
	} {
		_, err := github.CompleteManifest(t.Context(), github.Options{URL: server.URL}, code)
		assert.Equal(t, want, codehost.FaultOf(err), code)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = github.CompleteManifest(ctx, github.Options{URL: server.URL}, githubfake.ManifestCode)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), githubfake.ManifestCode)
}

func TestFindInstallation(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t, func(o *github.Options) { o.Installation = 0 })
	id, err := h.FindInstallation(t.Context(), "acme")
	require.NoError(t, err)
	assert.Equal(t, codehost.Installation{ID: githubfake.Installation}, id)
	_, err = h.FindInstallation(t.Context(), "other")
	assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)

	byAccount, _, _ := start(t, func(o *github.Options) { o.Installation, o.Account = 0, "acme" })
	do(t, byAccount, set("rev_1", codehost.Pending))
	a, err := byAccount.Access(t.Context())
	require.NoError(t, err)
	assert.True(t, a.Checks)

	fake.Suspend()
	suspended, err := h.FindInstallation(t.Context(), "acme")
	require.NoError(t, err)
	assert.True(t, suspended.Suspended)

	fake.Remove()
	_, err = h.FindInstallation(t.Context(), "acme")
	assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)
}

// A person whose token prwarden has may be about to write a review. It isn't ours.
func TestDraftOfPerson(t *testing.T) {
	t.Parallel()
	fake := githubfake.New(false)
	o := options("https://x.test", false)
	o.Client = through(checked(fake))
	h, err := github.New(o)
	require.NoError(t, err)
	fake.Draft("I think that")
	assert.Empty(t, observe(t, h).Unsent)
	err = h.Do(t.Context(), pull(t, h), codehost.Step{Action: codehost.AddComments, Comments: []codehost.LineComment{
		{Path: hosttest.Path, Line: 1, Body: codehost.Marker("1")},
	}})
	assert.Equal(t, codehost.Forbidden, codehost.FaultOf(err), "%v", err)
	assert.Equal(t, 1, fake.Drafts())
	assert.Empty(t, fake.Comments())
}

func TestAcknowledgeOnLine(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	ref := fake.Write(hosttest.Comment{Author: hosttest.Writer, Path: hosttest.Path, Line: 1, Body: "/prwarden rescan"})
	id, _, _ := strings.Cut(string(ref), "/")
	require.NoError(t, h.Acknowledge(t.Context(), pull(t, h), codehost.Comment{ID: id, OnLine: true}, codehost.Seen))
	assert.Equal(t, []string{"eyes"}, fake.Reactions(ref))
}

// A login that was given up and taken over by somebody is not who wrote the comment.
func TestMayCommandOfAnotherAccount(t *testing.T) {
	t.Parallel()
	h, _, _ := start(t)
	for _, c := range []codehost.Comment{
		{Author: hosttest.Writer, AuthorID: "999"}, {Author: "../../x", AuthorID: "1"}, {Author: "nobody", AuthorID: "1"},
	} {
		may, err := h.MayCommand(t.Context(), repository, c)
		require.NoError(t, err)
		assert.False(t, may, c.Author)
	}
}

// Another repository that took the name of ours over is not ours.
func TestNameOfAnotherRepository(t *testing.T) {
	t.Parallel()
	h, fake, _ := start(t)
	fake.Rename("acme/site")
	_, err := h.PullRequest(t.Context(), codehost.Repository{ID: "77", Name: "acme/site"}, hosttest.Number)
	assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)
	p, err := h.PullRequest(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: "acme/gone"}, hosttest.Number)
	require.NoError(t, err)
	assert.Equal(t, "acme/site", p.Repository.Name)
}

// TestRefusedAddress holds that nothing is sent to an address that may not be reached,
// and that this doesn't pass.
func TestRefusedAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the host was reached")
	}))
	t.Cleanup(server.Close)
	h, err := github.New(github.Options{URL: server.URL, Token: "one", Client: egress.Guard{}.Client()})
	require.NoError(t, err)
	_, err = h.PullRequest(t.Context(), codehost.Repository{Name: "acme/web"}, 7)
	var refused *egress.Refused
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, codehost.Invalid, codehost.FaultOf(err))
}
