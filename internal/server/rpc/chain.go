package rpc

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"regexp"
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
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
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
	recovered := recovery.WithRecoveryHandlerContext(Recovered)
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
		{"authorization", authorizeUnary, authorizeStream, false},
		{"validation", validate, validateStream, false},
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
				stream = append(stream, named(l.stream))
			}
		}
	}

	return unary, stream
}

// unknownMethod answers calls of methods that there are not. It is a stream
// handler, so that these pass the chain too.
func unknownMethod(any, grpc.ServerStream) error {
	return errs.New(errs.Unimplemented, errs.ReasonRouteNotFound,
		"There is no such method; ask server reflection for those that there are.")
}

// named gives all calls of unknownMethod one name, for logs and metrics: callers
// choose theirs. No other handler has no service.
func named(next grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if srv == nil {
			info = &grpc.StreamServerInfo{FullMethod: "/unknown/unknown", IsClientStream: true, IsServerStream: true}
		}
		return next(srv, ss, info, handler)
	}
}

func needsKey(_ context.Context, c interceptors.CallMeta) bool { return !isHealth(c.FullMethod()) }

func isHealth(method string) bool { return strings.HasPrefix(method, "/grpc.health.") }

// Recovered turns a panic into an error that is logged with its stack.
func Recovered(_ context.Context, p any) error {
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
		// An answer that is compressed is a copy, which codec could not count.
		_ = grpc.SetSendCompressor(ctx, encoding.Identity)
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

// Metadata keys that requests and responses carry. Over REST they are the
// headers of the same names.
const (
	RequestIDKey     = "x-request-id"
	RateLimitKey     = "x-ratelimit-limit"
	RateRemainingKey = "x-ratelimit-remaining"
	RateResetKey     = "x-ratelimit-reset"
)

// Call is what is known of one request on its way, over either protocol.
type Call struct {
	RequestID string
	Peer      string      // IP address and port
	Caller    auth.Caller // the zero Caller until it is admitted
	Actor     audit.Actor // the zero Actor until then
	ReviewID  string      // of the review that it created
	Reason    string      // of the error that was answered
}

type callKey struct{}

// WithCall returns a context that carries the call.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

func callOf(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{}
}

// RequestID returns the identifier of the request, as the log has it.
func RequestID(ctx context.Context) string { return callOf(ctx).RequestID }

// SetReason keeps why a request failed, for its log line.
func SetReason(ctx context.Context, reason string) { callOf(ctx).Reason = reason }

// SetReviewID has the log line of a request name the review that it created, so
// that the request and the scan can be joined.
func SetReviewID(ctx context.Context, id string) { callOf(ctx).ReviewID = id }

// ChooseRequestID returns the caller's request identifier when it is fit for
// headers and logs (1 to 128 letters, digits and `.-_`, and no API key), and a
// new one otherwise.
func ChooseRequestID(given string) string {
	if !requestID.MatchString(given) || auth.MaskTokens(given) != given {
		return strings.ToLower(rand.Text())
	}
	return given
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Bounds of the log lines about requests that were refused: a flood of them
// comes faster than it could be written down. Metrics count them all.
const (
	refusalEvery = 100 * time.Millisecond
	refusalBurst = 100
)

// RequestLog writes one line for each request of a protocol.
type RequestLog struct {
	log      *slog.Logger
	refusals *rate.Limiter
}

// NewRequestLog makes one.
func NewRequestLog(log *slog.Logger) *RequestLog {
	return &RequestLog{log: log, refusals: rate.NewLimiter(rate.Every(refusalEvery), refusalBurst)}
}

// Outcome is what decides the level of a line.
type Outcome struct {
	Failed  bool // by a fault of the server
	Limited bool // there were too many requests
	Health  bool // a load balancer asked for health
}

// Write writes the line of a request: who, what, how it ended and how long it
// took; never a message, a token or other metadata.
func (l *RequestLog) Write(ctx context.Context, message string, c *Call, o Outcome, what ...slog.Attr) {
	level := slog.LevelInfo
	refused := o.Limited || c.Actor.ID == ""
	switch {
	case o.Failed:
		level = slog.LevelError
	case o.Health, refused && !l.refusals.Allow():
		level = slog.LevelDebug
	}

	if !l.log.Enabled(ctx, level) {
		return
	}

	attrs := append([]slog.Attr{
		slog.String("request_id", c.RequestID),
		slog.String("key_id", c.Caller.KeyID),
		slog.String("actor", c.Actor.String()),
		slog.String("organization", c.Caller.Organization),
		slog.String("peer", c.Peer),
	}, what...)
	if c.ReviewID != "" {
		attrs = append(attrs, slog.String("review_id", c.ReviewID))
	}
	if c.Reason != "" {
		attrs = append(attrs, slog.String("reason", c.Reason))
	}

	l.log.LogAttrs(ctx, level, message, attrs...)
}
