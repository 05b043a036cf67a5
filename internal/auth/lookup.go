package auth

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/errs"
)

const (
	// lookupTTL is how long a key that was read is trusted. It is under the
	// RevokedWithin that is promised.
	lookupTTL = 4 * time.Second
	// maxRemembered bounds the keys that are remembered, and likewise the hashes
	// without a key.
	maxRemembered = 10_000
	// maxLookups is how many keys are read at a time that this server has not
	// seen, and likewise of those that it has, so that a flood of made-up tokens
	// takes neither the connections to the database nor the turn of keys in use.
	maxLookups = 8
	// maxWaiting is how many may wait for that; more are refused.
	maxWaiting = 500
	// storeTimeout bounds one reading of a key and one count of a request.
	storeTimeout = 2 * time.Second
	// touchInterval is how often last-used times are stored. They are exact to
	// this.
	touchInterval = time.Minute
)

// Lookup finds what a token stands for, a key or a session, by the token's hash. It
// remembers the answers for lookupTTL, also that there is none.
type Lookup[T any] struct {
	store         func(ctx context.Context, hash string) (found T, ok bool, err error)
	unseen, known *semaphore.Weighted
	waiting       atomic.Int32

	mu     sync.Mutex
	memory *memory[T]
}

// memory is what is remembered, and what is being read. Hashes of nothing are
// remembered apart, so that made-up tokens can't push out keys in use. A
// revocation replaces it whole: answers that are under way then reach nobody
// who came later.
type memory[T any] struct {
	known, unknown *lru.Cache[string, answer[T]]
	reading        singleflight.Group
}

// answer is what the store said of a hash. The time is this machine's, which
// only goes on; golang-lru's expirable cache has a goroutine that can't be
// stopped.
type answer[T any] struct {
	found T
	ok    bool
	read  time.Time
}

// NewLookup returns a Lookup that reads from a store.
func NewLookup[T any](store func(ctx context.Context, hash string) (found T, ok bool, err error)) *Lookup[T] {
	l := &Lookup[T]{store: store, unseen: semaphore.NewWeighted(maxLookups), known: semaphore.NewWeighted(maxLookups)}
	l.Forget()

	return l
}

// Forget drops everything that is remembered, as after a revocation, which is rare.
func (l *Lookup[T]) Forget() {
	known, _ := lru.New[string, answer[T]](maxRemembered) // it fails for a size under 1
	unknown, _ := lru.New[string, answer[T]](maxRemembered)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory = &memory[T]{known: known, unknown: unknown}
}

func (l *Lookup[T]) current() *memory[T] {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.memory
}

// remembered returns what has that hash if it is remembered.
func (l *Lookup[T]) remembered(hash string) (T, bool) {
	a, ok := l.current().get(hash)

	return a.found, ok && a.ok
}

// Find returns what has that hash; ok is false when there is none. It fails with
// Unavailable while the store does not answer.
func (l *Lookup[T]) Find(ctx context.Context, hash string) (found T, ok bool, err error) {
	m := l.current()
	if a, ok := m.get(hash); ok {
		return a.found, a.ok, nil
	}

	// Whoever leaves must not fail the others who wait for the same.
	result := m.reading.DoChan(hash, func() (any, error) { return l.read(context.WithoutCancel(ctx), m, hash) })
	select {
	case <-ctx.Done():
		return found, false, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return found, false, r.Err
		}
		a := r.Val.(answer[T])

		return a.found, a.ok, nil
	}
}

func (l *Lookup[T]) read(ctx context.Context, m *memory[T], hash string) (answer[T], error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	slots := l.unseen
	if m.known.Contains(hash) {
		slots = l.known
	}

	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > maxWaiting {
		return answer[T]{}, away(errors.New("too many keys are being read"))
	}
	if err := slots.Acquire(ctx, 1); err != nil {
		return answer[T]{}, away(err)
	}
	defer slots.Release(1)

	a := answer[T]{read: time.Now()}
	var err error
	if a.found, a.ok, err = l.store(ctx, hash); err != nil {
		if ctx.Err() != nil {
			err = away(err)
		}

		return answer[T]{}, err
	}

	if a.ok {
		m.known.Add(hash, a)
	} else {
		m.unknown.Add(hash, a)
	}

	return a, nil
}

func (m *memory[T]) get(hash string) (answer[T], bool) {
	a, ok := m.known.Get(hash)
	if !ok {
		a, ok = m.unknown.Get(hash)
	}

	return a, ok && time.Since(a.read) < lookupTTL
}

// away is the error while the store does not answer.
func away(cause error) error {
	e := errs.New(
		errs.Unavailable, errs.ReasonUnavailable, "The server can't read keys, sessions and limits right now; try again.",
	)
	e.RetryAfter = storeTimeout
	e.Err = cause

	return e
}

// LastUsed gathers when keys or sessions were used and stores it in batches, so that
// using one costs no write.
type LastUsed struct {
	what  string // of what, in the log
	store func(ctx context.Context, used map[string]time.Time) error
	log   *slog.Logger
	quit  context.CancelFunc
	ended sync.WaitGroup

	mu      sync.Mutex
	pending map[string]time.Time // by id; bounded by the number of keys or sessions
}

// NewLastUsed returns a LastUsed of some things, such as `keys`, that stores nothing
// until Start.
func NewLastUsed(
	what string, store func(ctx context.Context, used map[string]time.Time) error, log *slog.Logger,
) *LastUsed {
	return &LastUsed{what: what, store: store, log: log, quit: func() {}, pending: make(map[string]time.Time)}
}

// Touch notes a use.
func (u *LastUsed) Touch(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.After(u.pending[id]) {
		u.pending[id] = now
	}
}

// Start starts the loop that stores what was noted.
func (u *LastUsed) Start() {
	ctx, quit := context.WithCancel(context.Background())
	u.quit = quit

	u.ended.Go(func() {
		tick := time.NewTicker(touchInterval)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}

			ctx, cancel := context.WithTimeout(ctx, touchInterval/2)
			if err := u.flush(ctx); err != nil {
				u.log.Warn("last-used times of "+u.what+" could not be stored; they are kept for the next time", "error", err)
			}
			cancel()
		}
	})
}

// Stop ends the loop and stores what is left; ctx bounds that. It may be called twice,
// and without Start.
func (u *LastUsed) Stop(ctx context.Context) error {
	u.quit()
	u.ended.Wait()

	return u.flush(ctx)
}

// flush stores what is pending. What can't be stored stays pending.
func (u *LastUsed) flush(ctx context.Context) error {
	u.mu.Lock()
	batch := u.pending
	u.pending = make(map[string]time.Time)
	u.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}

	err := u.store(ctx, batch)
	if err != nil {
		for id, at := range batch {
			u.Touch(id, at)
		}
	}

	return err
}
