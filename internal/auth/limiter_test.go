package auth_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/limitertest"
)

func TestLimiterOfOneServer(t *testing.T) {
	t.Parallel()
	limitertest.Run(t, func(*testing.T) limitertest.Harness {
		c := newClock()

		return limitertest.Harness{
			Servers: []*auth.Limiter{auth.NewLimiter(nil, c.Now)}, Now: c.Now, Advance: c.Advance,
		}
	})
}

// windows counts in memory, with the time that a test gives it.
type windows struct {
	calls int
	left  time.Duration
}

func (w *windows) CountRequest(context.Context, string, int, string) (own, of auth.Counted, err error) {
	w.calls++

	return auth.Counted{Taken: w.calls, Left: w.left}, auth.Counted{}, nil
}

// A flood of an exhausted key asks the store nothing.
func TestExhaustedKeyIsRefusedFromMemory(t *testing.T) {
	t.Parallel()
	c := newClock()
	w := &windows{left: auth.Window}
	l := auth.NewLimiter(w, c.Now)

	for i := range 10_000 {
		d, err := l.Take(t.Context(), auth.Counter{Name: "key:a", Limit: 60}, auth.Counter{})
		require.NoError(t, err)
		require.Equal(t, i < 60, d.OK)
	}
	assert.Equal(t, 60, w.calls)

	c.Advance(auth.Window)
	_, err := l.Take(t.Context(), auth.Counter{Name: "key:a", Limit: 600}, auth.Counter{})
	require.NoError(t, err)
	assert.Equal(t, 61, w.calls)
}

func TestAddressesAreCountedHere(t *testing.T) {
	t.Parallel()
	w := &windows{}
	l := auth.NewLimiter(w, newClock().Now)

	for round := range 3 {
		for i := range 2_000 {
			d, err := l.Take(t.Context(), auth.Counter{Name: fmt.Sprint("addr:", i), Limit: 2}, auth.Counter{})
			require.NoError(t, err)
			require.Equal(t, round < 2, d.OK)
		}
	}
	assert.Zero(t, w.calls)
}

// A store whose clock jumped must not close a key for long.
func TestWindowsThatEndLateAreNotBelieved(t *testing.T) {
	t.Parallel()
	c := newClock()
	w := &windows{left: 24 * time.Hour}
	l := auth.NewLimiter(w, c.Now)

	for range 3 {
		_, err := l.Take(t.Context(), auth.Counter{Name: "key:a", Limit: 1}, auth.Counter{})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, w.calls)

	c.Advance(auth.Window)
	_, err := l.Take(t.Context(), auth.Counter{Name: "key:a", Limit: 1}, auth.Counter{})
	require.NoError(t, err)
	assert.Equal(t, 2, w.calls)
}
