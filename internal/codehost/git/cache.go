package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/prwarden/prwarden/internal/scan"
)

// The directories of the cache, and the files in a repository there that are not
// git's.
const (
	entriesName   = "repositories"
	locksName     = "locks"
	useName       = "prwarden-use"
	condemnedName = "prwarden-condemned"
	gonePrefix    = ".gone-" // of a copy that is being removed; nobody takes it
)

// lockPause is how long a scan waits before it tries again to get a lock.
const lockPause = 5 * time.Millisecond

// Open fetches what the target names from remote and opens the change. It fails
// with a *scan.Failure. A copy in the cache that turns out damaged is fetched
// anew, once. Canceling ctx ends what it started.
func (s *Store) Open(ctx context.Context, t scan.Target, remote Remote) (scan.Change, error) {
	for {
		c, again, err := s.open(ctx, t, remote)
		if err == nil {
			return c, nil
		}
		if !again {
			return nil, err
		}
	}
}

// open is one attempt. When it fails, again tells whether that may be the fault of
// the copy in the cache, which is condemned now.
func (s *Store) open(ctx context.Context, t scan.Target, remote Remote) (opened *change, again bool, err error) {
	locked := scan.Begin(ctx, scan.PhaseCache)
	name := cacheName(t, remote.URL)
	lock, err := s.lock(ctx, name)
	if err != nil {
		return nil, false, s.fail(ctx, err, nil)
	}
	defer func() { _ = lock.Unlock() }() // fails only where it is lost already
	c, err := s.take(ctx, name)
	locked()
	if err != nil {
		return nil, false, s.fail(ctx, err, nil)
	}

	s.count(func(st *Stats) {
		if c.fresh {
			st.Misses++
		} else {
			st.Hits++
		}
	})
	r := s.repo(c, t, remote)
	opened, err = r.open(ctx)
	if err != nil {
		err = s.fail(ctx, err, c)
		_ = r.close()
		_ = c.sweep() // of what git did not finish, which can fill a disk
	}

	return opened, !c.fresh && has(c.dir, condemnedName), err
}

// repo is the repository in a copy.
func (s *Store) repo(c *cached, t scan.Target, remote Remote) *repo {
	r := newRepo(s.gitIn(c.dir), c.dir)
	r.prefetch, r.target, r.remote, r.release = s.prefetch, t, remote, c.release
	r.fetch = func(ctx context.Context, command *command) error { return s.fetch(ctx, r.git, c, command) }
	r.fail = func(ctx context.Context, err error) error { return s.fail(ctx, err, c) }
	r.grew = s.grew
	return r
}

// cached is one organization's copy of one repository: a bare repository. While
// its lock is held, by any number of scans, it is not removed.
type cached struct {
	dir   string
	use   *flock.Flock
	fresh bool // made by this scan
}

// cacheName stands for a repository in names of files: no name of a repository or
// an organization becomes a path, and a changed URL is another repository.
func cacheName(t scan.Target, url string) string {
	sum := sha256.Sum256([]byte(t.Organization + "\x00" + t.Repo + "\x00" + url))
	return hex.EncodeToString(sum[:16])
}

// lock keeps other scans from fetching a repository meanwhile.
func (s *Store) lock(ctx context.Context, name string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(s.dir, locksName, name))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("git: cache lock: %w", err)
	}
	return lock, nil
}

// take opens the copy of a repository, whose lock is held, or makes an empty one
// when there is none. Condemned copies go when nobody reads them any more.
func (s *Store) take(ctx context.Context, name string) (*cached, error) {
	dirs, err := filepath.Glob(filepath.Join(s.dir, entriesName, name+"-*"))
	if err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
	}

	var found *cached
	for _, dir := range dirs {
		c := &cached{dir: dir, use: flock.New(filepath.Join(dir, useName))}
		switch {
		case has(dir, condemnedName) || len(c.packs()) > s.git.limits.Packs:
			c.remove()
		case found == nil && c.hold():
			found = c
		}
	}

	if found != nil {
		return found, found.sweep()
	}
	return s.create(ctx, name)
}

func (s *Store) create(ctx context.Context, name string) (*cached, error) {
	parent := filepath.Join(s.dir, entriesName)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
	}
	dir, err := os.MkdirTemp(parent, name+"-*")
	if err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
	}

	c := &cached{dir: dir, use: flock.New(filepath.Join(dir, useName)), fresh: true}
	if ok, err := c.use.TryRLock(); err != nil || !ok {
		return nil, errors.Join(errors.New("git: cache: a new repository is locked"), err)
	}
	git := s.gitIn(dir)
	if _, err := git.run(ctx, dir,
		newCommand("init", "--quiet", "--bare", "--template=", "--object-format=sha1")); err != nil {
		return nil, errors.Join(err, c.release(), os.RemoveAll(dir))
	}

	return c, nil
}

// hold keeps a copy from being removed, which may have begun.
func (c *cached) hold() bool {
	if ok, err := c.use.TryRLock(); err != nil || !ok {
		return false
	}
	if !has(c.dir, useName) { // it was removed meanwhile
		_ = c.use.Unlock()
		return false
	}

	now := time.Now()
	_ = os.Chtimes(c.dir, now, now) // or it is removed sooner
	return true
}

// gitIn is git for the repository dir.
func (s *Store) gitIn(dir string) *git {
	g := *s.git
	g.env = caged(g.env, dir, s.config)
	return &g
}

// treeAge is how long the trees of a comparison are kept: longer than any scan.
const treeAge = 24 * time.Hour

// sweep removes what a git that was killed, or failed, left behind, and old trees.
// The repository is locked, so no git writes here now.
func (c *cached) sweep() error {
	for _, pattern := range []string{
		"*.lock", refsName + "*/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock",
		"objects/tmp_*", "objects/incoming-*", "objects/info/*.lock", "objects/info/commit-graphs/*.lock",
		"objects/info/commit-graphs/tmp_*",
	} {
		paths, err := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, path := range paths {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			return fmt.Errorf("git: cache: %w", err)
		}
	}

	// What is fetched is in packs, so loose objects are the trees of comparisons.
	trees, _ := filepath.Glob(filepath.Join(c.dir, "objects", "??", "*"))
	for _, tree := range trees {
		if info, err := os.Stat(tree); err == nil && time.Since(info.ModTime()) > treeAge {
			_ = os.Remove(tree)
		}
	}

	return nil
}

// packs are the paths of its packs, and packBytes is their size, as far as it can
// be read.
func (c *cached) packs() []string {
	packs, _ := filepath.Glob(filepath.Join(c.dir, "objects", "pack", "*.pack"))
	return packs
}

func (c *cached) packBytes() (total int64) {
	for _, pack := range c.packs() {
		if info, err := os.Stat(pack); err == nil {
			total += info.Size()
		}
	}
	return total
}

// condemn has the next scan start with an empty copy. Where it can't be marked,
// what is wrong is found once more.
func (c *cached) condemn() { _ = os.WriteFile(filepath.Join(c.dir, condemnedName), nil, 0o600) }

// release ends the use of a copy. It can be called again.
func (c *cached) release() error {
	if err := c.use.Unlock(); err != nil {
		return fmt.Errorf("git: release: %w", err)
	}
	return nil
}

// remove removes a copy that nobody reads. It is renamed first, so that no scan
// takes it while its files go.
func (c *cached) remove() bool {
	if ok, err := c.use.TryLock(); err != nil || !ok {
		return false
	}
	defer func() { _ = c.use.Unlock() }() // the file is gone, too

	gone := filepath.Join(filepath.Dir(c.dir), gonePrefix+filepath.Base(c.dir))
	return os.Rename(c.dir, gone) == nil && os.RemoveAll(gone) == nil
}

func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// fetch runs a command that fetches into c, and counts what it brings.
func (s *Store) fetch(ctx context.Context, g *git, c *cached, command *command) error {
	fetched := scan.Begin(ctx, scan.PhaseFetch)
	before := c.packBytes()
	_, err := g.run(ctx, c.dir, command)
	// The copy is locked, so what is there more than before came now.
	bytes := max(0, c.packBytes()-before)
	fetched()

	s.count(func(st *Stats) {
		st.Fetches++
		if err != nil {
			st.FailedFetches++
		}
	})
	s.grew(bytes)
	return err
}

// count changes the counts.
func (s *Store) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()

	change(&s.stats)
}

// grew hears that a scan added so many bytes. The cache is measured, and brought
// back to its limit, when it may be well over it since the last time.
func (s *Store) grew(bytes int64) {
	limit := s.git.limits.CacheSize
	s.mu.Lock()
	s.grown += bytes
	measure := limit > 0 && s.grown > limit/16
	if measure {
		s.grown = 0
	}
	s.mu.Unlock()

	if measure {
		s.shrink(func(int64) int64 { return limit })
	}
}

// shrink removes the repositories that were not used for the longest time until
// the cache has the size that to makes of its present one. Those in use stay.
func (s *Store) shrink(to func(size int64) int64) {
	type copied struct {
		cached

		used time.Time
		size int64
	}

	var all []copied
	var total int64
	for _, dir := range s.copies() {
		if strings.HasPrefix(filepath.Base(dir), gonePrefix) && os.RemoveAll(dir) == nil {
			continue
		}
		info, err := os.Stat(dir)
		if err != nil {
			continue // removed meanwhile
		}
		c := copied{cached{dir: dir, use: flock.New(filepath.Join(dir, useName))}, info.ModTime(), treeSize(dir)}
		all = append(all, c)
		total += c.size
	}

	limit := to(total)
	slices.SortFunc(all, func(a, b copied) int { return a.used.Compare(b.used) })
	for _, c := range all {
		if total <= limit {
			return
		}
		if c.remove() {
			total -= c.size
			s.count(func(st *Stats) { st.Evictions++ })
		}
	}
}

// copies are the directories of all repositories in the cache.
func (s *Store) copies() []string {
	dirs, _ := filepath.Glob(filepath.Join(s.dir, entriesName, "*"))
	return dirs
}

// Size returns how many bytes the cache has. It looks at every file.
func (s *Store) Size() (bytes int64) {
	for _, dir := range s.copies() {
		bytes += treeSize(dir)
	}
	return bytes
}

// treeSize is the size of the files below dir, in bytes, as far as they can be
// read: others may be removing some.
func treeSize(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // go on with the others
		}
		if info, err := d.Info(); err == nil && !strings.HasSuffix(path, useName) {
			total += info.Size()
		}
		return nil
	})

	return total
}
