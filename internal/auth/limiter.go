package auth

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Window is how long requests are counted together, and DefaultLimit how many
// of them a key, or an address without one, may make in it.
const (
	Window       = time.Minute
	DefaultLimit = 60
)

// Decision is the answer to a request for one more.
type Decision struct {
	Limit      int
	Remaining  int           // requests left in the window, at least 0
	Reset      time.Time     // when the window ends
	OK         bool          // whether this one may pass
	RetryAfter time.Duration // how long until the window ends; 0 when OK
	FromMemory bool          // whether no store was asked
}

// Limiter counts requests by name in windows of one Window. A window starts
// with the name's first request; the first request after its end starts the
// next. Of the requests in a window exactly the first limit are OK, however
// many come at once, and wherever.
type Limiter interface {
	// Take counts a request. limit is the same whenever the name is. It fails
	// with Unavailable when counts can't be reached.
	Take(ctx context.Context, name string, limit int) (Decision, error)
	// Peek says where a name stands as far as this server knows, and counts
	// nothing. It asks nobody else.
	Peek(name string, limit int) Decision
}

// maxWindows bounds the memory of a MemoryLimiter: 175 bytes each were
// measured. It takes that many different addresses in one minute to reach it.
const maxWindows = 250_000

// MemoryLimiter is a Limiter for one server. Windows that ended are dropped
// as new requests come, so nothing has to run beside it. With maxWindows
// running windows the oldest is dropped early: its key may start a new one.
type MemoryLimiter struct {
	now func() time.Time
	max int

	mu      sync.Mutex
	windows map[string]*list.Element
	order   *list.List // of *window; the first ends first
}

type window struct {
	key   string
	end   time.Time
	count int
}

// NewMemoryLimiter makes an empty one. now is the clock, time.Now in
// production.
func NewMemoryLimiter(now func() time.Time) *MemoryLimiter {
	return &MemoryLimiter{now: now, max: maxWindows, windows: make(map[string]*list.Element), order: list.New()}
}

// Take implements Limiter; it never fails.
func (m *MemoryLimiter) Take(_ context.Context, key string, limit int) (Decision, error) {
	return m.take(key, limit), nil
}

func (m *MemoryLimiter) take(key string, limit int) Decision {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.sweep(now)
	e, ok := m.windows[key]
	if !ok {
		if len(m.windows) >= m.max {
			m.drop(m.order.Front())
		}
		e = m.order.PushBack(&window{key: key, end: now.Add(Window)})
		m.windows[key] = e
	}
	w := e.Value.(*window)
	ok = w.count < limit
	if ok {
		w.count++
	}
	d := decide(limit, w.count, ok, Counted{End: w.end, Left: w.end.Sub(now)})
	d.FromMemory = true
	return d
}

// Peek implements Limiter.
func (m *MemoryLimiter) Peek(key string, limit int) Decision {
	d, ok := m.peek(key, limit)
	if !ok {
		return untouched(limit, m.now())
	}
	return d
}

// peek is Peek; ok is false when no window of the key runs.
func (m *MemoryLimiter) peek(key string, limit int) (d Decision, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	e, ok := m.windows[key]
	if !ok || !now.Before(e.Value.(*window).end) {
		return Decision{}, false
	}
	w := e.Value.(*window)
	d = decide(limit, w.count, w.count < limit, Counted{End: w.end, Left: w.end.Sub(now)})
	d.FromMemory = true
	return d, true
}

// untouched is where a name stands of which no window runs.
func untouched(limit int, now time.Time) Decision {
	d := decide(limit, 0, limit > 0, Counted{End: now.Add(Window), Left: Window})
	d.FromMemory = true
	return d
}

// decide is the decision that ok stands for, after count requests in a window;
// of that only the end and what is left are looked at.
func decide(limit, count int, ok bool, w Counted) Decision {
	d := Decision{Limit: limit, Remaining: max(0, limit-count), Reset: w.End, OK: ok}
	if !ok {
		d.RetryAfter = w.Left
	}
	return d
}

// sweep drops the windows that ended. All are equally long, so they end in the
// order in which they started.
func (m *MemoryLimiter) sweep(now time.Time) {
	for e := m.order.Front(); e != nil && !now.Before(e.Value.(*window).end); e = m.order.Front() {
		m.drop(e)
	}
}

func (m *MemoryLimiter) drop(e *list.Element) {
	delete(m.windows, e.Value.(*window).key)
	m.order.Remove(e)
}
