package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"
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
	// idleTimeout ends connections without calls, as in REST: idle ones must not
	// keep others out for long.
	idleTimeout = 2 * time.Minute
	// streamWorkers is how many goroutines wait for calls. Their stacks have
	// grown already, which takes a new one longer than many calls; calls that
	// find none free get a new one.
	streamWorkers = 32
	// handshakeTimeout bounds how long a connection may take to be one.
	handshakeTimeout = 10 * time.Second
)

// Server is the gRPC service: on a network port, and for callers in this
// process, such as the gateway. Both have the same chain and the same services.
type Server struct {
	network *grpc.Server
	process *inProcess
}

// New makes a server of a chain. register is called for each half and has to
// register the same services. telemetry follows the calls of both; it may be
// nil. options are for the network half.
func New(chain *Chain, register func(grpc.ServiceRegistrar), telemetry stats.Handler, options ...grpc.ServerOption) *Server {
	all := append([]grpc.ServerOption{
		grpc.StreamInterceptor(chain.pass),
		grpc.MaxRecvMsgSize(maxReceived),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
		grpc.UnknownServiceHandler(unknownMethod),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaderList),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: idleTimeout,
			Time:              time.Minute,
			Timeout:           20 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}, options...)
	if telemetry != nil {
		all = append(all, grpc.StatsHandler(telemetry))
	}
	s := &Server{network: grpc.NewServer(all...), process: newInProcess(chain, telemetry)}
	register(registrar{s.network})
	register(s.process)
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

// Conn is the connection for callers in this process. A call whose context is
// not from WithAdmitted is admitted like any other.
func (s *Server) Conn() grpc.ClientConnInterface { return s.process }

// ShutdownNetwork takes no more calls from the network, lets those that run
// finish until ctx ends, and then cuts them off.
func (s *Server) ShutdownNetwork(ctx context.Context) error { return stop(ctx, s.network) }

// Shutdown does so with both halves. The gateway, which calls the one in this
// process, must be shut down before.
func (s *Server) Shutdown(ctx context.Context) error {
	return errors.Join(stop(ctx, s.network), s.process.stop(ctx))
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
