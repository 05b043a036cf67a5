package organization

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	refreshEvery   = 2 * time.Second        // how old an answer may be
	refreshTimeout = 2 * time.Second        // of one reading
	refusalAge     = 500 * time.Millisecond // how old what refuses a request may be
)

// Directory answers from memory what organizations may do. It reads them again
// every two seconds, and before it refuses something. While the database is
// away it answers by what it read last. It is safe for concurrent use.
type Directory struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	reading singleflight.Group
	mu      sync.RWMutex
	byName  map[string]Organization
	read    time.Time

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// NewDirectory returns a directory that has read the organizations once.
func NewDirectory(ctx context.Context, store Store, log *slog.Logger) (*Directory, error) {
	d := &Directory{store: store, now: time.Now, log: log, stop: func() {}}

	return d, d.refresh(ctx)
}

// Start begins to read the organizations again from time to time.
func (d *Directory) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel

	d.stopped.Go(func() {
		tick := time.NewTicker(refreshEvery)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}

			if err := d.refresh(ctx); err != nil && ctx.Err() == nil {
				d.log.Warn("the organizations can't be read; what was read before still holds", "error", err)
			}
		}
	})
}

// Stop ends what Start began. It may be called twice, and without Start.
func (d *Directory) Stop() {
	d.stop()
	d.stopped.Wait()
}

// refresh reads the organizations. Callers at the same time share one reading.
func (d *Directory) refresh(ctx context.Context) error {
	_, err, _ := d.reading.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
		defer cancel()

		began := d.now()
		list, err := d.store.Organizations(ctx)
		if err != nil {
			return nil, err
		}

		byName := make(map[string]Organization, len(list))
		for _, o := range list {
			byName[o.Name] = o
		}

		d.mu.Lock()
		defer d.mu.Unlock()
		d.byName, d.read = byName, began

		return nil, nil
	})

	return err
}

func (d *Directory) lookup(name string) (o Organization, age time.Duration) {
	d.mu.RLock()
	defer d.mu.RUnlock()

	return d.byName[name], d.now().Sub(d.read)
}

// Allowed reports whether an organization may scan a repository, `owner/name`.
// An unknown organization may scan nothing.
func (d *Directory) Allowed(org, repo string) bool {
	o, age := d.lookup(org)
	if o.Allows(repo) {
		return true
	}

	if age < refusalAge && o.Name != "" {
		return false
	}

	// It may have been made or allowed a moment ago.
	if err := d.refresh(context.Background()); err != nil {
		return false
	}

	o, _ = d.lookup(org)

	return o.Allows(repo)
}

// MaxQueued is the most reviews of an organization that may wait.
func (d *Directory) MaxQueued(org string) int {
	o, _ := d.lookup(org)

	return o.QueueLimit()
}

// RequireSuppressionReason reports whether comments that suppress findings must
// give a reason.
func (d *Directory) RequireSuppressionReason(org string) bool {
	o, _ := d.lookup(org)

	return o.RequireSuppressionReason
}

// Host is the code host of an organization, the zero Host for an unknown one.
func (d *Directory) Host(org string) Host {
	o, _ := d.lookup(org)

	return o.Host
}
