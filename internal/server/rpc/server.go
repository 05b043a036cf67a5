// Package rpc is the gRPC server: one ordered chain of interceptors, and the two
// servers that use it, one on a network port and one in memory under the REST
// gateway.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/keepalive"
)

// Limits of the servers.
const (
	// MaxBody is the most bytes that a request body may have over REST.
	MaxBody = 1 << 20

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
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
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
// requests and asked Authorize.
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
