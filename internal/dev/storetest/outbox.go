package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/publish"
)

func onePublisher(t *testing.T, h Harness) {
	p := upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	c := claimPublication(t, h, "a")
	p.Publication.Pending = true
	assert.Equal(t, publish.Claim{PullRequest: p, Owner: "a", Want: 1}, c)
	noPublication(t, h)

	create(t, h, acme, "rev_b")
	noPublication(t, h)
	r, err := h.Store.Reserve(t.Context(), c, publish.Reservation{Lease: lease})
	require.NoError(t, err)
	assert.Equal(t, publish.Reserved{Want: 2}, r)
	endPublication(t, h, c, publish.End{Done: true, Problem: "odd"})
	now := pullRequestOf(t, h, p.Key()).Publication
	assert.Equal(t, publish.Publication{Pending: true, Problem: "odd"}, now, "not all was published")

	c = claimPublication(t, h, "b")
	assert.EqualValues(t, 2, c.Want)
	h.Clock.Advance(lease - time.Microsecond)
	noPublication(t, h)
	h.Clock.Advance(time.Microsecond)
	claimPublication(t, h, "c")
}

func connectionsTakeTurns(t *testing.T, h Harness) {
	for i := range int32(6) {
		p := lonePullRequest(h, i+1)
		if i >= 4 {
			p.Connection = "con_b"
		}
		upsert(t, h, p)
		reviewOf(t, h, fmt.Sprintf("rev_%d", i), i+1, head)
		h.Clock.Advance(time.Second)
	}
	var order []int32
	for i := range 6 {
		order = append(order, claimPublication(t, h, fmt.Sprint(i)).Number)
		h.Clock.Advance(time.Millisecond)
	}
	assert.Equal(t, []int32{1, 5, 2, 6, 3, 4}, order)

	// Nothing of a connection that is held back.
	p := lonePullRequest(h, 9)
	upsert(t, h, p)
	require.NoError(t, h.Store.HoldConnection(t.Context(), acme, "con_a", time.Second))
	reviewOf(t, h, "rev_9", 9, head)
	noPublication(t, h)
	h.Clock.Advance(time.Second)
	assert.EqualValues(t, 9, claimPublication(t, h, "x").Number)
}

func lostLease(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	lost := claimPublication(t, h, "a")
	h.Clock.Advance(lease)
	_, err := h.Store.Reserve(t.Context(), lost, publish.Reservation{Lease: lease})
	require.NoError(t, err, "nobody has taken it")
	h.Clock.Advance(lease)
	held := claimPublication(t, h, "b")

	known := publish.Known{Threads: []publish.Thread{{Fingerprint: "f", State: publish.ThreadOpen}}}
	_, err = h.Store.Reserve(t.Context(), lost, publish.Reservation{Lease: time.Hour})
	require.ErrorIs(t, err, publish.ErrLeaseLost)
	require.ErrorIs(t, h.Store.Record(t.Context(), lost, known), publish.ErrLeaseLost)
	require.ErrorIs(t, h.Store.EndPublication(t.Context(), lost, publish.End{Done: true}), publish.ErrLeaseLost)
	got, err := h.Store.Known(t.Context(), held.Key())
	require.NoError(t, err)
	assert.Empty(t, got.Threads)
	assert.True(t, pullRequestOf(t, h, held.Key()).Publication.Pending)
	endPublication(t, h, held, publish.End{Done: true})
	noPublication(t, h)
}

func callPace(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	c := claimPublication(t, h, "a")
	r := publish.Reservation{Lease: lease, Writes: true, Spacing: time.Second, PerHour: 4, Patience: 3 * time.Second}
	reserve := func(r publish.Reservation) time.Duration {
		t.Helper()
		got, err := h.Store.Reserve(t.Context(), c, r)
		require.NoError(t, err)

		return got.Wait
	}

	assert.Zero(t, reserve(r))
	assert.Equal(t, time.Second, reserve(r))
	assert.Zero(t, reserve(publish.Reservation{Lease: lease}), "reading waits for nothing")
	h.Clock.Advance(500 * time.Millisecond)
	assert.Equal(t, 1500*time.Millisecond, reserve(r))
	noPublication(t, h)
	impatient := r
	impatient.Patience = time.Second
	assert.Equal(t, 2500*time.Millisecond, reserve(impatient), "which takes no place")
	assert.Equal(t, 2500*time.Millisecond, reserve(r))
	h.Clock.Advance(10 * time.Second)
	assert.Equal(t, time.Hour-10500*time.Millisecond, reserve(r), "four an hour")
	h.Clock.Advance(time.Hour)
	assert.Zero(t, reserve(r))
	beside := func() time.Duration {
		t.Helper()
		wait, err := h.Store.ReserveCall(t.Context(), c.Organization, c.Connection, r)
		require.NoError(t, err)

		return wait
	}
	assert.Equal(t, time.Second, beside(), "calls of no publication have the same places")
	require.NoError(t, h.Store.HoldConnection(t.Context(), c.Organization, c.Connection, time.Minute))
	assert.Equal(t, time.Minute, beside(), "nothing is called while the connection is held")
	assert.Equal(t, time.Minute, reserve(r))
}

func knownPublished(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	c := claimPublication(t, h, "a")
	read := func() publish.Known {
		t.Helper()
		k, err := h.Store.Known(t.Context(), c.Key())
		require.NoError(t, err)

		return k
	}
	assert.Empty(t, read().Threads)
	assert.Empty(t, read().Published)

	now := h.Clock.Stored()
	first := publish.Known{
		Threads: []publish.Thread{
			{Fingerprint: "f1", State: publish.ThreadOpen, RuleID: "custom/a", Path: "a\xff", UpdatedAt: now},
			{Fingerprint: "f2", State: publish.ThreadRefused, UpdatedAt: now},
		},
		Published: []publish.Published{
			{Sink: publish.CheckSink, Ref: "9", HeadSHA: head, ReviewID: "rev_a", Verdict: codehost.Pending},
		},
	}
	require.NoError(t, h.Store.Record(t.Context(), c, first))
	assert.Equal(t, first, read())

	h.Clock.Advance(time.Second)
	change := publish.Known{
		Threads: []publish.Thread{{
			Fingerprint: "f1", State: publish.ThreadFixed, Ref: "1", Thread: "2", UpdatedAt: now.Add(time.Second),
		}},
		Published: []publish.Published{{Sink: publish.SummarySink, Ref: "3", Deleted: true}},
	}
	require.NoError(t, h.Store.Record(t.Context(), c, change))
	assert.Equal(t, publish.Known{
		Threads:   []publish.Thread{change.Threads[0], first.Threads[1]},
		Published: []publish.Published{first.Published[0], change.Published[0]},
	}, read())

	of, err := h.Store.Known(t.Context(), publish.Key{Organization: other, Repo: repo, Number: 7})
	require.NoError(t, err)
	assert.Empty(t, of.Threads)
}

func publicationFailures(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	first := h.Clock.Stored()
	for i := range 3 {
		c := claimPublication(t, h, fmt.Sprint(i))
		endPublication(t, h, c, publish.End{Failed: true, After: time.Minute, Problem: "away"})
		now := pullRequestOf(t, h, c.Key()).Publication
		assert.Equal(t, publish.Publication{Pending: true, Failures: i + 1, FailingFrom: first, Problem: "away"}, now)
		h.Clock.Advance(time.Minute - time.Microsecond)
		noPublication(t, h)
		h.Clock.Advance(time.Microsecond)
	}
	waits := claimPublication(t, h, "waits")
	endPublication(t, h, waits, publish.End{After: time.Minute})
	now := pullRequestOf(t, h, waits.Key()).Publication
	assert.Equal(t, []any{3, first}, []any{now.Failures, now.FailingFrom}, "to wait for a place is no success")
	h.Clock.Advance(time.Minute)

	c := claimPublication(t, h, "last")
	assert.Equal(t, 3, c.Publication.Failures)
	endPublication(t, h, c, publish.End{Done: true})
	assert.Equal(t, publish.Publication{PublishedAt: h.Clock.Stored()}, pullRequestOf(t, h, c.Key()).Publication)
}

func keptLease(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	c := claimPublication(t, h, "a")
	endPublication(t, h, c, publish.End{Failed: true, Lease: lease, After: time.Second})
	_, err := h.Store.Reserve(t.Context(), c, publish.Reservation{Lease: time.Hour})
	require.ErrorIs(t, err, publish.ErrLeaseLost)
	h.Clock.Advance(lease - time.Microsecond)
	noPublication(t, h)
	h.Clock.Advance(time.Microsecond)
	claimPublication(t, h, "b")
}

func publisherRace(t *testing.T, h Harness) {
	for i := range int32(8) {
		upsert(t, h, lonePullRequest(h, i+1))
		reviewOf(t, h, fmt.Sprintf("rev_%d", i), i+1, head)
	}
	var mu sync.Mutex
	seen := map[int32]int{}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 8 {
				c, err := h.Store.ClaimPublication(t.Context(), fmt.Sprint(i, "/", j), lease)
				if !assert.NoError(t, err) || c == nil {
					continue
				}
				mu.Lock()
				seen[c.Number]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	assert.Len(t, seen, 8)
	for number, n := range seen {
		assert.Equal(t, 1, n, "pull request %d", number)
	}
}

func paceRace(t *testing.T, h Harness) {
	var claims []publish.Claim
	for i := range int32(4) {
		upsert(t, h, lonePullRequest(h, i+1))
		reviewOf(t, h, fmt.Sprintf("rev_%d", i), i+1, head)
		claims = append(claims, claimPublication(t, h, fmt.Sprint(i)))
	}
	r := publish.Reservation{Lease: lease, Writes: true, Spacing: time.Second, Patience: time.Hour}
	var mu sync.Mutex
	var waits []time.Duration
	var all sync.WaitGroup
	for _, c := range claims {
		all.Go(func() {
			for range 5 {
				got, err := h.Store.Reserve(t.Context(), c, r)
				assert.NoError(t, err)
				mu.Lock()
				waits = append(waits, got.Wait)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(waits)
	for i, wait := range waits {
		assert.Equal(t, time.Duration(i)*time.Second, wait)
	}
}

func purgedPullRequests(t *testing.T, h Harness) {
	upsert(t, h, lonePullRequest(h, 1))
	waits := upsert(t, h, lonePullRequest(h, 2))
	reviewOf(t, h, "rev_a", 2, head)
	h.Clock.Advance(time.Hour)
	fresh := upsert(t, h, lonePullRequest(h, 3))

	n, more, err := h.Store.PurgePullRequests(t.Context(), time.Hour, h.Clock.Now())
	require.NoError(t, err)
	assert.True(t, more)
	assert.Equal(t, 1, n)
	left, err := h.Store.ListPullRequests(t.Context(), acme, publish.Filter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, left, 2)
	assert.Equal(t, fresh.Number, left[0].Number)
	assert.Equal(t, waits.Number, left[1].Number)
}

func republished(t *testing.T, h Harness) {
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_a")
	c := claimPublication(t, h, "a")
	endPublication(t, h, c, publish.End{Failed: true, After: time.Hour, Problem: "away"})
	noPublication(t, h)
	p, err := h.Store.Republish(t.Context(), c.Key())
	require.NoError(t, err)
	assert.Equal(t, publish.Publication{Pending: true, Problem: "away"}, p.Publication)
	endPublication(t, h, claimPublication(t, h, "b"), publish.End{Done: true})
	noPublication(t, h)

	events, err := h.Store.Events(t.Context(), acme, audit.Filter{Action: audit.PullRepublish, Limit: 9})
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, repo+"#7", events[0].Target)
	_, err = h.Store.Republish(t.Context(), publish.Key{Organization: acme, Repo: repo, Number: 8})
	wantError(t, err, errs.NotFound, errs.ReasonPullRequestNotFound)
}
