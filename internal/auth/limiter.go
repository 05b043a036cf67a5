package auth

import (
	"context"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Window is how long requests are counted together. DefaultLimit is how many of
// them a key, or an address without one, may make in it, and
// DefaultOrganizationLimit how many the keys of an organization may make
// together. PersonLimit is how many a person who has signed in may make.
const (
	Window                   = time.Minute
	DefaultLimit             = 60
	DefaultOrganizationLimit = 6000
	PersonLimit              = 1200
)

// addressBits is how much of an IPv6 address counts, where no key does: what one
// subscriber has.
const addressBits = 64

// maxWindows bounds the windows that are remembered: about 250 bytes each. It
// takes that many different addresses in one minute to reach it.
const maxWindows = 100_000

// Decision is the answer to a request for one more.
type Decision struct {
	Limit        int
	Remaining    int           // requests left in the window, at least 0
	Reset        time.Time     // when the window ends
	OK           bool          // whether this one may pass
	RetryAfter   time.Duration // how long until the window ends; 0 when OK
	Organization bool          // whether the limit is that of the organization
}

// Counter is a name that requests are counted under, and how many of them may
// pass in a window.
type Counter struct {
	Name  string
	Limit int
}

// Windows counts the requests that all servers admit.
type Windows interface {
	// CountRequest counts a request in the running window of a name, or in a new
	// one that begins now, and when it is among the first limit of that, in the
	// window of a group, too. Without a group, "", and for a request that is not
	// counted there, the second answer is the zero Counted. The time is the
	// store's.
	CountRequest(ctx context.Context, name string, limit int, group string) (own, of Counted, err error)
}

// Counted is a window after a request was counted in it.
type Counted struct {
	Taken int           // requests counted, this one included
	End   time.Time     // by the store's clock
	Left  time.Duration // until then
}

// Limiter counts requests by name in windows of one Window. A window starts
// with the name's first request; the first request after its end starts the
// next. A request may count for a group besides, such as the organization of a
// key. Of the requests in a window exactly the first limit pass, unless the
// group has none left. A key is counted in the store that all servers share;
// where it or its group has no requests left, it is refused from memory until
// the window ends. An address is counted by each server for itself.
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

// Take counts a request, and for a group unless that is the zero Counter. The
// answer is about the one of both that has less left. It fails with Unavailable
// when the store is away.
func (l *Limiter) Take(ctx context.Context, own, group Counter) (Decision, error) {
	if d, ok := l.takeHere(own, group); ok {
		return d, nil
	}

	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	asked := l.now()
	counted, of, err := l.shared.CountRequest(ctx, own.Name, own.Limit, group.Name)
	if err != nil {
		if ctx.Err() == context.DeadlineExceeded {
			err = away(err)
		}

		return Decision{}, err
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.learn(own, counted, asked)
	if of == (Counted{}) || !d.OK {
		return d, nil
	}

	return d.orLess(l.learn(group, of, asked)), nil
}

// learn remembers what the store counted, and decides by it. The caller holds mu.
func (l *Limiter) learn(c Counter, counted Counted, asked time.Time) Decision {
	// The window is thought to end no later than it does, and a store's clock
	// that jumped closes a key for no longer than a window.
	w := window{taken: counted.Taken, end: counted.End, until: asked.Add(min(counted.Left, Window))}
	if old, ok := l.running(c.Name, asked); !ok || !old.end.Equal(w.end) || old.taken < w.taken {
		l.seen.Add(c.Name, w)
	}

	return w.decide(c.Limit, w.taken <= c.Limit, asked)
}

// takeHere is Take for what needs no store; ok is false for the rest.
func (l *Limiter) takeHere(own, group Counter) (d Decision, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.now()
	if d := l.peek(own, group, now); !d.OK {
		return d, true
	}
	if l.shared != nil && !strings.HasPrefix(own.Name, addressPrefix) {
		return Decision{}, false
	}

	l.count(own, now)
	if group.Name != "" {
		l.count(group, now)
	}
	d = l.peek(own, group, now)
	d.OK, d.RetryAfter = true, 0 // it was the last one at most

	return d, true
}

// count counts a request in the window of a name. The caller holds mu.
func (l *Limiter) count(c Counter, now time.Time) {
	w, running := l.running(c.Name, now)
	if !running {
		w = window{end: now.Add(Window), until: now.Add(Window)}
	}
	w.taken++
	l.seen.Add(c.Name, w)
}

// GiveBack takes one request of an address out of its window: one that was counted
// before it was known whether it counts.
func (l *Limiter) GiveBack(address Counter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.running(address.Name, l.now()); ok && w.taken > 0 {
		w.taken--
		l.seen.Add(address.Name, w)
	}
}

// Peek returns where a name and its group stand as far as this server knows. It
// counts nothing and asks nobody.
func (l *Limiter) Peek(own, group Counter) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.peek(own, group, l.now())
}

// peek is Peek at a time. The caller holds mu.
func (l *Limiter) peek(own, group Counter, now time.Time) Decision {
	look := func(c Counter) Decision {
		w, ok := l.running(c.Name, now)
		if !ok {
			w = window{end: now.Add(Window), until: now.Add(Window)}
		}

		return w.decide(c.Limit, w.taken < c.Limit, now)
	}
	d := look(own)
	if group.Name == "" || !d.OK {
		return d
	}

	return d.orLess(look(group))
}

// orLess returns the decision of the two that leaves less: the group's, or d.
func (d Decision) orLess(group Decision) Decision {
	if group.OK && group.Remaining >= d.Remaining {
		return d
	}
	group.Organization = true

	return group
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
