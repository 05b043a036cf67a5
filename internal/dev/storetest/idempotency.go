package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

func idempotencyTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"the same request gets the first answer": sameRequest,
		"another request is a conflict":          anotherRequest,
		"keys are the organization's":            keysApart,
		"a key expires":                          keyExpires,
		"a refused creation keeps no key":        refusedKey,
	}
}

// keyed returns a review to be created with an idempotency key.
func keyed(org, id, key, hash string) review.NewReview {
	n := newReview(org, id)
	n.Idempotency = &review.Idempotency{Key: key, RequestHash: hash, TTL: review.IdempotencyTTL}
	return n
}

func sameRequest(t *testing.T, h Harness) {
	first, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_1", "key", "hash"), 1)
	require.NoError(t, err)
	assert.Equal(t, review.Accepted{ReviewID: "rev_1", EstimatedMS: 4_200}, first)

	again := func() {
		t.Helper()
		n := keyed(acme, "rev_2", "key", "hash")
		n.EstimatedMS = 9_999
		got, err := h.Store.CreateReview(t.Context(), n, 1) // the queue is full, which is no matter
		require.NoError(t, err)
		assert.Equal(t, review.Accepted{ReviewID: "rev_1", EstimatedMS: 4_200, Replayed: true}, got)
		_, err = h.Store.GetReviewState(t.Context(), acme, "rev_2")
		wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)
	}
	again()
	h.Clock.Advance(review.IdempotencyTTL - time.Microsecond)
	again()
	// The answer stays the first one, whatever became of the review.
	require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), outcome(0)))
	again()
	noClaim(t, h)
}

func anotherRequest(t *testing.T, h Harness) {
	_, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_1", "key", "hash"), 10)
	require.NoError(t, err)
	_, err = h.Store.CreateReview(t.Context(), keyed(acme, "rev_2", "key", "other hash"), 10)
	wantError(t, err, errs.Aborted, errs.ReasonIdempotencyConflict)
	_, err = h.Store.GetReviewState(t.Context(), acme, "rev_2")
	wantError(t, err, errs.NotFound, errs.ReasonReviewNotFound)

	// Keys are compared byte by byte.
	for i, key := range []string{"Key", "key ", "ke", "%"} {
		a, err := h.Store.CreateReview(t.Context(), keyed(acme, fmt.Sprintf("rev_%d", 10+i), key, "hash"), 10)
		require.NoError(t, err)
		assert.False(t, a.Replayed, key)
	}
}

func keysApart(t *testing.T, h Harness) {
	for _, org := range []string{acme, other} {
		a, err := h.Store.CreateReview(t.Context(), keyed(org, "rev_"+org, "key", "hash of "+org), 10)
		require.NoError(t, err)
		assert.False(t, a.Replayed)
	}
}

func keyExpires(t *testing.T, h Harness) {
	_, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_1", "key", "hash"), 10)
	require.NoError(t, err)
	h.Clock.Advance(review.IdempotencyTTL)
	a, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_2", "key", "other hash"), 10)
	require.NoError(t, err)
	assert.Equal(t, review.Accepted{ReviewID: "rev_2", EstimatedMS: 4_200}, a)
	a, err = h.Store.CreateReview(t.Context(), keyed(acme, "rev_3", "key", "other hash"), 10)
	require.NoError(t, err)
	assert.Equal(t, "rev_2", a.ReviewID)
	assert.True(t, a.Replayed)
	assert.Equal(t, review.Queued, state(t, h, acme, "rev_1").Status)
}

func refusedKey(t *testing.T, h Harness) {
	create(t, h, acme, "rev_0")
	_, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_1", "key", "hash"), 1)
	wantError(t, err, errs.Unavailable, errs.ReasonQueueFull)
	a, err := h.Store.CreateReview(t.Context(), keyed(acme, "rev_2", "key", "hash"), 2)
	require.NoError(t, err)
	assert.Equal(t, review.Accepted{ReviewID: "rev_2", EstimatedMS: 4_200}, a)
}
