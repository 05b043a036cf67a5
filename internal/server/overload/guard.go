// Package overload keeps a server from taking more than it can do: it bounds
// the requests that are open and worked on, and the large messages that are
// held, and refuses the others before they cost much.
package overload

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// Large is the size, in bytes, from which a message counts against the bounds
// of large ones. Smaller ones fit into what a connection has anyway.
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
	LimitWork     Limit = "work"     // requests that are worked on
	LimitOpen     Limit = "open"     // requests, in all and from one address
	LimitMessages Limit = "messages" // gRPC messages that are being received
	LimitBodies   Limit = "bodies"   // bytes of large requests
	LimitAnswers  Limit = "answers"  // bytes of large answers
	LimitWatches  Limit = "watches"  // open watches

	LimitHealth        Limit = "health"         // health checks over gRPC
	LimitHealthWatches Limit = "health_watches" // watches of the health over gRPC
)

// All are all limits.
func All() []Limit {
	return slices.Sorted(maps.Keys(DefaultLimits()))
}

// Limits are the bounds of a server, over both protocols together.
type Limits map[Limit]Bounds

// DefaultLimits are those of a server. A quarter of what is shared is the most
// that one organization or address may have.
func DefaultLimits() Limits {
	return Limits{
		LimitWork:     {Total: 64, Wait: 500 * time.Millisecond},
		LimitOpen:     {Total: 2_048, PerOwner: 512},
		LimitMessages: {Total: 256, PerOwner: 128},
		LimitBodies:   {Total: 64 << 20, PerOwner: 16 << 20, Wait: time.Second},
		LimitAnswers:  {Total: 128 << 20, PerOwner: 32 << 20, Wait: time.Second},
		LimitWatches:  {Total: 2_000, PerOwner: 500},

		LimitHealth:        {Total: 256, PerOwner: 64},
		LimitHealthWatches: {Total: 512, PerOwner: 32},
	}
}

// Guard has a semaphore for each limit.
type Guard struct {
	semaphores map[Limit]*Semaphore
	trusted    []netip.Prefix
	log        *slog.Logger
	told       rate.Sometimes
	refused    func(Limit)
}

// NewGuard makes one. trusted are the proxies whose X-Forwarded-For is believed.
// What they send for clients that they don't name has no bound for its address.
// refused hears of every request that is refused; nil for nobody.
func NewGuard(limits Limits, trusted []netip.Prefix, log *slog.Logger, refused func(Limit)) *Guard {
	if refused == nil {
		refused = func(Limit) {}
	}
	g := &Guard{
		semaphores: make(map[Limit]*Semaphore, len(limits)), trusted: trusted, log: log,
		told: rate.Sometimes{Interval: logEvery}, refused: refused,
	}
	for limit, bounds := range limits {
		g.semaphores[limit] = NewSemaphore(bounds)
	}
	return g
}

// acquire is Semaphore.Acquire with the error that a caller sees.
func (g *Guard) acquire(ctx context.Context, limit Limit, owner string, n int64) (release func(), err error) {
	release, err = g.semaphores[limit].Acquire(ctx, owner, n)
	if err == nil || ctx.Err() != nil {
		return release, err
	}

	g.refused(limit)
	g.told.Do(func() {
		g.log.Warn("the server has more requests than it can take and refuses some", "limit", string(limit))
	})
	e := errs.New(errs.Unavailable, errs.ReasonUnavailable,
		"The server has more requests than it can take right now; try again.")
	e.RetryAfter = retryAfter
	return nil, e
}

// Open lets a request in, of which nothing but its header was read. It counts
// against LimitOpen, or for health one of its limits: a server that is busy is
// healthy. Of c it looks at the addresses. Close must be called on the Request.
func (g *Guard) Open(ctx context.Context, limit Limit, c auth.Credentials) (*Request, error) {
	r := &Request{guard: g, held: make(map[Limit]func())}
	addr := auth.ClientAddress(c.PeerAddr, c.ForwardedFor, g.trusted)
	if addr.IsValid() && !auth.IsTrusted(addr.String(), g.trusted) {
		r.owner = "address:" + addr.String()
	}
	if err := r.take(ctx, limit, 1); err != nil {
		return nil, err
	}
	return r, nil
}

// Used says how much of a limit is used.
func (g *Guard) Used(limit Limit) int64 { return g.semaphores[limit].used.Load() }

// State is how full a guard is.
type State struct{ Working, Waiting, Open, Watches int64 }

// State says how full the guard is, for metrics.
func (g *Guard) State() State {
	return State{
		Working: g.Used(LimitWork), Waiting: g.semaphores[LimitWork].waiting.Load(),
		Open: g.Used(LimitOpen), Watches: g.Used(LimitWatches),
	}
}
