package review_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/store"
)

// servers makes n servers on one Postgres database. They hear each other when
// listening, and must do without otherwise.
func servers(t *testing.T, n int, listening bool) []*bundle {
	t.Helper()
	database := pgtest.New(t)
	all := make([]*bundle, n)
	for i := range all {
		b := newBundle(t, store.Options{Database: database})
		all[i] = b
		if listening {
			listenTo(t, b)
		}
	}

	return all
}

// listenTo lets a server hear the others until the test ends.
func listenTo(t testing.TB, b *bundle) {
	t.Helper()
	l := b.store.NewListener(b.notifier, slog.New(slog.DiscardHandler))
	l.Start()
	t.Cleanup(l.Stop)
	require.Eventually(t, l.Listening, patience, time.Millisecond)
}

// never is a time that no test waits for.
const never = time.Hour

// asleep makes a dispatcher do nothing unless it is told.
func asleep(o *review.DispatcherOptions) { o.Poll, o.Heartbeat = never, never }

func TestServersTellEachOther(t *testing.T) {
	t.Parallel()
	all := servers(t, 2, true)
	a, b := all[0], all[1]
	a.dispatcher(t, asleep)
	first := b.create(t) // on the one
	scan := a.scanner.next(t)
	assert.Equal(t, first, scan.job.ReviewID)

	_, err := b.service.Cancel(t.Context(), org, first)
	require.NoError(t, err)
	done(t, scan.ctx.Done(), "the scan on the other server to be canceled")

	second := b.create(t)
	a.scanner.next(t).end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, second).Status)

	// Past the service, and so past the notifier of its process, too.
	third, err := a.store.CreateReview(t.Context(), newReview("rev_third"), 10)
	require.NoError(t, err)
	a.scanner.next(t).end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, third.ReviewID).Status)
}

func newReview(id string) review.NewReview {
	return review.NewReview{ID: id, Organization: org, Repo: "acme/api", PRNumber: 1, Ruleset: "default"}
}

// A review that is scanned on one server is watched and canceled on another,
// whether they hear each other or not.
func TestWatchOnAnotherServer(t *testing.T) {
	t.Parallel()

	for name, listening := range map[string]bool{"listening": true, "with notifications lost": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := servers(t, 2, listening)
			a, b := all[0], all[1]
			id := a.create(t)
			updates, ended := make(chan review.Update, 100), make(chan error, 1)

			go func() {
				ended <- b.service.Watch(t.Context(), org, id, func(u review.Update) error {
					if !u.KeepAlive { // the machine may be slow
						updates <- u
					}

					return nil
				})
			}()
			next := func() review.Update {
				select {
				case u := <-updates:
					return u
				case <-time.After(20 * time.Second):
					require.FailNow(t, "no update")
					panic("unreachable")
				}
			}

			assert.Equal(t, review.Queued, next().Review.Status)
			a.dispatcher(t, nil)
			scan := a.scanner.next(t)
			assert.Equal(t, review.InProgress, next().Review.Status)

			for _, p := range []review.Progress{{FilesTotal: 9}, {FilesDone: 3, FilesTotal: 9}} {
				scan.progress(p)
				assert.Equal(t, p, next().Review.Progress)
			}
			scan.end(finding.Result{FilesTotal: 9}, nil)
			assert.Equal(t, review.Complete, next().Review.Status)
			require.NoError(t, <-ended)
			assert.Empty(t, updates)

			id = a.create(t)
			scan = a.scanner.next(t)
			_, err := b.service.Cancel(t.Context(), org, id)
			require.NoError(t, err)
			done(t, scan.ctx.Done(), "the scan on the other server to be canceled")
		})
	}
}

// A server that is lost with a review leaves it to the others when its lease
// has run out, on the database's clock.
func TestLostServer(t *testing.T) {
	t.Parallel()
	all := servers(t, 2, false)
	id := all[0].create(t)
	lost, err := all[0].store.Claim(t.Context(), review.Claiming{Worker: "lost", Lease: 300 * time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, id, lost.ReviewID)

	all[1].dispatcher(t, func(o *review.DispatcherOptions) { o.Poll, o.Heartbeat = 0, 0 }) // as in production
	all[1].scanner.next(t).end(finding.Result{HeadSHA: "found"}, nil)
	require.ErrorIs(t, all[0].store.Finish(t.Context(), *lost, finding.Result{HeadSHA: "late"}), review.ErrLeaseLost)
	r := all[0].await(t, id)
	assert.Equal(t, "found", r.HeadSHA)
	assert.Equal(t, 2, r.Attempt)
}

// numb is a queue whose store is away for heartbeats while told so.
type numb struct {
	review.Queue
	mu   sync.Mutex
	away bool
}

func (n *numb) set(away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away = away
}

func (n *numb) Extend(ctx context.Context, beats []review.Heartbeat, lease time.Duration) ([]review.Claim, error) {
	n.mu.Lock()
	away := n.away
	n.mu.Unlock()
	if away {
		return nil, errs.New(errs.Unavailable, errs.ReasonUnavailable, "away")
	}

	return n.Queue.Extend(ctx, beats, lease)
}

// While the store is away a scan goes on until its lease is surely lost.
func TestScanWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	queue := &numb{Queue: b.store, away: true}
	start := func(lease time.Duration) *review.Dispatcher {
		return b.dispatcherOf(t, queue, rules{}, func(o *review.DispatcherOptions) { o.Lease = lease })
	}

	const lease = 2 * time.Second // that a busy machine does not stand still for
	b.create(t)
	began := time.Now()
	d := start(lease)
	scan := b.scanner.next(t)
	done(t, scan.ctx.Done(), "the scan to be given up")
	assert.GreaterOrEqual(t, time.Since(began), lease)
	require.ErrorIs(t, context.Cause(scan.ctx), review.ErrLeaseLost)

	queue.set(false)
	require.NoError(t, d.Stop(t.Context()))
	start(patience)
	id := b.create(t)
	scan = b.scanner.next(t)
	queue.set(true)
	queue.set(false) // away for less than a lease
	scan.end(finding.Result{}, nil)
	assert.Equal(t, review.Complete, b.await(t, id).Status)
}

// A process never takes its own leases for lost: it prolongs them first.
func TestOwnLeasesAreNotReaped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var heard atomic.Int32
	b.dispatcher(t, func(o *review.DispatcherOptions) {
		o.Heartbeat = never
		o.OnEnd = func(_ review.Status, code string, _ time.Duration) {
			if code == review.CodeWorkerLost {
				heard.Add(1)
			}
		}
	})
	id := b.create(t)
	scan := b.scanner.next(t)
	b.clock.Advance(time.Minute) // stopped for so long
	b.notifier.Missed()          // and woken
	other := b.lostReview(t)     // reaped after the heartbeat
	require.Eventually(t, func() bool {
		b.notifier.Missed()
		r, err := b.service.Get(t.Context(), org, other)
		return err == nil && r.Status != review.InProgress
	}, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return heard.Load() == 1 }, patience, time.Millisecond)
	require.NoError(t, scan.ctx.Err())
	scan.end(finding.Result{}, nil)
	r := b.await(t, id)
	assert.Equal(t, 1, r.Attempt)
}

// lostReview makes a review whose lease has run out.
func (b *bundle) lostReview(t *testing.T) string {
	t.Helper()
	id := review.NewID()
	_, err := b.store.CreateReview(t.Context(), newReview(id), 10)
	require.NoError(t, err)
	c, err := b.store.Claim(t.Context(), review.Claiming{Worker: "lost", Lease: 0})
	require.NoError(t, err)
	require.Equal(t, id, c.ReviewID)
	return id
}
