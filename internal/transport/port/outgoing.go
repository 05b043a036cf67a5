package port

import (
	"context"
	"net"
	"slices"
	"sync"
)

// outgoing knows how much of what a connection was given is written. A server
// of gRPC takes an answer of any size at once, and tells nobody when it is
// written; until then it holds it.
type outgoing struct {
	mu       sync.Mutex
	written  int64 // bytes, in all
	expected []*Expectation
}

// Expectation is a number of bytes that are to be written on a connection,
// after those of the expectations before it. What else is written meanwhile
// counts too, so it may seem to be fulfilled a little early, but never by what
// was written before.
type Expectation struct {
	outgoing *outgoing
	size     int64
	mark     int64 // of outgoing.written, when it is fulfilled
	done     chan struct{}
}

// Expect begins to expect that size bytes are written on the connection of a
// remote address; nil when that did not come in by a port.
func Expect(a net.Addr, size int) *Expectation {
	r, ok := a.(remoteAddr)
	if !ok {
		return nil
	}
	o := &r.conn.outgoing
	o.mu.Lock()
	defer o.mu.Unlock()
	e := &Expectation{outgoing: o, size: int64(size), mark: o.written + int64(size), done: make(chan struct{})}
	if n := len(o.expected); n > 0 {
		e.mark = o.expected[n-1].mark + e.size
	}
	o.expected = append(o.expected, e)
	return e
}

// Wait returns when the bytes are written, or when ctx ends, with its error;
// then they are expected no more.
func (e *Expectation) Wait(ctx context.Context) error {
	if e == nil {
		return nil
	}
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		e.Forget()
		return ctx.Err()
	}
}

// Forget ends the expectation.
func (e *Expectation) Forget() {
	if e != nil {
		e.outgoing.drop(e)
	}
}

// drop takes one out that will not be fulfilled: those after it don't wait for
// its bytes.
func (o *outgoing) drop(e *Expectation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.expected, e)
	if i < 0 {
		return
	}
	missing := min(e.size, e.mark-o.written)
	for _, later := range o.expected[i+1:] {
		later.mark -= missing
	}
	o.expected = slices.Delete(o.expected, i, i+1)
	o.fulfil()
}

// wrote counts n bytes.
func (o *outgoing) wrote(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written += int64(n)
	o.fulfil()
}

// fulfil tells those that are fulfilled. The caller holds mu.
func (o *outgoing) fulfil() {
	for len(o.expected) > 0 && o.expected[0].mark <= o.written {
		close(o.expected[0].done)
		o.expected = slices.Delete(o.expected, 0, 1)
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.outgoing.wrote(n)
	return n, err
}
