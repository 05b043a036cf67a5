package rpc

import (
	"context"
	"crypto/rand"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// Metadata keys that requests and responses carry. Over REST they are the
// headers of the same names.
const (
	RequestIDKey      = "x-request-id"
	RateLimitKey      = "x-ratelimit-limit"
	RateRemainingKey  = "x-ratelimit-remaining"
	RateResetKey      = "x-ratelimit-reset"
	IdempotencyKey    = "idempotency-key"
	authorizationKey  = "authorization"
	forwardedForKey   = "x-forwarded-for"
	maxRequestIDBytes = 128
)

// Call is what is known of one request on its way, over either protocol.
type Call struct {
	RequestID string
	Peer      string      // IP address and port
	Caller    auth.Caller // the zero Caller until it is admitted
	ReviewID  string      // of the review that it created
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

// newCall reads what the metadata of a network call says.
func newCall(ctx context.Context) *Call {
	md, _ := metadata.FromIncomingContext(ctx)
	c := &Call{RequestID: ChooseRequestID(strings.Join(md.Get(RequestIDKey), ","))}
	if p, ok := peer.FromContext(ctx); ok {
		c.Peer = p.Addr.String()
	}
	return c
}

// credentialsOf returns what the metadata of a network call says of the caller.
func credentialsOf(ctx context.Context) auth.Credentials {
	md, _ := metadata.FromIncomingContext(ctx)
	c := auth.Credentials{Authorization: md.Get(authorizationKey), ForwardedFor: md.Get(forwardedForKey)}
	if p, ok := peer.FromContext(ctx); ok {
		c.PeerAddr = p.Addr.String()
	}
	return c
}

// ChooseRequestID returns the caller's request identifier when it is fit for
// headers and logs (1 to 128 letters, digits and `.-_`, and no API key), and a
// new one otherwise.
func ChooseRequestID(given string) string {
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".-_", r))
	}
	if given == "" || len(given) > maxRequestIDBytes || strings.ContainsFunc(given, odd) ||
		auth.MaskTokens(given) != given {
		return strings.ToLower(rand.Text())
	}

	return given
}

// maxShown is how many bytes of a method's name are repeated and logged.
const maxShown = 120

// shown cuts the name of a method, which callers may make up.
func shown(method string) string { return rpcerr.Cut(auth.MaskTokens(method), maxShown) }
