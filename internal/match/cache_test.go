package match_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

func TestCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	c := match.NewCache(10, func(n int) int64 { return int64(n) })
	load := func(digest string, n int) {
		got, err := c.Load(digest, func() (int, error) { return n, nil })
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	load("a", 4)
	load("b", 4)
	_, ok := c.Get("a") // now b is the oldest
	require.True(t, ok)
	load("c", 4)
	_, ok = c.Get("b")
	assert.False(t, ok)
	_, ok = c.Get("a")
	assert.True(t, ok)

	load("huge", 11)
	_, ok = c.Get("huge")
	assert.False(t, ok, "what does not fit is not kept")
	_, ok = c.Get("a")
	assert.True(t, ok, "and drops nothing")
	load("whole", 10)
	_, ok = c.Get("c")
	assert.False(t, ok)

	broken := errors.New("broken")
	_, err := c.Load("d", func() (int, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
	load("d", 7) // an error is not kept
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
			v, err := c.Load("a", func() (int, error) {
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
