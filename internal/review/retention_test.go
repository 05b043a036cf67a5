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

func (f *oldStore) step(what string, rows int) (n int, more bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[what]++
	if f.err != nil {
		return rows, true, f.err
	}

	if f.left[what] == 0 {
		return 0, false, nil
	}
	f.left[what]--

	return rows, f.left[what] > 0, nil
}

func (f *oldStore) PurgeReviews(_ context.Context, _ time.Duration, latest time.Time) (int, bool, error) {
	f.latest = latest

	return f.step("reviews", 2)
}

func (f *oldStore) PurgeKeys(context.Context, time.Duration) (int, bool, error) {
	return f.step("keys", 3)
}

func (f *oldStore) PurgeStats(context.Context, int, time.Time) (int, bool, error) {
	return f.step("numbers", 4)
}

func (f *oldStore) PurgeEvents(_ context.Context, _ time.Duration, latest time.Time) (int, bool, error) {
	f.latest = latest

	return f.step("events", 5)
}

func (f *oldStore) PurgePullRequests(context.Context, time.Duration, time.Time) (int, bool, error) {
	return f.step("pulls", 1)
}

func (f *oldStore) PurgeDeliveries(_ context.Context, keep time.Duration, latest time.Time) (int, bool, error) {
	f.latest = latest

	return f.step("deliveries", int(keep/review.KeepDeliveries))
}

func (f *oldStore) PurgeMessages(context.Context, time.Duration, time.Time) (int, bool, error) {
	return f.step("messages", 1)
}

func (f *oldStore) PurgeTriage(context.Context, time.Duration, time.Time) (int, bool, error) {
	return f.step("decisions", 1)
}

func (f *oldStore) PurgeAccounts(_ context.Context, keep time.Duration) (int, bool, error) {
	return f.step("sessions", int(keep/review.KeepInvitations))
}

func (f *oldStore) FoldLog(context.Context) error {
	_, _, err := f.step("fold", 0)

	return err
}

// retained runs the retention of a store for 25 minutes, on a clock that moves
// when nothing else does. It returns the log.
func retained(t *testing.T, f *oldStore) (log string) {
	t.Helper()
	f.calls = map[string]int{}
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		r := review.NewRetention(f, review.Keep{Reviews: time.Hour, Events: time.Hour}, slog.New(slog.NewJSONHandler(&b, nil)))
		r.Start()
		<-time.After(25*time.Minute + time.Second)
		require.NoError(t, r.Stop(t.Context()))
		require.NoError(t, r.Stop(t.Context()), "twice is once")
		assert.WithinDuration(t, time.Now().Add(24*time.Hour), f.latest, 30*time.Minute)

		before := f.calls["fold"]
		<-time.After(time.Hour)
		assert.Equal(t, before, f.calls["fold"], "stopped is stopped")
	})

	return b.String()
}

func TestRetentionDoesEverything(t *testing.T) {
	t.Parallel()
	f := &oldStore{left: map[string]int{"reviews": 3, "pulls": 2, "keys": 2, "events": 1, "deliveries": 1}}
	log := retained(t, f)

	assert.Equal(t, 4, f.calls["reviews"], "three steps, and a look ten minutes later")
	assert.Equal(t, 25, f.calls["fold"])
	assert.Equal(t, 1, strings.Count(log, `"msg":"deleted what is old","reviews":6,"pull_requests":2,"keys":6,"numbers":0,"events":5,"deliveries":1`), log)
}

// A deletion may take hours, in which the log is emptied all the same.
func TestRetentionGoesOnWhileItDeletes(t *testing.T) {
	t.Parallel()
	f := &oldStore{left: map[string]int{"reviews": 1 << 30}}
	retained(t, f)

	assert.Greater(t, f.calls["reviews"], 1000)
	assert.Equal(t, 25, f.calls["fold"])
}

func TestRetentionGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	f := &oldStore{err: errors.New("the database is away")}
	log := retained(t, f)

	assert.Equal(t, map[string]int{"fold": 25, "reviews": 2, "pulls": 2, "keys": 2, "numbers": 2, "events": 2,
		"deliveries": 2, "decisions": 2, "messages": 2, "sessions": 2}, f.calls)
	assert.Contains(t, log, "the database is away")
}

func TestStepsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	n, err := review.Steps(ctx, func() (int, bool, error) {
		cancel()

		return 1, true, nil
	})
	require.ErrorIs(t, err, context.Canceled, "there was more to do")
	assert.Equal(t, 1, n)
}
