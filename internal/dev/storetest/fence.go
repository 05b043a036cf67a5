package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

func fenceTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"a lost claim writes nothing":               lostClaim,
		"a claim outlives its lease until reaped":   lateHolder,
		"a claim of a queued review is void":        voidClaim,
		"a final state is final":                    finalState,
		"a claim of another attempt number is void": forgedAttempt,
	}
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
	after := get(t, h, c.Organization, c.ReviewID)
	assert.Equal(t, before, after)
	rules, err := h.Store.RulesFileRules(t.Context(), c.Organization, c.Repo)
	require.NoError(t, err)
	assert.Empty(t, rules)
}

func lostClaim(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	first := claim(t, h)
	h.Clock.Advance(lease)
	require.Len(t, reap(t, h, 10), 1)
	second := claim(t, h)
	allLost(t, h, first)
	require.NoError(t, h.Store.Finish(t.Context(), second, finding.Result{}))
	allLost(t, h, first)
	allLost(t, h, second)
}

func lateHolder(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	h.Clock.Advance(lease + time.Minute)
	require.NoError(t, extend(t, h, c, lease, review.Progress{}))
	assert.Empty(t, reap(t, h, 10), "the lease runs again")
	h.Clock.Advance(lease + time.Minute)
	require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{}))
	assert.Empty(t, reap(t, h, 10))
	assert.Equal(t, review.Complete, state(t, h, acme, "rev_a").Status)
}

func voidClaim(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	require.NoError(t, h.Store.Release(t.Context(), c, 0))
	allLost(t, h, c)
	h.Clock.Advance(lease)
	c = claim(t, h)
	h.Clock.Advance(lease)
	require.Len(t, reap(t, h, 10), 1)
	allLost(t, h, c) // reaped, though nobody has claimed it again
}

func finalState(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	require.NoError(t, h.Store.Fail(t.Context(), c, review.Failure{Code: "x", Message: "y"}))
	allLost(t, h, c)
	create(t, h, acme, "rev_b")
	c = claim(t, h)
	_, err := h.Store.CancelReview(t.Context(), acme, "rev_b")
	require.NoError(t, err)
	allLost(t, h, c)
	h.Clock.Advance(24 * time.Hour)
	assert.Empty(t, reap(t, h, 1))
	noClaim(t, h)
}

func forgedAttempt(t *testing.T, h Harness) {
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
}
