package auth

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Windows keeps the windows that several servers count in together.
type Windows interface {
	// CountInWindows counts the demands, each in the running window of its
	// name, or in a new one that begins now. It answers in their order. All of
	// it is one step for every other caller, and the time is the store's.
	CountInWindows(ctx context.Context, demands []Demand) ([]Counted, error)
	// DropWindows deletes at most most windows that have ended, and returns how
	// many it did.
	DropWindows(ctx context.Context, most int) (int, error)
}

// Demand is a number of requests of one name.
type Demand struct {
	Name string
	N    int
}

// Counted is a window after a Demand.
type Counted struct {
	Taken int           // requests counted in it, those of the Demand included
	End   time.Time     // by the store's clock
	Left  time.Duration // until then
}

// Bounds of what several servers share.
const (
	// maxSharedAddresses is how many addresses a server counts with the others
	// in a minute. More than that are a flood, or a proxy that should be
	// trusted: each server counts the others of that minute for itself, and the
	// store stays small. Keys are always counted together.
	maxSharedAddresses = 2_000
	// maxSeen bounds the windows that are remembered: 180 bytes each.
	maxSeen = 100_000
	// dropEvery is the time between two looks for windows that ended, and
	// dropMost how many are deleted at once.
	dropEvery = 10 * time.Second
	dropMost  = 1_000
)

// SharedLimiter is a Limiter for several servers, which count in one store. A
// name that has no requests left is refused from memory until its window ends,
// also while the store is away. Requests that come together are counted
// together. Start must be called once for the store to be kept small.
type SharedLimiter struct {
	windows Windows
	now     func() time.Time
	log     *slog.Logger
	calls   *combiner[wish, Decision]
	local   *MemoryLimiter // of addresses that are not shared

	mu      sync.Mutex
	seen    map[string]seenWindow
	sweepAt int       // size of seen at which those that ended are dropped
	began   time.Time // of the minute in which the addresses are counted
	fresh   int       // addresses that are shared since then

	quit context.CancelFunc // nil unless running
	done chan struct{}
}

// seenWindow is a window as the store last told it.
type seenWindow struct {
	taken int
	end   time.Time // by the store's clock
	until time.Time // the same by ours, or a little earlier
}

// wish is one request.
type wish struct {
	name  string
	limit int
}

// NewSharedLimiter makes one on a store. now is this server's clock, time.Now
// in production; only durations are taken from it, so that it may be wrong.
func NewSharedLimiter(w Windows, now func() time.Time, log *slog.Logger) *SharedLimiter {
	l := &SharedLimiter{
		windows: w, now: now, log: log,
		local: NewMemoryLimiter(now), seen: make(map[string]seenWindow), sweepAt: maxSeen / 100,
	}
	l.calls = newCombiner(0, l.ask)
	return l
}

// Take implements Limiter.
func (l *SharedLimiter) Take(ctx context.Context, name string, limit int) (Decision, error) {
	if d, ok := l.refusal(name, limit); ok {
		return d, nil
	}
	if !l.shared(name) {
		return l.local.take(name, limit), nil
	}
	return l.calls.do(ctx, wish{name, limit})
}

// Peek implements Limiter.
func (l *SharedLimiter) Peek(name string, limit int) Decision {
	if d, ok := l.local.peek(name, limit); ok {
		return d
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	w, ok := l.seen[name]
	if !ok || !now.Before(w.until) {
		return untouched(limit, now)
	}
	return w.standing(limit, now)
}

// standing is where a name stands.
func (w seenWindow) standing(limit int, now time.Time) Decision {
	d := decide(limit, w.taken, w.taken < limit, Counted{End: w.end, Left: w.until.Sub(now)})
	d.FromMemory = true
	return d
}

// refusal returns the answer to a name that is known to have none left.
func (l *SharedLimiter) refusal(name string, limit int) (Decision, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, ok := l.seen[name]
	now := l.now()
	if !ok || w.taken < limit || !now.Before(w.until) {
		return Decision{}, false
	}
	return w.standing(limit, now), true
}

// shared reports whether a name is counted in the store: a key always, an
// address while there are few. A window stays where it began.
func (l *SharedLimiter) shared(name string) bool {
	if !strings.HasPrefix(name, addressPrefix) {
		return true
	}
	if _, ok := l.local.peek(name, 0); ok {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if w, ok := l.seen[name]; ok && now.Before(w.until) {
		return true
	}
	if now.Sub(l.began) >= Window {
		l.began, l.fresh = now, 0
	}
	if l.fresh >= maxSharedAddresses {
		return false
	}
	l.fresh++
	// Until the store has told: the next request of the same address is not a
	// new one.
	l.remember(name, seenWindow{end: now.Add(Window), until: now.Add(askTimeout)})
	return true
}

// ask counts the requests that gathered. Those of one name are counted
// together, and are answered in their order.
func (l *SharedLimiter) ask(ctx context.Context, wishes []wish) ([]Decision, error) {
	out := make([]Decision, len(wishes))
	demands := make([]Demand, 0, len(wishes))
	at := make(map[string]int, len(wishes)) // index of a name's demand
	place := make([]int, len(wishes))       // of a wish among those of its name; -1 when it is answered
	for i, w := range wishes {
		if d, ok := l.refusal(w.name, w.limit); ok {
			out[i], place[i] = d, -1
			continue
		}
		j, ok := at[w.name]
		if !ok {
			j = len(demands)
			at[w.name] = j
			demands = append(demands, Demand{Name: w.name})
		}
		place[i] = demands[j].N
		demands[j].N++
	}
	if len(demands) == 0 {
		return out, nil
	}
	asked := l.now()
	counted, err := l.windows.CountInWindows(ctx, demands)
	switch {
	case err != nil:
		return nil, err
	case len(counted) != len(demands):
		return nil, fmt.Errorf("the store of windows answered %d demands with %d counts", len(demands), len(counted))
	}
	for i, w := range wishes {
		if place[i] < 0 {
			continue
		}
		j := at[w.name]
		nth := counted[j].Taken - demands[j].N + place[i] + 1
		out[i] = decide(w.limit, nth, nth <= w.limit, counted[j])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for j, c := range counted {
		// From before the question, so that no window is thought to last longer
		// than it does; and no clock that jumped makes one last for long.
		left := min(c.Left, Window+askTimeout)
		l.remember(demands[j].Name, seenWindow{taken: c.Taken, end: c.End, until: asked.Add(left)})
	}
	return out, nil
}

// remember notes a window. The caller holds mu.
func (l *SharedLimiter) remember(name string, w seenWindow) {
	if _, ok := l.seen[name]; !ok && len(l.seen) >= l.sweepAt {
		now := l.now()
		for n, old := range l.seen {
			if !now.Before(old.until) {
				delete(l.seen, n)
			}
		}
		for n := range l.seen {
			// Room for many at once, so that not each new one needs a look at
			// all; and any will do, since the store knows it.
			if len(l.seen) <= maxSeen*3/4 {
				break
			}
			delete(l.seen, n)
		}
		l.sweepAt = min(maxSeen, max(maxSeen/100, 2*len(l.seen)))
	}
	l.seen[name] = w
}

// Start starts the loop that deletes windows that ended.
func (l *SharedLimiter) Start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quit != nil {
		return
	}
	var ctx context.Context
	ctx, l.quit = context.WithCancel(context.Background())
	l.done = make(chan struct{})
	go l.run(ctx, l.done)
}

func (l *SharedLimiter) run(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(dropEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := l.drop(ctx); err != nil {
				l.log.Debug("ended windows of the rate limit could not be deleted; the next time will", "error", err)
			}
		}
	}
}

// drop deletes what has ended, a little at a time.
func (l *SharedLimiter) drop(ctx context.Context) error {
	for {
		n, err := l.windows.DropWindows(ctx, dropMost)
		if err != nil || n < dropMost {
			return err
		}
	}
}

// Stop ends the loop. It may be called twice, and without Start.
func (l *SharedLimiter) Stop() {
	l.mu.Lock()
	quit, done := l.quit, l.done
	l.quit = nil
	l.mu.Unlock()
	if quit != nil {
		quit()
		<-done
	}
}
