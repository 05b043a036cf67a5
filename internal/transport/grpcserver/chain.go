package grpcserver

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/prwarden/prwarden/internal/admission"
)

// link is one step that every call passes, unary or stream.
type link struct {
	name   string
	unary  grpc.UnaryServerInterceptor
	stream grpc.StreamServerInterceptor
}

// Chain is everything that a call passes before its handler, in order. The
// network server and the one under the gateway use the same Chain.
type Chain struct{ links []link }

// NewChain makes the chain. It fails only when the constraints in the protos
// can't be compiled.
func NewChain(admitter *admission.Admitter, metrics *grpcprom.ServerMetrics, log *slog.Logger) (*Chain, error) {
	validation, err := newValidation()
	if err != nil {
		return nil, err
	}
	return &Chain{links: []link{
		// The request id is in every log line, so it comes first.
		both("request id", identify),
		// Logging and metrics see the final code, so errors are inside them.
		both("logging", logging{log}.around),
		{"metrics", metrics.UnaryServerInterceptor(), metrics.StreamServerInterceptor()},
		both("errors", failures{log}.around),
		// A panic becomes an error like any other, so recovery is inside those.
		{"recovery",
			recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(recovered)),
			recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(recovered))},
		// Who, then how many; load balancers ask for health without a key.
		exceptHealth(both("admission", admit{admitter}.around)),
		exceptHealth(both("authorization", authorize)),
		{"validation", validation.unary, validation.stream},
	}}, nil
}

func (c *Chain) options() []grpc.ServerOption {
	unary := make([]grpc.UnaryServerInterceptor, len(c.links))
	stream := make([]grpc.StreamServerInterceptor, len(c.links))
	for i, l := range c.links {
		unary[i], stream[i] = l.unary, l.stream
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(unary...), grpc.ChainStreamInterceptor(stream...)}
}

// around is a step that doesn't look at messages: it calls next with the
// context that the rest is to have, or fails.
type around func(ctx context.Context, method string, next func(context.Context) error) error

// both makes a link of a step, the same for unary calls and streams.
func both(name string, step around) link {
	return link{
		name: name,
		unary: func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			var resp any
			err := step(ctx, info.FullMethod, func(ctx context.Context) (err error) {
				resp, err = handler(ctx, req)
				return err
			})
			if err != nil {
				return nil, err
			}
			return resp, nil
		},
		stream: func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			return step(ss.Context(), info.FullMethod, func(ctx context.Context) error {
				return handler(srv, streamWithContext{ss, ctx})
			})
		},
	}
}

type streamWithContext struct {
	grpc.ServerStream
	ctx context.Context
}

func (s streamWithContext) Context() context.Context { return s.ctx }

// exceptHealth makes a link let the health service through.
func exceptHealth(l link) link {
	matcher := selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool {
		return c.Service != healthpb.Health_ServiceDesc.ServiceName
	})
	l.unary = selector.UnaryServerInterceptor(l.unary, matcher)
	l.stream = selector.StreamServerInterceptor(l.stream, matcher)
	return l
}

// recovered turns a panic into an error that is logged with its stack.
func recovered(_ context.Context, p any) error {
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}
