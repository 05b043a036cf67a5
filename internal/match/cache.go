package match

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/singleflight"
)

// fullRuleset is more than 5,000 ordinary rules take, about 40 MiB.
const fullRuleset = 64 << 20

// shareOf is how much of a cache one owner may have: a quarter, but in a small one as
// much as a full ruleset takes, up to half.
func shareOf(limit int64) int64 { return min(limit/2, max(limit/4, fullRuleset)) }

// Cache keeps what was compiled from rules, by their digest, and drops what
// was not used for longest when it grows over its size. What only one owner uses
// takes at most the owner's share of it: the owner's own goes first. It is safe for
// concurrent use.
type Cache[V any] struct {
	size  func(V) int64
	limit int64
	share int64 // of one owner

	flight singleflight.Group

	mu      sync.Mutex
	used    int64
	owned   map[string]int64 // by owner; of what several use nothing
	recent  *list.List       // of *cached[V], most recent first
	entries map[string]*list.Element
}

type cached[V any] struct {
	digest string
	owner  string // "" when there are several
	value  V
	size   int64
}

// NewCache returns a cache that holds at most limit bytes, as size estimates
// them. Something that is larger alone than the share of one owner is not kept.
func NewCache[V any](limit int64, size func(V) int64) *Cache[V] {
	return &Cache[V]{
		size: size, limit: limit, share: shareOf(limit),
		owned: map[string]int64{}, recent: list.New(), entries: map[string]*list.Element{},
	}
}

// Get returns what is kept for digest to an owner.
func (c *Cache[V]) Get(owner, digest string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[digest]
	if !ok {
		return value, false
	}
	c.recent.MoveToFront(e)
	entry := e.Value.(*cached[V])
	if entry.owner != owner {
		c.disown(entry)
	}

	return entry.value, true
}

// disown makes an entry one that several owners use.
func (c *Cache[V]) disown(entry *cached[V]) {
	if entry.owner == "" {
		return
	}
	if c.owned[entry.owner] -= entry.size; c.owned[entry.owner] <= 0 {
		delete(c.owned, entry.owner)
	}
	entry.owner = ""
}

// Load returns what is kept for digest, or else builds and keeps it. Several
// callers that want the same at once share one build; an error is not kept, and
// nor is it an error for the others that the context of one of them ended.
func (c *Cache[V]) Load(
	ctx context.Context, owner, digest string, build func(context.Context) (V, error),
) (value V, err error) {
	for {
		if v, ok := c.Get(owner, digest); ok {
			return v, nil
		}
		v, err, _ := c.flight.Do(digest, func() (any, error) {
			if v, ok := c.Get(owner, digest); ok {
				return v, nil
			}
			v, err := build(ctx)
			if err == nil {
				c.put(owner, digest, v)
			}

			return v, err
		})
		ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		if !ended || ctx.Err() != nil {
			return v.(V), err
		}
	}
}

func (c *Cache[V]) put(owner, digest string, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := &cached[V]{digest: digest, owner: owner, value: value, size: c.size(value)}
	if entry.size > c.share {
		return
	}
	c.entries[digest] = c.recent.PushFront(entry)
	c.used += entry.size
	if owner != "" {
		c.owned[owner] += entry.size
	}

	for e := c.recent.Back(); e != nil && owner != "" && c.owned[owner] > c.share; {
		before := e.Prev()
		if e.Value.(*cached[V]).owner == owner {
			c.drop(e)
		}
		e = before
	}
	for c.used > c.limit {
		c.drop(c.recent.Back())
	}
}

func (c *Cache[V]) drop(e *list.Element) {
	entry := c.recent.Remove(e).(*cached[V])
	delete(c.entries, entry.digest)
	c.used -= entry.size
	c.disown(entry)
}

// Used is how many bytes the cache holds, as estimated.
func (c *Cache[V]) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.used
}

// Halve drops what was not used for longest, until half of the bytes are left.
func (c *Cache[V]) Halve() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for half := c.used / 2; c.used > half; {
		c.drop(c.recent.Back())
	}
}
