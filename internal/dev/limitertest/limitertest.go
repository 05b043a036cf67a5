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

func (h Harness) take(t *testing.T, server int, name string, limit int) auth.Decision {
	t.Helper()
	d, err := h.server(server).Take(t.Context(), name, limit)
	require.NoError(t, err)
	return d
}

// Run runs the suite. start returns an empty limiter each time.
func Run(t *testing.T, start func(*testing.T) Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"a window starts with the first request":      window,
		"the limit is exact under concurrency":        concurrency,
		"a lowered limit shows no negative remainder": lowered,
		"a look counts nothing":                       look,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

func window(t *testing.T, h Harness) {
	h.Advance(37 * time.Second) // not at the start of any minute
	start := h.Now()
	for i := range 3 {
		want := auth.Decision{Limit: 3, Remaining: 2 - i, Reset: start.Add(time.Minute), OK: true}
		assertDecision(t, want, h.take(t, i, "key:a", 3))
		h.Advance(10 * time.Second)
	}
	for i := range 3 * len(h.Servers) {
		want := auth.Decision{Limit: 3, Reset: start.Add(time.Minute), RetryAfter: 30 * time.Second}
		assertDecision(t, want, h.take(t, i, "key:a", 3))
	}
	h.Advance(30*time.Second - time.Microsecond)
	for i := range h.Servers {
		assert.False(t, h.take(t, i, "key:a", 3).OK, "one microsecond before the end")
	}
	h.Advance(time.Microsecond)
	d := h.take(t, 0, "key:a", 3)
	assert.True(t, d.OK)
	assert.Equal(t, 2, d.Remaining)
	assert.True(t, h.Now().Add(time.Minute).Equal(d.Reset), "the next window starts with this request")
	assert.Equal(t, 1, h.take(t, 1, "key:a", 3).Remaining)
	h.Advance(3 * time.Hour)
	assert.True(t, h.Now().Add(time.Minute).Equal(h.take(t, 1, "key:a", 3).Reset), "and no window runs while nobody asks")
}

func assertDecision(t *testing.T, want, got auth.Decision) {
	t.Helper()
	assert.True(t, want.Reset.Equal(got.Reset), "%v, not %v", got.Reset, want.Reset)
	got.Reset, got.FromMemory = want.Reset, want.FromMemory
	assert.Equal(t, want, got)
}

func concurrency(t *testing.T, h Harness) {
	for round := range 5 {
		var passed [3]atomic.Int64
		var refused atomic.Int64
		names := []string{"key:a", "key:b", "key:A"}
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for j := range 48 {
					d, err := h.server(i).Take(t.Context(), names[j%3], 60)
					assert.NoError(t, err)
					if d.OK {
						passed[j%3].Add(1)
					} else {
						refused.Add(1)
						assert.Zero(t, d.Remaining)
						assert.Positive(t, d.RetryAfter)
					}
				}
			})
		}
		wg.Wait()
		for i := range passed {
			assert.EqualValues(t, 60, passed[i].Load(), "%s in round %d", names[i], round)
		}
		assert.EqualValues(t, 16*48-180, refused.Load())
		h.Advance(auth.Window)
	}
}

func lowered(t *testing.T, h Harness) {
	for i := range 5 {
		h.take(t, i, "key:a", 10)
	}
	d := h.take(t, 0, "key:a", 2)
	assert.False(t, d.OK)
	assert.Zero(t, d.Remaining)
}

func look(t *testing.T, h Harness) {
	for range 5 {
		d := h.server(0).Peek("key:a", 3)
		assert.Equal(t, 3, d.Remaining)
		assert.True(t, d.OK)
		assert.Equal(t, time.Minute, d.Reset.Sub(h.Now()))
	}
	start := h.Now()
	for i := range 3 {
		h.take(t, 0, "key:a", 3)
		h.Advance(time.Second)
		want := auth.Decision{Limit: 3, Remaining: 2 - i, Reset: start.Add(time.Minute), OK: i < 2}
		if i == 2 {
			want.RetryAfter = 57 * time.Second
		}
		assertDecision(t, want, h.server(0).Peek("key:a", 3))
	}
	h.Advance(time.Minute)
	assert.Equal(t, 3, h.server(0).Peek("key:a", 3).Remaining, "what has ended tells nothing")
}
