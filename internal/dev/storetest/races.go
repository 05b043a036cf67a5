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

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func raceTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"nothing is claimed twice":            claimRace,
		"one review for one idempotency key":  idempotencyRace,
		"the queue's limit holds":             queueRace,
		"the rules' quota holds":              quotaRace,
		"either canceled or complete":         cancelRace,
		"either finished or reaped":           reapRace,
		"findings become visible all at once": atomicFinish,
	}
}

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
			c, err := h.Store.Claim(ctx, fmt.Sprintf("worker %d", i), lease)
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
	for _, org := range []string{acme, other} {
		done := list(t, h, org, review.Filter{Status: review.Complete, Limit: reviews})
		assert.Len(t, done, reviews/2)
	}
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
	list := list(t, h, acme, review.Filter{Limit: 100})
	assert.Len(t, list, rounds)
}

func queueRace(t *testing.T, h Harness) {
	const callers, limit = 24, 10
	var accepted, refused atomic.Int32
	together(t, callers, func(ctx context.Context, i int) error {
		_, err := h.Store.CreateReview(ctx, newReview(acme, fmt.Sprintf("rev_%02d", i)), limit)
		switch {
		case err == nil:
			accepted.Add(1)
		case errs.ReasonOf(err) == errs.ReasonQueueFull:
			refused.Add(1)
		default:
			return err
		}

		return nil
	})
	assert.EqualValues(t, limit, accepted.Load())
	assert.EqualValues(t, callers-limit, refused.Load())
	list := list(t, h, acme, review.Filter{Limit: 100})
	assert.Len(t, list, limit)
}

func quotaRace(t *testing.T, h Harness) {
	const callers, quota = 24, 10
	var created atomic.Int32
	together(t, callers, func(ctx context.Context, i int) error {
		_, err := h.Store.CreateRule(ctx, acme, orgRule(fmt.Sprintf("rule-%02d", i)), quota)
		if err == nil {
			created.Add(1)
		} else if errs.ReasonOf(err) == errs.ReasonRuleQuota {
			return nil
		}

		return err
	})
	assert.EqualValues(t, quota, created.Load())
	n, _, err := h.Store.CountRules(t.Context(), acme)
	require.NoError(t, err)
	assert.Equal(t, quota, n)
}

func cancelRace(t *testing.T, h Harness) {
	const rounds = 25
	var completed, canceled int
	for i := range rounds {
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
			completed++
			require.NoError(t, errFinish)
			wantError(t, errCancel, errs.FailedPrecondition, errs.ReasonReviewFinished)
			require.Len(t, r.Findings, 20)
		case review.Canceled:
			canceled++
			require.NoError(t, errCancel)
			require.ErrorIs(t, errFinish, review.ErrLeaseLost)
			require.Empty(t, r.Findings)
			require.Empty(t, r.HeadSHA)
		default:
			require.Fail(t, "neither", "%s", r.Status)
		}
	}
	t.Logf("%d complete, %d canceled", completed, canceled)
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
		var seen atomic.Int32 // readers that have seen it complete
		const readers = 3
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
					seen.Add(1)
					return nil
				}
			}
		})
		require.EqualValues(t, readers, seen.Load())
	}
}
