package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

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

	Organizations Organizations // what may be scanned when its turn comes (required)
	Sources       Sources       // where that is (required)
	Policies      PolicySource  // how (policy.Default for all)

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
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Policies = cmp.Or[PolicySource](o.Policies, defaultPolicies{})
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
	running  *running

	stopping context.Context
	cancel   context.CancelFunc
	working  sync.WaitGroup // what claims and scans
}

// NewDispatcher returns a dispatcher that does nothing until Start.
func NewDispatcher(
	queue Queue, scanner Scanner, rules RuleSource, notifier *Notifier, o DispatcherOptions,
) *Dispatcher {
	o = o.withDefaults()
	stopping, cancel := context.WithCancel(context.Background())
	d := &Dispatcher{
		queue: queue, scanner: scanner, rules: rules, notifier: notifier, o: o, leases: newLeases(queue, notifier, o),
		idle: make(chan int, o.Workers), running: newRunning(), stopping: stopping, cancel: cancel,
	}
	for i := range o.Workers {
		d.idle <- i
	}

	return d
}

// Start begins to claim reviews. It is called once.
func (d *Dispatcher) Start() {
	d.leases.start()
	d.working.Go(d.work)
}

// Stop claims nothing more, gives running reviews back to the queue and waits
// until that is done or ctx is. Stopping twice is stopping once.
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.cancel()

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
			d.release(worker, claim.Organization)

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

// claim claims a review, which counts as running then.
func (d *Dispatcher) claim(worker int) (*Claim, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.stopping), storeTimeout)
	defer cancel()

	d.running.claiming.Lock()
	defer d.running.claiming.Unlock()
	claim, err := d.queue.Claim(ctx, Claiming{
		Worker: fmt.Sprintf("%s/%d", d.o.Name, worker), Lease: d.o.Lease, Except: d.running.holder(d.o.Workers - 1),
	})
	d.running.claimed(claim)

	return claim, err
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
	if !d.o.Organizations.Allowed(c.Organization, c.Repo) {
		return finding.Result{}, notAllowed(c)
	}
	rules, by, err := d.rulesFor(ctx, c)
	if err != nil {
		return finding.Result{}, err
	}

	source, err := d.o.Sources.Source(ctx, c)
	if _, isSaid := errors.AsType[*ScanError](err); err != nil && !isSaid {
		err = uncounted("where to read from", err)
	}
	if err != nil {
		return finding.Result{}, err
	}

	named := strings.HasPrefix(c.CreatedBy, ByConnection)
	if c.Commits == (finding.Commits{}) && source.Commits != (finding.Commits{}) {
		c.Commits, named = source.Commits, true
	}
	result, err := d.scanner.Scan(ctx, Job{
		Claim: c, Source: source, Rules: rules, Policy: by, MaxFindings: MaxFindings,
	}, progress)
	if err != nil {
		return result, err
	}
	if named && result.BaseFoundBy == finding.BaseRequested {
		result.BaseFoundBy = finding.BaseCodeHost
	}
	result.Judge(by.Threshold(c.FailOn), by.Tolerates)
	result.Refuses = refuses(by, rules.Rules, result.RulesFile)

	return result, nil
}

// uncounted is the error of what a scan needs. While the store is away no scan was
// tried.
func uncounted(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	switch errs.KindOf(err) {
	case errs.Unavailable, errs.DeadlineExceeded, errs.Canceled:
		return &ScanError{Failure: Failure{Code: codeStoreUnavailable}, Uncounted: true, Err: err}
	}

	return err
}

// refuses is finding.Result.Refuses. Most results have no finding that somebody decided
// about, so nothing is prepared before it is asked.
func refuses(p policy.Policy, rules, own []rule.Rule) func(finding.Finding, finding.Triage, string) error {
	may := sync.OnceValue(func() func(finding.Finding, finding.Triage, string) error {
		return p.MayDecide(slices.Concat(rules, own))
	})

	return func(f finding.Finding, t finding.Triage, today string) error { return may()(f, t, today) }
}

// rulesFor reads the rules of a claim and the policy that it is scanned by.
func (d *Dispatcher) rulesFor(ctx context.Context, c Claim) (rule.Set, policy.Policy, error) {
	limited, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	rules, err := d.rules.RulesFor(limited, c.Organization, c.Repo)
	var by policy.Policy
	if err == nil {
		by, err = d.o.Policies.Policy(limited, c.Organization)
	}
	if err == nil {
		return rules, by, nil
	}

	return rule.Set{}, policy.Policy{}, uncounted("rules", err)
}

// defaultPolicies is a source where no organization has set a policy.
type defaultPolicies struct{}

// Policy implements PolicySource.
func (defaultPolicies) Policy(context.Context, string) (policy.Policy, error) {
	return policy.Default(), nil
}

// traceID is the trace that the review's request belongs to, as logs name it;
// "" for none. A traceparent is `00-<trace id>-<span id>-<flags>`.
func (c Claim) traceID() string {
	if parts := strings.Split(c.TraceParent, "-"); len(parts) == 4 {
		return parts[1]
	}

	return ""
}

// Notifier tells the parts of one process that something happened, so that they
// need not poll: that a review waits, or that one changed its state. It only
// wakes; the truth is in the store, and whoever listens also polls it, because
// other processes change reviews too and what they tell may be lost.
type Notifier struct {
	enqueued chan struct{} // for the dispatcher's claims
	canceled chan struct{} // for its leases

	mu        sync.Mutex
	listeners map[string]map[chan struct{}]struct{} // by review
}

// NewNotifier returns a notifier for the services and the dispatcher of one
// process.
func NewNotifier() *Notifier {
	return &Notifier{
		enqueued: make(chan struct{}, 1), canceled: make(chan struct{}, 1),
		listeners: map[string]map[chan struct{}]struct{}{},
	}
}

// Enqueued says that a review waits to be claimed.
func (n *Notifier) Enqueued() { signal(n.enqueued) }

// Changed says that the review's state changed.
func (n *Notifier) Changed(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for wake := range n.listeners[id] {
		signal(wake)
	}
}

// Canceled says that the review was canceled: its state changed, and a scan of
// it must stop.
func (n *Notifier) Canceled(id string) {
	n.Changed(id)
	signal(n.canceled)
}

// Missed says that anything may have happened unheard.
func (n *Notifier) Missed() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, of := range n.listeners {
		for wake := range of {
			signal(wake)
		}
	}

	signal(n.canceled)
	signal(n.enqueued)
}

// listen wakes whoever reads from wake when something happens to one review, until
// stop is called.
func (n *Notifier) listen(id string) (wake <-chan struct{}, stop func()) {
	l := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[id] == nil {
		n.listeners[id] = map[chan struct{}]struct{}{}
	}
	n.listeners[id][l] = struct{}{}

	return l, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners[id], l)
		if len(n.listeners[id]) == 0 {
			delete(n.listeners, id)
		}
	}
}

// signal wakes whoever waits on c, or the next one to do so.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
