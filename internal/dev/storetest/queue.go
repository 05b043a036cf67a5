package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func claimed(t *testing.T, h Harness) {
	noClaim(t, h)
	n := newReview(acme, "rev_a")
	n.Repo, n.PRNumber, n.Ruleset, n.TraceParent = "acme/site", 42, "custom", traceParent
	n.CreatedBy = "connection:con_a"
	accept(t, h, n)
	h.Clock.Advance(time.Minute)

	assert.Equal(t, review.Claim{
		ReviewID: "rev_a", Organization: acme, Repo: "acme/site", PRNumber: 42, Ruleset: "custom", Attempt: 1,
		TraceParent: traceParent, Waited: time.Minute, Today: "2026-11-20", FailOn: rule.High,
		CreatedBy: "connection:con_a",
	}, claim(t, h))

	r := state(t, h, acme, "rev_a")
	assert.Equal(t, review.InProgress, r.Status)
	assert.Equal(t, 1, r.Attempt)
	assert.Equal(t, h.Clock.Stored(), r.StartedAt)
	assert.Zero(t, r.CompletedAt)
	noClaim(t, h)
}

func retried(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	started := h.Clock.Stored()
	require.NoError(t, extend(t, h, c, lease, review.Progress{FilesDone: 3, FilesTotal: 5}))
	h.Clock.Advance(time.Second)
	require.NoError(t, h.Store.Retry(t.Context(), c, 10*time.Second))

	r := state(t, h, acme, "rev_a")
	assert.Equal(t, review.Queued, r.Status)
	assert.Equal(t, review.Progress{}, r.Progress)
	assert.Equal(t, started, r.StartedAt, "of the last attempt")
	noClaim(t, h)
	h.Clock.Advance(10*time.Second - time.Microsecond)
	noClaim(t, h)
	h.Clock.Advance(time.Microsecond)
	again := claim(t, h)
	assert.Equal(t, 2, again.Attempt)
	assert.Equal(t, 1, again.Failures)
	assert.Zero(t, again.Lost)
	assert.Equal(t, h.Clock.Stored(), state(t, h, acme, "rev_a").StartedAt)

	require.NoError(t, h.Store.Retry(t.Context(), again, 0))
	assert.Equal(t, 2, claim(t, h).Failures)
}

func failed(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	h.Clock.Advance(time.Second)
	f := review.Failure{Code: "pull_request_not_found",
		Message: "There is no pull request 7 in acme/shop – \xff, “really”."}
	require.NoError(t, h.Store.Fail(t.Context(), c, f))
	r := get(t, h, acme, "rev_a")
	assert.Equal(t, review.Failed, r.Status)
	assert.Equal(t, &f, r.Failure)
	assert.Equal(t, h.Clock.Stored(), r.CompletedAt)
	assert.Empty(t, r.Findings)
	allLost(t, h, c)
	h.Clock.Advance(24 * time.Hour)
	assert.Empty(t, reap(t, h, 1))
	noClaim(t, h)

	// It was no measured scan.
	assert.Equal(t, review.Load{}, load(t, h, acme, repo))
}

func reap(t *testing.T, h Harness, maxLost int) []review.Reaped {
	t.Helper()
	changed, err := h.Store.ReapExpired(t.Context(), maxLost)
	require.NoError(t, err)
	return changed
}

// queuedAgain are reviews that were reaped and are not lost.
func queuedAgain(ids ...string) []review.Reaped {
	var all []review.Reaped
	for _, id := range ids {
		all = append(all, review.Reaped{ReviewID: id, Status: review.Queued})
	}

	return all
}

func reaped(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	create(t, h, other, "rev_b")
	claim(t, h)
	claim(t, h)
	h.Clock.Advance(lease - time.Microsecond)
	assert.Empty(t, reap(t, h, 10))
	h.Clock.Advance(time.Microsecond)
	assert.ElementsMatch(t, queuedAgain("rev_a", "rev_b"), reap(t, h, 10))
	assert.Empty(t, reap(t, h, 10))
	assert.Equal(t, review.Queued, state(t, h, acme, "rev_a").Status)

	c := claim(t, h) // at once
	assert.Equal(t, 2, c.Attempt)
	assert.Equal(t, 1, c.Lost)
	assert.Zero(t, c.Failures)
}

func extended(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	for i := range 5 {
		h.Clock.Advance(lease - time.Microsecond)
		require.NoError(t, extend(t, h, c, lease, review.Progress{FilesDone: i, FilesTotal: 9}))
		assert.Empty(t, reap(t, h, 10))
		assert.Equal(t, review.Progress{FilesDone: i, FilesTotal: 9}, state(t, h, acme, "rev_a").Progress)
	}

	// A lease can be made shorter.
	require.NoError(t, extend(t, h, c, time.Second, review.Progress{}))
	h.Clock.Advance(time.Second)
	assert.Equal(t, queuedAgain("rev_a"), reap(t, h, 10))

	// One that ran out while nobody took the review does no harm.
	c = claim(t, h)
	h.Clock.Advance(lease + time.Minute)
	require.NoError(t, extend(t, h, c, lease, review.Progress{}))
	assert.Empty(t, reap(t, h, 10), "the lease runs again")
	h.Clock.Advance(lease + time.Minute)
	require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{}))
	assert.Empty(t, reap(t, h, 10))
}

func lostTooOften(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")

	for lost, then := range []review.Status{review.Queued, review.Queued, review.Failed} {
		assert.Equal(t, lost, claim(t, h).Lost)
		h.Clock.Advance(lease)
		assert.Equal(t, []review.Reaped{{ReviewID: "rev_a", Status: then}}, reap(t, h, 3))
	}
	noClaim(t, h)
	r := state(t, h, acme, "rev_a")
	assert.Equal(t, review.Failed, r.Status)
	require.NotNil(t, r.Failure)
	assert.Equal(t, review.CodeWorkerLost, r.Failure.Code)
	assert.NotEmpty(t, r.Failure.Message)
	assert.Equal(t, h.Clock.Stored(), r.CompletedAt)
	h.Clock.Advance(lease)
	assert.Empty(t, reap(t, h, 3))
}

func delayed(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	require.NoError(t, h.Store.Retry(t.Context(), claim(t, h), time.Hour))
	h.Clock.Advance(time.Second)
	create(t, h, acme, "rev_b")
	h.Clock.Advance(time.Second)
	create(t, h, other, "rev_c")
	assert.Equal(t, "rev_c", claim(t, h).ReviewID) // never served
	assert.Equal(t, "rev_b", claim(t, h).ReviewID) // past the delayed one
	noClaim(t, h)

	// A release takes away no delay that is over, and adds none.
	h.Clock.Advance(time.Hour)
	c := claim(t, h)
	require.Equal(t, "rev_a", c.ReviewID)
	require.NoError(t, h.Store.Release(t.Context(), c, 0))
	assert.Equal(t, "rev_a", claim(t, h).ReviewID)
}

// traceParent is W3C trace context, as long as it can be.
const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func waitingCounted(t *testing.T, h Harness) {
	look := func(want ...review.Waiting) {
		t.Helper()
		got, err := h.Store.Waiting(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, append([]review.Waiting(nil), got...))
	}
	look()
	create(t, h, other, "rev_o")
	h.Clock.Advance(time.Second)
	create(t, h, acme, "rev_1")
	h.Clock.Advance(time.Second)
	create(t, h, acme, "rev_2")
	h.Clock.Advance(time.Second)
	look(review.Waiting{Organization: acme, Queued: 2, Oldest: 2 * time.Second},
		review.Waiting{Organization: other, Queued: 1, Oldest: 3 * time.Second})

	require.Equal(t, "rev_o", claim(t, h).ReviewID)
	look(review.Waiting{Organization: acme, Queued: 2, Oldest: 2 * time.Second})
	c := claim(t, h)
	look(review.Waiting{Organization: acme, Queued: 1, Oldest: time.Second})
	require.NoError(t, h.Store.Retry(t.Context(), c, time.Hour))
	look(review.Waiting{Organization: acme, Queued: 2, Oldest: 2 * time.Second})
}

// writes are all calls that need a claim.
func writes(t *testing.T, h Harness, c review.Claim) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"Extend":  func() error { return extend(t, h, c, lease, review.Progress{FilesDone: 1, FilesTotal: 1}) },
		"Finish":  func() error { return h.Store.Finish(ctx, c, outcome(3)) },
		"Fail":    func() error { return h.Store.Fail(ctx, c, review.Failure{Code: "x", Message: "y"}) },
		"Retry":   func() error { return h.Store.Retry(ctx, c, time.Hour) },
		"Release": func() error { return h.Store.Release(ctx, c, 0) },
	}
}

// allLost requires that no call with the claim changes the review.
func allLost(t *testing.T, h Harness, c review.Claim) {
	t.Helper()
	before := get(t, h, c.Organization, c.ReviewID)
	for name, write := range writes(t, h, c) {
		err := write()
		require.ErrorIs(t, err, review.ErrLeaseLost, name)
		assert.Equal(t, errs.Internal, errs.KindOf(err), name)
	}
	assert.Equal(t, before, get(t, h, c.Organization, c.ReviewID))
	rules, err := h.Store.RulesFileRules(t.Context(), c.Organization, c.Repo)
	require.NoError(t, err)
	assert.Empty(t, rules)
}

func lostClaim(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	for _, attempt := range []int{0, 2} {
		forged := c
		forged.Attempt = attempt
		allLost(t, h, forged)
	}
	unknown := c
	unknown.ReviewID = "rev_none"
	require.ErrorIs(t, h.Store.Finish(t.Context(), unknown, finding.Result{}), review.ErrLeaseLost)
	require.NoError(t, h.Store.Release(t.Context(), c, 0))
	allLost(t, h, c) // released
	c = claim(t, h)
	h.Clock.Advance(lease)
	require.Len(t, reap(t, h, 10), 1)
	allLost(t, h, c) // reaped, though nobody has claimed it again

	second := claim(t, h)
	allLost(t, h, c)
	require.NoError(t, h.Store.Finish(t.Context(), second, finding.Result{}))
	allLost(t, h, c)
	allLost(t, h, second)
}
