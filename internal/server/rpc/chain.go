package rpc

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

	"github.com/prwarden/prwarden/internal/auth"
)

// link is one step that every call passes. Unary calls are streams of one
// message here (see registrar), so that they pass it before their message is
// read.
type link struct {
	name string
	pass grpc.StreamServerInterceptor
}

// Chain is everything that a call passes before its handler, in order. Calls
// from the network and those of the gateway pass the same Chain.
type Chain struct{ links []link }

// NewChain makes the chain. It fails only when the constraints in the protos
// can't be compiled.
func NewChain(admitter *auth.Admitter, gate *auth.Gate, metrics *grpcprom.ServerMetrics, log *slog.Logger) (*Chain, error) {
	validation, err := newValidation()
	if err != nil {
		return nil, err
	}
	return &Chain{links: []link{
		// The request id is in every log line, so it comes first.
		{"request id", step(identify)},
		// Logging and metrics see the final code, so errors are inside them.
		{"logging", step(logging{log, auth.NewRefusals(log)}.around)},
		{"metrics", measured(metrics)},
		{"errors", step(failures{log}.around)},
		// A panic becomes an error like any other, so recovery is inside those.
		{"recovery", recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(recovered))},
		// Before anything that costs.
		{"overload", overload{gate, gate.Apart(healthLimits()), admitter}.pass},
		// Who, then how many; load balancers ask for health without a key.
		{"admission", exceptHealth(step(admit{admitter}.around))},
		{"authorization", exceptHealth(step(authorize))},
		{"reflection", newReflections().pass},
		// Only here a message is read.
		{"validation", validation.pass},
	}}, nil
}

// pass is the whole chain as one interceptor.
func (c *Chain) pass(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return c.from(0, srv, ss, info, handler)
}

// from passes the links from the i-th on.
func (c *Chain) from(i int, srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if i == len(c.links) {
		return handler(srv, ss)
	}
	return c.links[i].pass(srv, ss, info, func(srv any, ss grpc.ServerStream) error {
		return c.from(i+1, srv, ss, info, handler)
	})
}

// around is a step that doesn't look at messages: it calls next with the
// context that the rest is to have, or fails.
type around func(ctx context.Context, method string, next func(context.Context) error) error

// step makes an interceptor of a step.
func step(do around) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		return do(ss.Context(), info.FullMethod, func(ctx context.Context) error {
			return handler(srv, streamWithContext{ss, ctx})
		})
	}
}

type streamWithContext struct {
	grpc.ServerStream
	ctx context.Context
}

func (s streamWithContext) Context() context.Context { return s.ctx }

// exceptHealth makes a step let the health service through.
func exceptHealth(pass grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return selector.StreamServerInterceptor(pass, selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool {
		return c.Service != healthpb.Health_ServiceDesc.ServiceName
	}))
}

// recovered turns a panic into an error that is logged with its stack.
func recovered(_ context.Context, p any) error {
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}
