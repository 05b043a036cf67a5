package review

import "sync"

// Notifier tells the parts of one process that something happened, so that they
// need not poll: that a review waits, that a review changed its state, how far
// a scan is. It only wakes; the truth is in the store, and whoever listens
// also polls it, because other processes change reviews too and what they tell
// may be lost.
type Notifier struct {
	enqueued chan struct{} // for the dispatcher's claims
	canceled chan struct{} // for its leases

	mu        sync.Mutex
	listeners map[string]map[*listener]struct{} // by review
}

type listener struct {
	wake     chan struct{}
	attempt  int
	progress Progress
}

// NewNotifier returns a notifier for the services and the dispatcher of one
// process.
func NewNotifier() *Notifier {
	return &Notifier{
		enqueued: make(chan struct{}, 1), canceled: make(chan struct{}, 1), listeners: map[string]map[*listener]struct{}{},
	}
}

// Enqueued says that a review waits to be claimed.
func (n *Notifier) Enqueued() { signal(n.enqueued) }

// Changed says that the review's state changed.
func (n *Notifier) Changed(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.listeners[id] {
		signal(l.wake)
	}
}

// Canceled says that the review was canceled: its state changed, and a scan of
// it must stop.
func (n *Notifier) Canceled(id string) {
	n.Changed(id)
	signal(n.canceled)
}

// Missed says that anything may have happened unheard.
func (n *Notifier) Missed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, of := range n.listeners {
		for l := range of {
			signal(l.wake)
		}
	}

	signal(n.canceled)
	signal(n.enqueued)
}

// progressed says how far an attempt at the review is.
func (n *Notifier) progressed(id string, attempt int, p Progress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.listeners[id] {
		l.attempt, l.progress = attempt, p
		signal(l.wake)
	}
}

// listen subscribes to one review until stop is called.
func (n *Notifier) listen(id string) (l *listener, stop func()) {
	l = &listener{wake: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[id] == nil {
		n.listeners[id] = map[*listener]struct{}{}
	}
	n.listeners[id][l] = struct{}{}
	return l, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners[id], l)
		if len(n.listeners[id]) == 0 {
			delete(n.listeners, id)
		}
	}
}

// latest returns the progress that the listener heard of last, and of which
// attempt it was.
func (n *Notifier) latest(l *listener) (attempt int, p Progress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return l.attempt, l.progress
}

// signal wakes whoever waits on c, or the next one to do so.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
