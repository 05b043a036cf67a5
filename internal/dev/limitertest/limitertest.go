// Package limitertest has what an auth.Limiter must do, alone and with others on
// one database.
package limitertest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
)

// Harness is a limiter of one or more servers on a clock that a test moves.
type Harness struct {
	Servers []*auth.Limiter  // at least one; all count together
	Now     func() time.Time // in whole microseconds
	Advance func(time.Duration)
}

// server returns the limiter of the i-th server, around and around.
func (h Harness) server(i int) *auth.Limiter { return h.Servers[i%len(h.Servers)] }

// Run runs the suite. start returns an empty limiter each time.
func Run(t *testing.T, start func(*testing.T) Harness) {
	t.Run("a window starts with the first request", func(t *testing.T) { t.Parallel(); window(t, start(t)) })
	t.Run("the limit is exact under concurrency", func(t *testing.T) { t.Parallel(); concurrency(t, start(t)) })
}

func window(t *testing.T, h Harness) {
	h.Advance(37 * time.Second) // not at the start of any minute
	take := func(server, limit int, want auth.Decision) {
		t.Helper()
		d, err := h.server(server).Take(t.Context(), "key:a", limit)
		require.NoError(t, err)
		want.Limit = limit
		assert.True(t, want.Reset.Equal(d.Reset), "%v, not %v", d.Reset, want.Reset)
		d.Reset = want.Reset
		assert.Equal(t, want, d)
	}

	end := h.Now().Add(time.Minute)
	assert.Equal(t, 3, h.server(0).Peek("key:a", 3).Remaining, "a look counts nothing")
	for i := range 3 {
		take(i, 3, auth.Decision{Remaining: 2 - i, Reset: end, OK: true})
		h.Advance(10 * time.Second)
	}

	for i := range 3 * len(h.Servers) {
		take(i, 3, auth.Decision{Reset: end, RetryAfter: 30 * time.Second})
	}

	take(0, 2, auth.Decision{Reset: end, RetryAfter: 30 * time.Second}) // a lowered limit
	assert.False(t, h.server(0).Peek("key:a", 3).OK)
	h.Advance(30*time.Second - time.Microsecond)
	take(1, 3, auth.Decision{Reset: end, RetryAfter: time.Microsecond})
	h.Advance(time.Microsecond)
	end = h.Now().Add(time.Minute)
	take(0, 3, auth.Decision{Remaining: 2, Reset: end, OK: true})
	take(1, 3, auth.Decision{Remaining: 1, Reset: end, OK: true})
}

func concurrency(t *testing.T, h Harness) {
	names := []string{"key:a", "key:b", "key:A"}
	for round := range 5 {
		var passed [3]atomic.Int64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				for j := range 48 {
					d, err := h.server(i).Take(t.Context(), names[j%3], 60)
					assert.NoError(t, err)
					if d.OK {
						passed[j%3].Add(1)
					}
				}
			})
		}

		all.Wait()
		for i := range passed {
			assert.EqualValues(t, 60, passed[i].Load(), "%s in round %d", names[i], round)
		}
		h.Advance(auth.Window)
	}
}
