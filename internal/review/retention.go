package review

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/stats"
)

// RetentionStore is what retention needs of a database. A purge is one short
// transaction that deletes a bounded number of rows, and returns how many and
// whether there may be more. Several servers may do it at a time.
type RetentionStore interface {
	// PurgeReviews deletes reviews that ended more than keep ago, the oldest
	// first, with their findings and skips. The store's clock says what time it
	// is, but no later than latest: a database's clock that is set wrong must not
	// delete everything.
	PurgeReviews(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error)

	// PurgeKeys deletes idempotency keys and set-ups of Apps that are expired, and API keys that were
	// revoked or expired more than keep ago or that an organization has more of
	// than are listed.
	PurgeKeys(ctx context.Context, keep time.Duration) (n int, more bool, err error)

	// PurgeStats deletes numbers of rules that are of so many days ago or more, by
	// the same clock as PurgeReviews.
	PurgeStats(ctx context.Context, days int, latest time.Time) (n int, more bool, err error)

	// PurgeEvents deletes events of the audit log that are older than keep, by the
	// same clock as PurgeReviews.
	PurgeEvents(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error)

	// PurgePullRequests deletes pull requests of which nothing was heard or published for
	// as long, by the same clock, with what is known of their comments.
	PurgePullRequests(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error)

	// PurgeDeliveries deletes deliveries of code hosts that were received more than
	// keep ago, by the same clock as PurgeReviews.
	PurgeDeliveries(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error)
	// PurgeMessages deletes messages of webhooks that were made more than keep ago, with
	// their attempts, by the same clock.
	PurgeMessages(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error)
	// PurgeTriage deletes decisions about findings that ended more than keep ago, by the
	// same clock, what can't be undone any more, and commands that were done long ago.
	PurgeTriage(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error)
	// PurgeAccounts deletes sessions and links that ended, and invitations that ended
	// more than keep ago.
	PurgeAccounts(ctx context.Context, keep time.Duration) (n int, more bool, err error)

	// FoldLog empties a log that grew because readers kept the database from
	// doing that by itself.
	FoldLog(ctx context.Context) error
}

// The times of retention.
const (
	// KeepKeys is how long keys that do not work any more are remembered, so
	// that their users are told why.
	KeepKeys = 90 * 24 * time.Hour

	// KeepDeliveries is how long deliveries of code hosts are tried, and how long
	// their identifiers are refused a second time.
	KeepDeliveries = 30 * 24 * time.Hour
	// KeepMessages is how long messages of webhooks and the log of their attempts are
	// kept.
	KeepMessages = 30 * 24 * time.Hour
	// KeepDecisions is how long decisions about findings that have ended are remembered.
	KeepDecisions = 90 * 24 * time.Hour
	// KeepInvitations is how long invitations that were used, revoked or not accepted are
	// remembered.
	KeepInvitations = 30 * 24 * time.Hour

	// clockSlack is how far the database's clock is believed to be ahead of this
	// machine's.
	clockSlack = 24 * time.Hour
)

// How often retention looks at the log of the database, and for what is to be
// deleted.
const (
	foldGap  = time.Minute
	purgeGap = 10 * time.Minute
)

// Retention does what a database needs over the years, in the background as long
// as a server runs: reviews that are old enough go, and with them what else
// nobody needs any more.
type Retention struct {
	store RetentionStore
	keep  Keep
	log   *slog.Logger

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Keep says how long what is kept; 0 is for ever.
type Keep struct {
	Reviews time.Duration // after they ended
	Events  time.Duration // of the audit log
}

// NewRetention returns a retention that does nothing until Start.
func NewRetention(store RetentionStore, keep Keep, log *slog.Logger) *Retention {
	ctx, cancel := context.WithCancel(context.Background())

	return &Retention{store: store, keep: keep, log: log, ctx: ctx, cancel: cancel}
}

// Start begins. It is called once. Deleting may take hours, and what must not wait
// for that has a goroutine of its own.
func (r *Retention) Start() {
	r.running.Go(func() { r.every(foldGap, "emptying the database's log", r.store.FoldLog) })
	r.running.Go(func() { r.every(purgeGap, "deleting what is old", r.purge) })
}

// Stop ends the loops, in the middle of a step if need be, and waits for that or
// for ctx. Stopping twice is stopping once.
func (r *Retention) Stop(ctx context.Context) error {
	r.cancel()

	return wait(ctx, r.running.Wait)
}

// every does a task after each gap until the retention is stopped. The next turn
// tries again what failed.
func (r *Retention) every(gap time.Duration, what string, task func(context.Context) error) {
	for pause(r.ctx, gap) == nil {
		if err := task(r.ctx); err != nil && r.ctx.Err() == nil {
			r.log.Warn(what+" failed", "error", err)
		}
	}
}

func (r *Retention) purge(ctx context.Context) error {
	began := time.Now()
	latest := began.Add(clockSlack)
	reviews, pulls, events := 0, 0, 0
	var errReviews, errPulls, errEvents error
	if r.keep.Reviews > 0 {
		reviews, errReviews = Steps(ctx, func() (int, bool, error) {
			return r.store.PurgeReviews(ctx, r.keep.Reviews, latest)
		})
		pulls, errPulls = Steps(ctx, func() (int, bool, error) {
			return r.store.PurgePullRequests(ctx, r.keep.Reviews, latest)
		})
	}
	if r.keep.Events > 0 {
		events, errEvents = Steps(ctx, func() (int, bool, error) {
			return r.store.PurgeEvents(ctx, r.keep.Events, latest)
		})
	}
	keys, errKeys := Steps(ctx, func() (int, bool, error) { return r.store.PurgeKeys(ctx, KeepKeys) })
	numbers, errNumbers := Steps(ctx, func() (int, bool, error) { return r.store.PurgeStats(ctx, stats.Keep, latest) })
	deliveries, errDeliveries := Steps(ctx, func() (int, bool, error) {
		return r.store.PurgeDeliveries(ctx, KeepDeliveries, latest)
	})
	messages, errMessages := Steps(ctx, func() (int, bool, error) {
		return r.store.PurgeMessages(ctx, KeepMessages, latest)
	})
	decisions, errDecisions := Steps(ctx, func() (int, bool, error) {
		return r.store.PurgeTriage(ctx, KeepDecisions, latest)
	})
	accounts, errAccounts := Steps(ctx, func() (int, bool, error) {
		return r.store.PurgeAccounts(ctx, KeepInvitations)
	})
	if reviews+pulls+events+keys+numbers+deliveries+messages+decisions+accounts > 0 {
		r.log.Info("deleted what is old", "reviews", reviews, "pull_requests", pulls, "keys", keys,
			"numbers", numbers, "events", events, "deliveries", deliveries, "messages", messages, "decisions", decisions,
			"sessions", accounts,
			"duration_ms", time.Since(began).Milliseconds())
	}

	return errors.Join(errReviews, errPulls, errEvents, errKeys, errNumbers, errDeliveries, errMessages, errDecisions,
		errAccounts)
}

// How long requests have the database to themselves after a step, as a multiple
// of what it took, and at least and at most.
const (
	pauseFactor = 4
	minPause    = 20 * time.Millisecond
	maxPause    = 5 * time.Second
)

// Steps takes steps until there is no more to do, one fails, or ctx ends, which
// is an error, and returns how much they did together. In the pauses in between
// others get at the database: SQLite has no queue in which they could wait for it.
func Steps(ctx context.Context, step func() (n int, more bool, err error)) (total int, err error) {
	for {
		began := time.Now()
		n, more, err := step()
		total += n
		if err != nil || !more {
			return total, err
		}
		if err := pause(ctx, min(max(pauseFactor*time.Since(began), minPause), maxPause)); err != nil {
			return total, err
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

// wait returns when until does, or with the error of ctx when that ends first.
func wait(ctx context.Context, until func()) error {
	done := make(chan struct{})
	go func() {
		until()
		close(done)
	}()

	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
