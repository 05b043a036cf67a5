package rpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// channel is the gRPC service for callers in this process: their calls pass the
// chain to the handlers without HTTP/2 in between. What a caller's context
// carries is there in the handler. Messages are handed over without a copy, so
// nobody may change what he gave away.
type channel struct {
	intercept       []grpc.UnaryServerInterceptor
	interceptStream []grpc.StreamServerInterceptor
	telemetry       stats.Handler // nil for none
	methods         map[string]method
}

// method is one method of a service: desc for a unary one, or stream.
type method struct {
	service any
	unary   grpc.MethodHandler
	stream  *grpc.StreamDesc
}

var _ grpc.ClientConnInterface = (*channel)(nil)

func newChannel(chain []link, telemetry stats.Handler) *channel {
	c := &channel{telemetry: telemetry, methods: make(map[string]method)}
	c.intercept, c.interceptStream = interceptorsOf(chain, false)
	return c
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *channel) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		c.methods["/"+desc.ServiceName+"/"+m.MethodName] = method{service: service, unary: m.Handler}
	}
	for i, s := range desc.Streams {
		c.methods["/"+desc.ServiceName+"/"+s.StreamName] = method{service: service, stream: &desc.Streams[i]}
	}
}

// Invoke implements grpc.ClientConnInterface. The call runs on the goroutine of
// its caller.
func (c *channel) Invoke(ctx context.Context, name string, args, reply any, _ ...grpc.CallOption) error {
	m, ok := c.methods[name]
	if !ok || m.unary == nil {
		return noMethod(name)
	}
	ctx, ended := c.begin(ctx, name)
	resp, err := m.unary(m.service, ctx, func(in any) error { return handOver(in, args) }, chained(c.intercept))
	ended(err)
	if err != nil {
		return err
	}
	return handOver(reply, resp)
}

// NewStream implements grpc.ClientConnInterface for methods that take one
// message and answer many. Whoever leaves a stream before its end must end ctx.
func (c *channel) NewStream(
	ctx context.Context, _ *grpc.StreamDesc, name string, _ ...grpc.CallOption,
) (grpc.ClientStream, error) {
	m, ok := c.methods[name]
	if !ok || m.stream == nil {
		return nil, noMethod(name)
	}
	inner, ended := c.begin(ctx, name)
	s := &memoryStream{
		ctx: inner, asked: make(chan struct{}), answered: make(chan struct{}),
		messages: make(chan any), ended: make(chan struct{}),
	}
	info := &grpc.StreamServerInfo{FullMethod: name, IsServerStream: m.stream.ServerStreams}
	go func() {
		defer close(s.ended)
		s.err = chainedStream(c.interceptStream, info, m.stream.Handler)(m.service, serverEnd{s})
		ended(s.err)
	}()
	return clientEnd{s, ctx}, nil
}

// begin makes the context of a call's server end, and what its end is told to.
func (c *channel) begin(ctx context.Context, name string) (context.Context, func(error)) {
	md, _ := metadata.FromOutgoingContext(ctx)
	ctx = metadata.NewIncomingContext(ctx, md)
	if c.telemetry == nil {
		return ctx, func(error) {}
	}
	ctx = c.telemetry.TagRPC(ctx, &stats.RPCTagInfo{FullMethodName: name})
	began := time.Now()
	c.telemetry.HandleRPC(ctx, &stats.Begin{BeginTime: began})
	return ctx, func(err error) {
		c.telemetry.HandleRPC(ctx, &stats.End{BeginTime: began, EndTime: time.Now(), Error: err})
	}
}

func noMethod(name string) error {
	err := errs.New(errs.Unimplemented, errs.ReasonRouteNotFound, "There is no method %s.", shown(name))
	return rpcerr.Status(err).Err()
}

// chained makes one interceptor of many.
func chained(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if len(all) == 0 {
			return handler(ctx, req)
		}
		return all[0](ctx, req, info, func(ctx context.Context, req any) (any, error) {
			return chained(all[1:])(ctx, req, info, handler)
		})
	}
}

// chainedStream makes one handler of the interceptors and a handler.
func chainedStream(
	all []grpc.StreamServerInterceptor, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) grpc.StreamHandler {
	if len(all) == 0 {
		return handler
	}
	return func(srv any, ss grpc.ServerStream) error {
		return all[0](srv, ss, info, chainedStream(all[1:], info, handler))
	}
}

// handOver makes the empty message to what from is, without copying what that
// holds.
func handOver(to, from any) error {
	source, ok := from.(proto.Message)
	target, fits := to.(proto.Message)
	if !ok || !fits || source.ProtoReflect().Descriptor() != target.ProtoReflect().Descriptor() {
		return errors.New("a message of another type was expected")
	}
	into := target.ProtoReflect()
	source.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(fd, v)
		return true
	})
	return nil
}

// memoryStream is a call with one message there and many back.
type memoryStream struct {
	ctx      context.Context
	request  any           // there when asked is closed
	asked    chan struct{} // closed when the request is there
	answered chan struct{} // closed when there is a first message
	first    sync.Once
	messages chan any
	ended    chan struct{} // closed when err is what the call ended with
	err      error
}

// serverEnd is what the handler has of a memoryStream.
type serverEnd struct{ *memoryStream }

var _ grpc.ServerStream = serverEnd{}

// Context implements grpc.ServerStream.
func (s serverEnd) Context() context.Context { return s.ctx }

// SetHeader implements grpc.ServerStream. Callers in this process read none.
func (s serverEnd) SetHeader(metadata.MD) error { return nil }

// SendHeader implements grpc.ServerStream.
func (s serverEnd) SendHeader(metadata.MD) error { return nil }

// SetTrailer implements grpc.ServerStream.
func (s serverEnd) SetTrailer(metadata.MD) {}

// RecvMsg implements grpc.ServerStream.
func (s serverEnd) RecvMsg(m any) error {
	select {
	case <-s.asked:
		return handOver(m, s.request)
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

// SendMsg implements grpc.ServerStream. It returns when the caller has taken
// the message.
func (s serverEnd) SendMsg(m any) error {
	s.first.Do(func() { close(s.answered) })
	select {
	case s.messages <- m:
		return nil
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	}
}

// clientEnd is what the caller has of a memoryStream.
type clientEnd struct {
	*memoryStream
	outer context.Context
}

var _ grpc.ClientStream = clientEnd{}

// Context implements grpc.ClientStream.
func (c clientEnd) Context() context.Context { return c.outer }

// SendMsg implements grpc.ClientStream. There is one message to send.
func (c clientEnd) SendMsg(m any) error {
	c.request = m
	close(c.asked)
	return nil
}

// CloseSend implements grpc.ClientStream.
func (c clientEnd) CloseSend() error { return nil }

// Header implements grpc.ClientStream. It waits for the first message and fails
// with the call, so that a stream that fails at once is answered over REST like
// any other failed call.
func (c clientEnd) Header() (metadata.MD, error) {
	select {
	case <-c.answered:
		return nil, nil
	case <-c.ended:
		return nil, c.err
	}
}

// Trailer implements grpc.ClientStream.
func (c clientEnd) Trailer() metadata.MD { return nil }

// RecvMsg implements grpc.ClientStream.
func (c clientEnd) RecvMsg(m any) error {
	select {
	case from := <-c.messages:
		return handOver(m, from)
	case <-c.ended:
	}

	if c.err == nil {
		return io.EOF
	}
	return c.err
}
