package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
)

const (
	head    = "1111111111111111111111111111111111111111"
	oldHead = "0000000000000000000000000000000000000000"
)

// pullRequest is one with something in every field.
func pullRequest(h Harness, number int32) publish.PullRequest {
	return publish.PullRequest{
		Organization: acme, Connection: "con_a",
		PullRequest: codehost.PullRequest{
			Repository: codehost.Repository{ID: "42", Name: repo, Private: true}, Number: number, State: codehost.Open,
			Title: "Grüße \xff\x00", Author: "ann", AuthorID: "7", HeadSHA: head, BaseSHA: oldHead, BaseRef: "main",
			MergeBase: oldHead, Draft: true, Fork: true, Labels: []string{"a", "b"}, URL: "https://git.example/7",
			UpdatedAt: h.Clock.Stored(),
		},
	}
}

// lonePullRequest is one whose head no other has.
func lonePullRequest(h Harness, number int32) publish.PullRequest {
	p := pullRequest(h, number)
	p.HeadSHA = fmt.Sprintf("%040x", number)

	return p
}

// upsert keeps a pull request, whose organization is made if need be.
func upsert(t *testing.T, h Harness, p publish.PullRequest) publish.PullRequest {
	t.Helper()
	o := organizationOf(p.Organization)
	o.MaxScans = 0
	if err := h.Store.CreateOrganization(t.Context(), o); !errors.Is(err, organization.ErrExists) {
		require.NoError(t, err)
	}
	require.NoError(t, h.Store.UpsertPullRequest(t.Context(), p))

	return pullRequestOf(t, h, p.Key())
}

func pullRequestOf(t *testing.T, h Harness, k publish.Key) publish.PullRequest {
	t.Helper()
	p, err := h.Store.GetPullRequest(t.Context(), k)
	require.NoError(t, err)

	return p
}

// reviewOf creates a review that a connection made of a head.
func reviewOf(t *testing.T, h Harness, id string, number int32, sha string) {
	t.Helper()
	n := newReview(acme, id)
	n.PRNumber, n.CreatedBy = number, review.ByConnection+"con_a"
	n.Commits = finding.Commits{Head: sha, BaseRef: "main"}
	accept(t, h, n)
}

// claimPublication claims what must be there.
func claimPublication(t *testing.T, h Harness, owner string) publish.Claim {
	t.Helper()
	c, err := h.Store.ClaimPublication(t.Context(), owner, lease)
	require.NoError(t, err)
	require.NotNil(t, c, "nothing is to be published")

	return *c
}

func noPublication(t *testing.T, h Harness) {
	t.Helper()
	c, err := h.Store.ClaimPublication(t.Context(), "nobody", lease)
	require.NoError(t, err)
	require.Nil(t, c)
}

func endPublication(t *testing.T, h Harness, c publish.Claim, e publish.End) {
	t.Helper()
	require.NoError(t, h.Store.EndPublication(t.Context(), c, e))
}

func keptPullRequest(t *testing.T, h Harness) {
	want := pullRequest(h, 7)
	got := upsert(t, h, want)
	want.CreatedAt = h.Clock.Stored()
	assert.Equal(t, want, got)
	noPublication(t, h) // there is no review yet

	h.Clock.Advance(time.Minute)
	want.Draft, want.Title, want.Labels, want.UpdatedAt = false, "New", []string{}, h.Clock.Stored()
	want.Publication.Pending = true
	got = upsert(t, h, want)
	assert.Equal(t, want, got, "one that is no draft any more is published")

	_, err := h.Store.GetPullRequest(t.Context(), publish.Key{Organization: other, Repo: repo, Number: 7})
	wantError(t, err, errs.NotFound, errs.ReasonPullRequestNotFound)
}

func olderPullRequest(t *testing.T, h Harness) {
	now := pullRequest(h, 7)
	want := upsert(t, h, now)
	before := now
	before.UpdatedAt = before.UpdatedAt.Add(-time.Second)
	before.HeadSHA, before.State = oldHead, codehost.Closed
	assert.Equal(t, want, upsert(t, h, before))

	now.HeadSHA = oldHead
	assert.Equal(t, oldHead, upsert(t, h, now).HeadSHA, "of the same moment the last one counts")
}

func listedPullRequests(t *testing.T, h Harness) {
	var want []publish.PullRequest
	for i := range int32(5) {
		p := lonePullRequest(h, i+1)
		if i == 3 {
			p.Repository.Name, p.Connection, p.State = "acme/other", "con_b", codehost.Merged
		}
		want = append(want, upsert(t, h, p))
		if i%2 == 0 {
			h.Clock.Advance(time.Second)
		}
	}
	others := pullRequest(h, 9)
	others.Organization = other
	upsert(t, h, others)

	var got []publish.PullRequest
	for after := (page.Cursor{}); ; after = got[len(got)-1].Place() {
		some, err := h.Store.ListPullRequests(t.Context(), acme, publish.Filter{Limit: 2, After: after})
		require.NoError(t, err)
		got = append(got, some...)
		if len(some) < 2 {
			break
		}
	}
	require.Len(t, got, len(want))
	assert.ElementsMatch(t, want, got)
	assert.True(t, slices.IsSortedFunc(got, func(a, b publish.PullRequest) int {
		return b.CreatedAt.Compare(a.CreatedAt)
	}))

	for _, f := range []publish.Filter{{Repo: "acme/other"}, {Connection: "con_b"}, {State: codehost.Merged}} {
		f.Limit = 10
		some, err := h.Store.ListPullRequests(t.Context(), acme, f)
		require.NoError(t, err)
		assert.Equal(t, want[3:4], some)
	}
}

func wantedPublications(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	pending := func(want bool, what string) {
		t.Helper()
		assert.Equal(t, want, pullRequestOf(t, h, pullRequest(h, 7).Key()).Publication.Pending, what)
		if want {
			endPublication(t, h, claimPublication(t, h, "me"), publish.End{Done: true})
		}
		noPublication(t, h)
	}
	pending(false, "before there is a review")

	create(t, h, acme, "rev_a")
	pending(true, "created")
	c := claim(t, h)
	pending(false, "claimed")
	require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{HeadSHA: head}))
	pending(true, "complete")

	create(t, h, acme, "rev_b")
	pending(true, "created")
	c = claim(t, h)
	require.NoError(t, h.Store.Retry(t.Context(), c, 0))
	pending(false, "queued again")
	require.NoError(t, h.Store.Fail(t.Context(), claim(t, h), review.Failure{Code: "x", Message: "y"}))
	pending(true, "failed")

	create(t, h, acme, "rev_c")
	pending(true, "created")
	cancel(t, h, acme, "rev_c")
	pending(true, "canceled")

	create(t, h, acme, "rev_d")
	pending(true, "created")
	claim(t, h)
	h.Clock.Advance(lease + time.Second)
	_, err := h.Store.ReapExpired(t.Context(), 1)
	require.NoError(t, err)
	pending(true, "lost too often")

	n := newReview(acme, "rev_e")
	n.PRNumber = 8
	accept(t, h, n)
	pending(false, "another one's, of which no host told")
}

// wantedByOthers checks what has the other pull requests of a head published again.
func wantedByOthers(t *testing.T, h Harness) {
	for number := range int32(3) {
		p := pullRequest(h, number+1)
		if number == 2 {
			p.HeadSHA = oldHead
		}
		upsert(t, h, p)
	}
	wanted := func(what string, want ...int32) {
		t.Helper()
		var got []int32
		for {
			c, err := h.Store.ClaimPublication(t.Context(), "me", lease)
			require.NoError(t, err)
			if c == nil {
				break
			}
			got = append(got, c.Number)
			endPublication(t, h, *c, publish.End{Done: true})
		}
		assert.ElementsMatch(t, want, got, what)
	}
	wanted("2 came to the head of 1", 1)
	reviewOf(t, h, "rev_a", 1, head)
	wanted("a review of 1", 1, 2)

	change := func(number int32, f func(*publish.PullRequest)) {
		t.Helper()
		h.Clock.Advance(time.Second)
		p := pullRequestOf(t, h, pullRequest(h, number).Key())
		p.UpdatedAt = h.Clock.Stored()
		f(&p)
		upsert(t, h, p)
	}
	change(1, func(p *publish.PullRequest) { p.Title = "another" })
	wanted("nothing of it")
	change(3, func(p *publish.PullRequest) { p.HeadSHA = head })
	wanted("3 comes to the head", 1, 2)
	change(3, func(p *publish.PullRequest) { p.BaseRef = "next" })
	wanted("3 has another base", 1, 2)
	change(1, func(p *publish.PullRequest) { p.BaseRef = "next" })
	wanted("1 was scanned against the base before", 1, 2, 3)
	change(1, func(p *publish.PullRequest) { p.HeadSHA = oldHead })
	wanted("1 leaves the head", 2, 3)
	change(1, func(p *publish.PullRequest) { p.HeadSHA, p.BaseRef = head, "main" })
	wanted("1 comes back to what was scanned", 1, 2, 3)
	change(2, func(p *publish.PullRequest) { p.State = codehost.Closed })
	wanted("2 is closed", 1, 2, 3)
	change(1, func(p *publish.PullRequest) { p.UpdatedAt, p.HeadSHA = p.UpdatedAt.Add(-time.Hour), oldHead })
	wanted("that was before")
}

func reviewToPublish(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	key := pullRequest(h, 7).Key()
	published := func() string {
		t.Helper()
		r, err := h.Store.ReviewToPublish(t.Context(), key, head)
		require.NoError(t, err)
		if r == nil {
			return ""
		}

		return r.ID
	}
	n := newReview(acme, "rev_key") // anybody's, with a base that hides everything
	n.CreatedBy, n.Commits = "key:key_01", finding.Commits{Head: head, Base: head}
	accept(t, h, n)
	reviewOf(t, h, "rev_old", 7, oldHead)
	assert.Empty(t, published())

	h.Clock.Advance(time.Second)
	reviewOf(t, h, "rev_a", 7, head)
	assert.Equal(t, "rev_a", published())
	h.Clock.Advance(time.Second)
	reviewOf(t, h, "rev_b", 7, head)
	reviewOf(t, h, "rev_c", 8, head)
	assert.Equal(t, "rev_b", published(), "the newest one")
	cancel(t, h, acme, "rev_b")
	assert.Equal(t, "rev_b", published(), "also when it was canceled")

	for range 3 {
		c := claim(t, h)
		require.NoError(t, h.Store.Finish(t.Context(), c, outcome(2)))
	}
	h.Clock.Advance(time.Second)
	reviewOf(t, h, "rev_d", 7, head)
	c := claim(t, h)
	for c.ReviewID != "rev_d" {
		c = claim(t, h)
	}
	o := outcome(2)
	o.HeadSHA = head
	require.NoError(t, h.Store.Finish(t.Context(), c, o))
	r, err := h.Store.ReviewToPublish(t.Context(), key, head)
	require.NoError(t, err)
	assert.Equal(t, get(t, h, acme, "rev_d"), *r)
	assert.NotEmpty(t, r.Findings)
}

func sameHead(t *testing.T, h Harness) {
	for number := range int32(5) {
		p := pullRequest(h, number+1)
		if number == 4 {
			p.State = codehost.Closed
		}
		upsert(t, h, p)
	}
	reviewOf(t, h, "rev_1", 1, head)
	reviewOf(t, h, "rev_2", 2, head)
	h.Clock.Advance(time.Second)
	reviewOf(t, h, "rev_3", 2, oldHead)
	c := claim(t, h)
	require.Equal(t, "rev_1", c.ReviewID)
	require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{
		HeadSHA: head, Verdict: finding.Verdict{Outcome: finding.Incomplete},
	}))

	list, err := h.Store.SameHead(t.Context(), pullRequest(h, 3).Key(), head)
	require.NoError(t, err)
	assert.Equal(t, []publish.Standing{
		{Number: 1, Status: review.Complete, Outcome: finding.Incomplete}, {Number: 2, Status: review.Queued}, {Number: 4},
	}, list)
	moved := pullRequest(h, 1)
	moved.BaseRef = "next"
	upsert(t, h, moved)
	list, err = h.Store.SameHead(t.Context(), pullRequest(h, 3).Key(), head)
	require.NoError(t, err)
	assert.Equal(t, publish.Standing{Number: 1}, list[0], "its review is of another base")
	list, err = h.Store.SameHead(t.Context(), pullRequest(h, 3).Key(), oldHead)
	require.NoError(t, err)
	assert.Empty(t, list)
}
