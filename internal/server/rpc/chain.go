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
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// link is one step that every call passes before its handler.
type link struct {
	name    string
	unary   grpc.UnaryServerInterceptor
	stream  grpc.StreamServerInterceptor
	network bool // the HTTP middleware does the same for requests over REST
}

// newChain makes the links, in order. It fails only when the constraints in the
// protos can't be compiled.
func newChain(a Admission, metrics *grpcprom.ServerMetrics, log *slog.Logger) ([]link, error) {
	validation, err := newValidation()
	if err != nil {
		return nil, err
	}
	logged := newCallLog(log)
	failures := failures{log}
	recovered := recovery.WithRecoveryHandlerContext(recovered)
	admit := grpcauth.AuthFunc(a.admit)

	return []link{
		// Logging and metrics see the final code, so errors are inside them.
		{"logging", interceptors.UnaryServerInterceptor(logged), interceptors.StreamServerInterceptor(logged), true},
		{"metrics", metrics.UnaryServerInterceptor(), measuredStream(metrics), false},
		{"errors", failures.unary, failures.stream, false},
		// A panic becomes an error like any other, so recovery is inside those.
		{"recovery", recovery.UnaryServerInterceptor(recovered), recovery.StreamServerInterceptor(recovered), false},
		{"overload", boundedUnary, boundedStream, true},
		// Load balancers ask for health without a key.
		{
			"admission",
			selector.UnaryServerInterceptor(grpcauth.UnaryServerInterceptor(admit), selector.MatchFunc(needsKey)),
			selector.StreamServerInterceptor(grpcauth.StreamServerInterceptor(admit), selector.MatchFunc(needsKey)), true,
		},
		{"authorization", authorizeUnary, authorizeStream, false},
		{"answers", answersUnary, passStream, true},
		{"validation", validation.unary, validation.stream, false},
	}, nil
}

// interceptorsOf returns the interceptors of the links that a server has.
func interceptorsOf(
	chain []link, network bool,
) (unary []grpc.UnaryServerInterceptor, stream []grpc.StreamServerInterceptor) {
	for _, l := range chain {
		if network || !l.network {
			unary = append(unary, l.unary)
			stream = append(stream, l.stream)
		}
	}

	return unary, stream
}

func passStream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, ss)
}

func needsKey(_ context.Context, c interceptors.CallMeta) bool {
	return c.Service != healthpb.Health_ServiceDesc.ServiceName
}

// recovered turns a panic into an error that is logged with its stack.
func recovered(_ context.Context, p any) error {
	return fmt.Errorf("panic: %v\n%s", p, debug.Stack())
}

// Bounds of the log lines about requests that were refused: a flood of them
// comes faster than it could be written down. Metrics count them all.
const (
	refusalEvery = 100 * time.Millisecond
	refusalBurst = 100
)

// NewRefusalLimiter makes what says which refused requests have a log line.
func NewRefusalLimiter() *rate.Limiter {
	return rate.NewLimiter(rate.Every(refusalEvery), refusalBurst)
}

// newCallLog makes the link that gives each call its identifier, and writes one
// line for it at its end: who, what, how it ended and how long it took; never a
// message, a token or other metadata.
func newCallLog(log *slog.Logger) interceptors.CommonReportableFunc {
	refusals := NewRefusalLimiter()
	return func(ctx context.Context, m interceptors.CallMeta) (interceptors.Reporter, context.Context) {
		c := newCall(ctx)
		// It fails only when the header was sent already, which nobody did yet.
		_ = grpc.SetHeader(ctx, metadata.Pairs(RequestIDKey, c.RequestID))
		ctx = WithCall(ctx, c)
		return &callReport{ctx: ctx, log: log, refusals: refusals, call: c, method: m.FullMethod()}, ctx
	}
}

// callReport writes the log line of one call.
type callReport struct {
	interceptors.NoopReporter
	ctx      context.Context
	log      *slog.Logger
	refusals *rate.Limiter
	call     *Call
	method   string
}

// PostCall implements interceptors.Reporter.
func (r *callReport) PostCall(err error, took time.Duration) {
	s := status.Convert(err)
	attrs := append(r.call.Attrs(),
		slog.String("method", shown(r.method)),
		slog.String("code", s.Code().String()),
		slog.Duration("duration", took),
	)
	if s.Code() != codes.OK {
		attrs = append(attrs, slog.String("reason", rpcerr.Reason(s)))
	}

	level := slog.LevelInfo
	refused := r.call.Caller.KeyID == "" || s.Code() == codes.ResourceExhausted
	switch {
	case s.Code() == codes.Internal:
		level = slog.LevelError
	case strings.HasPrefix(r.method, "/"+healthpb.Health_ServiceDesc.ServiceName+"/"), refused && !r.refusals.Allow():
		level = slog.LevelDebug
	}

	r.log.LogAttrs(r.ctx, level, "call", attrs...)
}

// Attrs are what every log line about the call says.
func (c *Call) Attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("request_id", c.RequestID),
		slog.String("key_id", c.Caller.KeyID),
		slog.String("organization", c.Caller.Organization),
		slog.String("peer", c.Peer),
	}
	if c.ReviewID != "" {
		attrs = append(attrs, slog.String("review_id", c.ReviewID))
	}
	return attrs
}

// failures is the link that turns every error into the status that the caller
// sees. It logs the cause of those that callers learn nothing of.
type failures struct{ log *slog.Logger }

func (f failures) unary(ctx context.Context, req any, i *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	resp, err := h(ctx, req)
	return resp, f.status(ctx, i.FullMethod, err)
}

func (f failures) stream(srv any, ss grpc.ServerStream, i *grpc.StreamServerInfo, h grpc.StreamHandler) error {
	return f.status(ss.Context(), i.FullMethod, h(srv, ss))
}

func (f failures) status(ctx context.Context, method string, err error) error {
	if err == nil {
		return nil
	}
	if rpcerr.Unexpected(err) {
		f.log.LogAttrs(ctx, slog.LevelError, "unexpected error",
			slog.String("request_id", callOf(ctx).RequestID), slog.String("method", shown(method)), slog.Any("error", err))
	}

	return rpcerr.Status(err).Err()
}

// measuredStream makes the metrics of streams. Names of methods that there are
// not become one: callers choose them, and each would be a time series.
func measuredStream(metrics *grpcprom.ServerMetrics) grpc.StreamServerInterceptor {
	measure := metrics.StreamServerInterceptor()
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if srv == nil { // only unknownMethod has no service
			known := *info
			known.FullMethod = "/unknown/unknown"
			info = &known
		}

		return measure(srv, ss, info, handler)
	}
}
