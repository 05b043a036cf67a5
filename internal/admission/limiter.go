package admission

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
	Remaining  int       // requests left in the window, at least 0
	Reset      time.Time // when the window ends
	OK         bool      // whether this one may pass
	RetryAfter time.Duration
}

// Limiter counts requests by key in windows of one Window. A window starts
// with the key's first request; the first request after its end starts the
// next. Of the requests in a window exactly the first limit are OK, however
// many come at once.
type Limiter interface {
	Take(ctx context.Context, key string, limit int) (Decision, error)
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
	d := Decision{Limit: limit, Reset: w.end, OK: w.count < limit}
	if d.OK {
		w.count++
	} else {
		d.RetryAfter = w.end.Sub(now)
	}
	d.Remaining = max(0, limit-w.count)
	return d, nil
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
