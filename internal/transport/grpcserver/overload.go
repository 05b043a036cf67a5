package grpcserver

import (
	"context"
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
	p, err := gate.Enter(ctx, c.peer)
	if err != nil {
		c.shed = true
		if !c.health {
			md, _ := metadata.FromIncomingContext(ctx)
			// It fails only when the header was sent already, which nobody did.
			_ = grpc.SetHeader(ctx, RateMetadata(o.admitter.Peek(credentialsOf(c, md))))
		}
		return err
	}
	defer p.Leave()
	md := methodOf(info.FullMethod)
	c.pass, c.endless = p, md != nil && (md.IsStreamingServer() || md.IsStreamingClient())
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

// SendMsg implements grpc.ServerStream. It returns when the message is written,
// but for the 64 KiB that a stream buffers: a small answer waits for nobody.
func (s boundedStream) SendMsg(m any) error {
	s.call.pass.Pause()
	message, ok := m.(proto.Message)
	large := ok && proto.Size(message) > admission.Large
	if !large && !s.call.endless {
		return s.ServerStream.SendMsg(m)
	}
	if large {
		done, err := s.call.pass.Answer(s.Context())
		if err != nil {
			return err
		}
		defer done()
	}
	timer := time.AfterFunc(sendTimeout, func() { hangUp(s.Context()) })
	defer timer.Stop()
	return s.ServerStream.SendMsg(m)
}

// hangUp closes the connection that a call came by. To end the call alone
// would keep what was to be sent until the caller reads it.
func hangUp(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		port.HangUp(p.Addr)
	}
}
