package review

import (
	"cmp"
	"context"
	"sync"

	"github.com/prwarden/prwarden/internal/finding"
)

// Scanner is the dispatcher's, for scans that are no reviews. They count among those
// of their organization, and wait while it holds all workers but one that others may
// need.
func (d *Dispatcher) Scanner() Scanner { return counted{d.scanner, d} }

type counted struct {
	Scanner
	dispatcher *Dispatcher
}

// Scan implements Scanner.
func (c counted) Scan(ctx context.Context, j Job, progress func(Progress)) (finding.Result, error) {
	d := c.dispatcher
	if err := d.running.enter(ctx, j.Organization, d.o.Workers-1); err != nil {
		return finding.Result{}, err
	}
	defer d.notifier.Enqueued() // a review of the organization may be claimed
	defer d.running.add(j.Organization, -1)

	return c.Scanner.Scan(ctx, j, progress)
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
// more than one organization and if most isn't 0.
func (r *running) enter(ctx context.Context, org string, most int) error {
	for {
		fewer := r.tryEnter(org, most)
		if fewer == nil {
			return nil
		}
		select {
		case <-fewer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryEnter is enter without waiting; nil when the scan counts, else what to wait for.
func (r *running) tryEnter(org string, most int) (fewer <-chan struct{}) {
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
