// Package rpc is the gRPC server: one ordered chain of interceptors,
// and the two servers that use it, one on a network port and one in memory
// under the REST gateway.
package rpc

import (
	"context"
	"crypto/rand"
	"strings"

	"google.golang.org/grpc"
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

// call is what the links of the chain know of one request. The first link
// makes it, admission fills in the caller, and logging reads it at the end.
type call struct {
	requestID string
	peer      string
	inProcess bool // came through the gateway
	caller    auth.Caller
	pass      *auth.Pass // nil for none
	shed      bool       // refused before it was admitted
	refused   bool       // not admitted
	endless   bool       // a stream, which may last; known when pass is
	watch     bool       // an endless one that counts among the watches
	reviewID  string     // of the review that it created
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// SetReviewID has the log line of the call that ctx belongs to name a review:
// the one that it created, so that the request and the scan can be joined.
func SetReviewID(ctx context.Context, id string) { callOf(ctx).reviewID = id }

// RequestID returns the identifier of the request that ctx belongs to.
func RequestID(ctx context.Context) string { return callOf(ctx).requestID }

// StepAside gives up the call's place among those that are worked on, before
// something long that has places of its own.
func StepAside(ctx context.Context) { callOf(ctx).pass.Pause() }

// ChooseRequestID returns the caller's request identifier when it is fit for
// headers and logs (1 to 128 letters, digits and `.-_`, and no API key), and a
// new one otherwise.
func ChooseRequestID(given string) string {
	if given == "" || len(given) > maxRequestIDBytes || auth.MaskTokens(given) != given {
		return newRequestID()
	}
	for i := range len(given) {
		c := given[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
		default:
			return newRequestID()
		}
	}
	return given
}

// maxShown is how many bytes of a method's name are repeated and logged: all
// of every name that there is.
const maxShown = 120

// shown cuts the name of a method, which callers may make up.
func shown(method string) string { return rpcerr.Cut(auth.MaskTokens(method), maxShown) }

func newRequestID() string { return strings.ToLower(rand.Text()) }

// identify is the first link: it gives the request its identifier and answers
// it in the response's metadata. The gateway has done so already.
func identify(ctx context.Context, _ string, next func(context.Context) error) error {
	if a, ok := ctx.Value(admittedKey{}).(*Admitted); ok {
		return next(context.WithValue(ctx, callKey{}, &call{requestID: a.RequestID, peer: a.Peer, inProcess: true, caller: a.Caller, pass: a.Pass}))
	}
	md, _ := metadata.FromIncomingContext(ctx)
	c := &call{requestID: ChooseRequestID(first(md, RequestIDKey))}
	if p, ok := peer.FromContext(ctx); ok {
		c.peer = p.Addr.String()
	}
	// It fails only when the header was sent already, which nobody did yet.
	_ = grpc.SetHeader(ctx, metadata.Pairs(RequestIDKey, c.requestID))
	return next(context.WithValue(ctx, callKey{}, c))
}

func first(md metadata.MD, key string) string {
	if v := md.Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}
