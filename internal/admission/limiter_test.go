package admission_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/admission"
)

func TestWindowStartsWithTheFirstRequest(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := admission.NewMemoryLimiter(c.Now)
	c.Advance(37 * time.Second) // not at the start of any minute
	start := c.Now()
	take := func() admission.Decision {
		d, err := l.Take(t.Context(), "k", 3)
		require.NoError(t, err)
		return d
	}
	for i := range 3 {
		d := take()
		assert.Equal(t, admission.Decision{Limit: 3, Remaining: 2 - i, Reset: start.Add(time.Minute), OK: true}, d)
		c.Advance(10 * time.Second)
	}
	assert.Equal(t, admission.Decision{Limit: 3, Reset: start.Add(time.Minute), RetryAfter: 30 * time.Second}, take())
	c.Advance(30*time.Second - 1)
	assert.False(t, take().OK, "one nanosecond before the end")
	c.Advance(1)
	d := take()
	assert.True(t, d.OK)
	assert.Equal(t, 2, d.Remaining)
	assert.Equal(t, c.Now().Add(time.Minute), d.Reset, "the next window starts with this request")
	c.Advance(3 * time.Hour)
	assert.Equal(t, c.Now().Add(time.Minute), take().Reset, "and no window runs while nobody asks")
}

func TestKeysAreCountedApart(t *testing.T) {
	t.Parallel()
	l := admission.NewMemoryLimiter(newClock().Now)
	for range 2 {
		for _, k := range []string{"key:a", "key:b", "addr:a"} {
			d, err := l.Take(t.Context(), k, 2)
			require.NoError(t, err)
			assert.True(t, d.OK, k)
		}
	}
}

func TestLimitIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := admission.NewMemoryLimiter(c.Now)
	for range 5 {
		var passed, refused atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 50 {
					d, err := l.Take(t.Context(), "k", 60)
					assert.NoError(t, err)
					if d.OK {
						passed.Add(1)
					} else {
						refused.Add(1)
					}
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 60, passed.Load())
		assert.EqualValues(t, 16*50-60, refused.Load())
		c.Advance(admission.Window)
	}
}

func TestLoweredLimitNeverShowsANegativeRemainder(t *testing.T) {
	t.Parallel()
	l := admission.NewMemoryLimiter(newClock().Now)
	for range 5 {
		_, err := l.Take(t.Context(), "k", 10)
		require.NoError(t, err)
	}
	d, err := l.Take(t.Context(), "k", 2)
	require.NoError(t, err)
	assert.False(t, d.OK)
	assert.Zero(t, d.Remaining)
}

func BenchmarkMemoryLimiter(b *testing.B) {
	l := admission.NewMemoryLimiter(time.Now)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint("key:", i)
	}
	i := 0
	for b.Loop() {
		_, _ = l.Take(b.Context(), keys[i%len(keys)], 60)
		i++
	}
}
