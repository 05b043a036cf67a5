package rpc

import (
	"context"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// channel is the gRPC service for callers in this process: their calls pass the
// chain to the handlers without HTTP/2 in between. What a caller's context
// carries is there in the handler. Messages are handed over without a copy, so
// nobody may change what was given away.
type channel struct {
	unary   []grpc.UnaryServerInterceptor
	stream  []grpc.StreamServerInterceptor
	methods map[string]method
}

// method is one method of a service: unary, or stream.
type method struct {
	service any
	unary   grpc.MethodHandler
	stream  grpc.StreamHandler
}

func newChannel(chain []link) *channel {
	c := &channel{methods: make(map[string]method)}
	c.unary, c.stream = interceptorsOf(chain, false)
	return c
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *channel) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		c.methods["/"+desc.ServiceName+"/"+m.MethodName] = method{service: service, unary: m.Handler}
	}
	for _, s := range desc.Streams {
		c.methods["/"+desc.ServiceName+"/"+s.StreamName] = method{service: service, stream: s.Handler}
	}
}

// Invoke implements grpc.ClientConnInterface. The call runs on the goroutine of
// its caller.
func (c *channel) Invoke(ctx context.Context, name string, args, reply any, _ ...grpc.CallOption) error {
	m := c.methods[name]
	if m.unary == nil {
		return status.Errorf(codes.Unimplemented, "no method %s", name)
	}

	resp, err := m.unary(m.service, incoming(ctx), func(in any) error { return handOver(in, args) }, chained(c.unary))
	if err != nil {
		return err
	}
	return handOver(reply, resp)
}

// incoming makes the context of a call's server end.
func incoming(ctx context.Context) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	return metadata.NewIncomingContext(ctx, md)
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
	into, source := to.(proto.Message).ProtoReflect(), from.(proto.Message).ProtoReflect()
	source.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.Set(fd, v)
		return true
	})

	return nil
}

// NewStream implements grpc.ClientConnInterface for methods that take one
// message and answer many. Whoever leaves a stream before its end must end ctx.
func (c *channel) NewStream(
	ctx context.Context, _ *grpc.StreamDesc, name string, _ ...grpc.CallOption,
) (grpc.ClientStream, error) {
	m := c.methods[name]
	if m.stream == nil {
		return nil, status.Errorf(codes.Unimplemented, "no method %s", name)
	}

	info := &grpc.StreamServerInfo{FullMethod: name, IsServerStream: true}
	handle := chainedStream(c.stream, info, m.stream)
	return &clientEnd{
		serve:    func(s grpc.ServerStream) error { return handle(m.service, s) },
		ctx:      incoming(ctx),
		messages: make(chan any),
	}, nil
}

// clientEnd is what the caller has of a stream. The methods that it lacks are
// those that no caller in this process uses.
type clientEnd struct {
	grpc.ClientStream
	serve    func(grpc.ServerStream) error
	ctx      context.Context
	messages chan any // closed when the call has ended, with err
	err      error
	first    any // the message that Header waited for
}

// SendMsg implements grpc.ClientStream. The one message starts the call.
func (c *clientEnd) SendMsg(request any) error {
	go func() {
		defer close(c.messages)
		c.err = c.serve(serverEnd{ctx: c.ctx, request: request, messages: c.messages})
	}()

	return nil
}

// CloseSend implements grpc.ClientStream.
func (c *clientEnd) CloseSend() error { return nil }

// Header implements grpc.ClientStream. It waits for the first message and fails
// with the call, so that a stream that fails at once is answered over REST like
// any other failed call.
func (c *clientEnd) Header() (metadata.MD, error) {
	first, ok := <-c.messages
	c.first = first
	if !ok {
		return nil, c.err
	}
	return nil, nil
}

// RecvMsg implements grpc.ClientStream.
func (c *clientEnd) RecvMsg(m any) error {
	message := c.first
	c.first = nil
	if message == nil {
		message = <-c.messages
	}

	switch {
	case message != nil:
		return handOver(m, message)
	case c.err != nil:
		return c.err
	}

	return io.EOF
}

// serverEnd is what the handler has of a stream. The methods that it lacks are
// about headers, which callers in this process don't read.
type serverEnd struct {
	grpc.ServerStream
	ctx      context.Context
	request  any
	messages chan<- any
}

// Context implements grpc.ServerStream.
func (s serverEnd) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s serverEnd) RecvMsg(m any) error { return handOver(m, s.request) }

// SendMsg implements grpc.ServerStream. It returns when the caller has taken
// the message.
func (s serverEnd) SendMsg(m any) error {
	select {
	case s.messages <- m:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
