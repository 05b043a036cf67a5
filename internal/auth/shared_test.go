package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
)

// counts is a Windows in memory that counts its calls. What every Windows does
// is tested where there is a real one.
type counts struct {
	mu     sync.Mutex
	calls  int
	names  map[string]int // requests taken
	most   int            // demands in one call
	down   error
	hold   chan struct{} // when not nil, a call waits for it
	asked  chan struct{} // when not nil, told of each call
	ended  int           // windows that can be dropped
	window time.Duration
}

func (c *counts) CountInWindows(ctx context.Context, demands []Demand) ([]Counted, error) {
	if c.asked != nil {
		c.asked <- struct{}{}
	}
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.most = max(c.most, len(demands))
	if c.down != nil {
		return nil, c.down
	}
	if c.names == nil {
		c.names = map[string]int{}
	}
	out := make([]Counted, len(demands))
	for i, d := range demands {
		c.names[d.Name] += d.N
		out[i] = Counted{Taken: c.names[d.Name], End: time.Now().Add(Window), Left: Window}
		if c.window > 0 {
			out[i].Left = c.window
		}
	}
	return out, nil
}

func (c *counts) DropWindows(context.Context, int) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(c.ended, dropMost)
	c.ended -= n
	return n, c.down
}

func newShared(c *counts) *SharedLimiter {
	return NewSharedLimiter(c, time.Now, slog.New(slog.DiscardHandler))
}

// A flood of an exhausted key or address asks the store nothing.
func TestExhaustedNamesAskNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counts{}
		l := newShared(c)
		for i := range 10_000 {
			d, err := l.Take(t.Context(), "key:a", 60)
			require.NoError(t, err)
			require.Equal(t, i < 60, d.OK)
			require.Equal(t, i >= 60, d.FromMemory, i)
		}
		assert.Equal(t, 60, c.calls)
		<-time.After(Window)
		_, err := l.Take(t.Context(), "key:a", 60)
		require.NoError(t, err)
		assert.Equal(t, 61, c.calls)
	})
}

// Requests that come while the store is asked are asked for together, and each
// gets its own answer.
func TestRequestsAreCountedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counts{hold: make(chan struct{}), asked: make(chan struct{}, 10)}
		l := newShared(c)
		var all sync.WaitGroup
		decisions := make(chan Decision, 1000)
		take := func(name string) {
			all.Go(func() {
				d, err := l.Take(t.Context(), name, 60)
				assert.NoError(t, err)
				decisions <- d
			})
		}
		take("key:first")
		<-c.asked
		for range 100 {
			take("key:a")
		}
		for i := range 50 {
			take(fmt.Sprint("key:b", i))
		}
		synctest.Wait()
		close(c.hold)
		all.Wait()
		close(decisions)
		assert.Equal(t, 2, c.calls)
		assert.Equal(t, 51, c.most)
		ok, left := 0, map[int]int{}
		for d := range decisions {
			if d.OK {
				ok++
				left[d.Remaining]++
			}
		}
		assert.Equal(t, 1+60+50, ok)
		for r := range 59 {
			assert.Equal(t, 1, left[r], "the key's %d-th is one request's alone", 60-r)
		}
		assert.Equal(t, 100, c.names["key:a"])
	})
}

func TestFloodFromManyAddressesStaysHere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counts{}
		l := newShared(c)
		const addresses = 3 * maxSharedAddresses
		for round := range 3 {
			for i := range addresses {
				d, err := l.Take(t.Context(), fmt.Sprint("addr:", i), 2)
				require.NoError(t, err)
				assert.Equal(t, round < 2, d.OK, "each is counted, wherever")
			}
		}
		assert.Len(t, c.names, maxSharedAddresses)
		d, err := l.Take(t.Context(), "key:a", 2)
		require.NoError(t, err)
		assert.True(t, d.OK)
		assert.Contains(t, c.names, "key:a", "keys are counted together at all times")
		assert.Equal(t, 0, l.Peek(fmt.Sprint("addr:", addresses-1), 2).Remaining)

		<-time.After(Window)
		_, err = l.Take(t.Context(), fmt.Sprint("addr:", addresses), 2)
		require.NoError(t, err)
		assert.Len(t, c.names, maxSharedAddresses+2, "the next minute has room again")
	})
}

func TestMemoryOfWindowsIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newShared(&counts{})
		l.mu.Lock()
		for i := range maxSeen + maxSeen/2 {
			l.remember(fmt.Sprint("key:", i), seenWindow{until: time.Now().Add(Window)})
			if len(l.seen) > maxSeen {
				t.Fatal(len(l.seen))
			}
		}
		l.mu.Unlock()
		<-time.After(Window)
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range maxSeen / 2 {
			l.remember(fmt.Sprint("new:", i), seenWindow{until: time.Now().Add(Window)})
		}
		assert.NotContains(t, l.seen, fmt.Sprint("key:", maxSeen+maxSeen/2-1), "what has ended goes first")
		assert.Contains(t, l.seen, "new:0")
	})
}

// A store that is away is not asked by everybody, and a store that hangs lets
// nobody wait for long.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	t.Run("away", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := &counts{down: errors.New("gone")}
			l := newShared(c)
			began := time.Now()
			for time.Since(began) < time.Second {
				_, err := l.Take(t.Context(), "key:a", 60)
				require.Error(t, err)
			}
			assert.LessOrEqual(t, c.calls, 21)
			assert.Equal(t, 60, l.Peek("key:a", 60).Remaining)
			c.down = nil
			d, err := l.Take(t.Context(), "key:a", 60)
			require.NoError(t, err)
			assert.True(t, d.OK)
		})
	})
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := &counts{hold: make(chan struct{})}
			l := newShared(c)
			var all sync.WaitGroup
			began := time.Now()
			var full, late int
			var mu sync.Mutex
			ask := func() {
				_, err := l.Take(t.Context(), "key:a", 60)
				assert.Equal(t, errs.Unavailable, errs.KindOf(err))
				mu.Lock()
				defer mu.Unlock()
				if time.Since(began) == 0 {
					full++
				} else {
					late++
					assert.Equal(t, askTimeout, time.Since(began))
				}
			}
			all.Go(ask)
			synctest.Wait() // the store is asked, and the others wait for the next time
			for range askWaiting + 10 {
				all.Go(ask)
			}
			all.Wait()
			assert.Equal(t, 10, full, "a bounded number waits")
			assert.Equal(t, 1+askWaiting, late)
			ctx, leave := context.WithTimeout(t.Context(), time.Millisecond)
			defer leave()
			_, err := l.Take(ctx, "key:b", 60)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			close(c.hold)
			<-time.After(time.Minute)
		})
	})
}

// A store whose clock jumped must not close a key for long.
func TestWindowsThatEndLateAreNotBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counts{window: 24 * time.Hour}
		l := newShared(c)
		for range 3 {
			_, err := l.Take(t.Context(), "key:a", 1)
			require.NoError(t, err)
		}
		calls := c.calls
		<-time.After(2 * Window)
		_, err := l.Take(t.Context(), "key:a", 1)
		require.NoError(t, err)
		assert.Greater(t, c.calls, calls)
	})
}

func TestEndedWindowsAreDroppedInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counts{ended: 2*dropMost + 5}
		l := newShared(c)
		l.Stop()
		l.Start()
		l.Start()
		<-time.After(dropEvery + 1)
		synctest.Wait()
		assert.Zero(t, c.ended)
		l.Stop()
		l.Stop()
	})
}

// tokens is a KeyStore that has no keys and counts questions.
type tokens struct {
	KeyStore
	calls, most int
}

func (s *tokens) KeysByHash(_ context.Context, hashes []string) ([]Key, error) {
	s.calls++
	s.most = max(s.most, len(hashes))
	return nil, nil
}

// A flood of made-up tokens costs the store a bounded number of questions.
func TestFloodOfUnknownTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &tokens{}
		l := newLookup(s, time.Now)
		began := time.Now()
		var all sync.WaitGroup
		for c := range 50 {
			all.Go(func() {
				for i := 0; time.Since(began) < time.Second; i++ {
					_, ok, err := l.find(t.Context(), fmt.Sprint(c, ":", i))
					assert.NoError(t, err)
					assert.False(t, ok)
				}
			})
		}
		all.Wait()
		assert.LessOrEqual(t, s.calls, 102)
		assert.GreaterOrEqual(t, s.most, 50)
	})
}
