package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func retentionTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"only what ended is deleted":               purgedEnded,
		"the end counts, not the begin":            purgedByEnd,
		"one step does little":                     purgedInSteps,
		"a clock that leaps ahead deletes nothing": leapingClock,
		"counts and averages stay":                 countsStay,
		"expired idempotency keys go":              purgedIdempotency,
		"dead API keys go":                         purgedKeys,
		"forgotten repositories go":                purgedRepositories,
		"an empty store has nothing to delete":     purgedNothing,
	}
}

const keep = 90 * 24 * time.Hour

// purgeAll deletes old reviews until there are no more, and returns what it
// deleted in how many steps.
func purgeAll(t *testing.T, h Harness) (total review.Deleted, steps int) {
	t.Helper()
	for more := true; more; steps++ {
		var d review.Deleted
		var err error
		d, more, err = h.Store.PurgeReviews(t.Context(), keep, h.Clock.Now())
		require.NoError(t, err)
		total = total.Plus(d)
		require.Less(t, steps, 1_000)
	}

	return total, steps
}

// gone requires that there is no such review.
func gone(t *testing.T, h Harness, org, id string) {
	t.Helper()
	_, err := h.Store.GetReview(t.Context(), org, id)
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
	_, err = h.Store.GetReviewState(t.Context(), org, id)
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
	_, err = h.Store.CancelReview(t.Context(), org, id)
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
}

func purgedEnded(t *testing.T, h Harness) {
	finish(t, h, "rev_complete", outcome(3))
	create(t, h, acme, "rev_failed")
	require.NoError(t, h.Store.Fail(t.Context(), claim(t, h), review.Failure{Code: "x", Message: "y"}))
	create(t, h, acme, "rev_canceled")
	_, err := h.Store.CancelReview(t.Context(), acme, "rev_canceled")
	require.NoError(t, err)
	create(t, h, acme, "rev_running")
	claim(t, h)
	create(t, h, acme, "rev_queued")
	create(t, h, other, "rev_retried")
	for range 2 {
		require.NoError(t, h.Store.Retry(t.Context(), claim(t, h), 1000*keep))
	}
	ended := h.Clock.Now()

	h.Clock.Advance(keep - time.Microsecond)
	d, _ := purgeAll(t, h)
	assert.Equal(t, review.Deleted{}, d)
	finish(t, h, "rev_young", outcome(2))
	h.Clock.Advance(time.Microsecond)
	require.Equal(t, keep, h.Clock.Now().Sub(ended))

	d, _ = purgeAll(t, h)
	assert.Equal(t, review.Deleted{Reviews: 3, Findings: 3, Skips: 3}, d)
	for _, id := range []string{"rev_complete", "rev_failed", "rev_canceled"} {
		gone(t, h, acme, id)
	}
	young, err := h.Store.GetReview(t.Context(), acme, "rev_young")
	require.NoError(t, err)
	assert.Len(t, young.Findings, 2)
	assert.Len(t, young.Skips, 2)
	list, err := h.Store.ListReviews(t.Context(), acme, review.Filter{Limit: 10})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"rev_young", "rev_queued", "rev_running"}, ids(list))

	h.Clock.Advance(100 * keep)
	d, _ = purgeAll(t, h)
	assert.Equal(t, review.Deleted{Reviews: 1, Findings: 2 + 1, Skips: 2}, d, "with one that it had as fixed")
	assert.Equal(t, review.InProgress, state(t, h, acme, "rev_running").Status, "however old it is")
	assert.Equal(t, review.Queued, state(t, h, acme, "rev_queued").Status)
	assert.Equal(t, review.Queued, state(t, h, other, "rev_retried").Status)
}

func purgedByEnd(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	h.Clock.Advance(keep)
	require.NoError(t, h.Store.Finish(t.Context(), c, outcome(0)))
	d, _ := purgeAll(t, h)
	assert.Equal(t, review.Deleted{}, d)
	h.Clock.Advance(keep)
	d, _ = purgeAll(t, h)
	assert.Equal(t, review.Deleted{Reviews: 1}, d)
}

func purgedInSteps(t *testing.T, h Harness) {
	finish(t, h, "rev_large", outcome(3_000))
	for i := range 120 {
		h.Clock.Advance(time.Second)
		finish(t, h, fmt.Sprintf("rev_%03d", i), outcome(i%3))
	}
	finish(t, h, "rev_middle_1", outcome(400))
	finish(t, h, "rev_middle_2", outcome(400))
	h.Clock.Advance(keep)

	d, more, err := h.Store.PurgeReviews(t.Context(), keep, h.Clock.Now())
	require.NoError(t, err)
	assert.True(t, more)
	assert.Equal(t, review.Deleted{Reviews: 1, Findings: 3_000, Skips: 3_000}, d, "the oldest alone, all at once")
	gone(t, h, acme, "rev_large")
	total, steps := purgeAll(t, h)
	assert.Equal(t, review.Deleted{Reviews: 122, Findings: 920 + 3_000 + 39*2, Skips: 920}, total,
		"with what they had as fixed")
	assert.Greater(t, steps, 3, "no more than 50 reviews and 1,000 rows a step")
	list, err := h.Store.ListReviews(t.Context(), acme, review.Filter{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, list)
}

func leapingClock(t *testing.T, h Harness) {
	finish(t, h, "rev_a", outcome(1))
	truth := h.Clock.Now()
	h.Clock.Advance(10 * keep)
	d, more, err := h.Store.PurgeReviews(t.Context(), keep, truth.Add(24*time.Hour))
	require.NoError(t, err)
	assert.False(t, more)
	assert.Equal(t, review.Deleted{}, d)
	d, _, err = h.Store.PurgeReviews(t.Context(), keep, truth.Add(keep))
	require.NoError(t, err)
	assert.Equal(t, 1, d.Reviews)
}

func countsStay(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	h.Clock.Advance(3 * time.Second)
	require.NoError(t, h.Store.Finish(t.Context(), c, outcome(1)))
	create(t, h, acme, "rev_running")
	claim(t, h)
	create(t, h, acme, "rev_queued")
	before, err := h.Store.Load(t.Context(), acme, repo)
	require.NoError(t, err)
	require.Equal(t, review.Load{Queued: 1, Ahead: 1, Running: 1, Average: 3 * time.Second, Overall: 3 * time.Second},
		before)

	h.Clock.Advance(keep)
	d, _ := purgeAll(t, h)
	require.Equal(t, 1, d.Reviews)
	after, err := h.Store.Load(t.Context(), acme, repo)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Equal(t, "rev_queued", claim(t, h).ReviewID)
}

func purgeExpired(t *testing.T, h Harness) review.Deleted {
	t.Helper()
	var total review.Deleted
	for more := true; more; {
		var d review.Deleted
		var err error
		d, more, err = h.Store.PurgeExpired(t.Context(), keep)
		require.NoError(t, err)
		total = total.Plus(d)
	}

	return total
}

func purgedIdempotency(t *testing.T, h Harness) {
	const n = 600 // more than one step deletes
	for i := range n {
		_, err := h.Store.CreateReview(t.Context(), keyed([]string{acme, other}[i%2], fmt.Sprintf("rev_%d", i),
			fmt.Sprint("key", i), "hash"), n)
		require.NoError(t, err)
	}
	h.Clock.Advance(time.Hour)
	_, err := h.Store.CreateReview(t.Context(), keyed(other, "rev_late", "late", "hash"), n)
	require.NoError(t, err)
	h.Clock.Advance(review.IdempotencyTTL - time.Hour - time.Microsecond)
	assert.Equal(t, review.Deleted{}, purgeExpired(t, h))
	h.Clock.Advance(time.Microsecond)
	assert.Equal(t, review.Deleted{IdempotencyKeys: n}, purgeExpired(t, h))
	again, err := h.Store.CreateReview(t.Context(), keyed(other, "rev_again", "late", "hash"), n)
	require.NoError(t, err)
	assert.Equal(t, "rev_late", again.ReviewID, "it is still valid")
}

func purgedKeys(t *testing.T, h Harness) {
	addKey(t, h, acme, "key_valid")
	addKey(t, h, acme, "key_revoked")
	require.NoError(t, h.Store.RevokeKey(t.Context(), acme, "key_revoked"))
	k := addKey(t, h, other, "key_unused")
	k.ID, k.Hash, k.ExpiresAt = "key_expired", hashOf("key_expired"), h.Clock.Now().Add(time.Hour)
	_, err := h.Store.CreateKey(t.Context(), k)
	require.NoError(t, err)

	h.Clock.Advance(keep - time.Microsecond)
	assert.Equal(t, review.Deleted{}, purgeExpired(t, h))
	h.Clock.Advance(time.Microsecond)
	assert.Equal(t, review.Deleted{APIKeys: 1}, purgeExpired(t, h))
	h.Clock.Advance(time.Hour)
	assert.Equal(t, review.Deleted{APIKeys: 1}, purgeExpired(t, h))
	for id, want := range map[string]bool{"key_valid": true, "key_unused": true, "key_revoked": false,
		"key_expired": false} {
		_, found, err := h.Store.KeyByHash(t.Context(), hashOf(id))
		require.NoError(t, err)
		assert.Equal(t, want, found, id)
	}
}

func purgedRepositories(t *testing.T, h Harness) {
	scanned := func(id, name string) {
		t.Helper()
		n := newReview(acme, id)
		n.Repo = name
		_, err := h.Store.CreateReview(t.Context(), n, 10)
		require.NoError(t, err)
		c := claim(t, h)
		h.Clock.Advance(2 * time.Second)
		o := outcome(0)
		o.RulesFileValid = true
		o.RulesFile = []rule.Rule{{ID: "no-print", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low,
			Scope: rule.ScopeRepo, Repo: name}}
		require.NoError(t, h.Store.Finish(t.Context(), c, o))
	}
	purge := func() (total review.Deleted) {
		t.Helper()
		for more := true; more; {
			var d review.Deleted
			var err error
			d, more, err = h.Store.PurgeRepositories(t.Context())
			require.NoError(t, err)
			total = total.Plus(d)
		}

		return total
	}
	scanned("rev_gone", "acme/gone")
	scanned("rev_old", repo)
	h.Clock.Advance(keep)
	scanned("rev_new", repo)
	assert.Equal(t, review.Deleted{}, purge(), "there are still reviews")
	d, _ := purgeAll(t, h)
	require.Equal(t, 2, d.Reviews)
	assert.Equal(t, review.Deleted{Repositories: 1}, purge())
	assert.Equal(t, review.Deleted{}, purge())

	_, byRepo, err := h.Store.CountRules(t.Context(), acme)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{repo: 1}, byRepo)
	for name, want := range map[string]int{"acme/gone": 0, repo: 1} {
		rules, err := h.Store.RulesFileRules(t.Context(), acme, name)
		require.NoError(t, err)
		assert.Len(t, rules, want, name)
	}
	l, err := h.Store.Load(t.Context(), acme, "acme/gone")
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, l.Average, "the organization's average is there")
}

func purgedNothing(t *testing.T, h Harness) {
	d, steps := purgeAll(t, h)
	assert.Equal(t, review.Deleted{}, d)
	assert.Equal(t, 1, steps)
	assert.Equal(t, review.Deleted{}, purgeExpired(t, h))
	d, more, err := h.Store.PurgeRepositories(t.Context())
	require.NoError(t, err)
	assert.False(t, more)
	assert.Equal(t, review.Deleted{}, d)
	more, err = h.Store.GiveBack(t.Context())
	require.NoError(t, err)
	assert.False(t, more)
}
