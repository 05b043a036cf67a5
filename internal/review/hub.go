package review

import "sync"

// Hub tells the parts of one process that something happened, so that they
// need not poll: that a review waits, that a review changed its state, how far
// a scan is. It only wakes; the truth is in the store, and whoever listens
// also polls it, because other processes change reviews too and what they tell
// may be lost.
type Hub struct {
	enqueued chan struct{}

	mu        sync.Mutex
	listeners map[string]map[*listener]struct{} // by review
	cancels   map[*cancelListener]struct{}
}

type listener struct {
	wake     chan struct{}
	attempt  int
	progress Progress
}

type cancelListener struct{ canceled func(id string) }

// NewHub returns a hub without listeners.
func NewHub() *Hub {
	return &Hub{
		enqueued:  make(chan struct{}, 1),
		listeners: map[string]map[*listener]struct{}{}, cancels: map[*cancelListener]struct{}{},
	}
}

// Enqueued says that a review waits to be claimed.
func (h *Hub) Enqueued() { signal(h.enqueued) }

// Changed says that the review's state changed.
func (h *Hub) Changed(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[id] {
		signal(l.wake)
	}
}

// Canceled says that the review was canceled: its state changed, and a scan of
// it must stop.
func (h *Hub) Canceled(id string) {
	h.Changed(id)
	h.tellCanceled(id)
}

// Missed says that anything may have happened, and nobody told of it.
func (h *Hub) Missed() {
	h.mu.Lock()
	for _, of := range h.listeners {
		for l := range of {
			signal(l.wake)
		}
	}
	h.mu.Unlock()
	h.tellCanceled("")
	h.Enqueued()
}

func (h *Hub) tellCanceled(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.cancels {
		l.canceled(id)
	}
}

// onCanceled has fn called with the identifier of each review that was
// canceled, and with an empty one when any may have been, until stop is
// called. fn must return at once and not use the hub.
func (h *Hub) onCanceled(fn func(id string)) (stop func()) {
	l := &cancelListener{fn}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancels[l] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.cancels, l)
	}
}

// progressed says how far an attempt at the review is.
func (h *Hub) progressed(id string, attempt int, p Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[id] {
		l.attempt, l.progress = attempt, p
		signal(l.wake)
	}
}

// listen subscribes to one review until stop is called.
func (h *Hub) listen(id string) (l *listener, stop func()) {
	l = &listener{wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners[id] == nil {
		h.listeners[id] = map[*listener]struct{}{}
	}
	h.listeners[id][l] = struct{}{}
	return l, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners[id], l)
		if len(h.listeners[id]) == 0 {
			delete(h.listeners, id)
		}
	}
}

// latest returns the progress that the listener heard of last, and of which
// attempt it was.
func (h *Hub) latest(l *listener) (attempt int, p Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return l.attempt, l.progress
}

// signal wakes whoever waits on c, or the next one to do so.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
