package rpc

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/auth"
)

// slowMessage is how long a message may take to arrive before it needs one of
// the places for large bodies: gRPC tells nobody how large it will be.
const slowMessage = 100 * time.Millisecond

// healthLimits bound the watches of the health service, for which nobody needs
// a key. Checks are not bounded.
func healthLimits() auth.GateLimits {
	return auth.GateLimits{Working: 1_000, Waiting: 0, Open: 1_000, OpenPerAddress: 32}
}

// overload is the link in which a call is shed when there are too many, before
// it costs anything. Calls from the gateway entered there.
type overload struct {
	gate     *auth.Gate
	health   *auth.Gate
	admitter *auth.Admitter
}

func (o overload) pass(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := ss.Context()
	c := callOf(ctx)
	if c.inProcess || info.FullMethod == healthpb.Health_Check_FullMethodName || info.FullMethod == healthpb.Health_List_FullMethodName {
		return handler(srv, ss)
	}
	gate, healthWatch := o.gate, info.FullMethod == healthpb.Health_Watch_FullMethodName
	if healthWatch {
		gate = o.health
	}
	md, _ := metadata.FromIncomingContext(ctx)
	credentials := credentialsOf(c, md)
	p, err := gate.Enter(ctx, credentials)
	if err != nil {
		c.shed = true
		if !healthWatch {
			// It fails only when the header was sent already, which nobody did.
			_ = grpc.SetHeader(ctx, RateMetadata(o.admitter.Peek(credentials)))
		}
		return err
	}
	defer p.Leave()
	// Compressed, an answer could not be followed (see sendWhole), and would
	// cost more than it saves. It fails only when the header was sent already.
	_ = grpc.SetSendCompressor(ctx, encoding.Identity)
	method := methodOf(info.FullMethod)
	c.pass, c.endless = p, method != nil && (method.IsStreamingServer() || method.IsStreamingClient())
	c.watch = c.endless && !healthWatch && !isReflection(info.FullMethod)
	return handler(srv, boundedStream{ss, c})
}

func credentialsOf(c *call, md metadata.MD) auth.Credentials {
	return auth.Credentials{
		Authorization: md.Get(authorizationKey), PeerAddr: c.peer, ForwardedFor: md.Get(forwardedForKey),
	}
}

// boundedStream bounds what callers who don't read can make the server hold.
type boundedStream struct {
	grpc.ServerStream
	call *call
}

// SendMsg implements grpc.ServerStream. A small answer waits for nobody: gRPC
// takes the first 64 KiB of a stream, and a whole message with its first byte.
// So it holds a large one until the caller reads it. The call, and with it the
// place among large answers, lasts until then, or until the caller or his
// connection ends it: nothing here could end the call and keep the connection,
// which may be many people's, and to end the call alone would keep the message.
func (s boundedStream) SendMsg(m any) error {
	s.call.pass.Pause()
	if message, ok := m.(proto.Message); !ok || proto.Size(message) <= auth.Large {
		return s.ServerStream.SendMsg(m)
	}
	done, err := s.call.pass.Answer(s.Context())
	if err != nil {
		return err
	}
	defer done()
	return sendWhole(s.Context(), s.ServerStream, m)
}
