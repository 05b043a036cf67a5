package grpcserver

import (
	"net"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/transport/port"
)

const (
	// sendTimeout is how long a caller may take to read a message. gRPC itself
	// would keep it for as long as the connection lives; a caller who takes
	// longer loses that.
	sendTimeout = 60 * time.Second
	// slowMessage is how long a message may take to arrive before it needs one
	// of the places for large bodies: gRPC tells nobody how large it will be.
	slowMessage = 100 * time.Millisecond
)

// healthLimits bound the watches of the health service, for which nobody needs
// a key. Checks are not bounded.
func healthLimits() admission.GateLimits {
	return admission.GateLimits{Working: 1_000, Waiting: 0, Open: 1_000, OpenPerAddress: 32}
}

// overload is the link in which a call is shed when there are too many, before
// it costs anything. Calls from the gateway entered there.
type overload struct {
	gate     *admission.Gate
	health   *admission.Gate
	admitter *admission.Admitter
}

func (o overload) pass(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := ss.Context()
	c := callOf(ctx)
	gate := o.gate
	c.health = info.FullMethod == healthpb.Health_Watch_FullMethodName
	switch {
	case c.inProcess, info.FullMethod == healthpb.Health_Check_FullMethodName, info.FullMethod == healthpb.Health_List_FullMethodName:
		return handler(srv, ss)
	case c.health:
		gate = o.health
	}
	md, _ := metadata.FromIncomingContext(ctx)
	credentials := credentialsOf(c, md)
	p, err := gate.Enter(ctx, credentials)
	if err != nil {
		c.shed = true
		if !c.health {
			// It fails only when the header was sent already, which nobody did.
			_ = grpc.SetHeader(ctx, RateMetadata(o.admitter.Peek(credentials)))
		}
		return err
	}
	defer p.Leave()
	method := methodOf(info.FullMethod)
	c.pass, c.endless = p, method != nil && (method.IsStreamingServer() || method.IsStreamingClient())
	return handler(srv, boundedStream{ss, c})
}

func credentialsOf(c *call, md metadata.MD) admission.Credentials {
	return admission.Credentials{
		Authorization: md.Get(authorizationKey), PeerAddr: c.peer, ForwardedFor: md.Get(forwardedForKey),
	}
}

// boundedStream bounds what a caller who doesn't read can make the server
// hold, and for how long.
type boundedStream struct {
	grpc.ServerStream
	call *call
}

// SendMsg implements grpc.ServerStream. A small answer waits for nobody: gRPC
// takes the first 64 KiB of a stream, and a whole message with its first byte.
// So it holds a large one until the caller reads it, and only that it is
// written tells when.
func (s boundedStream) SendMsg(m any) error {
	s.call.pass.Pause()
	size := 0
	if message, ok := m.(proto.Message); ok {
		size = proto.Size(message)
	}
	large := size > admission.Large
	if !large && !s.call.endless {
		return s.ServerStream.SendMsg(m)
	}
	var addr net.Addr
	if p, ok := peer.FromContext(s.Context()); ok {
		addr = p.Addr
	}
	// To end the call alone would keep what was to be sent until the caller
	// reads it.
	timer := time.AfterFunc(sendTimeout, func() { port.HangUp(addr) })
	defer timer.Stop()
	if !large {
		return s.ServerStream.SendMsg(m)
	}
	done, err := s.call.pass.Answer(s.Context())
	if err != nil {
		return err
	}
	defer done()
	written := port.Expect(addr, size)
	if err := s.ServerStream.SendMsg(m); err != nil {
		written.Forget()
		return err
	}
	return written.Wait(s.Context())
}
