package review

import (
	"context"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
)

// Watching reads the state at least every watchPoll, because another process
// may change it, and says something at least every keepAlive, because proxies
// close silent streams. A store that is away for less than watchOutage, as one
// that is restarted, ends no watch.
const (
	watchPoll   = time.Second
	keepAlive   = 15 * time.Second
	watchOutage = 30 * time.Second
)

// Update is one message to somebody who watches a review.
type Update struct {
	Review    Review // without findings and skips
	KeepAlive bool   // nothing changed
}

// Watch sends the review's state at once, after changes of state and on
// progress, and an unchanged one as a keep-alive. A state that passes faster than
// it is looked at is not sent. Watch returns nil after a final
// state was sent, and otherwise the error of ctx, of send, or of the store, when
// that is not just away for a moment.
func (s *Service) Watch(ctx context.Context, org, id string, send func(Update) error) error {
	l, stop := s.notifier.listen(id)
	defer stop()

	current, err := s.store.GetReviewState(ctx, org, id)
	if err != nil {
		return err
	}
	if err := send(Update{Review: current}); err != nil {
		return err
	}
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	alive := time.NewTimer(keepAlive)
	defer alive.Stop()
	read := time.Now() // when the store was last there
	for !current.Status.Final() {
		quiet := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		case <-poll.C:
		case <-alive.C:
			quiet = true
		}
		next, err := s.store.GetReviewState(ctx, org, id)
		switch {
		case err == nil:
			read = time.Now()
		case errs.KindOf(err) == errs.Unavailable && time.Since(read) < watchOutage:
			next = current
		default:
			return err
		}
		attempt, p := s.notifier.latest(l)
		if next.Status == InProgress && attempt == next.Attempt && p.FilesDone > next.Progress.FilesDone {
			next.Progress = p
		}
		changed := next.Status != current.Status || next.Attempt != current.Attempt || next.Progress != current.Progress
		if !changed && !quiet {
			continue
		}
		if err := send(Update{Review: next, KeepAlive: !changed}); err != nil {
			return err
		}
		current = next
		alive.Reset(keepAlive)
	}

	return nil
}

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
