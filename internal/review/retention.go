package review

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// RetentionStore is what retention needs of a database, in small steps. Each
// step is one short transaction that does a bounded amount of work, and returns
// whether there may be more to do. On a database of several servers one of them
// works at a time: a step that
// comes while another server takes one does nothing and says that there is no
// more.
type RetentionStore interface {
	// PurgeReviews deletes reviews that ended more than keep ago, the oldest
	// first, with their findings and skips. The store's clock says what time it
	// is, but no later than latest: a database's clock that is set wrong must not
	// delete everything.
	PurgeReviews(ctx context.Context, keep time.Duration, latest time.Time) (Deleted, bool, error)

	// PurgeExpired deletes idempotency keys that are expired, and API keys that
	// were revoked or expired more than keepKeys ago.
	PurgeExpired(ctx context.Context, keepKeys time.Duration) (Deleted, bool, error)

	// PurgeRepositories deletes what is remembered of repositories of which
	// there is no review any more: their rules files and scan times.
	PurgeRepositories(ctx context.Context) (Deleted, bool, error)
	// FoldLog empties a log that grew because readers kept the database from
	// doing that by itself.
	FoldLog(ctx context.Context) error

	// GiveBack returns a part of the space that is free inside of the database
	// to the file system, where that is a lot of it and the database can do it
	// by and by.
	GiveBack(ctx context.Context) (bool, error)
}

// Deleted counts what was deleted, by the word that logs and metrics have for
// it. Each kind counts rows, but repositories: those count repositories.
type Deleted struct {
	Reviews         int
	Findings        int
	Skips           int
	IdempotencyKeys int
	APIKeys         int
	Repositories    int
}

// Plus is the sum.
func (d Deleted) Plus(o Deleted) Deleted {
	return Deleted{
		Reviews: d.Reviews + o.Reviews, Findings: d.Findings + o.Findings, Skips: d.Skips + o.Skips,
		IdempotencyKeys: d.IdempotencyKeys + o.IdempotencyKeys, APIKeys: d.APIKeys + o.APIKeys,
		Repositories: d.Repositories + o.Repositories,
	}
}

// ByKind is d for metrics.
func (d Deleted) ByKind() map[string]int {
	return map[string]int{
		"reviews": d.Reviews, "findings": d.Findings, "skips": d.Skips,
		"idempotency_keys": d.IdempotencyKeys, "api_keys": d.APIKeys, "repositories": d.Repositories,
	}
}

// The times of retention.
const (
	// KeepKeys is how long keys that do not work any more are remembered, so
	// that their users are told why.
	KeepKeys = 90 * 24 * time.Hour

	// clockSlack is how far the database's clock is believed to be ahead of this
	// machine's.
	clockSlack = 24 * time.Hour
)

// RetentionOptions say what a Retention does. Zero fields mean the values in parentheses.
type RetentionOptions struct {
	Keep     time.Duration    // how long reviews are kept after they ended (for ever)
	Every    time.Duration    // between looks at the log of the database (1 m)
	PurgeGap time.Duration    // between looks for what is to be deleted (10 m)
	Now      func() time.Time // this machine's clock (time.Now)
	Log      *slog.Logger     // (none)
	OnPurged func(Deleted)    // hears of every step that deleted something (nobody)
}

func (o RetentionOptions) withDefaults() RetentionOptions {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Every, time.Minute}, {&o.PurgeGap, 10 * time.Minute}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}

	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnPurged == nil {
		o.OnPurged = func(Deleted) {}
	}
	return o
}

// Retention does what a database needs over the years, in the background as long
// as a server runs: reviews that are old enough go, and with them what else
// nobody needs any more; reviews of organizations that were removed from the
// configuration fail; freed space is given back.
type Retention struct {
	store RetentionStore
	o     RetentionOptions

	start   sync.Once
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewRetention returns a retention that does nothing until Start.
func NewRetention(store RetentionStore, o RetentionOptions) *Retention {
	ctx, cancel := context.WithCancel(context.Background())
	return &Retention{store: store, o: o.withDefaults(), ctx: ctx, cancel: cancel}
}

// Start begins. It looks for what is to be deleted after the first pause. Deleting may take hours, and what
// must not wait for that has
// goroutines of its own. Starting twice is starting once.
func (r *Retention) Start() {
	r.start.Do(func() {
		r.running.Go(func() {
			r.every(r.o.Every, func() {
				r.do("emptying the database's log", func() error { return r.store.FoldLog(r.ctx) })
			})
		})

		r.running.Go(func() {
			if pause(r.ctx, r.o.Every) == nil {
				r.every(r.o.PurgeGap, func() { r.do("deleting what is old", r.purge) })
			}
		})
	})
}

// every does a task until the loop is stopped, with a pause after each time.
func (r *Retention) every(gap time.Duration, task func()) {
	for r.ctx.Err() == nil {
		task()
		_ = pause(r.ctx, gap) // the end of the context ends the loop, too
	}
}

// Stop ends the loops, in the middle of a step if need be, and waits for that or
// for ctx. Stopping twice is stopping once.
func (r *Retention) Stop(ctx context.Context) error {
	r.cancel()
	done := make(chan struct{})
	go func() {
		r.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// do logs the error of a task. The next turn tries again.
func (r *Retention) do(what string, task func() error) {
	if err := task(); err != nil && r.ctx.Err() == nil {
		r.o.Log.Warn(what+" failed", "error", err)
	}
}

func (r *Retention) purge() error {
	var total Deleted
	began := time.Now()
	purge := func(step func() (Deleted, bool, error)) error {
		return Steps(r.ctx, func() (bool, error) {
			d, more, err := step()
			if d != (Deleted{}) && err == nil {
				total = total.Plus(d)
				r.o.OnPurged(d)
			}

			return more, err
		})
	}

	var all []error
	if r.o.Keep > 0 {
		all = append(all, purge(func() (Deleted, bool, error) {
			return r.store.PurgeReviews(r.ctx, r.o.Keep, r.o.Now().Add(clockSlack))
		}))
		all = append(all, purge(func() (Deleted, bool, error) { return r.store.PurgeRepositories(r.ctx) }))
	}

	all = append(all, purge(func() (Deleted, bool, error) { return r.store.PurgeExpired(r.ctx, KeepKeys) }))
	if total != (Deleted{}) {
		r.o.Log.Info("deleted what is old", "reviews", total.Reviews, "findings", total.Findings, "skips", total.Skips,
			"idempotency_keys", total.IdempotencyKeys, "api_keys", total.APIKeys, "repositories", total.Repositories,
			"duration_ms", time.Since(began).Milliseconds())
	}

	all = append(all, Steps(r.ctx, func() (bool, error) { return r.store.GiveBack(r.ctx) }))
	return errors.Join(all...)
}

// How long requests have the database to themselves after a step, as a multiple
// of what it took, and at least and at most.
const (
	pauseFactor = 4
	minPause    = 20 * time.Millisecond
	maxPause    = 5 * time.Second
)

// Steps takes steps until there is no more to do, one fails, or ctx ends, which
// is an error. In the pauses in between others get at the database: SQLite has
// no queue in which they could wait for it.
func Steps(ctx context.Context, step func() (more bool, err error)) error {
	for {
		began := time.Now()
		more, err := step()
		if err != nil || !more {
			return err
		}
		if err := pause(ctx, min(max(pauseFactor*time.Since(began), minPause), maxPause)); err != nil {
			return err
		}
	}
}

// pause waits for d, or for the end of ctx, which is an error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
