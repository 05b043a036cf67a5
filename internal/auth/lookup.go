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

// lookup finds keys by hash and remembers the answers for lookupTTL, also that
// there is no such key.
type lookup struct {
	store         KeyStore
	unseen, known *semaphore.Weighted
	waiting       atomic.Int32

	mu     sync.Mutex
	memory *memory
}

// memory is what is remembered, and what is being read. Hashes without a key
// are remembered apart, so that made-up tokens can't push out keys in use. A
// revocation replaces it whole: answers that are under way then reach nobody
// who came later.
type memory struct {
	known, unknown *lru.Cache[string, answer]
	reading        singleflight.Group
}

// answer is what the store said of a hash. The time is this machine's, which
// only goes on; golang-lru's expirable cache has a goroutine that can't be
// stopped.
type answer struct {
	key  Key
	ok   bool
	read time.Time
}

func newLookup(store KeyStore) *lookup {
	l := &lookup{store: store, unseen: semaphore.NewWeighted(maxLookups), known: semaphore.NewWeighted(maxLookups)}
	l.forget()

	return l
}

// forget drops everything that is remembered. Revocations are rare.
func (l *lookup) forget() {
	known, _ := lru.New[string, answer](maxRemembered) // it fails for a size under 1
	unknown, _ := lru.New[string, answer](maxRemembered)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory = &memory{known: known, unknown: unknown}
}

func (l *lookup) current() *memory {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.memory
}

// remembered returns the key with that hash if it is remembered.
func (l *lookup) remembered(hash string) (Key, bool) {
	a, ok := l.current().get(hash)

	return a.key, ok && a.ok
}

// find returns the key with that hash; ok is false when there is none.
func (l *lookup) find(ctx context.Context, hash string) (key Key, ok bool, err error) {
	m := l.current()
	if a, ok := m.get(hash); ok {
		return a.key, a.ok, nil
	}

	// Whoever leaves must not fail the others who wait for the same key.
	result := m.reading.DoChan(hash, func() (any, error) { return l.read(context.WithoutCancel(ctx), m, hash) })
	select {
	case <-ctx.Done():
		return Key{}, false, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return Key{}, false, r.Err
		}
		a := r.Val.(answer)

		return a.key, a.ok, nil
	}
}

func (l *lookup) read(ctx context.Context, m *memory, hash string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	slots := l.unseen
	if m.known.Contains(hash) {
		slots = l.known
	}

	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > maxWaiting {
		return answer{}, away(errors.New("too many keys are being read"))
	}
	if err := slots.Acquire(ctx, 1); err != nil {
		return answer{}, away(err)
	}
	defer slots.Release(1)

	a := answer{read: time.Now()}
	var err error
	if a.key, a.ok, err = l.store.KeyByHash(ctx, hash); err != nil {
		if ctx.Err() != nil {
			err = away(err)
		}

		return answer{}, err
	}

	if a.ok {
		m.known.Add(hash, a)
	} else {
		m.unknown.Add(hash, a)
	}

	return a, nil
}

func (m *memory) get(hash string) (answer, bool) {
	a, ok := m.known.Get(hash)
	if !ok {
		a, ok = m.unknown.Get(hash)
	}

	return a, ok && time.Since(a.read) < lookupTTL
}

// away is the error while the store does not answer.
func away(cause error) error {
	e := errs.New(
		errs.Unavailable, errs.ReasonUnavailable, "The server can't read keys and limits right now; try again.",
	)
	e.RetryAfter = storeTimeout
	e.Err = cause

	return e
}

// lastUsed gathers when keys were used and stores it in batches, so that using
// a key costs no write.
type lastUsed struct {
	store KeyStore
	log   *slog.Logger
	quit  context.CancelFunc
	ended sync.WaitGroup

	mu      sync.Mutex
	pending map[string]time.Time // by key id; bounded by the number of keys
}

func newLastUsed(store KeyStore, log *slog.Logger) *lastUsed {
	return &lastUsed{store: store, log: log, quit: func() {}, pending: make(map[string]time.Time)}
}

func (u *lastUsed) touch(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.After(u.pending[id]) {
		u.pending[id] = now
	}
}

func (u *lastUsed) start() {
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
				u.log.Warn("last-used times of keys could not be stored; they are kept for the next time", "error", err)
			}
			cancel()
		}
	})
}

func (u *lastUsed) stop(ctx context.Context) error {
	u.quit()
	u.ended.Wait()

	return u.flush(ctx)
}

// flush stores what is pending. What can't be stored stays pending.
func (u *lastUsed) flush(ctx context.Context) error {
	u.mu.Lock()
	batch := u.pending
	u.pending = make(map[string]time.Time)
	u.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}

	err := u.store.TouchKeys(ctx, batch)
	if err != nil {
		for id, at := range batch {
			u.touch(id, at)
		}
	}

	return err
}
