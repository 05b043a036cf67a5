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
	t.Run("a group has a window of its own", func(t *testing.T) { t.Parallel(); group(t, start(t)) })
	t.Run("the limit of a group is exact, too", func(t *testing.T) { t.Parallel(); groupConcurrency(t, start(t)) })
}

func window(t *testing.T, h Harness) {
	h.Advance(37 * time.Second) // not at the start of any minute
	take := func(server, limit int, want auth.Decision) {
		t.Helper()
		d, err := h.server(server).Take(t.Context(), auth.Counter{Name: "key:a", Limit: limit}, auth.Counter{})
		require.NoError(t, err)
		want.Limit = limit
		assert.True(t, want.Reset.Equal(d.Reset), "%v, not %v", d.Reset, want.Reset)
		d.Reset = want.Reset
		assert.Equal(t, want, d)
	}

	end := h.Now().Add(time.Minute)
	look := h.server(0).Peek(auth.Counter{Name: "key:a", Limit: 3}, auth.Counter{})
	assert.Equal(t, 3, look.Remaining, "a look counts nothing")
	for i := range 3 {
		take(i, 3, auth.Decision{Remaining: 2 - i, Reset: end, OK: true})
		h.Advance(10 * time.Second)
	}

	for i := range 3 * len(h.Servers) {
		take(i, 3, auth.Decision{Reset: end, RetryAfter: 30 * time.Second})
	}

	take(0, 2, auth.Decision{Reset: end, RetryAfter: 30 * time.Second}) // a lowered limit
	assert.False(t, h.server(0).Peek(auth.Counter{Name: "key:a", Limit: 3}, auth.Counter{}).OK)
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
					d, err := h.server(i).Take(t.Context(), auth.Counter{Name: names[j%3], Limit: 60}, auth.Counter{})
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

// org is the group of the keys below.
const org = "org:acme"

func group(t *testing.T, h Harness) {
	server := 0
	take := func(key string, limit, groupLimit int) auth.Decision {
		t.Helper()
		server++
		d, err := h.server(server).Take(t.Context(),
			auth.Counter{Name: key, Limit: limit}, auth.Counter{Name: org, Limit: groupLimit})
		require.NoError(t, err)
		assert.False(t, d.Reset.IsZero())

		return d
	}
	want := func(d auth.Decision, limit, remaining int, ok, organization bool) {
		t.Helper()
		assert.Equal(t, limit, d.Limit)
		assert.Equal(t, remaining, d.Remaining)
		assert.Equal(t, ok, d.OK)
		assert.Equal(t, organization, d.Organization)
		assert.Equal(t, ok, d.RetryAfter == 0)
	}

	// The answer is about the one that has less left.
	groupEnd := h.Now().Add(auth.Window)
	want(take("key:a", 3, 6), 3, 2, true, false)
	h.Advance(time.Second)
	d := take("key:b", 60, 6)
	want(d, 6, 4, true, true)
	assert.True(t, groupEnd.Equal(d.Reset), "the end of the group's window")
	want(take("key:a", 3, 6), 3, 1, true, false)
	want(take("key:a", 3, 6), 3, 0, true, false)

	// What a key may not make does not count for the group.
	for range 3 * len(h.Servers) {
		want(take("key:a", 3, 6), 3, 0, false, false)
	}
	want(take("key:b", 60, 6), 6, 1, true, true)
	want(take("key:c", 60, 6), 6, 0, true, true)
	for range 3 * len(h.Servers) {
		want(take("key:d", 60, 6), 6, 0, false, true)
	}
	assert.True(t, h.server(server).Peek(auth.Counter{Name: "key:d", Limit: 60},
		auth.Counter{Name: org, Limit: 6}).Organization, "a look says so, too")
	assert.True(t, take("key:d", 60, 600).OK, "a raised limit counts at once")

	h.Advance(auth.Window - time.Second)
	want(take("key:d", 60, 6), 6, 5, true, true)
}

func groupConcurrency(t *testing.T, h Harness) {
	for round := range 3 {
		var passed atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 60 {
					d, err := h.server(i).Take(t.Context(), auth.Counter{Name: "key:" + string(rune('a'+(i+j)%8)), Limit: 1000},
						auth.Counter{Name: org, Limit: 100})
					assert.NoError(t, err)
					if d.OK {
						passed.Add(1)
					}
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 100, passed.Load(), "round %d", round)
		h.Advance(auth.Window)
	}
}
