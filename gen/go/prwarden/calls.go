package prwarden

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// Pauses before a call is tried again, when the server does not say; they
// double from the first to the longest.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 10 * time.Second
	maxDoublings = 5 // of firstPause, which is more than longestPause then
)

// calls is what every call of a client gets: the API key, a deadline, and
// repetitions.
type calls struct {
	authorization string
	timeout       time.Duration
	attempts      int
}

//nolint:revive // the signature is of gRPC
func (c *calls) unary(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	ctx = c.withKey(ctx)
	if method == prwardenv1.ReviewService_CreateReview_FullMethodName {
		key, ok := ctx.Value(idempotencyKey{}).(string)
		if !ok {
			key = rand.Text()
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "idempotency-key", key)
	}
	for attempt := 1; ; attempt++ {
		err := invoke(ctx, method, request, answer, conn, options...)
		if err == nil || attempt >= c.attempts {
			return err
		}
		pause, again := pauseAfter(ErrorOf(err), method, attempt)
		end, _ := ctx.Deadline()
		if !again || time.Until(end) <= pause {
			return err
		}
		if wait(ctx, pause) != nil {
			return err
		}
	}
}

func (c *calls) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(c.withKey(ctx), desc, conn, method, options...)
}

func (c *calls) withKey(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", c.authorization)
}

// pauseAfter says whether the call may be tried again, and when.
func pauseAfter(e *Error, method string, attempt int) (time.Duration, bool) {
	switch {
	case e.Code == codes.ResourceExhausted:
		return e.RetryAfter, e.RetryAfter > 0 // a message that is too large has none
	case e.Code != codes.Unavailable || once(method):
		return 0, false
	case e.RetryAfter > 0:
		return e.RetryAfter, true
	}
	pause := min(longestPause, firstPause<<min(attempt-1, maxDoublings))
	return pause/2 + mathrand.N(pause/2), true
}

// once reports whether a call may have happened although the server could not
// say so, and answers something else the second time.
func once(method string) bool {
	switch method {
	case prwardenv1.ReviewService_CancelReview_FullMethodName,
		prwardenv1.RuleService_CreateRule_FullMethodName, prwardenv1.RuleService_DeleteRule_FullMethodName,
		prwardenv1.KeyService_CreateKey_FullMethodName, prwardenv1.KeyService_DeleteKey_FullMethodName:
		return true
	}
	return false
}
