package review_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/review"
)

// fakeStore has so many steps of each kind to do.
type fakeStore struct {
	mu     sync.Mutex
	left   map[string]int
	calls  map[string]int
	latest time.Time
	err    error
	called []string      // that nobody has awaited yet
	woken  chan struct{} // hears that there is one more
}

func newFake(left map[string]int) *fakeStore {
	return &fakeStore{left: left, calls: map[string]int{}, woken: make(chan struct{}, 1)}
}

func (f *fakeStore) step(what string) (did, more bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[what]++
	f.called = append(f.called, what)
	select {
	case f.woken <- struct{}{}:
	default: // it will look anyway
	}
	if f.err != nil {
		return false, true, f.err
	}
	if f.left[what] == 0 {
		return false, false, nil
	}
	f.left[what]--
	return true, f.left[what] > 0, nil
}

func (f *fakeStore) count(what string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[what]
}

func (f *fakeStore) deleted(what string, d review.Deleted) (review.Deleted, bool, error) {
	did, more, err := f.step(what)
	if !did {
		d = review.Deleted{}
	}

	return d, more, err
}

func (f *fakeStore) PurgeReviews(_ context.Context, _ time.Duration, latest time.Time) (review.Deleted, bool, error) {
	f.mu.Lock()
	f.latest = latest
	f.mu.Unlock()
	return f.deleted("reviews", review.Deleted{Reviews: 2, Findings: 5, Skips: 1})
}

func (f *fakeStore) PurgeExpired(context.Context, time.Duration) (review.Deleted, bool, error) {
	return f.deleted("expired", review.Deleted{IdempotencyKeys: 3, APIKeys: 1})
}

func (f *fakeStore) PurgeRepositories(context.Context) (review.Deleted, bool, error) {
	return f.deleted("repositories", review.Deleted{Repositories: 1})
}

func (f *fakeStore) FoldLog(context.Context) error {
	_, _, err := f.step("fold")
	return err
}

func (f *fakeStore) GiveBack(context.Context) (bool, error) {
	_, more, err := f.step("give back")
	return more, err
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// await reads calls until the named one.
func awaitCall(t *testing.T, f *fakeStore, what string) {
	t.Helper()
	late := time.After(patience)
	for !f.saw(what) {
		select {
		case <-f.woken:
		case <-late:
			require.FailNow(t, "waited too long", what)
		}
	}
}

// saw drops the calls up to the named one, all when that is not among them.
func (f *fakeStore) saw(what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.called, what)
	if i < 0 {
		f.called = nil
		return false
	}
	f.called = f.called[i+1:]
	return true
}

// awaitCalls waits until there were so many of each.
func awaitCalls(t *testing.T, f *fakeStore, want map[string]int) {
	t.Helper()
	late := time.After(patience)
	for what, n := range want {
		for f.count(what) < n {
			select {
			case <-f.woken:
			case <-late:
				require.FailNow(t, "waited too long", what)
			}
		}
	}
}

func TestRetentionDoesEverything(t *testing.T) {
	t.Parallel()
	f := newFake(map[string]int{"reviews": 3, "expired": 2, "repositories": 1, "give back": 2})
	var log buffer
	var mu sync.Mutex
	var total review.Deleted
	now := time.Now()
	l := review.NewRetention(f, review.RetentionOptions{
		Keep: time.Hour, Every: time.Millisecond, PurgeGap: time.Hour, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Now: func() time.Time { return now },
		OnPurged: func(d review.Deleted) {
			mu.Lock()
			defer mu.Unlock()
			total = total.Plus(d)
		},
	})

	l.Start()
	l.Start()
	awaitCalls(t, f, map[string]int{"give back": 2, "fold": 2})
	require.NoError(t, l.Stop(t.Context()))
	require.NoError(t, l.Stop(t.Context()))

	assert.Equal(t, review.Deleted{Reviews: 6, Findings: 15, Skips: 3, IdempotencyKeys: 6, APIKeys: 2, Repositories: 1}, total)
	assert.Equal(t, map[string]int{"reviews": 6, "findings": 15, "skips": 3, "idempotency_keys": 6, "api_keys": 2, "repositories": 1}, total.ByKind())
	assert.Equal(t, now.Add(24*time.Hour), f.latest)
	assert.Equal(t, 3, f.count("reviews"), "the next look comes after the gap")
	assert.Greater(t, f.count("fold"), 1)
	assert.Equal(t, 1, strings.Count(log.String(), `"msg":"deleted what is old","reviews":6,"findings":15`), log.String())
}

// The first deletion may take hours.
func TestRetentionGoesOnWhileItDeletes(t *testing.T) {
	t.Parallel()
	const endless = 1 << 30
	for _, what := range []string{"reviews", "repositories", "expired", "give back"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(map[string]int{what: endless})
			l := review.NewRetention(f, review.RetentionOptions{
				Keep: time.Hour, Every: time.Millisecond, PurgeGap: time.Millisecond,
			})
			l.Start()
			for range 3 {
				awaitCall(t, f, what)
				awaitCall(t, f, "fold")
			}

			require.NoError(t, l.Stop(t.Context()))
		})
	}
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

func TestRetentionKeepsReviewsForEver(t *testing.T) {
	t.Parallel()
	f := newFake(map[string]int{"reviews": 1, "repositories": 1, "expired": 1})
	l := review.NewRetention(f, review.RetentionOptions{Every: time.Millisecond})
	l.Start()
	awaitCall(t, f, "give back")
	require.NoError(t, l.Stop(t.Context()))
	assert.Zero(t, f.count("reviews"))
	assert.Zero(t, f.count("repositories"))
	assert.Equal(t, 1, f.count("expired"))
}

func TestRetentionGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	f.err = errors.New("the database is away")
	var log buffer
	l := review.NewRetention(f, review.RetentionOptions{
		Keep: time.Hour, Every: time.Millisecond, PurgeGap: time.Millisecond, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		OnPurged: func(review.Deleted) { t.Error("nothing was deleted") },
	})
	l.Start()
	for range 3 {
		awaitCall(t, f, "fold")
	}
	awaitCall(t, f, "reviews")
	awaitCall(t, f, "give back")
	require.NoError(t, l.Stop(t.Context()))
	assert.Contains(t, log.String(), "the database is away")
}

func TestRetentionStopsInAPause(t *testing.T) {
	t.Parallel()
	f := newFake(map[string]int{"expired": 1 << 30})
	l := review.NewRetention(f, review.RetentionOptions{Every: time.Millisecond})
	l.Start()
	awaitCall(t, f, "expired")
	require.NoError(t, l.Stop(t.Context()))
	before := f.count("expired")
	l.Start()
	assert.Equal(t, before, f.count("expired"), "stopped is stopped")
	never := review.NewRetention(f, review.RetentionOptions{})
	require.NoError(t, never.Stop(t.Context()), "what never began is stopped at once")
}
