package rpc

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/prwarden/prwarden/internal/auth"
)

// Metadata keys that requests and responses carry. Over REST they are the
// headers of the same names.
const (
	RequestIDKey     = "x-request-id"
	RateLimitKey     = "x-ratelimit-limit"
	RateRemainingKey = "x-ratelimit-remaining"
	RateResetKey     = "x-ratelimit-reset"
)

// maxRequestID is how many bytes a caller's request identifier may have.
const maxRequestID = 128

// Call is what is known of one request on its way, over either protocol.
type Call struct {
	RequestID string
	Peer      string      // IP address and port
	Caller    auth.Caller // the zero Caller until it is admitted
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

// SetReviewID has the log line of a request name the review that it created, so
// that the request and the scan can be joined.
func SetReviewID(ctx context.Context, id string) { callOf(ctx).ReviewID = id }

// ChooseRequestID returns the caller's request identifier when it is fit for
// headers and logs (1 to 128 letters, digits and `.-_`, and no API key), and a
// new one otherwise.
func ChooseRequestID(given string) string {
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".-_", r))
	}
	if given == "" || len(given) > maxRequestID || strings.ContainsFunc(given, odd) || auth.MaskTokens(given) != given {
		return strings.ToLower(rand.Text())
	}
	return given
}

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
	refused := o.Limited || c.Caller.KeyID == ""
	switch {
	case o.Failed:
		level = slog.LevelError
	case o.Health, refused && !l.refusals.Allow():
		level = slog.LevelDebug
	}

	attrs := append([]slog.Attr{
		slog.String("request_id", c.RequestID),
		slog.String("key_id", c.Caller.KeyID),
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
