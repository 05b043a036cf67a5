package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// line is a number of places and who came for one, in order.
type line struct {
	places *places
	served chan int // who got a place
	vain   chan int // who did not
}

func newLine(p *places) *line {
	return &line{places: p, served: make(chan int, 100), vain: make(chan int, 100)}
}

// come lets one after the other stand in line, the next when the one before
// stands.
func (l *line) come(t *testing.T, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		go func() {
			if err := l.places.take(t.Context()); err != nil {
				assert.ErrorIs(t, err, errNoPlace)
				l.vain <- i
				return
			}
			l.served <- i
		}()
		synctest.Wait()
	}
}

func drain(c chan int) (all []int) {
	for len(c) > 0 {
		all = append(all, <-c)
	}
	return all
}

func TestPlacesServeInOrderWhileTheLineIsShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(newPlaces(2, 10, time.Second))
		l.come(t, 1, 5)
		assert.Equal(t, []int{1, 2}, drain(l.served))
		for range 3 {
			l.places.giveBack()
			synctest.Wait()
		}
		assert.Equal(t, []int{3, 4, 5}, drain(l.served))
		taken, waiting := l.places.state()
		assert.Equal(t, 2, taken)
		assert.Zero(t, waiting)
		l.places.giveBack()
		l.places.giveBack()
		taken, _ = l.places.state()
		assert.Zero(t, taken)
	})
}

func TestPlacesServeTheLastWhenTheFirstHasWaitedLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(newPlaces(1, 10, time.Second))
		l.come(t, 1, 4)
		drain(l.served)
		<-time.After(251 * time.Millisecond)
		l.come(t, 5, 5)
		l.places.giveBack()
		synctest.Wait()
		assert.Equal(t, []int{5}, drain(l.served))
		<-time.After(time.Second)
		l.places.giveBack()
		synctest.Wait()
		assert.Empty(t, drain(l.served), "who waited for too long is not served")
		<-time.After(3 * time.Second)
		synctest.Wait()
		assert.ElementsMatch(t, []int{2, 3, 4}, drain(l.vain), "but told so")
		taken, _ := l.places.state()
		assert.Zero(t, taken)
	})
}

func TestFullLineRefusesWhoWaitedLongest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(newPlaces(1, 2, time.Second))
		l.come(t, 1, 5)
		assert.Equal(t, []int{1}, drain(l.served))
		assert.Equal(t, []int{2, 3}, drain(l.vain))
		_, waiting := l.places.state()
		assert.Equal(t, 2, waiting)
		<-time.After(4 * time.Second)
		synctest.Wait()
		assert.ElementsMatch(t, []int{4, 5}, drain(l.vain))
	})
}

func TestWhoLeavesTheLineTakesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1, 2, time.Second)
		require.NoError(t, p.take(t.Context()))
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- p.take(ctx) }()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		p.giveBack()
		taken, waiting := p.state()
		assert.Zero(t, taken)
		assert.Zero(t, waiting)
	})
}

// However takers come, leave and are served at the same moment, no place is
// lost and none is given twice.
func TestPlacesAreNeverLostOrGivenTwice(t *testing.T) {
	t.Parallel()
	p := newPlaces(3, 8, time.Millisecond)
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for j := range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i+j)%7)*200*time.Microsecond+time.Microsecond)
				if p.take(ctx) == nil {
					n := inside.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					inside.Add(-1)
					p.giveBack()
				}
				cancel()
			}
		})
	}
	all.Wait()
	assert.LessOrEqual(t, most.Load(), int64(3))
	taken, waiting := p.state()
	assert.Zero(t, taken)
	assert.Zero(t, waiting)
}

// Who waits for his own part waits apart, gets what becomes free in it, and is
// forgotten when he has gone.
func TestShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShares(newPlaces(4, 4, time.Second))
		one, other := []owner{{"key:1", 2}, {"org:1", 2}}, []owner{{"org:2", 4}}
		a, err := s.take(t.Context(), one)
		require.NoError(t, err)
		b, err := s.take(t.Context(), one)
		require.NoError(t, err)
		waiting := make(chan func(), 1)
		go func() {
			c, err := s.take(t.Context(), one)
			assert.NoError(t, err)
			waiting <- c
		}()
		synctest.Wait()
		_, line := s.all.state()
		assert.Zero(t, line)
		d, err := s.take(t.Context(), other)
		require.NoError(t, err, "nobody else waits")
		a()
		c := <-waiting
		start := time.Now()
		_, err = s.take(t.Context(), one)
		require.ErrorIs(t, err, errNoPlace)
		assert.LessOrEqual(t, time.Since(start), 4*time.Second)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.take(gone, one)
		require.ErrorIs(t, err, context.Canceled)
		b()
		c()
		d()
		assert.Empty(t, s.owners)
		taken, _ := s.all.state()
		assert.Zero(t, taken)
	})
}
