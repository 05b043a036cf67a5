package grpcserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"
)

// Limits of the servers.
const (
	// MaxBody is the most bytes that a request body may have over REST.
	MaxBody = 1 << 20
	// maxMessage lets every body that REST takes through as a message, with
	// room for what the framing of many short strings adds.
	maxMessage = MaxBody + 64<<10
	// maxReceived is the size over which gRPC refuses a message by itself,
	// without reading it and without the details that our errors have. Below
	// it, an honest mistake is explained like any other.
	maxReceived = 2 * maxMessage
	// maxHeaderList bounds the metadata of a call, as in REST. gRPC reads it
	// before it asks anybody.
	maxHeaderList = 32 << 10
	// streamWindow is how much of a message, in bytes, a stream takes before
	// the call was admitted and its message is asked for. By itself gRPC would
	// raise it to 16 MiB for fast senders.
	streamWindow = 64 << 10
	// connWindow is how many bytes a connection may have on the way.
	connWindow = 1 << 20
	// maxStreams bounds the calls that one network connection has at once: a
	// key may have 100 watches, and needs some for other calls beside them.
	maxStreams = 128
	// maxConnections bounds the network connections; 27 KB for an idle one were
	// measured. More wait until one ends.
	maxConnections = 2_000
	// idleTimeout ends connections without calls, as in REST: idle ones must not
	// keep others out for long.
	idleTimeout = 2 * time.Minute
	// handshakeTimeout bounds how long a connection may take to be one.
	handshakeTimeout = 10 * time.Second
	// inMemoryBuffer is how much the in-memory connection holds each way.
	inMemoryBuffer = 1 << 20
)

// Server is the gRPC service on a network port and, for the gateway, in
// memory. They are two servers with the same chain and the same services: a
// limit on the streams of one connection is right for a stranger's and wrong
// for the one connection that carries all REST requests.
type Server struct {
	network  *grpc.Server
	memory   *grpc.Server
	listener *bufconn.Listener
	served   chan error
	once     sync.Once
}

// New makes a server of a chain and starts its in-memory half. register is
// called for each half and has to register the same services. options, such as
// those for telemetry, are for both halves, so credentials can't be among them.
func New(chain *Chain, register func(grpc.ServiceRegistrar), options ...grpc.ServerOption) *Server {
	common := append([]grpc.ServerOption{
		chain.option(),
		grpc.MaxRecvMsgSize(maxReceived),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
		grpc.UnknownServiceHandler(unknownMethod),
	}, options...)
	network := append([]grpc.ServerOption{
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
	}, common...)
	s := &Server{
		network:  grpc.NewServer(network...),
		memory:   grpc.NewServer(common...),
		listener: bufconn.Listen(inMemoryBuffer),
		served:   make(chan error, 1),
	}
	register(registrar{s.network})
	register(registrar{s.memory})
	go func() { s.served <- s.memory.Serve(inProcessListener{s.listener}) }()
	return s
}

// Serve serves the network half on l until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.network.Serve(netutil.LimitListener(l, maxConnections)); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

// Dial returns a connection to the in-memory half. Whoever closes it has made
// sure that nothing uses it any more.
func (s *Server) Dial(options ...grpc.DialOption) (*grpc.ClientConn, error) {
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.listener.DialContext(ctx) }),
		// An answer is as large as it is: a review has up to 10,000 findings.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
	}, options...)
	conn, err := grpc.NewClient("passthrough:///in-memory", options...)
	if err != nil {
		return nil, fmt.Errorf("connect to gRPC in memory: %w", err)
	}
	return conn, nil
}

// ShutdownNetwork takes no more calls from the network, lets those that run
// finish until ctx ends, and then cuts them off.
func (s *Server) ShutdownNetwork(ctx context.Context) error { return stop(ctx, s.network) }

// Shutdown does so with both halves. The gateway, which calls the one in
// memory, must be shut down before.
func (s *Server) Shutdown(ctx context.Context) error {
	err := errors.Join(stop(ctx, s.network), stop(ctx, s.memory))
	s.once.Do(func() { err = errors.Join(err, <-s.served) })
	return err
}

func stop(ctx context.Context, s *grpc.Server) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.GracefulStop()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.Stop()
		<-done
		return fmt.Errorf("stop gRPC: running calls were cut off: %w", ctx.Err())
	}
}

// inProcessAddr is the address of the other end of an in-memory connection.
// Nothing that comes over a network can have it.
type inProcessAddr struct{}

func (inProcessAddr) Network() string { return "memory" }
func (inProcessAddr) String() string  { return "memory" }

type inProcessListener struct{ *bufconn.Listener }

func (l inProcessListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return inProcessConn{c}, nil
}

type inProcessConn struct{ net.Conn }

func (inProcessConn) RemoteAddr() net.Addr { return inProcessAddr{} }
