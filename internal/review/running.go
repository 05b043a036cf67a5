package review

import (
	"cmp"
	"context"
	"sync"

	"github.com/prwarden/prwarden/internal/finding"
)

// Scanner is the dispatcher's, for scans that are no reviews. Each takes a worker, as a
// review does, and waits while its organization holds all workers but one that others
// may need.
func (d *Dispatcher) Scanner() Scanner { return counted{d.scanner, d} }

type counted struct {
	Scanner
	dispatcher *Dispatcher
}

// Scan implements Scanner.
func (c counted) Scan(ctx context.Context, j Job, progress func(Progress)) (finding.Result, error) {
	d := c.dispatcher
	if !c.Available() {
		return c.Scanner.Scan(ctx, j, progress) // it says why not
	}
	worker, err := d.take(ctx, j.Organization)
	if err != nil {
		return finding.Result{}, err
	}
	defer d.notifier.Enqueued() // a review may be claimed
	defer d.release(worker, j.Organization)
	defer d.running.yield(j.Organization)

	return c.Scanner.Scan(ctx, j, progress)
}

// take takes an idle worker for a scan of an organization.
func (d *Dispatcher) take(ctx context.Context, org string) (worker int, err error) {
	for {
		select {
		case worker = <-d.idle:
		case <-ctx.Done():
			return 0, ctx.Err()
		}

		fewer := d.running.enter(org, d.o.Workers-1)
		if fewer == nil {
			return worker, nil
		}
		d.idle <- worker
		select {
		case <-fewer:
		case <-d.stopping.Done():
			return 0, d.stopping.Err()
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// release gives back a worker that has scanned for an organization.
func (d *Dispatcher) release(worker int, org string) {
	d.running.add(org, -1)
	d.idle <- worker
}

// running counts the scans of a dispatcher by organization.
type running struct {
	// claiming is held from asking whose review must not be claimed until the claimed
	// one counts, so that a trial doesn't take the last worker meanwhile. It is taken
	// before mu.
	claiming sync.Mutex

	mu      sync.Mutex
	counts  map[string]int
	first   string         // organization that had a scan
	several bool           // another one had one, too
	claims  int            // that were tried
	yields  map[string]int // organizations whose next scan waits until there were more claims
	fewer   chan struct{}  // closed, and made anew, when a scan ends or a claim was tried
}

func newRunning() *running {
	return &running{counts: map[string]int{}, yields: map[string]int{}, fewer: make(chan struct{})}
}

func (r *running) add(org string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(org, n)
}

func (r *running) count(org string, n int) {
	r.first = cmp.Or(r.first, org)
	r.several = r.several || org != r.first
	if r.counts[org] += n; r.counts[org] == 0 {
		delete(r.counts, org)
	}
	if n < 0 {
		r.wake()
	}
}

// wake wakes all that wait. mu must be held.
func (r *running) wake() {
	close(r.fewer)
	r.fewer = make(chan struct{})
}

// yield has the organization's next scan that is no review wait until a claim was
// tried, so that many of them don't keep its own reviews waiting.
func (r *running) yield(org string) {
	r.claiming.Lock()
	defer r.claiming.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.yields[org] = r.claims + 1
}

// claimed notes that a claim was tried, which got c unless it is nil. claiming must be
// held.
func (r *running) claimed(c *Claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims++
	if c != nil {
		r.count(c.Organization, 1)
	}
	r.wake()
}

// enter adds a scan when the organization has fewer than most, as soon as there is
// more than one organization and if most isn't 0, and not before a claim after yield.
// Otherwise it returns what is closed when that may have changed.
func (r *running) enter(org string, most int) (fewer <-chan struct{}) {
	r.claiming.Lock()
	defer r.claiming.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if most > 0 && r.several && r.counts[org] >= most || r.claims < r.yields[org] {
		return r.fewer
	}
	delete(r.yields, org)
	r.count(org, 1)

	return nil
}

// holder is the organization that holds the given number of workers, all but one;
// "" for none. It must not have the last one as well.
func (r *running) holder(workers int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for org, n := range r.counts {
		if workers > 0 && n >= workers {
			return org
		}
	}

	return ""
}
