package rpc

import (
	"context"
	"io"
	"maps"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// serverCall is what both kinds of calls in this process have. The goroutine
// that serves the call uses it; a stream's caller does when it is told to.
type serverCall struct {
	ctx     context.Context
	header  metadata.MD
	trailer metadata.MD
}

// Context implements grpc.ServerStream.
func (c *serverCall) Context() context.Context { return c.ctx }

// SetHeader implements grpc.ServerStream.
func (c *serverCall) SetHeader(md metadata.MD) error {
	if c.header == nil {
		c.header = make(metadata.MD, len(md))
	}
	maps.Copy(c.header, md)
	return nil
}

// SetTrailer implements grpc.ServerStream.
func (c *serverCall) SetTrailer(md metadata.MD) { c.trailer = metadata.Join(c.trailer, md) }

// transportStream is what grpc.SetHeader and grpc.Method look for in a context.
type transportStream struct {
	call   *serverCall
	method string
}

var _ grpc.ServerTransportStream = transportStream{}

func (t transportStream) Method() string                  { return t.method }
func (t transportStream) SetHeader(md metadata.MD) error  { return t.call.SetHeader(md) }
func (t transportStream) SendHeader(md metadata.MD) error { return t.call.SetHeader(md) }
func (t transportStream) SetTrailer(md metadata.MD) error {
	t.call.SetTrailer(md)
	return nil
}

// unaryCall is a call with one message each way, all on one goroutine.
type unaryCall struct {
	serverCall
	request, reply any
	received       bool
}

var _ grpc.ServerStream = (*unaryCall)(nil)

// SendHeader implements grpc.ServerStream: the caller gets it in the end.
func (c *unaryCall) SendHeader(md metadata.MD) error { return c.SetHeader(md) }

// RecvMsg implements grpc.ServerStream.
func (c *unaryCall) RecvMsg(m any) error {
	if c.received {
		return io.EOF
	}
	c.received = true
	return handOver(m, c.request)
}

// SendMsg implements grpc.ServerStream.
func (c *unaryCall) SendMsg(m any) error { return handOver(c.reply, m) }

// streamCall is a call with one message there and many back: the server's end.
type streamCall struct {
	serverCall
	outer    context.Context // of the caller
	request  any             // after asked
	asked    chan struct{}   // closed when the request is there
	headed   chan struct{}   // closed when the header is complete
	heading  sync.Once
	messages chan any
	ended    chan struct{} // closed when err is what the call ended with
	err      error
}

var _ grpc.ServerStream = (*streamCall)(nil)

func newStreamCall(ctx context.Context) *streamCall {
	return &streamCall{
		outer: ctx, asked: make(chan struct{}), headed: make(chan struct{}),
		messages: make(chan any), ended: make(chan struct{}),
	}
}

// SendHeader implements grpc.ServerStream.
func (c *streamCall) SendHeader(md metadata.MD) error {
	err := c.SetHeader(md)
	c.heading.Do(func() { close(c.headed) })
	return err
}

// RecvMsg implements grpc.ServerStream.
func (c *streamCall) RecvMsg(m any) error {
	select {
	case <-c.asked:
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
	if c.request == nil {
		return io.EOF
	}
	request := c.request
	c.request = nil
	return handOver(m, request)
}

// SendMsg implements grpc.ServerStream. It returns when the caller has taken
// the message.
func (c *streamCall) SendMsg(m any) error {
	c.heading.Do(func() { close(c.headed) })
	select {
	case c.messages <- m:
		return nil
	case <-c.ctx.Done():
		return status.FromContextError(c.ctx.Err()).Err()
	}
}

// clientEnd is the caller's end of a streamCall.
type clientEnd struct{ c *streamCall }

var _ grpc.ClientStream = clientEnd{}

// Context implements grpc.ClientStream.
func (e clientEnd) Context() context.Context { return e.c.outer }

// SendMsg implements grpc.ClientStream. There is one message to send.
func (e clientEnd) SendMsg(m any) error {
	select {
	case <-e.c.asked:
		return io.EOF
	default:
	}
	e.c.request = m
	close(e.c.asked)
	return nil
}

// CloseSend implements grpc.ClientStream.
func (e clientEnd) CloseSend() error { return nil }

// Header implements grpc.ClientStream.
func (e clientEnd) Header() (metadata.MD, error) {
	select {
	case <-e.c.headed:
	case <-e.c.ended:
	}
	return e.c.header, nil
}

// Trailer implements grpc.ClientStream. It is there after RecvMsg has failed.
func (e clientEnd) Trailer() metadata.MD { return e.c.trailer }

// RecvMsg implements grpc.ClientStream.
func (e clientEnd) RecvMsg(m any) error {
	select {
	case from := <-e.c.messages:
		return handOver(m, from)
	case <-e.c.ended:
	}
	if e.c.err == nil {
		return io.EOF
	}
	return e.c.err
}
