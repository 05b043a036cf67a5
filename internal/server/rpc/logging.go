package rpc

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// logging writes one line for each call: who, what, how it ended and how long
// it took; never a message, a token or other metadata.
type logging struct {
	log      *slog.Logger
	refusals *auth.Refusals
}

func (l logging) around(ctx context.Context, method string, next func(context.Context) error) error {
	start := time.Now()
	err := next(ctx)
	c := callOf(ctx)
	s := status.Convert(err)
	attrs := []slog.Attr{
		slog.String("request_id", c.requestID),
		slog.String("method", shown(method)),
		slog.String("code", s.Code().String()),
		slog.Duration("duration", time.Since(start)),
		slog.String("key_id", c.caller.KeyID),
		slog.String("organization", c.caller.Organization),
		slog.String("peer", c.peer),
	}
	if s.Code() != codes.OK {
		attrs = append(attrs, slog.String("reason", rpcerr.Reason(s)))
	}
	if c.reviewID != "" {
		attrs = append(attrs, slog.String("review_id", c.reviewID))
	}
	l.log.LogAttrs(ctx, l.level(c, method, s.Code()), "call", attrs...)
	return err
}

// level is Debug for what is said elsewhere (the gateway writes a line for
// each of its requests) or often (health, and a flood that is refused).
func (l logging) level(c *call, method string, code codes.Code) slog.Level {
	switch {
	case code == codes.Internal:
		return slog.LevelError
	case c.inProcess, c.shed, isHealth(method), c.refused && !l.refusals.Tell():
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// failures turns every error into the status that the caller sees, and logs
// the cause of those that callers learn nothing of.
type failures struct{ log *slog.Logger }

func (f failures) around(ctx context.Context, method string, next func(context.Context) error) error {
	err := next(ctx)
	if err == nil {
		return nil
	}
	if rpcerr.Unexpected(err) {
		f.log.LogAttrs(ctx, slog.LevelError, "unexpected error",
			slog.String("request_id", RequestID(ctx)), slog.String("method", shown(method)), slog.Any("error", err))
	}
	return rpcerr.Status(err).Err()
}
