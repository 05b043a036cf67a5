package match_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// unit makes caches so large that a quarter is for one owner.
const unit = 10 << 20

// loader loads numbers, whose size they are, for an owner.
func loader(t *testing.T, c *match.Cache[int], owner string) func(digest string, n int) {
	return func(digest string, n int) {
		t.Helper()
		got, err := c.Load(t.Context(), owner, digest, func(context.Context) (int, error) { return n, nil })
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
}

func has(c *match.Cache[int], owner, digest string) bool {
	_, ok := c.Get(owner, digest)
	return ok
}

func TestCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	c := match.NewCache(40*unit, func(n int) int64 { return int64(n) * unit })
	load := loader(t, c, "")
	for _, digest := range []string{"a", "b", "c", "d"} {
		load(digest, 9)
	}
	require.True(t, has(c, "", "a")) // now b is the oldest
	load("e", 8)
	assert.False(t, has(c, "", "b"))
	assert.True(t, has(c, "", "a"))
	assert.EqualValues(t, 35*unit, c.Used())

	load("huge", 11)
	assert.False(t, has(c, "", "huge"), "what is larger than a share is not kept")
	assert.True(t, has(c, "", "a"), "and drops nothing")

	broken := errors.New("broken")
	_, err := c.Load(t.Context(), "", "f", func(context.Context) (int, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
	load("f", 5) // an error is not kept
	c.Halve()
	assert.EqualValues(t, 14*unit, c.Used())
	assert.True(t, has(c, "", "f"))
	assert.False(t, has(c, "", "e"))
}

func TestCacheHasShares(t *testing.T) {
	t.Parallel()
	c := match.NewCache(40*unit, func(n int) int64 { return int64(n) * unit })
	one, other := loader(t, c, "one"), loader(t, c, "other")
	other("common", 5)
	one("common", 5)
	one("a", 5)
	one("b", 5)
	assert.True(t, has(c, "one", "a"), "what is common counts for nobody")
	one("c", 3)
	assert.False(t, has(c, "one", "b"), "its own goes first")
	assert.True(t, has(c, "one", "a"))
	assert.True(t, has(c, "one", "c"))
	assert.True(t, has(c, "other", "common"))

	for i := range 100 {
		one(fmt.Sprint(i), 9)
	}
	assert.True(t, has(c, "other", "common"))
	assert.LessOrEqual(t, c.Used(), int64(15*unit))
}

// In a small cache there is room for the rules of one organization, too.
func TestCacheSharesFitARuleset(t *testing.T) {
	t.Parallel()
	for limit, share := range map[int64]int{
		32 << 20: 16 << 20, 128 << 20: 64 << 20, 256 << 20: 64 << 20, 1 << 30: 256 << 20,
	} {
		c := match.NewCache(limit, func(n int) int64 { return int64(n) })
		load := loader(t, c, "one")
		load("large", share+1)
		assert.Zero(t, c.Used())
		load("full", share)
		assert.EqualValues(t, share, c.Used())
	}
}

// Whose context ends does not spoil it for those who wait for the same.
func TestCacheOutlivesWhoBuilds(t *testing.T) {
	t.Parallel()
	c := match.NewCache(40, func(int) int64 { return 1 })
	ctx, cancel := context.WithCancel(t.Context())
	began, first := make(chan struct{}), make(chan error)
	go func() {
		_, err := c.Load(ctx, "", "a", func(ctx context.Context) (int, error) {
			close(began)
			<-ctx.Done()

			return 0, ctx.Err()
		})
		first <- err
	}()
	<-began
	second := make(chan int)
	go func() {
		v, _ := c.Load(t.Context(), "", "a", func(context.Context) (int, error) { return 7, nil })
		second <- v
	}()
	cancel()
	require.ErrorIs(t, <-first, context.Canceled)
	assert.Equal(t, 7, <-second)
}

func TestCacheBuildsOnce(t *testing.T) {
	t.Parallel()
	c := match.NewCache(10, func(int) int64 { return 1 })
	var builds atomic.Int32
	release := make(chan struct{})
	var started sync.Once
	began := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := c.Load(t.Context(), "", "a", func(context.Context) (int, error) {
				started.Do(func() { close(began) })
				<-release

				return int(builds.Add(1)), nil
			})
			assert.NoError(t, err)
			assert.Equal(t, 1, v)
		})
	}
	<-began
	close(release)
	wg.Wait()
	assert.EqualValues(t, 1, builds.Load())
}
