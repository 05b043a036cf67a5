package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
)

// end stores how a scan ended and returns the state that this led to, with
// the failure code if there is one. It tries again while the store is away and
// the claim is still held: a finished scan is not thrown away lightly. But a
// store that takes too long for the result while it prolongs the lease would
// take too long for ever.
func (d *Dispatcher) end(
	scanning context.Context, c Claim, result finding.Result, err error, log *slog.Logger,
) (Status, string) {
	if errors.Is(context.Cause(scanning), ErrLeaseLost) {
		log.Warn("scan given up: the lease is lost or the review was canceled")
		return InProgress, CodeLeaseLost
	}
	ending := d.decide(c, result, err, log)
	for slow := 0; ; {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		err := ending.store(ctx)
		cancel()
		switch {
		case err == nil:
			return ending.status, ending.code
		case errors.Is(err, ErrLeaseLost):
			log.Warn("scan thrown away: the lease is lost or the review was canceled")
			return InProgress, CodeLeaseLost
		case errs.KindOf(err) != errs.Unavailable && errs.KindOf(err) != errs.DeadlineExceeded:
			log.Error("storing how the scan ended failed", "status", ending.status, "error", err)
			if ending.code == codeInternal {
				return InProgress, codeInternal // the lease will run out
			}
			ending = d.failed(c, Failure{Code: codeInternal, Message: "The result of the scan could not be stored."})
			continue
		}

		if errs.KindOf(err) != errs.DeadlineExceeded {
			slow = 0
		} else if slow++; slow == maxSlow && ending.status == Complete {
			log.Error("storing the result takes too long", "tries", slow,
				"findings", len(result.Findings), "skipped", len(result.Skips))
			ending = d.failed(c, Failure{Code: codeResultNotStored, Message: "Storing the result of the scan took too long."})
			continue
		}

		log.Warn("storing how the scan ended failed, trying again", "status", ending.status, "error", err)
		select {
		case <-time.After(d.o.Poll):
		case <-scanning.Done():
			if errors.Is(context.Cause(scanning), ErrLeaseLost) || d.stopping.Err() != nil {
				return InProgress, codeStoreUnavailable // the lease will run out
			}
		}
	}
}

// maxSlow is how often in a row a result may take longer than storeTimeout to be
// stored. A store that answers nothing at all lets the lease run out before
// that.
const maxSlow = 3

// Codes of how a scan ended, for a failed review, the log and metrics.
const (
	codeInternal         = "internal"          // a fault of prwarden
	codeResultNotStored  = "result_not_stored" // the store took too long for it
	codeStoreUnavailable = "store_unavailable" // never of a failed review
	codeHandedBack       = "handed_back"       // likewise
	codeNotAllowed       = "repository_not_allowed"
)

// ending is a state and the store's call that leads to it.
type ending struct {
	status Status
	code   string
	store  func(context.Context) error
}

func (d *Dispatcher) failed(c Claim, f Failure) ending {
	return ending{Failed, f.Code, func(ctx context.Context) error { return d.queue.Fail(ctx, c, f) }}
}

func (d *Dispatcher) released(c Claim, code string, delay time.Duration) ending {
	return ending{Queued, code, func(ctx context.Context) error { return d.queue.Release(ctx, c, delay) }}
}

// decide says how a scan ended: done, for good or for now without success, or
// interrupted by a stop.
func (d *Dispatcher) decide(c Claim, o finding.Result, err error, log *slog.Logger) ending {
	if err == nil {
		return ending{Complete, "", func(ctx context.Context) error { return d.queue.Finish(ctx, c, o) }}
	}
	if d.stopping.Err() != nil {
		return d.released(c, codeHandedBack, 0)
	}
	var scanErr *ScanError
	if !errors.As(err, &scanErr) {
		const unexpected = "The scan hit an unexpected fault; the server's log has the details."
		scanErr = &ScanError{Failure: Failure{Code: codeInternal, Message: unexpected}, Err: err}
	}
	if scanErr.Uncounted {
		log.Info("scan did not begin or was handed back", "code", scanErr.Code)
		return d.released(c, scanErr.Code, d.o.Poll)
	}
	log.Warn("scan failed", "code", scanErr.Code, "lasting", scanErr.Lasting, "failures", c.Failures+1, "error", err)
	if scanErr.Lasting || c.Failures+1 >= MaxFailures {
		return d.failed(c, scanErr.Failure)
	}
	delay := d.o.Backoff(c.Failures + 1)
	return ending{Queued, scanErr.Code, func(ctx context.Context) error { return d.queue.Retry(ctx, c, delay) }}
}

// notAllowed is why a review fails whose repository was taken from its
// organization while it waited.
func notAllowed(c Claim) *ScanError {
	return &ScanError{
		Failure: Failure{
			Code: codeNotAllowed,
			Message: fmt.Sprintf("The organization %s may not use the repository %s any more; its settings list the "+
				"repositories that it may use.", c.Organization, c.Repo),
		},
		Lasting: true,
	}
}
