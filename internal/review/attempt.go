package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
)

// leases keeps the claims of a dispatcher while they are worked on. A heartbeat
// prolongs all of them, stores how far the scans are, and learns which claims
// are lost. It also looks for workers that are lost elsewhere.
type leases struct {
	queue    Queue
	notifier *Notifier
	o        DispatcherOptions

	mu   sync.Mutex
	held map[*lease]struct{}

	stopping context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// lease is a claim that is worked on.
type lease struct {
	claim    Claim
	cancel   context.CancelCauseFunc // ends the work
	extended time.Time               // when the lease that it has was asked for
	progress Progress
}

func newLeases(queue Queue, notifier *Notifier, o DispatcherOptions) *leases {
	stopping, cancel := context.WithCancel(context.Background())
	return &leases{
		queue: queue, notifier: notifier, o: o, held: map[*lease]struct{}{},
		stopping: stopping, cancel: cancel,
	}
}

func (l *leases) start() { l.running.Go(l.beats) }

// stop ends the heartbeats. It may be called twice, and without start.
func (l *leases) stop() {
	l.cancel()
	l.running.Wait()
}

// hold begins to keep a claim that was asked for at that time. When it is lost
// cancel is called with ErrLeaseLost.
func (l *leases) hold(c Claim, asked time.Time, cancel context.CancelCauseFunc) *lease {
	held := &lease{claim: c, cancel: cancel, extended: asked}
	l.mu.Lock()
	l.held[held] = struct{}{}
	l.mu.Unlock()

	return held
}

// drop ends the keeping of a claim, in whatever way the work on it ended.
func (l *leases) drop(held *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, held)
}

// progressed notes how far the work is, for the next heartbeat to store.
func (l *leases) progressed(held *lease, p Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held.progress = p
}

// beats prolongs the leases, and then looks for lost workers, again and again.
func (l *leases) beats() {
	beating := outage{log: l.o.Log, what: "heartbeats"}
	reaping := outage{log: l.o.Log, what: "looking for lost workers"}
	for {
		select {
		case <-l.stopping.Done():
			return
		case <-l.notifier.canceled: // the store knows whether a claim of this process is lost by it
		case <-time.After(spread(l.o.Heartbeat)):
		}
		asked := time.Now()
		err := l.beat()
		beating.saw(err)

		// A process that was stopped for a while must prolong its own leases before
		// it could take them for lost.
		if err == nil && time.Since(asked) < l.o.Lease/2 {
			reaping.saw(l.reap())
		}
	}
}

// beatTimeout bounds a call of the store between two heartbeats, so that one
// that does not answer is noticed well before the leases have run out.
const beatTimeout = 3 * time.Second

// beat prolongs all leases and breaks off the work on claims that are lost, or
// may be because the store did not answer for so long.
func (l *leases) beat() error {
	asked := time.Now()
	l.mu.Lock()
	all, beats := make([]*lease, 0, len(l.held)), make([]Heartbeat, 0, len(l.held))
	for held := range l.held {
		all = append(all, held)
		beats = append(beats, Heartbeat{Claim: held.claim, Progress: held.progress})
	}
	l.mu.Unlock()
	if len(beats) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	lost, err := l.queue.Extend(ctx, beats, l.o.Lease)
	gone := make(map[Claim]bool, len(lost))
	for _, c := range lost {
		gone[c] = true
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	for _, held := range all {
		switch {
		case err == nil && !gone[held.claim]:
			held.extended = asked
		case err == nil, time.Since(held.extended) >= l.o.Lease:
			held.cancel(ErrLeaseLost)
		}
	}

	return err
}

// reap puts reviews of lost workers back to the queue.
func (l *leases) reap() error {
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	reaped, err := l.queue.ReapExpired(ctx, MaxLost)
	for _, r := range reaped {
		l.o.Log.Warn("worker lost", "review_id", r.ReviewID, "status", r.Status)
		l.notifier.Changed(r.ReviewID)
		l.o.OnEnd(r.Status, CodeWorkerLost, 0)
	}
	if len(reaped) > 0 {
		l.notifier.Enqueued()
	}

	return err
}

// outage logs when something begins to fail and when that is over, and nothing
// in between.
type outage struct {
	log   *slog.Logger
	what  string
	since time.Time // zero while all is well
}

// saw takes the error of the last try, nil when it went well.
func (o *outage) saw(err error) {
	switch {
	case err != nil && o.since.IsZero():
		o.since = time.Now()
		o.log.Error(o.what+" failed", "error", err)
	case err == nil && !o.since.IsZero():
		o.log.Info(o.what+" works again", "after_ms", time.Since(o.since).Milliseconds())
		o.since = time.Time{}
	}
}

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
		return InProgress, codeLeaseLost
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
			return InProgress, codeLeaseLost
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
	codeLeaseLost        = "lease_lost"        // likewise: the lease ran out, or the review was canceled
	CodeNotAllowed       = "repository_not_allowed"
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

// maxFailures is how many scans of a review may end in a passing fault.
const maxFailures = 3

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
		return d.released(c, scanErr.Code, cmp.Or(scanErr.After, d.o.Poll))
	}
	log.Warn("scan failed", "code", scanErr.Code, "lasting", scanErr.Lasting, "failures", c.Failures+1, "error", err)
	if scanErr.Lasting || c.Failures+1 >= maxFailures {
		return d.failed(c, scanErr.Failure)
	}
	delay := d.o.Backoff
	if c.Failures > 0 {
		delay *= 5
	}
	return ending{Queued, scanErr.Code, func(ctx context.Context) error { return d.queue.Retry(ctx, c, delay) }}
}

// notAllowed is why a review fails whose repository was taken from its
// organization while it waited.
func notAllowed(c Claim) *ScanError {
	return &ScanError{
		Failure: Failure{
			Code: CodeNotAllowed,
			Message: fmt.Sprintf("The organization %s may not use the repository %s any more; its settings list the "+
				"repositories that it may use.", c.Organization, c.Repo),
		},
		Lasting: true,
	}
}
