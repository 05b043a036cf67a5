package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/review"
)

const keep = 90 * 24 * time.Hour

// purgeReviews deletes old reviews until there are no more.
func purgeReviews(t *testing.T, h Harness) (total, steps int) {
	t.Helper()
	total, err := review.Steps(t.Context(), func() (int, bool, error) {
		steps++
		return h.Store.PurgeReviews(t.Context(), keep, h.Clock.Now())
	})
	require.NoError(t, err)

	return total, steps
}

// purgeKeys deletes expired keys until there are no more.
func purgeKeys(t *testing.T, h Harness) int {
	t.Helper()
	total, err := review.Steps(t.Context(), func() (int, bool, error) { return h.Store.PurgeKeys(t.Context(), keep) })
	require.NoError(t, err)

	return total
}

func purgedEnded(t *testing.T, h Harness) {
	finish(t, h, "rev_complete", outcome(3))
	create(t, h, acme, "rev_failed")
	require.NoError(t, h.Store.Fail(t.Context(), claim(t, h), review.Failure{Code: "x", Message: "y"}))
	create(t, h, acme, "rev_canceled")
	cancel(t, h, acme, "rev_canceled")
	create(t, h, acme, "rev_running")
	claim(t, h)
	create(t, h, acme, "rev_queued")
	create(t, h, other, "rev_retried")

	for range 2 {
		require.NoError(t, h.Store.Retry(t.Context(), claim(t, h), 1000*keep))
	}

	h.Clock.Advance(keep - time.Microsecond)
	n, _ := purgeReviews(t, h)
	assert.Zero(t, n)
	finish(t, h, "rev_young", outcome(2))
	h.Clock.Advance(time.Microsecond)

	n, more, err := h.Store.PurgeReviews(t.Context(), keep, h.Clock.Now().Add(-time.Microsecond))
	require.NoError(t, err)
	assert.False(t, more)
	assert.Zero(t, n, "a clock that leaps ahead deletes nothing")
	n, _ = purgeReviews(t, h)
	assert.Equal(t, 3, n)

	for _, id := range []string{"rev_complete", "rev_failed", "rev_canceled"} {
		gone(t, h, acme, id)
	}
	young := get(t, h, acme, "rev_young")
	assert.Len(t, young.Findings, 2)
	assert.Len(t, young.Skips, 2)
	assert.ElementsMatch(t, []string{"rev_young", "rev_queued", "rev_running"},
		ids(list(t, h, acme, review.Filter{Limit: 10})))

	h.Clock.Advance(100 * keep)
	n, _ = purgeReviews(t, h)
	assert.Equal(t, 1, n)
	assert.Equal(t, review.InProgress, state(t, h, acme, "rev_running").Status, "however old it is")
	assert.Equal(t, review.Queued, state(t, h, acme, "rev_queued").Status)
	assert.Equal(t, review.Queued, state(t, h, other, "rev_retried").Status)
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

	n, more, err := h.Store.PurgeReviews(t.Context(), keep, h.Clock.Now())
	require.NoError(t, err)
	assert.True(t, more)
	assert.Equal(t, 1, n, "the oldest alone, all at once")
	gone(t, h, acme, "rev_large")

	total, steps := purgeReviews(t, h)
	assert.Equal(t, 122, total)
	assert.Greater(t, steps, 3, "no more than 50 reviews and 1,000 rows a step")
	assert.Empty(t, list(t, h, acme, review.Filter{Limit: 10}))
}

func purgedIdempotency(t *testing.T, h Harness) {
	const n = 600 // more than one step deletes

	for i := range n {
		_, err := h.Store.CreateReview(t.Context(), keyed([]string{acme, other}[i%2], fmt.Sprintf("rev_%d", i),
			fmt.Sprint("key", i), "hash"), n)
		require.NoError(t, err)
	}
	h.Clock.Advance(time.Hour)
	accept(t, h, keyed(other, "rev_late", "late", "hash"))

	h.Clock.Advance(review.IdempotencyTTL - time.Hour - time.Microsecond)
	assert.Zero(t, purgeKeys(t, h))
	h.Clock.Advance(time.Microsecond)
	assert.Equal(t, n, purgeKeys(t, h))
	again, err := h.Store.CreateReview(t.Context(), keyed(other, "rev_again", "late", "hash"), n)
	require.NoError(t, err)
	assert.Equal(t, "rev_late", again.ReviewID, "it is still valid")
}

func purgedKeys(t *testing.T, h Harness) {
	addKey(t, h, acme, "key_valid")
	addKey(t, h, acme, "key_revoked")
	require.NoError(t, revokeKey(t.Context(), h, acme, "key_revoked"))
	k := addKey(t, h, other, "key_unused")
	k.ID, k.Hash, k.ExpiresAt = "key_expired", hashOf("key_expired"), h.Clock.Now().Add(time.Hour)
	_, err := h.Store.CreateKey(t.Context(), k, auth.Quota)
	require.NoError(t, err)

	h.Clock.Advance(keep - time.Microsecond)
	assert.Zero(t, purgeKeys(t, h))
	h.Clock.Advance(time.Microsecond)
	assert.Equal(t, 1, purgeKeys(t, h))
	h.Clock.Advance(time.Hour)
	assert.Equal(t, 1, purgeKeys(t, h))

	for id, want := range map[string]bool{"key_valid": true, "key_unused": true, "key_revoked": false,
		"key_expired": false} {
		_, found, err := h.Store.KeyByHash(t.Context(), hashOf(id))
		require.NoError(t, err)
		assert.Equal(t, want, found, id)
	}
}

func purgedEvents(t *testing.T, h Harness) {
	addKey(t, h, acme, "key_a")
	h.Clock.Advance(time.Hour)
	addKey(t, h, other, "key_b")
	purge := func(latest time.Time) int {
		t.Helper()
		n, _, err := h.Store.PurgeEvents(t.Context(), keep, latest)
		require.NoError(t, err)

		return n
	}

	h.Clock.Advance(keep - time.Hour)
	assert.Zero(t, purge(h.Clock.Now().Add(-time.Microsecond)), "a clock that is ahead is not believed")
	assert.Equal(t, 1, purge(h.Clock.Now()))
	assert.Equal(t, "key_b", events(t, h, "", audit.Filter{})[0].Target)
	assert.Zero(t, purge(h.Clock.Now()))
}
