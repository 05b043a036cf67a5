package review

import "sync"

// Hub tells the parts of one process that something happened, so that they
// need not poll: that a review waits, that a review changed its state, how far
// a scan is. It only wakes; the truth is in the store, and whoever listens
// also polls it, because other processes change reviews too.
type Hub struct {
	enqueued chan struct{}

	mu        sync.Mutex
	listeners map[string]map[*listener]struct{} // by review
}

type listener struct {
	wake        chan struct{}
	onlyChanges bool // progress does not wake it
	attempt     int
	progress    Progress
}

// NewHub returns a hub without listeners.
func NewHub() *Hub {
	return &Hub{enqueued: make(chan struct{}, 1), listeners: map[string]map[*listener]struct{}{}}
}

// Enqueued says that a review waits to be claimed.
func (h *Hub) Enqueued() {
	select {
	case h.enqueued <- struct{}{}:
	default:
	}
}

// Changed says that the review's state changed.
func (h *Hub) Changed(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[id] {
		l.signal()
	}
}

// progressed says how far an attempt at the review is.
func (h *Hub) progressed(id string, attempt int, p Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[id] {
		l.attempt, l.progress = attempt, p
		if !l.onlyChanges {
			l.signal()
		}
	}
}

func (l *listener) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// listen subscribes to one review until stop is called.
func (h *Hub) listen(id string, onlyChanges bool) (l *listener, stop func()) {
	l = &listener{wake: make(chan struct{}, 1), onlyChanges: onlyChanges}
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
