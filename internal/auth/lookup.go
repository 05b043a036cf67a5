package auth

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"
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
	// lookupPause is the least time between two calls to the store: a flood of
	// made-up tokens is 100 queries a second and no more. It delays a key that
	// is not remembered by as much while there is one.
	lookupPause = 10 * time.Millisecond
)

// lookup finds keys by hash and remembers the answers for a short while, also
// that there is no such key.
type lookup struct {
	store KeyStore
	// now times the memory: time.Now, whose readings only go on, whatever is
	// done to the clock. The store's would let a key live on that was revoked
	// before the clock stepped back.
	now   func() time.Time
	calls *combiner[string, *Key]

	cached, asked, failed atomic.Uint64 // see LookupCounts

	mu         sync.Mutex
	generation uint64 // rises with every revocation here
	known      *recent
	unknown    *recent
}

func newLookup(store KeyStore, now func() time.Time) *lookup {
	l := &lookup{store: store, now: now, known: newRecent(maxKnown), unknown: newRecent(maxUnknown)}
	l.calls = newCombiner(lookupPause, l.ask)
	return l
}

// find returns the key with that hash; ok is false when there is none.
func (l *lookup) find(ctx context.Context, hash string) (key Key, ok bool, err error) {
	l.mu.Lock()
	k, hit := l.remembered(hash, l.now())
	l.mu.Unlock()
	if hit {
		l.cached.Add(1)
	} else {
		if k, err = l.calls.do(ctx, hash); err != nil {
			l.failed.Add(1)
			return Key{}, false, err
		}
		l.asked.Add(1)
	}
	if k == nil {
		return Key{}, false, nil
	}
	return *k, true, nil
}

// LookupCounts are how tokens were looked up since the start.
type LookupCounts struct {
	Cached uint64 // from memory
	Asked  uint64 // from the store; several at once may be one query
	Failed uint64 // not at all: the store was away, or the caller left
}

func (l *lookup) counts() LookupCounts {
	return LookupCounts{Cached: l.cached.Load(), Asked: l.asked.Load(), Failed: l.failed.Load()}
}

// peek returns the key with that hash if it is remembered.
func (l *lookup) peek(hash string) (Key, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known.get(hash, l.now())
}

// remembered returns what is remembered of a hash: a key, or nil when there is
// none. hit is false when nothing is. The caller holds mu.
func (l *lookup) remembered(hash string, now time.Time) (k *Key, hit bool) {
	if k, hit := l.known.get(hash, now); hit {
		return &k, true
	}
	_, hit = l.unknown.get(hash, now)
	return nil, hit
}

// ask answers questions that are under way together: from what an earlier call
// has brought in the meantime, else from the store, whose answers it
// remembers unless a key was revoked meanwhile. It returns nil for a hash
// without a key.
func (l *lookup) ask(ctx context.Context, hashes []string) ([]*Key, error) {
	asked := l.now()
	answers := make(map[string]*Key, len(hashes))
	var missing []string
	l.mu.Lock()
	generation := l.generation
	for _, hash := range hashes {
		if _, done := answers[hash]; done {
			continue
		}
		k, hit := l.remembered(hash, asked)
		answers[hash] = k
		if !hit {
			missing = append(missing, hash)
		}
	}
	l.mu.Unlock()
	if len(missing) > 0 {
		found, err := l.store.KeysByHash(ctx, missing)
		if err != nil {
			return nil, err
		}
		for i, k := range found {
			// A store that compares text without regard to case, or to
			// trailing space, must not let anyone in: other hashes answer
			// nobody.
			if _, wanted := answers[k.Hash]; wanted {
				answers[k.Hash] = &found[i]
			}
		}
		l.remember(answers, missing, asked, generation)
	}
	out := make([]*Key, len(hashes))
	for i, hash := range hashes {
		out[i] = answers[hash]
	}
	return out, nil
}

func (l *lookup) remember(answers map[string]*Key, missing []string, asked time.Time, generation uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.generation != generation {
		return
	}
	for _, hash := range missing {
		if k := answers[hash]; k != nil {
			l.known.put(hash, *k, asked)
		} else {
			l.unknown.put(hash, Key{}, asked)
		}
	}
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
