package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
)

// Scanner scans one pull request.
type Scanner interface {
	// Scan returns what it found, or a *ScanError. It may wait for a place
	// first, for as long as it takes. It reports progress when the scan begins
	// and from time to time after that, and stops soon after ctx is done.
	Scan(ctx context.Context, j Job, progress func(Progress)) (Outcome, error)
	// Await returns when a scan could begin as far as is known: at once while
	// any scanner can be reached, however busy. It returns when ctx is done, too.
	Await(ctx context.Context)
}

// Job is what a scanner is to do.
type Job struct {
	ReviewID     string // for logs
	Attempt      int    // likewise
	TraceParent  string // see NewReview
	Organization string
	Repo         string
	PRNumber     int32
	Ruleset      string // rule.RulesetDefault, rule.RulesetCustom, or the repository's
	Rules        rule.Set
	MaxFindings  int           // and likewise skips, to return; the rest is only counted
	Limit        time.Duration // of the scan from its begin, after which it must have ended
}

// ScanError is why a scan could not be done.
type ScanError struct {
	Failure
	Lasting   bool  // trying again is pointless
	Uncounted bool  // nothing was tried, or the scanner handed it back: not the review's fault
	Err       error // the cause, for the log only
}

// Error returns the failure and its cause; it is for the log.
func (e *ScanError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *ScanError) Unwrap() error { return e.Err }

// RuleSource puts together the rules for a repository.
type RuleSource interface {
	// RulesFor returns the default rules, the organization's and those of the
	// repository that were created over the API.
	RulesFor(ctx context.Context, org, repo string) (rule.Set, error)
}

// DispatcherOptions are the numbers of a dispatcher. Zero fields mean the
// values in parentheses.
type DispatcherOptions struct {
	Name      string                              // of this process in leases (required)
	Workers   int                                 // scans at once (1)
	Lease     time.Duration                       // how long a claim is valid without a heartbeat (20 s)
	Heartbeat time.Duration                       // between heartbeats (5 s)
	Poll      time.Duration                       // between looks at the queue when nobody wakes it, and before a scan that could not begin is tried again (1 s)
	ScanLimit time.Duration                       // after its begin, when a scan is given up (5 m 30 s: the scanner's own limit is 5 m)
	Backoff   func(failures int) time.Duration    // before the next attempt (2 s, 10 s)
	Log       *slog.Logger                        // (none)
	OnEnd     func(Status, string, time.Duration) // for metrics: the state that a scan led to, the failure code, and its time (none)
}

func (o DispatcherOptions) withDefaults() DispatcherOptions {
	o.Workers = max(o.Workers, 1)
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Lease, 20 * time.Second}, {&o.Heartbeat, 5 * time.Second}, {&o.Poll, time.Second}, {&o.ScanLimit, 330 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.Backoff == nil {
		o.Backoff = func(failures int) time.Duration {
			if failures <= 1 {
				return 2 * time.Second
			}
			return 10 * time.Second
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnEnd == nil {
		o.OnEnd = func(Status, string, time.Duration) {}
	}
	return o
}

// Dispatcher claims waiting reviews, has them scanned, and stores how they
// ended. Every claim is held by a lease that a heartbeat prolongs; a review
// whose worker is lost waits again when its lease has run out.
type Dispatcher struct {
	queue   Queue
	scanner Scanner
	rules   RuleSource
	hub     *Hub
	o       DispatcherOptions

	start, stop sync.Once
	stopping    context.Context
	cancel      context.CancelFunc
	running     sync.WaitGroup
}

// NewDispatcher returns a dispatcher that does nothing until Start.
func NewDispatcher(queue Queue, scanner Scanner, rules RuleSource, hub *Hub, o DispatcherOptions) *Dispatcher {
	stopping, cancel := context.WithCancel(context.Background())
	return &Dispatcher{
		queue: queue, scanner: scanner, rules: rules, hub: hub, o: o.withDefaults(),
		stopping: stopping, cancel: cancel,
	}
}

// Start begins to claim reviews. Starting twice is starting once.
func (d *Dispatcher) Start() {
	d.start.Do(func() {
		for i := range d.o.Workers {
			d.running.Go(func() { d.work(fmt.Sprintf("%s/%d", d.o.Name, i)) })
		}
		d.running.Go(d.reap)
	})
}

// Stop claims nothing more, gives running reviews back to the queue and waits
// until that is done or ctx is. Stopping twice is stopping once.
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.stop.Do(d.cancel)
	done := make(chan struct{})
	go func() {
		d.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work is one worker: it claims and runs reviews until the dispatcher stops.
func (d *Dispatcher) work(name string) {
	pause := d.o.Poll
	for d.stopping.Err() == nil {
		d.scanner.Await(d.stopping) // a review that nobody could scan stays in the queue
		claim, err := d.claim(name)
		switch {
		case err != nil:
			d.o.Log.Error("claim failed", "worker", name, "error", err)
			d.sleep(d.o.Poll)
		case claim == nil:
			select {
			case <-d.hub.enqueued:
			case <-time.After(d.o.Poll):
			case <-d.stopping.Done():
			}
		default:
			d.hub.Enqueued() // there may be more: wake the next worker
			if began := d.run(*claim); began {
				pause = d.o.Poll
				continue
			}
			// Nor would another review's scan begin: wait, longer each time.
			d.sleep(pause)
			pause = min(2*pause, maxPause)
		}
	}
}

// maxPause is the longest time, after scans that could not begin, until one is
// tried again.
const maxPause = 10 * time.Second

// storeTimeout bounds one call of the store, which must not be broken off when
// the dispatcher stops: a claim that nobody knows of would wait for its lease.
const storeTimeout = 10 * time.Second

func (d *Dispatcher) claim(worker string) (*Claim, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.stopping), storeTimeout)
	defer cancel()
	return d.queue.Claim(ctx, worker, d.o.Lease)
}

// reap puts reviews of lost workers back to the queue.
func (d *Dispatcher) reap() {
	for d.stopping.Err() == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.stopping), storeTimeout)
		ids, err := d.queue.ReapExpired(ctx, MaxLost)
		cancel()
		if err != nil {
			d.o.Log.Error("looking for lost workers failed", "error", err)
		}
		for _, id := range ids {
			d.o.Log.Warn("worker lost", "review_id", id)
			d.hub.Changed(id)
		}
		if len(ids) > 0 {
			d.hub.Enqueued()
		}
		d.sleep(d.o.Heartbeat)
	}
}

func (d *Dispatcher) sleep(t time.Duration) {
	select {
	case <-time.After(t):
	case <-d.stopping.Done():
	}
}

// run scans a claimed review and stores how that ended. began is false when
// the scan could not begin.
func (d *Dispatcher) run(c Claim) (began bool) {
	log := d.o.Log.With("review_id", c.ReviewID, "attempt", c.Attempt, "organization", c.Organization, "repo", c.Repo, "pr_number", c.PRNumber)
	if id := c.traceID(); id != "" {
		log = log.With("trace_id", id)
	}
	log.Info("scan started")
	d.hub.Changed(c.ReviewID)

	start := time.Now()
	scanning, cancel := context.WithCancelCause(d.stopping)
	defer cancel(nil)
	beat := d.heartbeat(c, cancel, log)
	outcome, err := d.scan(scanning, c, beat.progress)
	status, code := d.settle(scanning, c, outcome, err, log)
	beat.stop()

	log.Info("scan ended", "status", status, "code", code, "duration_ms", time.Since(start).Milliseconds())
	d.o.OnEnd(status, code, time.Since(start))
	d.hub.Changed(c.ReviewID)
	if status == Queued {
		d.hub.Enqueued()
	}
	var scanErr *ScanError
	return !errors.As(err, &scanErr) || !scanErr.Uncounted
}

var errScanLimit = errors.New("review: the scan took too long")

// limit returns a context that ends ScanLimit after the first call of begun:
// what comes before that is waiting for a place.
func (d *Dispatcher) limit(ctx context.Context) (limited context.Context, begun, stop func()) {
	limited, cancel := context.WithCancelCause(ctx)
	var once sync.Once
	begun = func() {
		once.Do(func() {
			timer := time.AfterFunc(d.o.ScanLimit, func() { cancel(errScanLimit) })
			context.AfterFunc(limited, func() { timer.Stop() })
		})
	}
	return limited, begun, func() { cancel(nil) }
}

func (d *Dispatcher) scan(ctx context.Context, c Claim, progress func(Progress)) (Outcome, error) {
	rules, err := d.rulesFor(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	limited, begun, stop := d.limit(ctx)
	defer stop()
	outcome, err := d.scanner.Scan(limited, Job{
		ReviewID:     c.ReviewID,
		Attempt:      c.Attempt,
		TraceParent:  c.TraceParent,
		Organization: c.Organization,
		Repo:         c.Repo,
		PRNumber:     c.PRNumber,
		Ruleset:      c.Ruleset,
		Rules:        rules,
		MaxFindings:  MaxFindings,
		Limit:        d.o.ScanLimit,
	}, func(p Progress) {
		begun()
		progress(p)
	})
	if err != nil && errors.Is(context.Cause(limited), errScanLimit) {
		return Outcome{}, &ScanError{
			Failure: Failure{Code: codeScanTimeout, Message: fmt.Sprintf("The scan did not end within %s.", d.o.ScanLimit)},
			Lasting: true, Err: err,
		}
	}
	return outcome, err
}

func (d *Dispatcher) rulesFor(ctx context.Context, c Claim) (rule.Set, error) {
	limited, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	rules, err := d.rules.RulesFor(limited, c.Organization, c.Repo)
	if err == nil {
		return rules, nil
	}
	err = fmt.Errorf("rules: %w", err)
	switch errs.KindOf(err) {
	case errs.Unavailable, errs.DeadlineExceeded, errs.Canceled: // the store is away: no scan was tried
		return rule.Set{}, &ScanError{Failure: Failure{Code: codeStoreUnavailable}, Uncounted: true, Err: err}
	}
	return rule.Set{}, err
}
