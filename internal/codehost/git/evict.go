package git

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// evict removes the entries that were not used for the longest time until the
// cache is within its size. Those in use stay.
func (s *Store) evict() {
	if limit := s.git.limits.CacheSize; limit != 0 {
		s.shrink(func(int64) int64 { return limit })
	}
}

// makeRoom removes half of the cache because its disk is full. That git says
// so is not enough, because its words can be a server's: more than the largest
// file that git may write must not be free either.
func (s *Store) makeRoom() {
	s.evict()
	if free, err := freeSpace(s.dir); err == nil && free < s.git.limits.FileSize {
		s.shrink(func(size int64) int64 { return size / 2 })
	}
}

// shrink removes the entries that were not used for the longest time until the
// cache has the size that to makes of its present one. Those in use stay.
func (s *Store) shrink(to func(size int64) int64) {
	entries := s.entries()
	var total int64
	for _, e := range entries {
		total += e.size
	}

	limit := to(total)
	slices.SortFunc(entries, func(a, b cacheEntry) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if total <= limit {
			return
		}
		if s.removeEntry(e.dir) {
			total -= e.size
			s.counts.evictions.Add(1)
		}
	}
}

// cacheEntry is one repository in the cache, whoever uses it.
type cacheEntry struct {
	dir  string
	used time.Time // the last time
	size int64     // in bytes
}

// entries are the repositories in the cache. Each use of an entry makes or
// removes a file in its directory, which gives that a new time.
func (s *Store) entries() []cacheEntry {
	dirs, _ := filepath.Glob(filepath.Join(s.dir, entriesName, "*"))
	var entries []cacheEntry
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // evicted meanwhile
		}
		e := cacheEntry{dir: dir, used: info.ModTime(), size: recordedSize(dir)}
		if e.size == unknownSize {
			e.size = treeSize(dir)
		}
		entries = append(entries, e)
	}
	return entries
}

// removeEntry removes an entry that nobody uses.
func (s *Store) removeEntry(dir string) bool {
	lock := s.lockOf(filepath.Base(dir))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return false
	}
	defer func() { _ = lock.Unlock() }()

	e := &lockedEntry{store: s, dir: dir, lock: lock}
	numbers, err := e.generations()
	if err != nil {
		return false
	}
	for _, n := range numbers {
		e.remove(n)
	}
	if left, err := e.generations(); err != nil || len(left) > 0 {
		return false
	}
	return os.RemoveAll(dir) == nil
}

// Size returns how many bytes the cache has, and of how many repositories. It
// looks at a file of each, and measures those that are in use: some
// milliseconds for a thousand.
func (s *Store) Size() (bytes int64, repositories int) {
	entries := s.entries()
	for _, e := range entries {
		bytes += e.size
	}
	return bytes, len(entries)
}
