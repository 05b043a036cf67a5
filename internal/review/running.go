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
	worker, err := d.take(ctx, j.Organization)
	if err != nil {
		return finding.Result{}, err
	}
	defer d.notifier.Enqueued() // a review may be claimed
	defer d.release(worker, j.Organization)

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
	first   string        // organization that had a scan
	several bool          // another one had one, too
	fewer   chan struct{} // closed, and made anew, when a scan ends
}

func newRunning() *running { return &running{counts: map[string]int{}, fewer: make(chan struct{})} }

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
		close(r.fewer)
		r.fewer = make(chan struct{})
	}
}

// enter adds a scan when the organization has fewer than most, as soon as there is
// more than one organization and if most isn't 0. Otherwise it returns what is closed
// when a scan ends.
func (r *running) enter(org string, most int) (fewer <-chan struct{}) {
	r.claiming.Lock()
	defer r.claiming.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if most > 0 && r.several && r.counts[org] >= most {
		return r.fewer
	}
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
