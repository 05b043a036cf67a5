package review

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
)

// Watching reads the state at least every watchPoll, because another process
// may change it, and says something at least every keepAlive, because proxies
// close silent streams. A store that is away for less than watchOutage, as one
// that is restarted, ends no watch.
const (
	watchPoll   = time.Second
	keepAlive   = 15 * time.Second
	watchOutage = 30 * time.Second
)

// Update is one message to somebody who watches a review.
type Update struct {
	Review    Review // without findings and skips
	KeepAlive bool   // nothing changed
}

// Watch sends the review's state at once, after every change of state and on
// progress, and an unchanged one as a keep-alive. It returns nil after a final
// state was sent, and otherwise the error of ctx, of send, or of the store, when
// that is not just away for a moment.
func (s *Service) Watch(ctx context.Context, org, id string, send func(Update) error) error {
	l, stop := s.notifier.listen(id)
	defer stop()

	current, err := s.store.GetReviewState(ctx, org, id)
	if err != nil {
		return err
	}
	if err := send(Update{Review: current}); err != nil {
		return err
	}
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	alive := time.NewTimer(keepAlive)
	defer alive.Stop()
	read := time.Now() // when the store was last there
	for !current.Status.Final() {
		quiet := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		case <-poll.C:
		case <-alive.C:
			quiet = true
		}
		next, err := s.store.GetReviewState(ctx, org, id)
		switch {
		case err == nil:
			read = time.Now()
		case errs.KindOf(err) == errs.Unavailable && time.Since(read) < watchOutage:
			next = current
		default:
			return err
		}
		attempt, p := s.notifier.latest(l)
		if next.Status == InProgress && attempt == next.Attempt && p.FilesDone > next.Progress.FilesDone {
			next.Progress = p
		}
		changed := next.Status != current.Status || next.Attempt != current.Attempt || next.Progress != current.Progress
		if !changed && !quiet {
			continue
		}
		for _, missed := range between(current, next) {
			if err := send(Update{Review: missed}); err != nil {
				return err
			}
		}

		if err := send(Update{Review: next, KeepAlive: !changed}); err != nil {
			return err
		}
		current = next
		alive.Reset(keepAlive)
	}

	return nil
}

// between returns the states that a review surely had between two looks at it,
// when it changed faster than it was looked at: a new attempt begins by leaving
// the queue, and was in progress.
func between(last, next Review) []Review {
	if next.Attempt == last.Attempt {
		return nil
	}
	as := func(status Status) Review {
		return Review{
			ID: next.ID, Organization: next.Organization, Repo: next.Repo, PRNumber: next.PRNumber, Ruleset: next.Ruleset,
			Status: status, CreatedAt: next.CreatedAt, StartedAt: next.StartedAt, Attempt: next.Attempt,
		}
	}

	var missed []Review
	if last.Status == InProgress {
		missed = append(missed, as(Queued))
	}
	if next.Status != InProgress {
		missed = append(missed, as(InProgress))
	}

	return missed
}
