package scanner

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func isTurn(t *ticket) bool {
	select {
	case <-t.turn:
		return true
	default:
		return false
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	l := newLine(2, 3)
	var tickets []*ticket
	for range 5 {
		k, ok := l.enter()
		require.True(t, ok)
		tickets = append(tickets, k)
	}
	_, ok := l.enter()
	assert.False(t, ok, "there is no room")
	working, waiting := l.load()
	assert.Equal(t, [2]int{2, 3}, [2]int{working, waiting})
	for i, want := range []bool{true, true, false, false, false} {
		assert.Equal(t, want, isTurn(tickets[i]), i)
	}
	assert.Equal(t, []int{0, 1, 2}, []int{tickets[2].ahead(), tickets[3].ahead(), tickets[4].ahead()})

	tickets[3].leave() // it does not want to wait any more
	tickets[3].leave()
	assert.Equal(t, 1, tickets[4].ahead())
	tickets[1].leave()
	assert.True(t, isTurn(tickets[2]), "first come, first served")
	assert.False(t, isTurn(tickets[4]))
	tickets[0].leave()
	assert.True(t, isTurn(tickets[4]))
	tickets[2].leave()
	tickets[4].leave()
	working, waiting = l.load()
	assert.Equal(t, [2]int{0, 0}, [2]int{working, waiting})
}

// However calls come and go, no more than there are places work at once, and
// no place is lost.
func TestLineUnderLoad(t *testing.T) {
	t.Parallel()
	l := newLine(3, 5)
	var working, worked atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 500 {
				k, ok := l.enter()
				if !ok {
					continue
				}
				if (n+i)%3 == 0 && !isTurn(k) {
					k.leave() // gives up waiting, perhaps just when its turn comes
					continue
				}
				<-k.turn
				assert.LessOrEqual(t, working.Add(1), int32(3))
				worked.Add(1)
				working.Add(-1)
				k.leave()
			}
		})
	}
	all.Wait()
	w, waiting := l.load()
	assert.Equal(t, [2]int{0, 0}, [2]int{w, waiting})
	assert.Positive(t, worked.Load())
}
