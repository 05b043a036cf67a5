package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	grpcauth "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// link is one step that every call passes before its handler.
type link struct {
	name    string
	unary   grpc.UnaryServerInterceptor
	stream  grpc.StreamServerInterceptor
	network bool // the HTTP middleware does the same for requests over REST
}

// newChain makes the links, in order.
func newChain(a Admission, metrics *grpcprom.ServerMetrics, log *slog.Logger) []link {
	calls := reportCalls(NewRequestLog(log))
	failures := failures{log}
	recovered := recovery.WithRecoveryHandlerContext(recovered)
	admit := grpcauth.AuthFunc(a.admit)

	return []link{
		// Logging and metrics see the final code, so errors are inside them.
		{"logging", interceptors.UnaryServerInterceptor(calls), interceptors.StreamServerInterceptor(calls), true},
		{"metrics", metrics.UnaryServerInterceptor(), metrics.StreamServerInterceptor(), false},
		{"errors", failures.unary, failures.stream, false},
		// A panic becomes an error like any other, so recovery is inside those.
		{"recovery", recovery.UnaryServerInterceptor(recovered), recovery.StreamServerInterceptor(recovered), false},
		// Load balancers ask for health without a key.
		{
			"admission",
			selector.UnaryServerInterceptor(grpcauth.UnaryServerInterceptor(admit), selector.MatchFunc(needsKey)),
			selector.StreamServerInterceptor(grpcauth.StreamServerInterceptor(admit), selector.MatchFunc(needsKey)), true,
		},
		{"overload", boundedUnary, boundedStream, true},
		// The one message of a stream is checked by its handler.
		{"validation", validate, nil, false},
	}
}

// interceptorsOf returns the interceptors of the links that a server has.
func interceptorsOf(
	chain []link, network bool,
) (unary []grpc.UnaryServerInterceptor, stream []grpc.StreamServerInterceptor) {
	for _, l := range chain {
		if network || !l.network {
			unary = append(unary, l.unary)
			if l.stream != nil {
				stream = append(stream, l.stream)
			}
		}
	}

	return unary, stream
}

func needsKey(_ context.Context, c interceptors.CallMeta) bool { return !isHealth(c.FullMethod()) }

func isHealth(method string) bool { return strings.HasPrefix(method, "/grpc.health.") }

// recovered turns a panic into an error that is logged with its stack.
func recovered(_ context.Context, p any) error {
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}

// failures is the link that turns every error into the status that the caller
// sees. It logs the cause of those that callers learn nothing of.
type failures struct{ log *slog.Logger }

func (f failures) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	resp, err := h(ctx, req)
	return resp, f.status(ctx, err)
}

func (f failures) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, h grpc.StreamHandler) error {
	return f.status(ss.Context(), h(srv, ss))
}

func (f failures) status(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if Unexpected(err) {
		f.log.ErrorContext(ctx, "unexpected error", "request_id", callOf(ctx).RequestID, "error", err)
	}
	return Status(err).Err()
}

// reportCalls makes the link that gives each call its identifier, and writes one
// line for it at its end.
func reportCalls(log *RequestLog) interceptors.CommonReportableFunc {
	return func(ctx context.Context, m interceptors.CallMeta) (interceptors.Reporter, context.Context) {
		md, _ := metadata.FromIncomingContext(ctx)
		credentials := credentialsOf(ctx)
		c := &Call{RequestID: ChooseRequestID(strings.Join(md.Get(RequestIDKey), ",")), Peer: credentials.PeerAddr}

		// It fails only when the header was sent already, which nobody did yet.
		_ = grpc.SetHeader(ctx, metadata.Pairs(RequestIDKey, c.RequestID))
		ctx = WithCall(ctx, c)
		return callReport{ctx: ctx, log: log, call: c, method: m.FullMethod()}, ctx
	}
}

// callReport writes the log line of one call.
type callReport struct {
	interceptors.NoopReporter
	ctx    context.Context
	log    *RequestLog
	call   *Call
	method string
}

// PostCall implements interceptors.Reporter.
func (r callReport) PostCall(err error, took time.Duration) {
	s := status.Convert(err)
	r.call.Reason = Reason(s)

	r.log.Write(r.ctx, "call", r.call, Outcome{
		Failed:  s.Code() == codes.Internal,
		Limited: s.Code() == codes.ResourceExhausted,
		Health:  isHealth(r.method),
	},
		slog.String("method", r.method),
		slog.String("code", s.Code().String()),
		slog.Duration("duration", took),
	)
}
