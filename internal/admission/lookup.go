package admission

import (
	"container/list"
	"context"
	"crypto/subtle"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/errs"
)

// Bounds of what is remembered of keys.
const (
	// lookupTTL is how long a looked-up key is trusted. It is under the 5
	// seconds within which a revocation is promised to be in force.
	lookupTTL = 4 * time.Second
	// maxKnown and maxUnknown bound the entries. They are apart, so that a
	// flood of made-up tokens can't push out the keys that are in use.
	maxKnown   = 10_000
	maxUnknown = 10_000
	// lookupTimeout bounds one question to the store. Many callers may wait
	// for it, so it is not bound to any one of them.
	lookupTimeout = 5 * time.Second
)

// lookup finds keys by hash and remembers the answers for a short while, also
// that there is no such key.
type lookup struct {
	store KeyStore
	now   func() time.Time
	calls singleflight.Group

	mu         sync.Mutex
	generation uint64 // rises with every revocation here
	known      *recent
	unknown    *recent
}

func newLookup(store KeyStore, now func() time.Time) *lookup {
	return &lookup{store: store, now: now, known: newRecent(maxKnown), unknown: newRecent(maxUnknown)}
}

// find returns the key with that hash; ok is false when there is none.
func (l *lookup) find(ctx context.Context, hash string) (key Key, ok bool, err error) {
	l.mu.Lock()
	now := l.now()
	if k, hit := l.known.get(hash, now); hit {
		l.mu.Unlock()
		return k, true, nil
	}
	if _, hit := l.unknown.get(hash, now); hit {
		l.mu.Unlock()
		return Key{}, false, nil
	}
	generation := l.generation
	l.mu.Unlock()

	// The generation in the name keeps a question that was asked before a
	// revocation from answering a caller who came after it.
	name := strconv.FormatUint(generation, 36) + ":" + hash
	result := l.calls.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		return l.ask(ctx, hash, generation)
	})
	select {
	case <-ctx.Done():
		return Key{}, false, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return Key{}, false, r.Err
		}
		k := r.Val.(*Key)
		if k == nil {
			return Key{}, false, nil
		}
		return *k, true, nil
	}
}

// ask asks the store and remembers the answer, unless a key was revoked in
// the meantime. It returns nil when there is no such key.
func (l *lookup) ask(ctx context.Context, hash string, generation uint64) (*Key, error) {
	asked := l.now()
	k, err := l.store.KeyByHash(ctx, hash)
	found := true
	switch {
	case errs.KindOf(err) == errs.NotFound && err != nil:
		found = false
	case ctx.Err() != nil:
		// Our own limit of time, not the caller's.
		e := errs.New(errs.Unavailable, errs.ReasonUnavailable, "API keys can't be looked up right now; try again.")
		e.Err = err
		return nil, e
	case err != nil:
		return nil, err
	case subtle.ConstantTimeCompare([]byte(k.Hash), []byte(hash)) != 1:
		// A store that compares text without regard to case, or to trailing
		// space, must not let anyone in.
		found = false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.generation == generation {
		if found {
			l.known.put(hash, k, asked)
		} else {
			l.unknown.put(hash, Key{}, asked)
		}
	}
	if !found {
		return nil, nil
	}
	return &k, nil
}

// forget drops everything that is remembered, and makes the answers to
// questions under way not to be remembered. Revocations are rare.
func (l *lookup) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.generation++
	l.known = newRecent(maxKnown)
	l.unknown = newRecent(maxUnknown)
}

// recent keeps at most size keys, each for lookupTTL. All live equally long,
// so the oldest entry is always the next to end.
type recent struct {
	size    int
	entries map[string]*list.Element
	order   *list.List // of recentEntry, oldest first
}

type recentEntry struct {
	hash  string
	key   Key
	asked time.Time
}

func newRecent(size int) *recent {
	return &recent{size: size, entries: make(map[string]*list.Element), order: list.New()}
}

func (r *recent) get(hash string, now time.Time) (Key, bool) {
	e, ok := r.entries[hash]
	if !ok {
		return Key{}, false
	}
	entry := e.Value.(recentEntry)
	if now.Sub(entry.asked) >= lookupTTL {
		return Key{}, false
	}
	return entry.key, true
}

func (r *recent) put(hash string, k Key, asked time.Time) {
	if e, ok := r.entries[hash]; ok {
		r.order.Remove(e)
	}
	r.entries[hash] = r.order.PushBack(recentEntry{hash: hash, key: k, asked: asked})
	for e := r.order.Front(); e != nil; e = r.order.Front() {
		entry := e.Value.(recentEntry)
		if len(r.entries) <= r.size && asked.Sub(entry.asked) < lookupTTL {
			return
		}
		r.order.Remove(e)
		delete(r.entries, entry.hash)
	}
}
