package overload

import (
	"context"
	"sync"
)

// Request is a request that is open, and what it takes from the limits. Its
// methods do nothing for nil, a request that nobody bounds.
type Request struct {
	guard *Guard

	mu     sync.Mutex
	owner  string // "" for no bound of its own
	closed bool
	held   map[Limit]func() // gives back what was taken
}

type requestKey struct{}

// NewContext returns a context that carries the request.
func NewContext(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// FromContext returns the request that a context carries; nil for none.
func FromContext(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// BelongsTo says whose request it is, once that is known. Large messages and
// watches then count against the organization, not the address.
func (r *Request) BelongsTo(organization string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owner = "organization:" + organization
}

// Work waits until the request may be worked on.
func (r *Request) Work(ctx context.Context) error { return r.take(ctx, LimitWork, 1) }

// Pause says that the request is not worked on while it waits for its client,
// or for something that has bounds of its own.
func (r *Request) Pause() { r.giveBack(LimitWork) }

// Message takes a place among the gRPC messages that are being received, until
// Received.
func (r *Request) Message(ctx context.Context) error { return r.take(ctx, LimitMessages, 1) }

// Received ends what Message began.
func (r *Request) Received() { r.giveBack(LimitMessages) }

// Body takes room for a body of n bytes if it is large, until Close.
func (r *Request) Body(ctx context.Context, n int64) error {
	if n <= Large {
		return nil
	}
	return r.take(ctx, LimitBodies, n)
}

// Answer takes room for an answer of n bytes if it is large, and returns what
// gives it back.
func (r *Request) Answer(ctx context.Context, n int64) (written func(), err error) {
	if r == nil || n <= Large {
		return func() {}, nil
	}
	return r.guard.acquire(ctx, LimitAnswers, r.currentOwner(), n)
}

// Watch makes the request a watch: it counts among the watches until Close, and
// no more among the open requests and those that are worked on.
func (r *Request) Watch(ctx context.Context) error {
	r.Pause()
	if err := r.take(ctx, LimitWatches, 1); err != nil {
		return err
	}
	r.giveBack(LimitOpen)
	return nil
}

// Close ends the request. It may be called twice.
func (r *Request) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for limit, release := range r.held {
		release()
		delete(r.held, limit)
	}
}

func (r *Request) currentOwner() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owner
}

// take takes n of a limit, once.
func (r *Request) take(ctx context.Context, limit Limit, n int64) error {
	if r == nil || r.holds(limit) {
		return nil
	}
	release, err := r.guard.acquire(ctx, limit, r.currentOwner(), n)
	if err != nil {
		return err
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		release()
		return nil
	}

	r.held[limit] = release
	return nil
}

func (r *Request) holds(limit Limit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[limit] != nil
}

func (r *Request) giveBack(limit Limit) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if release := r.held[limit]; release != nil {
		release()
		delete(r.held, limit)
	}
}
