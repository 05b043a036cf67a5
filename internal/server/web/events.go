package web

import (
	"context"
	"io"
	"net/http"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

const (
	// eventInterval is how long after one message the next is sent at the earliest: a
	// page loads itself again for each.
	eventInterval = time.Second

	// recheckInterval is how often a stream asks whether the session goes on. With the
	// time that sessions are remembered it ends within 5 seconds of it.
	recheckInterval = 900 * time.Millisecond

	// eventTimeout is how long a browser may take to read one message.
	eventTimeout = 30 * time.Second
)

// reviewEvents streams that something about a review has changed, until it is final.
func (h *Handler) reviewEvents(v *visit) error {
	ctx, cancel := context.WithCancel(v.ctx())
	defer cancel()
	stream, err := h.calls.reviews.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}

	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Time{}) // it would end the request when it passes
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold messages back
	updates := make(chan *prwardenv1.WatchReviewResponse)
	go func() {
		defer close(updates)
		for u := first; ; {
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
			next, err := stream.Recv()
			if err != nil {
				return
			}
			u = next
		}
	}()

	return h.sendEvents(v, control, updates)
}

// sendEvents sends a message when something has changed since the last one.
func (h *Handler) sendEvents(
	v *visit, control *http.ResponseController, updates <-chan *prwardenv1.WatchReviewResponse,
) error {
	recheck, send := time.NewTicker(recheckInterval), time.NewTicker(eventInterval)
	defer recheck.Stop()
	defer send.Stop()
	changed := false
	for {
		text := ""
		select {
		case <-v.ctx().Done():
			return nil
		case <-recheck.C:
			if err := h.Sessions.Recheck(v.ctx(), v.caller); err != nil && errs.KindOf(err) == errs.Unauthenticated {
				return nil
			}
			continue
		case u, more := <-updates:
			switch {
			case !more:
				return nil
			case isFinal(u.GetStatus()):
				text = "data: end\n\n"
			case u.GetKeepAlive():
				text = ": still there\n\n"
			default:
				changed = true
				continue
			}
		case <-send.C:
			if !changed {
				continue
			}
			text, changed = "data: progress\n\n", false
		}

		if err := control.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil {
			return nil
		}
		if _, err := io.WriteString(v.w, text); err != nil || control.Flush() != nil {
			return nil // the browser is gone
		}
	}
}

// isFinal reports whether a review stays in a state.
func isFinal(s prwardenv1.Review_Status) bool {
	return s != prwardenv1.Review_queued && s != prwardenv1.Review_in_progress
}

// progress returns how many files of a review were looked at, and of how many.
func (h *Handler) progress(ctx context.Context, id string) (done, total int32) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.calls.reviews.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: id})
	if err != nil {
		return 0, 0
	}
	u, err := stream.Recv()
	if err != nil {
		return 0, 0
	}

	return u.GetFilesDone(), u.GetFilesTotal()
}
