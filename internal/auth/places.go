package auth

import (
	"container/list"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// refusalPace is the time that each who stands in a long line adds to how late
// the others may be told that there is no place for them: about 250 are told in
// a second.
const refusalPace = 4 * time.Millisecond

// errNoPlace says that a wait for a place was in vain.
var errNoPlace = errors.New("no place")

// places is a number of places, and a line of those who wait for one. The first
// in line is served first; but once it has waited for more than a quarter of
// wait, the last: then there is more to do than can be done, and it is better to
// serve some at once than all late. Nobody is served who has waited for longer
// than wait. Who was not is told so later, at a time of his own: within three
// times wait more, or in a long line within refusalPace for each who stands
// there. Most try again at once, and each answer to them takes time from those
// who are served. For one more in a full line, the first, who waited longest, is
// told at once.
type places struct {
	most, mostWaiting int
	wait              time.Duration

	mu    sync.Mutex
	taken int
	line  *list.List // of *waiter, the first is the oldest
}

// waiter is one in line. served gets one value: whether there is a place.
type waiter struct {
	since  time.Time
	served chan bool
}

func newPlaces(most, mostWaiting int, wait time.Duration) *places {
	return &places{most: most, mostWaiting: mostWaiting, wait: wait, line: list.New()}
}

// take takes a place. It fails with errNoPlace, and when ctx ends.
func (p *places) take(ctx context.Context) error {
	p.mu.Lock()
	if p.taken < p.most {
		p.taken++
		p.mu.Unlock()
		return nil
	}
	w := &waiter{since: time.Now(), served: make(chan bool, 1)}
	e := p.line.PushBack(w)
	late := max(3*p.wait, time.Duration(p.line.Len())*refusalPace)
	if p.line.Len() > p.mostWaiting {
		p.serve(p.line.Front(), false)
	}
	p.mu.Unlock()
	timer := time.NewTimer(p.wait + rand.N(late+1))
	defer timer.Stop()
	select {
	case ok := <-w.served:
		return noPlaceUnless(ok)
	case <-ctx.Done():
		if p.leave(e) && <-w.served {
			p.giveBack() // it was served at the same moment
		}
		return ctx.Err()
	case <-timer.C:
		if p.leave(e) {
			return noPlaceUnless(<-w.served)
		}
		return errNoPlace
	}
}

func noPlaceUnless(ok bool) error {
	if ok {
		return nil
	}
	return errNoPlace
}

// serve takes one out of the line and tells it. The caller holds mu.
func (p *places) serve(e *list.Element, place bool) {
	p.line.Remove(e).(*waiter).served <- place
}

// leave takes one out of the line that does not want to wait any more. It
// returns true when that was served already.
func (p *places) leave(e *list.Element) (served bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := e.Value.(*waiter)
	if len(w.served) > 0 {
		return true
	}
	p.line.Remove(e)
	return false
}

// giveBack gives a place back, to one in line if there is any.
func (p *places) giveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.line.Front()
	if next != nil && waited(next) > p.wait/4 {
		next = p.line.Back()
	}
	if next == nil || waited(next) > p.wait {
		p.taken--
		return
	}
	p.serve(next, true)
}

func waited(e *list.Element) time.Duration { return time.Since(e.Value.(*waiter).since) }

func (p *places) state() (taken, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken, p.line.Len()
}
