package scanner

import (
	"container/list"
	"sync"
)

// line lets a bounded number of calls work at once and a bounded number wait,
// first come, first served. It is safe for concurrent use.
type line struct {
	places int // calls that work at once
	room   int // calls that wait

	mu      sync.Mutex
	taken   int       // places that are given out
	waiting list.List // of *ticket, the first one first
}

// ticket is one call's stand in the line.
type ticket struct {
	line *line
	turn chan struct{} // closed when the call has a place
	// Guarded by line.mu.
	spot *list.Element // nil once it has a place
	left bool
}

func newLine(places, room int) *line { return &line{places: places, room: room} }

// enter stands in line, or takes a place at once when one is free. ok is false
// when there is no room to wait.
func (l *line) enter() (_ *ticket, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &ticket{line: l, turn: make(chan struct{})}
	switch {
	case l.taken < l.places: // then nobody waits
		l.taken++
		close(t.turn)
	case l.waiting.Len() >= l.room:
		return nil, false
	default:
		t.spot = l.waiting.PushBack(t)
	}
	return t, true
}

// leave gives up the place, which goes to the first that waits, or the stand
// in line. Twice is once.
func (t *ticket) leave() {
	l := t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.left {
		return
	}
	t.left = true
	if t.spot != nil {
		l.waiting.Remove(t.spot)
		return
	}
	first := l.waiting.Front()
	if first == nil {
		l.taken--
		return
	}
	next := l.waiting.Remove(first).(*ticket)
	next.spot = nil
	close(next.turn)
}

// ahead counts the calls that get a place before this one.
func (t *ticket) ahead() int {
	l := t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for e := l.waiting.Front(); e != nil && e != t.spot && t.spot != nil; e = e.Next() {
		n++
	}
	return n
}

// load says how many calls work and how many wait.
func (l *line) load() (working, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, l.waiting.Len()
}
