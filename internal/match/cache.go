package match

import (
	"container/list"
	"sync"

	"golang.org/x/sync/singleflight"
)

// Cache keeps what was compiled from rules, by their digest, and drops what
// was not used for longest when it grows over its size. It is safe for
// concurrent use.
type Cache[V any] struct {
	size  func(V) int64
	limit int64

	flight singleflight.Group

	mu      sync.Mutex
	used    int64
	recent  *list.List // of cached[V], most recent first
	entries map[string]*list.Element
	counts  CacheStats // without Entries and Bytes
}

// CacheStats are the counts of a cache since it was made, and what it holds.
type CacheStats struct {
	Hits, Misses, Evictions uint64 // a build that failed is a miss, too
	Entries                 int
	Bytes                   int64 // as estimated
}

// Stats returns the counts.
func (c *Cache[V]) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.counts
	s.Entries, s.Bytes = len(c.entries), c.used
	return s
}

type cached[V any] struct {
	digest string
	value  V
	size   int64
}

// NewCache returns a cache that holds at most limit bytes, as size estimates
// them. Something that is larger alone is not kept.
func NewCache[V any](limit int64, size func(V) int64) *Cache[V] {
	return &Cache[V]{size: size, limit: limit, recent: list.New(), entries: map[string]*list.Element{}}
}

// Get returns what is kept for digest.
func (c *Cache[V]) Get(digest string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[digest]
	if !ok {
		return value, false
	}
	c.counts.Hits++
	c.recent.MoveToFront(e)
	return e.Value.(cached[V]).value, true
}

// Load returns what is kept for digest, or else builds and keeps it. Several
// callers that want the same at once share one build; an error is not kept.
func (c *Cache[V]) Load(digest string, build func() (V, error)) (V, error) {
	if v, ok := c.Get(digest); ok {
		return v, nil
	}
	v, err, _ := c.flight.Do(digest, func() (any, error) {
		if v, ok := c.Get(digest); ok {
			return v, nil
		}
		c.missed()
		v, err := build()
		if err == nil {
			c.put(digest, v)
		}
		return v, err
	})
	return v.(V), err
}

func (c *Cache[V]) missed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Misses++
}

func (c *Cache[V]) put(digest string, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := cached[V]{digest: digest, value: value, size: c.size(value)}
	if entry.size > c.limit {
		return
	}
	c.entries[digest] = c.recent.PushFront(entry)
	for c.used += entry.size; c.used > c.limit; {
		oldest := c.recent.Remove(c.recent.Back()).(cached[V])
		delete(c.entries, oldest.digest)
		c.used -= oldest.size
		c.counts.Evictions++
	}
}
