package prwarden

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// Watch yields the state of a review at once, and every change and progress
// until the state is final; no keep-alives. A watch that breaks, as when the
// server is restarted, is opened again, up to Options.Attempts times in a row
// without an update; then, and when the server refuses, the error is the last
// that is yielded. It has no timeout but that of the context.
func (c *Client) Watch(ctx context.Context, reviewID string) iter.Seq2[*prwardenv1.WatchReviewResponse, error] {
	return func(yield func(*prwardenv1.WatchReviewResponse, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for attempt := 1; ; attempt++ {
			done, err := c.watchOnce(ctx, reviewID, func(update *prwardenv1.WatchReviewResponse) bool {
				attempt = 1
				return yield(update, nil)
			})
			if done {
				return
			}
			pause, again := pauseAfter(ErrorOf(err), prwardenv1.ReviewService_WatchReview_FullMethodName, attempt)
			if !again || attempt >= c.attempts || wait(ctx, pause) != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// watchOnce opens one watch and passes its updates on. It is done when one was
// final, or use wants no more.
func (c *Client) watchOnce(ctx context.Context, reviewID string,
	use func(*prwardenv1.WatchReviewResponse) bool) (done bool, err error) {
	stream, err := c.Reviews.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: reviewID})
	for err == nil {
		var update *prwardenv1.WatchReviewResponse
		if update, err = stream.Recv(); err != nil {
			break
		}
		if !update.GetKeepAlive() && !use(update) {
			return true, nil
		}
		switch update.GetStatus() {
		case prwardenv1.Review_complete, prwardenv1.Review_failed, prwardenv1.Review_canceled:
			return true, nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = status.Error(codes.Unavailable, "the watch ended before the review did")
	}
	return false, err
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
