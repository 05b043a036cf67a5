package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// together runs fn n times at once, and fails the test with the first error.
func together(t *testing.T, n int, fn func(ctx context.Context, i int) error) {
	t.Helper()
	g, ctx := errgroup.WithContext(t.Context())
	start := make(chan struct{})
	for i := range n {
		g.Go(func() error {
			<-start
			return fn(ctx, i)
		})
	}
	close(start)
	require.NoError(t, g.Wait())
}

func claimRace(t *testing.T, h Harness) {
	const reviews, workers = 120, 12
	want := append(createMany(t, h, acme, reviews/2), createMany(t, h, other, reviews/2)...)
	var mu sync.Mutex
	var got []string
	together(t, workers, func(ctx context.Context, i int) error {
		for {
			c, err := h.Store.Claim(ctx, review.Claiming{Worker: fmt.Sprintf("worker %d", i), Lease: lease})
			if err != nil || c == nil {
				return err
			}
			if c.Attempt != 1 {
				return fmt.Errorf("%s was claimed for the %d. time", c.ReviewID, c.Attempt)
			}
			mu.Lock()
			got = append(got, c.ReviewID)
			mu.Unlock()
			if err := h.Store.Finish(ctx, *c, outcome(2)); err != nil {
				return err
			}
		}
	})

	assert.ElementsMatch(t, want, got)
}

func idempotencyRace(t *testing.T, h Harness) {
	const callers, rounds = 16, 5

	for round := range rounds {
		var fresh atomic.Int32
		answers := make([]review.Accepted, callers)
		together(t, callers, func(ctx context.Context, i int) error {
			n := keyed(acme, fmt.Sprintf("rev_%d_%02d", round, i), fmt.Sprintf("key %d", round), "hash")
			a, err := h.Store.CreateReview(ctx, n, 100)
			if err == nil && !a.Replayed {
				fresh.Add(1)
			}
			answers[i] = a
			return err
		})
		require.EqualValues(t, 1, fresh.Load())

		for _, a := range answers {
			require.Equal(t, answers[0].ReviewID, a.ReviewID)
		}
	}
	assert.Len(t, list(t, h, acme, review.Filter{Limit: 100}), rounds)
}

func queueRace(t *testing.T, h Harness) {
	const callers, limit = 24, 10
	var accepted atomic.Int32
	together(t, callers, func(ctx context.Context, i int) error {
		_, err := h.Store.CreateReview(ctx, newReview(acme, fmt.Sprintf("rev_%02d", i)), limit)
		if errs.ReasonOf(err) == errs.ReasonQueueFull {
			return nil
		}
		accepted.Add(1)

		return err
	})

	assert.EqualValues(t, limit, accepted.Load())
	assert.Len(t, list(t, h, acme, review.Filter{Limit: 100}), limit)
}

func cancelRace(t *testing.T, h Harness) {
	for i := range 25 {
		id := create(t, h, acme, fmt.Sprintf("rev_%02d", i))
		c := claim(t, h)
		var errFinish, errCancel error
		together(t, 2, func(ctx context.Context, who int) error {
			if who == 0 {
				errFinish = h.Store.Finish(ctx, c, outcome(20))
			} else {
				_, errCancel = h.Store.CancelReview(ctx, acme, id)
			}

			return nil
		})
		r := get(t, h, acme, id)
		switch r.Status {
		case review.Complete:
			require.NoError(t, errFinish)
			wantError(t, errCancel, errs.FailedPrecondition, errs.ReasonReviewFinished)
			require.Len(t, r.Findings, 20)
		case review.Canceled:
			require.NoError(t, errCancel)
			require.ErrorIs(t, errFinish, review.ErrLeaseLost)
			require.Empty(t, r.Findings)
			require.Empty(t, r.HeadSHA)
		default:
			require.Fail(t, "neither", "%s", r.Status)
		}
	}
}

func reapRace(t *testing.T, h Harness) {
	for i := range 25 {
		id := create(t, h, acme, fmt.Sprintf("rev_%02d", i))
		c := claim(t, h)
		h.Clock.Advance(lease)
		var errFinish error
		var reaped []review.Reaped
		together(t, 2, func(ctx context.Context, who int) (err error) {
			if who == 0 {
				errFinish = h.Store.Finish(ctx, c, outcome(1))
				return nil
			}
			reaped, err = h.Store.ReapExpired(ctx, 10)
			return err
		})
		r := state(t, h, acme, id)
		if len(reaped) == 0 {
			require.NoError(t, errFinish)
			require.Equal(t, review.Complete, r.Status)
			continue
		}
		require.Equal(t, queuedAgain(id), reaped)
		require.ErrorIs(t, errFinish, review.ErrLeaseLost)
		require.Equal(t, review.Queued, r.Status)
		again := claim(t, h)
		require.Equal(t, id, again.ReviewID)
		require.NoError(t, h.Store.Finish(t.Context(), again, outcome(1)))
	}
}

func atomicFinish(t *testing.T, h Harness) {
	const findings = 2_000

	for round := range 3 {
		id := create(t, h, acme, fmt.Sprintf("rev_%d", round))
		c := claim(t, h)
		const readers = 3 // each until it sees the review complete
		together(t, readers+1, func(ctx context.Context, i int) error {
			if i == 0 {
				return h.Store.Finish(ctx, c, outcome(findings))
			}
			for {
				r, err := h.Store.GetReview(ctx, acme, id)
				if err != nil {
					return err
				}
				want := 0
				if r.Status == review.Complete {
					want = findings
				}
				if len(r.Findings) != want || len(r.Skips) != want || r.Summary[rule.High] != want {
					return fmt.Errorf("%s with %d findings, %d skips, %v", r.Status, len(r.Findings), len(r.Skips), r.Summary)
				}
				if r.Status == review.Complete {
					return nil
				}
			}
		})
	}
}

func everythingStays(t *testing.T, h Harness) {
	ctx := t.Context()
	o := outcome(30)
	o.RulesFileValid, o.RulesFile = true, []rule.Rule{fileRule("x")}
	complete := finish(t, h, "rev_complete", o)
	h.Clock.Advance(time.Second)
	create(t, h, acme, "rev_running")
	running := claim(t, h)
	accept(t, h, keyed(acme, "rev_queued", "key", "hash"))
	stored := addRule(t, h, acme, orgRule("a"))
	key := addKey(t, h, acme, "key_a")

	h.Store = h.Reopen(t)
	assert.Equal(t, complete, get(t, h, acme, complete.ID))
	assert.Equal(t, review.Accepted{ReviewID: "rev_queued", EstimatedMS: 4_200, Replayed: true},
		accept(t, h, keyed(acme, "rev_other", "key", "hash")))
	gotRule, err := h.Store.GetRule(ctx, acme, "custom/a")
	require.NoError(t, err)
	assert.Equal(t, stored, gotRule)
	fromFile, err := h.Store.RulesFileRules(ctx, acme, repo)
	require.NoError(t, err)
	assert.Equal(t, o.RulesFile, fromFile)
	gotKey, err := keyByHash(ctx, h.Store, key.Hash)
	require.NoError(t, err)
	assert.Equal(t, key, gotKey)

	// Leases and turns go on: the claim still holds, and its end is counted.
	require.NoError(t, extend(t, h, running, lease, review.Progress{}))
	assert.Equal(t, "rev_queued", claim(t, h).ReviewID)
	require.NoError(t, h.Store.Finish(ctx, running, outcome(1)))
	h.Clock.Advance(lease)
	assert.Equal(t, queuedAgain("rev_queued"), reap(t, h, 10))
}

func closedStore(t *testing.T, h Harness) {
	closed := h.Store
	h.Store = h.Reopen(t)
	_, errGet := closed.GetReview(t.Context(), acme, "rev_a")
	_, errCreate := closed.CreateReview(t.Context(), newReview(acme, "rev_a"), 10)
	_, errClaim := closed.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: lease})
	for _, err := range []error{errGet, errCreate, errClaim} {
		wantError(t, err, errs.Unavailable, errs.ReasonUnavailable)
	}
	create(t, h, acme, "rev_a")
}
