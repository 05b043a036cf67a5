package review

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/rule"
)

// Scanner scans one pull request.
type Scanner interface {
	// Scan returns what it found, or a *ScanError. It may wait for a free slot
	// first, for as long as it takes; the scan itself has a time limit. It reports
	// progress when the scan begins and from time to time after that, and stops
	// soon after ctx is done.
	Scan(ctx context.Context, j Job, progress func(Progress)) (finding.Result, error)

	// Await returns when a scan could begin as far as is known, and when ctx is
	// done.
	Await(ctx context.Context)
}

// Job is what a scanner is to do.
type Job struct {
	ReviewID     string // for logs
	Attempt      int    // likewise
	TraceParent  string // see NewReview
	Organization string
	Host         organization.Host // that the repository is on
	Repo         string
	PRNumber     int32
	Commits      finding.Commits
	Ruleset      string // rule.RulesetDefault, rule.RulesetCustom, or the repository's
	Rules        rule.Set

	// RequireReason says that a comment that suppresses findings must give a
	// reason; Today is the day, `YYYY-MM-DD`, by which such comments have ended.
	RequireReason bool
	Today         string
	MaxFindings   int // and likewise skips, to return; the rest is only counted
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

// JobPolicy says how the reviews of organizations are scanned.
type JobPolicy interface {
	// Allowed reports whether the organization may scan the repository.
	Allowed(org, repo string) bool
	// RequireSuppressionReason reports whether comments that suppress findings
	// must give a reason.
	RequireSuppressionReason(org string) bool
	// Host is the code host of the organization.
	Host(org string) organization.Host
}

// allowAll is the JobPolicy of who gives none.
type allowAll struct{}

func (allowAll) Allowed(string, string) bool          { return true }
func (allowAll) RequireSuppressionReason(string) bool { return false }
func (allowAll) Host(string) organization.Host        { return organization.Host{} }

// DispatcherOptions are the numbers of a dispatcher. Zero fields mean the
// values in parentheses.
type DispatcherOptions struct {
	Name      string        // of this process in leases (required)
	Workers   int           // scans at once (1)
	Lease     time.Duration // how long a claim is valid without a heartbeat (20 s)
	Heartbeat time.Duration // between heartbeats, which also look for lost workers (1 s)
	Poll      time.Duration // at most between looks at the queue when nothing wakes it (1 s)
	Backoff   time.Duration // before the second attempt, and five times as long before the third (2 s)
	Log       *slog.Logger  // (none)

	// Policy says what may be scanned when its turn comes, and how (everything,
	// without a host).
	Policy JobPolicy
	// OnEnd hears, for metrics, of the state that a scan led to, the failure code,
	// and the time of the scan, 0 where its worker was lost (nobody).
	OnEnd func(Status, string, time.Duration)
}

func (o DispatcherOptions) withDefaults() DispatcherOptions {
	o.Workers = max(o.Workers, 1)
	o.Lease = cmp.Or(o.Lease, 20*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, time.Second)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Backoff = cmp.Or(o.Backoff, 2*time.Second)
	o.Policy = cmp.Or[JobPolicy](o.Policy, allowAll{})
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.OnEnd == nil {
		o.OnEnd = func(Status, string, time.Duration) {}
	}

	return o
}

// Dispatcher claims waiting reviews, has them scanned, and stores how they
// ended. Every claim is held by a lease that heartbeats prolong; a review
// whose worker is lost waits again when its lease has run out. Any number of
// dispatchers, in any number of processes, may work on one queue.
type Dispatcher struct {
	queue    Queue
	scanner  Scanner
	rules    RuleSource
	notifier *Notifier
	o        DispatcherOptions
	leases   *leases
	idle     chan int // workers without a scan, by number

	start, stop sync.Once
	stopping    context.Context
	cancel      context.CancelFunc
	working     sync.WaitGroup // what claims and scans
}

// NewDispatcher returns a dispatcher that does nothing until Start.
func NewDispatcher(
	queue Queue, scanner Scanner, rules RuleSource, notifier *Notifier, o DispatcherOptions,
) *Dispatcher {
	o = o.withDefaults()
	stopping, cancel := context.WithCancel(context.Background())
	d := &Dispatcher{
		queue: queue, scanner: scanner, rules: rules, notifier: notifier, o: o, leases: newLeases(queue, notifier, o),
		idle: make(chan int, o.Workers), stopping: stopping, cancel: cancel,
	}
	for i := range o.Workers {
		d.idle <- i
	}

	return d
}

// Start begins to claim reviews. Starting twice is starting once.
func (d *Dispatcher) Start() {
	d.start.Do(func() {
		d.leases.start()
		d.working.Go(d.work)
	})
}

// Stop claims nothing more, gives running reviews back to the queue and waits
// until that is done or ctx is. Stopping twice is stopping once.
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.stop.Do(d.cancel)

	return wait(ctx, func() {
		d.working.Wait()
		d.leases.stop() // leases are kept until the last review is given back
	})
}

// work claims reviews while there are idle workers, until the dispatcher
// stops. One loop does it for all workers, so that an idle process asks the
// store once for all of them.
func (d *Dispatcher) work() {
	trouble := outage{log: d.o.Log, what: "claiming reviews"}
	for {
		var worker int
		select {
		case worker = <-d.idle:
		case <-d.stopping.Done():
			return
		}
		d.scanner.Await(d.stopping) // a review that nobody could scan stays in the queue
		if d.stopping.Err() != nil {
			return
		}
		asked := time.Now()
		claim, err := d.claim(worker)
		trouble.saw(err)
		if err != nil || claim == nil {
			d.idle <- worker
			d.pause(err == nil)
			continue
		}

		d.working.Go(func() {
			d.run(*claim, asked)
			d.idle <- worker

			// With a cap on its organization's scans, another may go on now.
			d.notifier.Enqueued()
		})
	}
}

// pause waits until it is worth looking at the queue again: for Poll, or, when
// the store answers, until a review waits.
func (d *Dispatcher) pause(listen bool) {
	var enqueued <-chan struct{}
	if listen {
		enqueued = d.notifier.enqueued
	}
	select {
	case <-enqueued:
	case <-time.After(spread(d.o.Poll)):
	case <-d.stopping.Done():
	}
}

// spread shortens a pause by up to a fifth, at random, so that processes that
// began at the same time don't stay in step.
func spread(d time.Duration) time.Duration { return d - rand.N(d/5+1) }

// storeTimeout bounds one call of the store, which must not be broken off when
// the dispatcher stops: a claim that nobody knows of would wait for its lease.
const storeTimeout = 10 * time.Second

func (d *Dispatcher) claim(worker int) (*Claim, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.stopping), storeTimeout)
	defer cancel()
	return d.queue.Claim(ctx, fmt.Sprintf("%s/%d", d.o.Name, worker), d.o.Lease)
}

// run scans a claimed review, which was asked for at that time, and stores how
// that ended.
func (d *Dispatcher) run(c Claim, asked time.Time) {
	log := d.o.Log.With("review_id", c.ReviewID, "attempt", c.Attempt, "organization", c.Organization,
		"repo", c.Repo, "pr_number", c.PRNumber)
	if id := c.traceID(); id != "" {
		log = log.With("trace_id", id)
	}
	log.Info("scan started")
	d.notifier.Changed(c.ReviewID)

	start := time.Now()
	scanning, cancel := context.WithCancelCause(d.stopping)
	defer cancel(nil)
	held := d.leases.hold(c, asked, cancel)
	defer d.leases.drop(held)
	result, err := d.scan(scanning, c, func(p Progress) { d.leases.progressed(held, p) })
	status, code := d.end(scanning, c, result, err, log)

	log.Info("scan ended", "status", status, "code", code, "duration_ms", time.Since(start).Milliseconds())
	d.o.OnEnd(status, code, time.Since(start))
	d.notifier.Changed(c.ReviewID)
}

func (d *Dispatcher) scan(ctx context.Context, c Claim, progress func(Progress)) (finding.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return finding.Result{}, err // the claim was lost before its scan began
	}
	if !d.o.Policy.Allowed(c.Organization, c.Repo) {
		return finding.Result{}, notAllowed(c)
	}
	rules, err := d.rulesFor(ctx, c)
	if err != nil {
		return finding.Result{}, err
	}

	return d.scanner.Scan(ctx, Job{
		ReviewID:      c.ReviewID,
		Attempt:       c.Attempt,
		TraceParent:   c.TraceParent,
		Organization:  c.Organization,
		Host:          d.o.Policy.Host(c.Organization),
		Repo:          c.Repo,
		PRNumber:      c.PRNumber,
		Commits:       c.Commits,
		Ruleset:       c.Ruleset,
		Rules:         rules,
		RequireReason: d.o.Policy.RequireSuppressionReason(c.Organization),
		Today:         c.Today,
		MaxFindings:   MaxFindings,
	}, progress)
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

// traceID is the trace that the review's request belongs to, as logs name it;
// "" for none. A traceparent is `00-<trace id>-<span id>-<flags>`.
func (c Claim) traceID() string {
	if parts := strings.Split(c.TraceParent, "-"); len(parts) == 4 {
		return parts[1]
	}

	return ""
}
