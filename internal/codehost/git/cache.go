package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
	r := &repo{git: s.git.in(c.dir, s.config), target: t, remote: remote, release: c.release}
	r.fetch = func(ctx context.Context, command *command) error { return s.fetch(ctx, r, command) }
	r.fail = func(ctx context.Context, err error) error { return s.fail(ctx, err, c) }

	before, files := c.packBytes(), 0
	if opened, err = r.open(ctx); err == nil {
		files = len(opened.files)
	} else {
		err = s.fail(ctx, err, c)
		_ = r.close()
		c.sweep() // of what git did not finish, which can fill a disk
	}
	// The copy is locked, so what is there more than before came now. Comparing a
	// file takes an entry in each of two trees.
	s.grew(max(0, c.packBytes()-before) + int64(files)*2*treeEntry)

	return opened, err != nil && !c.fresh && has(c.dir, condemnedName), err
}

// cached is one organization's copy of one repository: a bare repository. While
// its lock is held, by any number of scans, it is not removed.
type cached struct {
	dir   string
	use   *flock.Flock
	fresh bool // made by this scan
}

func newCached(dir string) *cached {
	return &cached{dir: dir, use: flock.New(filepath.Join(dir, useName))}
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
	var found *cached
	for _, dir := range s.copies(name + "-*") {
		c := newCached(dir)
		switch {
		case has(dir, condemnedName) || len(c.packs()) > s.git.limits.Packs:
			c.remove()
		case found == nil && c.hold():
			found = c
		}
	}

	if found == nil {
		return s.create(ctx, name)
	}
	found.sweep()
	return found, nil
}

// copies are the directories in the cache whose names match a pattern.
func (s *Store) copies(pattern string) []string {
	dirs, _ := filepath.Glob(filepath.Join(s.dir, entriesName, pattern))
	return dirs
}

func (s *Store) create(ctx context.Context, name string) (*cached, error) {
	dir, err := os.MkdirTemp(filepath.Join(s.dir, entriesName), name+"-*")
	if err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
	}

	c := newCached(dir)
	c.fresh = true
	if !c.hold() {
		return nil, errors.New("git: cache: a new repository was removed")
	}
	init := newCommand("init", "--quiet", "--bare", "--template=", "--object-format=sha1")
	if _, err := s.git.in(dir, s.config).run(ctx, init); err != nil {
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

// treeAge is how long the trees of a comparison are kept: longer than any scan.
const treeAge = 24 * time.Hour

// treeEntry is the size of an entry in such a tree, in bytes.
const treeEntry = 36

// sweep removes what a git that was killed, or failed, left behind, and old trees.
// The repository is locked, so no git writes here now.
func (c *cached) sweep() {
	for _, pattern := range []string{
		"*.lock", refsName + "*/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock",
		"objects/tmp_*", "objects/incoming-*", "objects/info/*.lock", "objects/info/commit-graphs/*.lock",
		"objects/info/commit-graphs/tmp_*",
	} {
		paths, _ := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, path := range paths {
			_ = os.RemoveAll(path) // what stays fails the next git
		}
	}

	// What is fetched is in packs, so loose objects are the trees of comparisons.
	trees, _ := filepath.Glob(filepath.Join(c.dir, "objects", "??", "*"))
	for _, tree := range trees {
		if info, err := os.Stat(tree); err == nil && time.Since(info.ModTime()) > treeAge {
			_ = os.Remove(tree)
		}
	}
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
func (c *cached) release() error { return c.use.Unlock() }

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

// fetch runs a command that fetches.
func (s *Store) fetch(ctx context.Context, r *repo, command *command) error {
	defer scan.Begin(ctx, scan.PhaseFetch)()
	err := s.run(ctx, r, command)
	s.count(func(st *Stats) {
		st.Fetches++
		if err != nil {
			st.FailedFetches++
		}
	})
	return err
}

// run runs a command, through a tunnel when the host is guarded.
func (s *Store) run(ctx context.Context, r *repo, command *command) error {
	if !r.remote.Guarded {
		_, err := r.git.run(ctx, command)
		return err
	}

	t, err := openTunnel(ctx, s.guard, r.remote.URL)
	if err != nil {
		return err
	}
	defer t.close()

	t.lead(command)
	_, err = r.git.run(ctx, command)
	if failure := t.failure(err); err != nil && failure != nil && ctx.Err() == nil {
		return failure
	}

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

// ensure fetches those of blobs that are not here, and returns the sizes of all.
func (r *repo) ensure(ctx context.Context, blobs []OID) (map[OID]int64, error) {
	blobs = slices.Compact(slices.Sorted(slices.Values(blobs))) // the caller keeps its own
	sizes := make(map[OID]int64, len(blobs))
	missing, err := r.sizes(ctx, blobs, sizes)
	if err != nil || len(missing) == 0 {
		return sizes, err
	}

	if err := r.fetchObjects(ctx, missing); err != nil {
		return nil, err
	}
	missing, err = r.sizes(ctx, missing, sizes)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w: the remote did not send %s", errDamaged, missing[0])
	}
	return sizes, err
}

// sizes puts the sizes of those of blobs that are here into into, and returns
// the others.
func (r *repo) sizes(ctx context.Context, blobs []OID, into map[OID]int64) (missing []OID, err error) {
	defer scan.Begin(ctx, scan.PhaseCompare)()
	r.ask(queryInfo, blobs...)
	for _, oid := range blobs {
		err := r.next(ctx, func(obj object, _ io.Reader) error {
			switch obj.kind {
			case "":
				missing = append(missing, oid)
			case "blob":
				into[oid] = obj.size
			default:
				return fmt.Errorf("%w: %s is a %s and should be a blob", errDamaged, oid, obj.kind)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}

	return missing, nil
}

// fetchObjects fetches objects by their names.
func (r *repo) fetchObjects(ctx context.Context, oids []OID) error {
	if r.fetch == nil {
		return lasting(scan.CodeRepositoryInvalid, "The repository lacks %d of the objects to compare, such as %s. "+
			"Of a partial clone, fetch them first: `git diff` of the same does.", len(oids), oids[0])
	}

	c := newFetch(r.remote, "--stdin")
	c.set("fetch.negotiationAlgorithm", "noop")
	var list strings.Builder
	for _, oid := range oids {
		fmt.Fprintln(&list, oid)
	}
	c.stdin = strings.NewReader(list.String())
	return r.fetch(ctx, c)
}
