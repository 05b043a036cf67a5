package overload

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestSemaphoreBoundsEachOwnerAndAll(t *testing.T) {
	t.Parallel()
	s := NewSemaphore(Bounds{Total: 5, PerOwner: 2})
	take := func(owner string, n int64) (func(), error) { return s.Acquire(t.Context(), owner, n) }
	first, err := take("a", 1)
	require.NoError(t, err)
	_, err = take("a", 1)
	require.NoError(t, err)
	_, err = take("a", 1)
	require.ErrorIs(t, err, ErrFull, "one owner can't have all")

	_, err = take("b", 100)
	require.NoError(t, err, "what is larger than a share takes all of it")
	_, err = take("c", 2)
	require.ErrorIs(t, err, ErrFull)
	_, err = take("", 1)
	require.NoError(t, err, "who has no name has no bound of his own")
	assert.EqualValues(t, 5, s.used.Load())

	first()
	first()
	assert.EqualValues(t, 4, s.used.Load(), "given back once")
	_, err = take("a", 1)
	require.NoError(t, err)
}

func TestSemaphoreForgetsOwners(t *testing.T) {
	t.Parallel()
	s := NewSemaphore(Bounds{Total: 1, PerOwner: 1})
	release, err := s.Acquire(t.Context(), "a", 1)
	require.NoError(t, err)
	_, err = s.Acquire(t.Context(), "b", 1)
	require.ErrorIs(t, err, ErrFull)
	release()
	assert.Empty(t, s.owners)
}

func TestSemaphoreWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSemaphore(Bounds{Total: 1, Wait: time.Second})
		release, err := s.Acquire(t.Context(), "", 1)
		require.NoError(t, err)
		start := time.Now()
		_, err = s.Acquire(t.Context(), "", 1)
		require.ErrorIs(t, err, ErrFull)
		assert.Equal(t, time.Second, time.Since(start))

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Acquire(gone, "", 1)
		require.ErrorIs(t, err, context.Canceled)

		time.AfterFunc(time.Second/2, release)
		_, err = s.Acquire(t.Context(), "", 1)
		require.NoError(t, err)
	})
}

// newTestGuard makes a guard of small limits, and what tells which were reached.
func newTestGuard(trusted ...netip.Prefix) (g *Guard, refused *[]Limit, logged *strings.Builder) {
	refused, logged = new([]Limit), new(strings.Builder)
	limits := DefaultLimits()
	limits[LimitWork] = Bounds{Total: 1}
	limits[LimitOpen] = Bounds{Total: 10, PerOwner: 2}
	limits[LimitOrganization] = Bounds{Total: 10, PerOwner: 5}
	limits[LimitWatches] = Bounds{Total: 2, PerOwner: 1}
	log := slog.New(slog.NewTextHandler(logged, nil))
	return NewGuard(limits, trusted, log, func(l Limit) { *refused = append(*refused, l) }), refused, logged
}

func TestGuardBoundsAddresses(t *testing.T) {
	t.Parallel()
	g, refused, logged := newTestGuard(netip.MustParsePrefix("192.0.2.9/32"))
	open := func(peer string, forwarded ...string) (*Request, error) {
		return g.Open(t.Context(), LimitOpen, auth.Credentials{PeerAddr: peer, ForwardedFor: forwarded})
	}

	first, err := open("192.0.2.1:1")
	require.NoError(t, err)
	_, err = open("192.0.2.1:2")
	require.NoError(t, err)
	for range 3 {
		_, err = open("192.0.2.1:3")
		assert.Equal(t, errs.Unavailable, errs.KindOf(err))
	}

	var e *errs.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 2*time.Second, e.RetryAfter)
	assert.Equal(t, []Limit{LimitOpen, LimitOpen, LimitOpen}, *refused)
	assert.Equal(t, 1, strings.Count(logged.String(), "limit=open"), "logged once in a while")

	_, err = open("192.0.2.9:1", "192.0.2.1")
	require.Error(t, err, "the proxy says that it is the same client")
	for range 3 {
		_, err = open("192.0.2.9:1")
		require.NoError(t, err, "what a proxy does not name is many people's")
	}

	first.Close()
	first.Close()
	_, err = open("192.0.2.1:4")
	require.NoError(t, err)
	assert.EqualValues(t, 5, g.Used(LimitOpen))
}

// One organization leaves room for others, however many addresses it has.
func TestGuardBoundsOrganizations(t *testing.T) {
	t.Parallel()
	g, refused, _ := newTestGuard()
	open := func(i int, organization string) error {
		r, err := g.Open(t.Context(), LimitOpen, auth.Credentials{PeerAddr: fmt.Sprintf("192.0.2.%d:1", i)})
		require.NoError(t, err)
		if err = r.Identify(t.Context(), organization); err != nil {
			r.Close()
		}
		return err
	}

	for i := range 8 {
		assert.Equal(t, i >= 5, open(i, "acme") != nil)
	}
	assert.Equal(t, []Limit{LimitOrganization, LimitOrganization, LimitOrganization}, *refused)
	require.NoError(t, open(1, "other"))
}

// All the calls that an address may have open may come at once.
func TestAddressMayReceiveWhatItMayHaveOpen(t *testing.T) {
	t.Parallel()
	limits := DefaultLimits()
	assert.GreaterOrEqual(t, limits[LimitReceiving].PerOwner, limits[LimitOpen].PerOwner)
}

func TestRequestIsWorkedOnOrWaits(t *testing.T) {
	t.Parallel()
	g, _, _ := newTestGuard()
	open := func() *Request {
		r, err := g.Open(t.Context(), LimitOpen, auth.Credentials{})
		require.NoError(t, err)
		return r
	}

	work := func(r *Request) error { return r.Hold(t.Context(), LimitWork, 1) }

	first, second := open(), open()
	require.NoError(t, work(first))
	require.NoError(t, work(first), "it is worked on")
	require.Error(t, work(second))
	first.Release(LimitWork)
	require.NoError(t, work(second))
	second.Close()
	require.NoError(t, work(first))
	assert.EqualValues(t, 1, g.Used(LimitWork))
	assert.EqualValues(t, 1, g.Used(LimitOpen))

	first.Close()
	require.NoError(t, work(second))
	assert.Zero(t, g.Used(LimitWork)+g.Used(LimitOpen), "what is over takes nothing")
}

func TestWatchesOfOneOrganizationLeaveRoom(t *testing.T) {
	t.Parallel()
	g, refused, _ := newTestGuard()
	watch := func(organization string) (*Request, error) {
		r, err := g.Open(t.Context(), LimitOpen, auth.Credentials{})
		require.NoError(t, err)
		require.NoError(t, r.Identify(t.Context(), organization))
		require.NoError(t, r.Hold(t.Context(), LimitWork, 1))
		return r, r.Watch(t.Context())
	}

	first, err := watch("acme")
	require.NoError(t, err)
	assert.EqualValues(t, 1, g.Used(LimitWatches))
	assert.Zero(t, g.Used(LimitWork)+g.Used(LimitOpen)+g.Used(LimitOrganization))
	greedy, err := watch("acme")
	require.Error(t, err)
	greedy.Close()
	_, err = watch("other")
	require.NoError(t, err)
	assert.Equal(t, []Limit{LimitWatches}, *refused)
	first.Close()
	assert.EqualValues(t, 1, g.Used(LimitWatches))
}

func TestLargeMessagesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, refused, _ := newTestGuard()
		r, err := g.Open(t.Context(), LimitOpen, auth.Credentials{PeerAddr: "192.0.2.1:1"})
		require.NoError(t, err)
		share := DefaultLimits()[LimitAnswers].PerOwner
		release, err := r.Acquire(t.Context(), LimitAnswers, share)
		require.NoError(t, err)
		_, err = r.Acquire(t.Context(), LimitAnswers, 1<<20)
		require.Error(t, err)
		release()
		_, err = r.Acquire(t.Context(), LimitAnswers, 1<<20)
		require.NoError(t, err)
		assert.Equal(t, []Limit{LimitAnswers}, *refused)
		r.Close()
		assert.EqualValues(t, 1<<20, g.Used(LimitAnswers), "it outlives the request")
	})
}
