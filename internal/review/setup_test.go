package review_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/store"
)

const org = "acme"

// patience bounds waits; it is only reached when something is broken.
const patience = 3 * time.Minute

// organizations may scan all repositories but one.
type organizations struct{}

func (organizations) Allowed(_, repo string) bool { return repo != "other/api" }

// sources are the organizations' hosts, each with a token for every scan.
type sources struct{}

func (sources) Source(_ context.Context, c review.Claim) (review.Source, error) {
	return review.Source{
		Host:       organization.Host{URL: "https://" + c.Organization},
		Credential: codehost.Credential{Token: "for " + c.ReviewID},
	}, nil
}

func (organizations) MaxQueued(org string) int {
	if org == "small" {
		return 2
	}

	return review.MaxQueued
}

// bundle is what a test needs: the service and the queue on a real store, and
// a scanner that does as it is told.
type bundle struct {
	store    *store.Store
	notifier *review.Notifier
	service  *review.Service
	scanner  *scanner
	clock    *storetest.Clock // nil for the database's
}

// setup makes a server on an SQLite database of its own, whose clock stands.
func setup(t *testing.T) *bundle {
	t.Helper()
	clock := storetest.NewClock()
	b := newBundle(t, store.Options{Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Now: clock.Now})
	b.clock = clock
	return b
}

func newBundle(t testing.TB, o store.Options) *bundle {
	t.Helper()
	b := &bundle{
		notifier: review.NewNotifier(),
		scanner:  &scanner{calls: make(chan call, 100), awaited: make(chan struct{}, 1)},
	}
	var err error
	b.store, err = store.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.store.Close()) })
	require.NoError(t, b.store.Migrate(t.Context()))
	b.service = review.NewService(b.store, organizations{}, b.notifier, b.scanner, 2)
	return b
}

// timePasses moves the store's clock along until the test ends.
func (b *bundle) timePasses(t *testing.T) {
	t.Helper()

	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()

		for {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
				b.clock.Advance(time.Millisecond)
			}
		}
	}()
}

func (b *bundle) create(t testing.TB) string {
	t.Helper()
	accepted, err := b.service.Create(t.Context(), org, review.CreateInput{Repo: "acme/api", PRNumber: 1})
	require.NoError(t, err)
	return accepted.ReviewID
}

// dispatcher starts a dispatcher with one worker and fast retries, and stops it
// when the test ends.
func (b *bundle) dispatcher(t *testing.T, change func(*review.DispatcherOptions)) *review.Dispatcher {
	t.Helper()

	return b.dispatcherOf(t, b.store, rules{}, change)
}

// dispatcherOf is dispatcher with another queue or source of rules.
func (b *bundle) dispatcherOf(
	t *testing.T, queue review.Queue, source review.RuleSource, change func(*review.DispatcherOptions),
) *review.Dispatcher {
	t.Helper()
	o := review.DispatcherOptions{
		Name: "test", Heartbeat: 10 * time.Millisecond, Poll: 10 * time.Millisecond, Backoff: time.Nanosecond,
		Organizations: organizations{}, Sources: sources{},
	}
	if change != nil {
		change(&o)
	}
	d := review.NewDispatcher(queue, b.scanner, source, b.notifier, o)
	d.Start()
	t.Cleanup(func() { require.NoError(t, d.Stop(context.Background())) })

	return d
}

// await returns the review as soon as it has a final state.
func (b *bundle) await(t *testing.T, id string) review.Review {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, b.service.Watch(ctx, org, id, func(review.Update) error { return nil }))
	r, err := b.service.Get(t.Context(), org, id)
	require.NoError(t, err)
	return r
}

type rules struct{}

func (rules) RulesFor(context.Context, string, string) (rule.Set, error) {
	return rule.Set{Digest: "d"}, nil
}

// scanner hands each call to the test and answers what the test says.
type scanner struct {
	calls     chan call
	reachable chan struct{} // closed when scans could begin; nil for always
	awaited   chan struct{} // hears of a worker that waits for that
}

type call struct {
	ctx      context.Context
	job      review.Job
	progress func(review.Progress)
	answer   chan<- answer
}

type answer struct {
	outcome finding.Result
	err     error
}

func (s *scanner) Scan(ctx context.Context, j review.Job, progress func(review.Progress)) (finding.Result, error) {
	answers := make(chan answer, 1)
	s.calls <- call{ctx, j, progress, answers}

	select {
	case a := <-answers:
		return a.outcome, a.err
	case <-ctx.Done():
		return finding.Result{}, context.Cause(ctx)
	}
}

func (s *scanner) Await(ctx context.Context) {
	if s.reachable == nil {
		return
	}

	select {
	case s.awaited <- struct{}{}:
	default: // it was heard already
	}

	select {
	case <-s.reachable:
	case <-ctx.Done():
	}
}

func (s *scanner) Available() bool { return s.reachable == nil }

// next waits for the next call of the scanner.
func (s *scanner) next(t testing.TB) call {
	t.Helper()

	select {
	case c := <-s.calls:
		return c
	case <-time.After(20 * time.Second):
		require.FailNow(t, "no scan was started")
		panic("unreachable")
	}
}

// within is a call of the scanner that comes within that time.
func (s *scanner) within(d time.Duration) *call {
	select {
	case c := <-s.calls:
		return &c
	case <-time.After(d):
		return nil
	}
}

func (c call) end(o finding.Result, err error) { c.answer <- answer{o, err} }

func done(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()

	select {
	case <-c:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "waited too long for "+what)
	}
}
