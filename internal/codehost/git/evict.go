package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// entries are the repositories in the cache.
func (s *Store) entries() []cacheEntry {
	locks, _ := filepath.Glob(filepath.Join(s.dir, entriesName, "*", lockName))
	var entries []cacheEntry
	for _, lock := range locks {
		info, err := os.Stat(lock)
		if err != nil {
			continue // evicted meanwhile
		}
		e := cacheEntry{dir: filepath.Dir(lock), used: info.ModTime()}
		if e.size = recordedSize(e.dir); e.size == unknownSize {
			e.size = treeSize(e.dir)
		}
		entries = append(entries, e)
	}
	return entries
}

// removeEntry removes an entry that nobody uses.
func (s *Store) removeEntry(dir string) bool {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer func() { _ = closeLock(lock) }()
	if ok, err := tryLock(lock, true); err != nil || !ok || !current(lock) {
		return false
	}
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

// unknownSize is less than any size.
const unknownSize = -1

// recordedSize is the size of an entry as the last that worked on it found it.
func recordedSize(dir string) int64 {
	data, err := os.ReadFile(filepath.Join(dir, sizeName))
	if err != nil {
		return unknownSize
	}
	size, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil || size < 0 {
		return unknownSize
	}
	return size
}

// treeSize is the size of the files below dir, in bytes, as far as they can be
// read: others may be removing some.
func treeSize(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // go on with the others
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
