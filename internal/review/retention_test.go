package review_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/review"
)

// oldStore has so many steps of each kind to do.
type oldStore struct {
	mu     sync.Mutex
	left   map[string]int
	calls  map[string]int
	latest time.Time
	err    error
}

func (f *oldStore) step(what string) (did, more bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[what]++
	if f.err != nil {
		return false, true, f.err
	}
	if f.left[what] == 0 {
		return false, false, nil
	}

	f.left[what]--
	return true, f.left[what] > 0, nil
}

func (f *oldStore) count(what string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[what]
}

func (f *oldStore) deleted(what string, d review.Deleted) (review.Deleted, bool, error) {
	did, more, err := f.step(what)
	if !did {
		d = review.Deleted{}
	}

	return d, more, err
}

func (f *oldStore) PurgeReviews(_ context.Context, _ time.Duration, latest time.Time) (review.Deleted, bool, error) {
	f.latest = latest
	return f.deleted("reviews", review.Deleted{Reviews: 2, Findings: 5, Skips: 1})
}

func (f *oldStore) PurgeExpired(context.Context, time.Duration) (review.Deleted, bool, error) {
	return f.deleted("expired", review.Deleted{IdempotencyKeys: 3, APIKeys: 1})
}

func (f *oldStore) PurgeRepositories(context.Context) (review.Deleted, bool, error) {
	return f.deleted("repositories", review.Deleted{Repositories: 1})
}

func (f *oldStore) FoldLog(context.Context) error {
	_, _, err := f.step("fold")
	return err
}

func (f *oldStore) GiveBack(context.Context) (bool, error) {
	_, more, err := f.step("give back")
	return more, err
}

// retained runs the retention of a store for some time, on a clock that moves
// when nothing else does.
func retained(t *testing.T, f *oldStore, o review.RetentionOptions, during time.Duration, check func(t *testing.T)) {
	t.Helper()
	f.calls = map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		r := review.NewRetention(f, o)
		r.Start()
		r.Start()
		<-time.After(during)
		require.NoError(t, r.Stop(t.Context()))
		require.NoError(t, r.Stop(t.Context()), "twice is once")
		check(t)

		before := f.count("fold")
		r.Start()
		<-time.After(during)
		assert.Equal(t, before, f.count("fold"), "stopped is stopped")
	})
}

func TestRetentionDoesEverything(t *testing.T) {
	t.Parallel()
	f := &oldStore{left: map[string]int{"reviews": 3, "expired": 2, "repositories": 1, "give back": 2}}
	var log strings.Builder
	var total review.Deleted
	o := review.RetentionOptions{
		Keep: time.Hour, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Now:      func() time.Time { return time.Unix(0, 0) },
		OnPurged: func(d review.Deleted) { total = total.Plus(d) },
	}
	retained(t, f, o, 5*time.Minute+30*time.Second, func(t *testing.T) {
		assert.Equal(t, map[string]int{
			"reviews": 6, "findings": 15, "skips": 3, "idempotency_keys": 6, "api_keys": 2, "repositories": 1,
		}, total.ByKind())
		assert.Equal(t, time.Unix(0, 0).Add(24*time.Hour), f.latest)
		assert.Equal(t, 3, f.count("reviews"), "the next look comes after ten minutes")
		assert.Equal(t, 6, f.count("fold"))
		assert.Equal(t, 1, strings.Count(log.String(), `"msg":"deleted what is old","reviews":6,"findings":15`), log.String())
	})
}

// A deletion may take hours, in which the log is emptied all the same.
func TestRetentionGoesOnWhileItDeletes(t *testing.T) {
	t.Parallel()
	const endless = 1 << 30
	for _, what := range []string{"reviews", "repositories", "expired", "give back"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := &oldStore{left: map[string]int{what: endless}}
			retained(t, f, review.RetentionOptions{Keep: time.Hour}, 5*time.Minute+30*time.Second, func(t *testing.T) {
				assert.Greater(t, f.count(what), 1000)
				assert.Equal(t, 6, f.count("fold"))
			})
		})
	}
}

func TestRetentionKeepsReviewsForEver(t *testing.T) {
	t.Parallel()
	f := &oldStore{left: map[string]int{"reviews": 1, "repositories": 1, "expired": 1}}
	retained(t, f, review.RetentionOptions{}, 5*time.Minute+30*time.Second, func(t *testing.T) {
		assert.Zero(t, f.count("reviews"))
		assert.Zero(t, f.count("repositories"))
		assert.Equal(t, 1, f.count("expired"))
	})
}

func TestRetentionGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	f := &oldStore{err: errors.New("the database is away")}
	o := review.RetentionOptions{
		Keep: time.Hour, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		OnPurged: func(review.Deleted) { t.Error("nothing was deleted") },
	}
	retained(t, f, o, 25*time.Minute+30*time.Second, func(t *testing.T) {
		for what, n := range map[string]int{"fold": 26, "reviews": 3, "expired": 3, "give back": 3} {
			assert.Equal(t, n, f.count(what), what)
		}
		assert.Contains(t, log.String(), "the database is away")
	})
}

func TestSteps(t *testing.T) {
	t.Parallel()
	steps := func(ctx context.Context, step func(n int) (bool, error)) (n int, err error) {
		err = review.Steps(ctx, func() (bool, error) {
			n++
			return step(n)
		})
		return n, err
	}
	n, err := steps(t.Context(), func(n int) (bool, error) { return n < 3, nil })
	require.NoError(t, err)
	assert.Equal(t, 3, n)

	failure := errors.New("the database is away")
	n, err = steps(t.Context(), func(int) (bool, error) { return true, failure })
	require.ErrorIs(t, err, failure)
	assert.Equal(t, 1, n)

	ctx, cancel := context.WithCancel(t.Context())
	n, err = steps(ctx, func(int) (bool, error) {
		cancel()
		return true, nil
	})
	require.ErrorIs(t, err, context.Canceled, "there was more to do")
	assert.Equal(t, 1, n)
}
