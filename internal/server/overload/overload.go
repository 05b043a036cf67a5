// Package overload keeps a server from taking more than it can do: it bounds
// the requests that are open and worked on, and the large messages that are
// held, and refuses the others before they cost much.
package overload

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// Large is the size, in bytes, from which an answer counts among the large ones.
// Smaller ones fit into what a connection has anyway.
const Large = 64 << 10

const (
	// retryAfter is when to try again after a refusal.
	retryAfter = 2 * time.Second

	// logEvery is the least time between two log lines about refusals.
	logEvery = 10 * time.Second
)

// Limit names what a request was refused for.
type Limit string

// The limits.
const (
	LimitWork          Limit = "work"           // requests that are worked on
	LimitReceiving     Limit = "receiving"      // gRPC calls whose message is not there yet
	LimitOpen          Limit = "open"           // other open requests; each may have a body of 1 MiB
	LimitOrganization  Limit = "organization"   // those of them whose organization is known
	LimitHealth        Limit = "health"         // checks of the health over gRPC
	LimitHealthWatches Limit = "health_watches" // watches of the health over gRPC
	LimitAnswers       Limit = "answers"        // bytes of large answers
	LimitWatches       Limit = "watches"        // open watches of reviews
	LimitBatches       Limit = "batches"        // documents of rules, each of up to 16 MiB
	LimitHooks         Limit = "hooks"          // deliveries of code hosts; each may have a body of 512 KiB
	LimitLargeHooks    Limit = "large_hooks"    // those of them with larger ones, up to 25 MiB
)

// Limits are the bounds of a server, over both protocols together.
type Limits map[Limit]Bounds

// DefaultLimits are those of a server. One address or organization may have only
// a part of what is shared.
func DefaultLimits() Limits {
	return Limits{
		LimitWork:          {Total: 32, Wait: 500 * time.Millisecond},
		LimitReceiving:     {Total: 256, PerOwner: 96},
		LimitOpen:          {Total: 384, PerOwner: 96},
		LimitOrganization:  {Total: 384, PerOwner: 192},
		LimitHealth:        {Total: 256, PerOwner: 64},
		LimitHealthWatches: {Total: 512, PerOwner: 32},
		LimitAnswers:       {Total: 128 << 20, PerOwner: 32 << 20, Wait: time.Second},
		LimitWatches:       {Total: 2_000, PerOwner: 500},
		LimitBatches:       {Total: 2, PerOwner: 1, Wait: time.Second},
		LimitHooks:         {Total: 128, PerOwner: 64},
		LimitLargeHooks:    {Total: 3, PerOwner: 1, Wait: 2 * time.Second},
	}
}

// All are all limits.
func All() []Limit { return slices.Sorted(maps.Keys(DefaultLimits())) }

// Guard has a semaphore for each limit.
type Guard struct {
	semaphores map[Limit]*Semaphore
	trusted    []netip.Prefix
	log        *slog.Logger
	logged     rate.Sometimes
	refused    func(Limit)
}

// NewGuard makes one. trusted are the proxies whose X-Forwarded-For is believed;
// what they send for clients that they don't name has no bound for its address.
// refused is called for every request that is refused.
func NewGuard(limits Limits, trusted []netip.Prefix, log *slog.Logger, refused func(Limit)) *Guard {
	g := &Guard{
		semaphores: make(map[Limit]*Semaphore, len(limits)), trusted: trusted, log: log,
		logged: rate.Sometimes{Interval: logEvery}, refused: refused,
	}

	for limit, bounds := range limits {
		g.semaphores[limit] = NewSemaphore(bounds)
	}

	return g
}

// Used says how much of a limit is used.
func (g *Guard) Used(limit Limit) int64 { return g.semaphores[limit].used.Load() }

// Open lets a request in, of which nothing but its header was read. It holds one
// of the limit until Close. Of c only the addresses count.
func (g *Guard) Open(ctx context.Context, limit Limit, c auth.Credentials) (*Request, error) {
	r := &Request{guard: g, held: make(map[Limit]func())}
	addr := auth.ClientAddress(c.PeerAddr, c.ForwardedFor, g.trusted)
	if addr.IsValid() && !auth.IsTrusted(addr.String(), g.trusted) {
		r.owner = "address:" + addr.String()
	}

	if err := r.Hold(ctx, limit, 1); err != nil {
		return nil, err
	}
	return r, nil
}

// Request is an open request and what it holds of the limits. The methods do
// nothing for nil, a request without bounds.
type Request struct {
	guard *Guard
	owner string // its address, then its organization or connection; "" for no bound of its own

	mu     sync.Mutex
	closed bool
	held   map[Limit]func()
}

type requestKey struct{}

// NewContext returns a context that carries the request.
func NewContext(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// FromContext returns the request that a context carries; nil for none.
func FromContext(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// Identify says whose request it is, once that is known: from then on what it
// takes counts for the organization and no more for the address. The
// organization may have a part of the open requests, whatever its addresses and
// keys.
func (r *Request) Identify(ctx context.Context, organization string) error {
	if r == nil {
		return nil
	}
	r.owner = "organization:" + organization
	return r.Hold(ctx, LimitOrganization, 1)
}

// Own says what the request counts for from then on, instead of for its address.
func (r *Request) Own(owner string) {
	if r != nil {
		r.owner = owner
	}
}

// Acquire takes n of a limit for the organization of the request, or for its
// address while that is not known. It fails with Unavailable when there is no
// room within the limit's time. release may be called later than Close.
func (r *Request) Acquire(ctx context.Context, limit Limit, n int64) (release func(), err error) {
	if r == nil {
		return func() {}, nil
	}

	release, err = r.guard.semaphores[limit].Acquire(ctx, r.owner, n)
	if !errors.Is(err, ErrFull) {
		return release, err
	}

	r.guard.refused(limit)
	r.guard.logged.Do(func() {
		r.guard.log.Warn("the server has more requests than it can take and refuses some", "limit", string(limit))
	})
	e := errs.New(errs.Unavailable, errs.ReasonUnavailable,
		"The server has more requests than it can take right now; try again.")
	e.RetryAfter = retryAfter
	return nil, e
}

// Hold takes n of a limit until Release or Close, unless the request holds some
// of it already.
func (r *Request) Hold(ctx context.Context, limit Limit, n int64) error {
	if r == nil || r.holds(limit) {
		return nil
	}

	release, err := r.Acquire(ctx, limit, n)
	if err != nil {
		return err
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		release()
		return nil
	}

	r.held[limit] = release
	return nil
}

func (r *Request) holds(limit Limit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[limit] != nil
}

// Watch makes the request a watch: it counts among the watches, and no more
// among the open requests and those that are worked on.
func (r *Request) Watch(ctx context.Context) error {
	r.Release(LimitWork)
	if err := r.Hold(ctx, LimitWatches, 1); err != nil {
		return err
	}

	r.Release(LimitOpen)
	r.Release(LimitOrganization)
	return nil
}

// Release gives back what the request holds of a limit.
func (r *Request) Release(limit Limit) {
	if r == nil {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if release := r.held[limit]; release != nil {
		release()
		delete(r.held, limit)
	}
}

// Close gives everything back, also what is taken later. It may be called twice.
func (r *Request) Close() {
	if r == nil {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, release := range r.held {
		release()
	}

	clear(r.held)
}

// ErrFull says that there was no room within the time that a Semaphore waits.
var ErrFull = errors.New("no room")

// Bounds are the size of a Semaphore.
type Bounds struct {
	// Total is how much is used at once, and PerOwner how much of it by one
	// owner; 0 for no bound of its own.
	Total, PerOwner int64

	// Wait is how long Acquire waits for room; 0 for not at all.
	Wait time.Duration
}

// Semaphore bounds what is used at once, in all and by each owner, so that no
// owner can shut out another. Those who wait are served in their order.
type Semaphore struct {
	bounds Bounds
	all    *semaphore.Weighted
	used   atomic.Int64

	mu     sync.Mutex
	owners map[string]*share
}

// share is the part of one owner. It is kept while somebody uses it.
type share struct {
	*semaphore.Weighted
	users int
}

// NewSemaphore makes an empty one.
func NewSemaphore(b Bounds) *Semaphore {
	return &Semaphore{bounds: b, all: semaphore.NewWeighted(b.Total), owners: make(map[string]*share)}
}

// Acquire takes n for an owner, at most all that the owner may have. The owner
// "" has no bound of its own. It fails with ErrFull, or with the error of ctx.
// release gives everything back, once.
func (s *Semaphore) Acquire(ctx context.Context, owner string, n int64) (release func(), err error) {
	n = min(n, s.bounds.Total)
	releaseShare := func() {}

	if owner != "" && s.bounds.PerOwner > 0 {
		n = min(n, s.bounds.PerOwner)
		mine := s.enter(owner)
		if err := s.take(ctx, mine.Weighted, n); err != nil {
			s.leave(owner)
			return nil, err
		}

		releaseShare = func() { mine.Release(n); s.leave(owner) }
	}

	if err := s.take(ctx, s.all, n); err != nil {
		releaseShare()
		return nil, err
	}

	s.used.Add(n)
	return sync.OnceFunc(func() {
		s.used.Add(-n)
		s.all.Release(n)
		releaseShare()
	}), nil
}

func (s *Semaphore) take(ctx context.Context, from *semaphore.Weighted, n int64) error {
	if from.TryAcquire(n) {
		return nil
	}
	if s.bounds.Wait == 0 {
		return ErrFull
	}

	limited, cancel := context.WithTimeout(ctx, s.bounds.Wait)
	defer cancel()
	if from.Acquire(limited, n) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrFull
}

func (s *Semaphore) enter(owner string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, ok := s.owners[owner]
	if !ok {
		mine = &share{Weighted: semaphore.NewWeighted(s.bounds.PerOwner)}
		s.owners[owner] = mine
	}

	mine.users++
	return mine
}

func (s *Semaphore) leave(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.owners[owner]
	if mine.users--; mine.users == 0 {
		delete(s.owners, owner)
	}
}
