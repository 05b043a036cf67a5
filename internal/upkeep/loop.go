package upkeep

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// Options say what a Loop does. Zero fields mean the values in parentheses.
type Options struct {
	Keep     time.Duration    // how long reviews are kept after they ended (for ever)
	Grace    time.Duration    // see Grace (Grace)
	Every    time.Duration    // between announcements, and looks for removed organizations (1 m)
	PurgeGap time.Duration    // between looks for what is to be deleted (10 m)
	Now      func() time.Time // this machine's clock (time.Now)
	Log      *slog.Logger     // (none)
	OnPurged func(Deleted)    // hears of every step that deleted something (nobody)
	OnFailed func(id string)  // hears of every review that failed because its organization was removed (nobody)
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&o.Grace, Grace}, {&o.Every, time.Minute}, {&o.PurgeGap, 10 * time.Minute}} {
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
	if o.OnFailed == nil {
		o.OnFailed = func(string) {}
	}
	return o
}

// Loop does upkeep in the background, as long as a server runs.
type Loop struct {
	store Store
	o     Options

	start   sync.Once
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	step    sync.Mutex // is held during a step
}

// NewLoop returns a loop that does nothing until Start.
func NewLoop(store Store, o Options) *Loop {
	ctx, cancel := context.WithCancel(context.Background())
	return &Loop{store: store, o: o.withDefaults(), ctx: ctx, cancel: cancel}
}

// Start begins. It announces at once, and looks for what is to be deleted after
// the first pause. Deleting may take hours, and what must not wait for that has
// goroutines of its own. Starting twice is starting once.
func (l *Loop) Start() {
	l.start.Do(func() {
		l.running.Go(func() {
			l.every(l.o.Every, func() {
				l.do("announcing the organizations", func() error { return l.store.Announce(l.ctx) })
				l.do("emptying the database's log", func() error { return l.store.FoldLog(l.ctx) })
			})
		})
		l.running.Go(func() {
			l.every(l.o.Every, func() { l.do("failing reviews of removed organizations", l.failRemoved) })
		})
		l.running.Go(func() {
			if pause(l.ctx, l.o.Every) == nil {
				l.every(l.o.PurgeGap, func() { l.do("deleting what is old", l.purge) })
			}
		})
	})
}

// every does a task until the loop is stopped, with a pause after each time.
func (l *Loop) every(gap time.Duration, task func()) {
	for l.ctx.Err() == nil {
		task()
		_ = pause(l.ctx, gap) // its end ends the loop
	}
}

// Stop ends the loop, in the middle of a step if need be, and waits for that or
// for ctx. Stopping twice is stopping once.
func (l *Loop) Stop(ctx context.Context) error {
	l.cancel()
	done := make(chan struct{})
	go func() {
		l.running.Wait()
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
func (l *Loop) do(what string, task func() error) {
	if err := task(); err != nil && l.ctx.Err() == nil {
		l.o.Log.Warn(what+" failed", "error", err)
	}
}

// steps takes steps. Those of two tasks don't overlap: on a database of several
// servers the second would find the first at work, and do nothing.
func (l *Loop) steps(step func() (more bool, err error)) error {
	return Steps(l.ctx, func() (bool, error) {
		l.step.Lock()
		defer l.step.Unlock()
		return step()
	})
}

func (l *Loop) failRemoved() error {
	f := review.Failure{
		Code:    CodeOrganizationRemoved,
		Message: "The organization was removed from the server's configuration while this review waited.",
	}
	total := 0
	err := l.steps(func() (bool, error) {
		ids, more, err := l.store.FailRemoved(l.ctx, l.o.Grace, f)
		for _, id := range ids {
			l.o.OnFailed(id)
		}
		total += len(ids)
		return more, err
	})
	if total > 0 {
		l.o.Log.Warn("waiting reviews failed, because their organizations are in no server's configuration any more", "reviews", total)
	}
	return err
}

func (l *Loop) purge() error {
	var total Deleted
	began := time.Now()
	purge := func(step func() (Deleted, bool, error)) error {
		return l.steps(func() (bool, error) {
			d, more, err := step()
			if d != (Deleted{}) && err == nil {
				total = total.Plus(d)
				l.o.OnPurged(d)
			}
			return more, err
		})
	}
	var all []error
	if l.o.Keep > 0 {
		all = append(all, purge(func() (Deleted, bool, error) {
			return l.store.PurgeReviews(l.ctx, l.o.Keep, l.o.Now().Add(clockSlack))
		}))
		all = append(all, purge(func() (Deleted, bool, error) { return l.store.PurgeRepositories(l.ctx) }))
	}
	all = append(all, purge(func() (Deleted, bool, error) { return l.store.PurgeExpired(l.ctx, KeepKeys) }))
	if total != (Deleted{}) {
		l.o.Log.Info("deleted what is old", "reviews", total.Reviews, "findings", total.Findings, "skips", total.Skips,
			"idempotency_keys", total.IdempotencyKeys, "api_keys", total.APIKeys, "repositories", total.Repositories,
			"duration_ms", time.Since(began).Milliseconds())
	}
	all = append(all, l.steps(func() (bool, error) { return l.store.GiveBack(l.ctx) }))
	return errors.Join(all...)
}
