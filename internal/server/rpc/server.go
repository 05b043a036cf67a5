// Package rpc is the gRPC server: one ordered chain of interceptors, and the two
// servers that use it, one on a network port and one in memory under the REST
// gateway.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Limits of the servers.
const (
	// MaxBody is the most bytes that a request body may have over REST, but for
	// documents of rules.
	MaxBody = 1 << 20
	// MaxDocument is the most bytes of a document of rules: its body over REST, and
	// all of its messages over gRPC.
	MaxDocument = 16 << 20

	// maxMessage lets every body that REST takes through as a message, with
	// room for what the framing of many short strings adds.
	maxMessage = MaxBody + 64<<10

	// maxHeaderList bounds the metadata of a call, as in REST. gRPC reads it
	// before it asks anybody.
	maxHeaderList = 32 << 10

	// streamWindow and connWindow are how many bytes of messages a stream and a
	// connection take before they are asked for. By itself gRPC would raise the
	// first to 16 MiB for fast senders.
	streamWindow = 64 << 10
	connWindow   = 1 << 20

	// maxStreams bounds the calls that one network connection has at once: a
	// key may have 100 watches, and needs some for other calls beside them.
	maxStreams = 128

	// handshakeTimeout bounds how long a connection may take to be one, and
	// idleTimeout ends those without calls, as in REST.
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 2 * time.Minute

	// receiveTimeout is how long a call may take to send its first message. Over
	// REST it is as long for the body.
	receiveTimeout = 30 * time.Second
)

// Config is what a Server needs.
type Config struct {
	Admission Admission
	Metrics   *grpcprom.ServerMetrics
	Log       *slog.Logger

	// Register registers the services. It is called for each half.
	Register func(grpc.ServiceRegistrar)

	// Options are for the server on the network, beside its limits.
	Options []grpc.ServerOption
}

// Server is the gRPC service: on a network port, and for callers in this
// process, such as the gateway. Both have the same chain and the same services.
type Server struct {
	network *grpc.Server
	process *channel
}

// New makes a server.
func New(c Config) *Server {
	chain := newChain(c.Admission, c.Metrics, c.Log)
	unary, stream := interceptorsOf(chain, true)
	options := append([]grpc.ServerOption{
		grpc.InTapHandle(c.Admission.open),
		grpc.ChainUnaryInterceptor(unary...),
		grpc.ChainStreamInterceptor(stream...),
		grpc.UnknownServiceHandler(unknownMethod),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(protocodec.Name)}),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaderList),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: idleTimeout,
			Time:              time.Minute,
			Timeout:           20 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}, c.Options...)

	s := &Server{network: grpc.NewServer(options...), process: newChannel(chain)}
	c.Register(s.network)
	c.Register(s.process)
	return s
}

// Serve serves the network half on l, which bounds its connections (see package
// port), until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.network.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

// Conn is the connection for callers in this process, who have admitted their
// requests. The context of a call says whose it is; see Admitted.
func (s *Server) Conn() grpc.ClientConnInterface { return s.process }

// Shutdown takes no more calls from the network, lets those that run finish
// until ctx ends, and then cuts them off.
func (s *Server) Shutdown(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.network.GracefulStop()
	}()

	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.network.Stop()
		<-done
		return fmt.Errorf("stop gRPC: running calls were cut off: %w", ctx.Err())
	}
}

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
	ctx context.Context, desc *grpc.StreamDesc, name string, _ ...grpc.CallOption,
) (grpc.ClientStream, error) {
	m := c.methods[name]
	if m.stream == nil {
		return nil, status.Errorf(codes.Unimplemented, "no method %s", name)
	}

	info := &grpc.StreamServerInfo{
		FullMethod: name, IsClientStream: desc.ClientStreams, IsServerStream: desc.ServerStreams,
	}
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
	begun    bool
}

// SendMsg implements grpc.ClientStream. The one message starts the call.
func (c *clientEnd) SendMsg(request any) error {
	c.begun = true
	go func() {
		defer close(c.messages)
		c.err = c.serve(&serverEnd{ctx: c.ctx, request: request, messages: c.messages})
	}()
	return nil
}

// CloseSend implements grpc.ClientStream. A request without a body is a call
// without a message.
func (c *clientEnd) CloseSend() error {
	if !c.begun {
		return c.SendMsg(nil)
	}
	return nil
}

// Trailer implements grpc.ClientStream.
func (c *clientEnd) Trailer() metadata.MD { return nil }

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
	request  any // nil when there is none, or no more
	messages chan<- any
}

// Context implements grpc.ServerStream.
func (s *serverEnd) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s *serverEnd) RecvMsg(m any) error {
	request := s.request
	if s.request = nil; request == nil {
		return io.EOF
	}
	return handOver(m, request)
}

// SendMsg implements grpc.ServerStream. It returns when the caller has taken
// the message.
func (s *serverEnd) SendMsg(m any) error {
	select {
	case s.messages <- m:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
