package match

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// Session matches the files of one scan. It is safe for concurrent use.
type Session struct {
	matcher *Matcher
	budget  time.Duration
	off     []bool
	spares  []Spare
	used    []atomic.Int64 // ns by rule
	stopped []atomic.Bool  // by rule
}

// NewSession starts a scan in which each rule may match for budget over all
// files. off says which rules take no part; nil for none.
//
// What a rule spends is the time of its searches by the standard library's
// regexp, and stepTime for each byte that its automaton looks at.
func (m *Matcher) NewSession(budget time.Duration, off []bool) *Session {
	return &Session{
		matcher: m,
		budget:  budget,
		off:     off,
		used:    make([]atomic.Int64, m.Len()),
		stopped: make([]atomic.Bool, m.Len()),
	}
}

// Spare keeps a rule from files beside those that it excludes itself.
type Spare struct {
	Rule  int
	Files Globs
}

// Spare keeps rules from more files in this session. It is called before File.
func (s *Session) Spare(spares []Spare) { s.spares = spares }

// Stopped says whether a rule has used up its time.
func (s *Session) Stopped(rule int) bool { return s.stopped[rule].Load() }

// File is one file as the rules of a session look at it.
type File struct {
	session *Session
	groups  []bool // by group of the selector
	off     []bool // by rule; nil for none
}

// File decides which rules look at the file at path.
func (s *Session) File(path string) *File {
	f := &File{session: s, groups: s.matcher.selector.active(path), off: s.off}
	own := false
	for _, spare := range s.spares {
		if !spare.Files.Match(path) {
			continue
		}
		if !own {
			own = true
			f.off = make([]bool, s.matcher.Len())
			copy(f.off, s.off)
		}
		f.off[spare.Rule] = true
	}

	return f
}

// looks says whether a rule looks at the file.
func (f *File) looks(rule uint32) bool {
	return f.groups[f.session.matcher.selector.group[rule]] && (f.off == nil || !f.off[rule])
}

// SpanResult is what Spans finds.
type SpanResult struct {
	Spans   []Span // by rule and then from left to right, those of one rule apart from each other
	Unknown []int  // rules that had no time left to say
	Stopped []int  // those of them that used up their time in this call
}

// Spans finds where the rules with the given indexes match in a text, whether
// or not they look at a file: every match, not only the first on a line. A
// multiline rule takes text as a file, another rule takes it as a line. It
// fails only when ctx ends.
func (s *Session) Spans(ctx context.Context, text []byte, rules []int) (SpanResult, error) {
	var found SpanResult
	for _, rule := range rules {
		s.timed(ctx, rule, &found.Stopped, func(p *confirm.Program, g *confirm.Guard) {
			p.All(text, g, func(span Span) { found.Spans = append(found.Spans, span) })
		})
		if s.stopped[rule].Load() {
			found.Unknown = append(found.Unknown, rule)
		}
	}

	return found, ctx.Err()
}

// Candidates returns those of the active rules, multiline ones or others, that
// may match in text, in order.
func (f *File) Candidates(text []byte, multiline bool) []int {
	w := f.session.matcher.workers.Get().(*worker)
	defer f.session.matcher.workers.Put(w)
	plan := &f.session.matcher.lines
	if multiline {
		plan = &f.session.matcher.files
	}
	var rules []int
	for _, r := range w.candidates(f, plan, text) {
		rules = append(rules, int(r))
	}
	slices.Sort(rules)

	return rules
}

// timed runs work for a rule on the rule's time. When the time is used up,
// before or by that, the rule is stopped for the rest of the session and put on
// the list, once.
func (s *Session) timed(
	ctx context.Context, rule int, stopped *[]int, work func(p *confirm.Program, g *confirm.Guard),
) {
	if s.stopped[rule].Load() {
		return
	}
	g := confirm.NewGuard(ctx, &s.used[rule], s.budget)
	if !g.Check() {
		work(s.matcher.programs[rule], g)
	}
	s.used[rule].Add(int64(g.Spent()))
	if g.Stopped && ctx.Err() == nil {
		s.stop(rule, stopped)
	}
}

// stop ends a rule for the rest of the session.
func (s *Session) stop(rule int, stopped *[]int) {
	if s.stopped[rule].CompareAndSwap(false, true) {
		*stopped = append(*stopped, rule)
	}
}

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
