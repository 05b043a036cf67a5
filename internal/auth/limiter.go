package auth

import (
	"context"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Window is how long requests are counted together, and DefaultLimit how many
// of them a key, or an address without one, may make in it.
const (
	Window       = time.Minute
	DefaultLimit = 60
)

// addressBits is how much of an IPv6 address counts, where no key does: what one
// subscriber has.
const addressBits = 64

// maxWindows bounds the windows that are remembered: about 250 bytes each. It
// takes that many different addresses in one minute to reach it.
const maxWindows = 100_000

// Decision is the answer to a request for one more.
type Decision struct {
	Limit      int
	Remaining  int           // requests left in the window, at least 0
	Reset      time.Time     // when the window ends
	OK         bool          // whether this one may pass
	RetryAfter time.Duration // how long until the window ends; 0 when OK
}

// Windows counts the requests that all servers admit.
type Windows interface {
	// CountRequest counts a request in the running window of a name, or in a new
	// one that begins now. The time is the store's.
	CountRequest(ctx context.Context, name string) (Counted, error)
}

// Counted is a window after a request was counted in it.
type Counted struct {
	Taken int           // requests counted, this one included
	End   time.Time     // by the store's clock
	Left  time.Duration // until then
}

// Limiter counts requests by name in windows of one Window. A window starts
// with the name's first request; the first request after its end starts the
// next. Of the requests in a window exactly the first limit pass. A key is
// counted in the store that all servers share; one that has no requests left is
// refused from memory until its window ends. An address is counted by each
// server for itself.
type Limiter struct {
	shared Windows // nil when this server is the only one
	now    func() time.Time

	mu   sync.Mutex
	seen *lru.Cache[string, window]
}

// window is a window as this server knows it.
type window struct {
	taken int
	end   time.Time // by the clock of whoever counts
	until time.Time // the same by ours
}

// NewLimiter returns a Limiter. shared is nil when this server is the only one;
// now is this server's clock, of which only durations matter.
func NewLimiter(shared Windows, now func() time.Time) *Limiter {
	seen, _ := lru.New[string, window](maxWindows) // it fails for a size under 1

	return &Limiter{shared: shared, now: now, seen: seen}
}

// Take counts a request. It fails with Unavailable when the store is away.
func (l *Limiter) Take(ctx context.Context, name string, limit int) (Decision, error) {
	if d, ok := l.takeHere(name, limit); ok {
		return d, nil
	}

	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	asked := l.now()
	c, err := l.shared.CountRequest(ctx, name)
	if err != nil {
		if ctx.Err() == context.DeadlineExceeded {
			err = away(err)
		}

		return Decision{}, err
	}

	// The window is thought to end no later than it does, and a store's clock
	// that jumped closes a key for no longer than a window.
	w := window{taken: c.Taken, end: c.End, until: asked.Add(min(c.Left, Window))}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.running(name, asked); !ok || !old.end.Equal(w.end) || old.taken < w.taken {
		l.seen.Add(name, w)
	}

	return w.decide(limit, w.taken <= limit, asked), nil
}

// takeHere is Take for what needs no store; ok is false for the rest.
func (l *Limiter) takeHere(name string, limit int) (d Decision, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.now()
	w, running := l.running(name, now)
	exhausted := running && w.taken >= limit
	if l.shared != nil && !strings.HasPrefix(name, addressPrefix) && !exhausted {
		return Decision{}, false
	}

	if !running {
		w = window{end: now.Add(Window), until: now.Add(Window)}
	}
	passes := w.taken < limit
	if passes {
		w.taken++
		l.seen.Add(name, w)
	}

	return w.decide(limit, passes, now), true
}

// Peek returns where a name stands as far as this server knows. It counts
// nothing and asks nobody.
func (l *Limiter) Peek(name string, limit int) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.now()
	w, ok := l.running(name, now)
	if !ok {
		w = window{end: now.Add(Window), until: now.Add(Window)}
	}

	return w.decide(limit, w.taken < limit, now)
}

// running returns the window of a name that has not ended. The caller holds mu.
func (l *Limiter) running(name string, now time.Time) (window, bool) {
	w, ok := l.seen.Get(name)
	if !ok || !now.Before(w.until) {
		return window{}, false
	}

	return w, true
}

func (w window) decide(limit int, ok bool, now time.Time) Decision {
	d := Decision{Limit: limit, Remaining: max(0, limit-w.taken), Reset: w.end, OK: ok}
	if !ok {
		d.RetryAfter = w.until.Sub(now)
	}

	return d
}
