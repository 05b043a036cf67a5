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

// eventStream sends messages to a page that is open.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func openEvents(v *visit) eventStream {
	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Time{}) // it would end the request when it passes
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold messages back

	return eventStream{v.w, control}
}

// send sends a message. It reports whether the browser is still there.
func (s eventStream) send(text string) bool {
	if s.control.SetWriteDeadline(time.Now().Add(eventTimeout)) != nil {
		return false
	}
	_, err := io.WriteString(s.w, text)

	return err == nil && s.control.Flush() == nil
}

// hasEnded reports whether the session of a person whose page is open has ended.
func (h *Handler) hasEnded(v *visit) bool {
	err := h.Sessions.Recheck(v.ctx(), v.caller)

	return err != nil && errs.KindOf(err) == errs.Unauthenticated
}

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

	out := openEvents(v)
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

	return h.sendEvents(v, out, updates)
}

// sendEvents sends a message when something has changed since the last one.
func (h *Handler) sendEvents(
	v *visit, out eventStream, updates <-chan *prwardenv1.WatchReviewResponse,
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
			if h.hasEnded(v) {
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

		if !out.send(text) {
			return nil
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
