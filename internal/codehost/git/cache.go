package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/scan"
)

// lockedEntry is one organization's copy of one repository, locked for this
// scan alone. Its directory holds generations, `<n>.git`, of which the highest
// is the present one.
type lockedEntry struct {
	store *Store
	dir   string
	lock  *os.File
	size  int64 // when it was locked, in bytes; unknown after a kill
}

// The files of a cache entry and of a generation that are not git's.
const (
	entriesName   = "repositories"
	lockName      = "lock"
	sizeName      = "size"
	useName       = "prwarden-use"
	condemnedName = "prwarden-condemned"
	completeName  = "prwarden-complete"
	genSuffix     = ".git"
)

// entryDir names the directory by a hash: no name of a repository or an
// organization becomes a path, and a changed URL is another repository.
func (s *Store) entryDir(req Request) string {
	sum := sha256.Sum256([]byte(req.Organization + "\x00" + req.Repo + "\x00" + req.Remote.URL))
	return filepath.Join(s.dir, entriesName, hex.EncodeToString(sum[:16]))
}

func (s *Store) lockEntry(ctx context.Context, req Request) (*lockedEntry, error) {
	dir := s.entryDir(req)
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("gitrepo: cache: %w", err)
		}
		lock, err := waitLock(ctx, filepath.Join(dir, lockName))
		if errors.Is(err, os.ErrNotExist) {
			continue // evicted in between
		}
		if err != nil {
			return nil, err
		}
		if current(lock) {
			now := time.Now()
			_ = os.Chtimes(lock.Name(), now, now) // eviction takes the oldest; a wrong order is harmless
			e := &lockedEntry{store: s, dir: dir, lock: lock, size: recordedSize(dir)}
			// While an entry changes, and after a kill, its size is measured.
			_ = os.Remove(filepath.Join(dir, sizeName))
			return e, nil
		}
		_ = closeLock(lock)
	}
}

// unlock ends the work on an entry, however that went: it records the entry's
// size and, when the entry grew, brings the cache back to its limit.
func (e *lockedEntry) unlock(ctx context.Context) {
	defer scan.Begin(ctx, scan.PhaseCache)()
	size := treeSize(e.dir)
	// Without the file the entry is measured.
	_ = os.WriteFile(filepath.Join(e.dir, sizeName), strconv.AppendInt(nil, size, 10), 0o600)
	_ = closeLock(e.lock)
	if size > e.size {
		e.store.evict()
	}
}

// closeFile closes a file that was not written to, or whose loss harms nothing.
func closeFile(f *os.File) { _ = f.Close() }

// current tells whether f is still what its name leads to.
func current(f *os.File) bool {
	here, err1 := f.Stat()
	there, err2 := os.Stat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}

// waitLock takes an exclusive lock. It asks again and again, because a blocked
// flock can't be canceled.
func waitLock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("gitrepo: cache: %w", err)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		ok, err := tryLock(f, true)
		if err != nil {
			closeFile(f)
			return nil, fmt.Errorf("gitrepo: cache lock: %w", err)
		}
		if ok {
			return f, nil
		}
		select {
		case <-ctx.Done():
			closeFile(f)
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// generation is a bare repository in the cache. While use is open it is not
// removed.
type generation struct {
	dir      string
	fresh    bool // made by this scan
	complete bool // has the contents of all files, for servers that give out no single objects
	use      *os.File
	packs    int  // when it was opened
	graph    bool // it has a commit-graph, which is whole
	// temporary is for one that is not in the cache: it is only there to read
	// somebody's own repository and goes when it is released.
	temporary bool
}

// packFiles are the paths of its packs.
func (g *generation) packFiles() ([]string, error) {
	packs, err := filepath.Glob(filepath.Join(g.dir, "objects", "pack", "*.pack"))
	if err != nil {
		return nil, fmt.Errorf("gitrepo: cache: %w", err)
	}
	return packs, nil
}

// packBytes is the size of its packs, as far as it can be read.
func (g *generation) packBytes() int64 {
	packs, _ := g.packFiles()
	var total int64
	for _, pack := range packs {
		total += fileSize(pack)
	}
	return total
}

func (g *generation) countPacks() (int, error) {
	packs, err := g.packFiles()
	return len(packs), err
}

// generation opens the present generation, or a new one when there is none,
// it is condemned, or from asks for one. Older ones that nobody reads are
// removed.
func (e *lockedEntry) generation(ctx context.Context, from start) (*generation, error) {
	numbers, err := e.generations()
	if err != nil {
		return nil, err
	}
	last := 0
	if len(numbers) > 0 {
		last = numbers[len(numbers)-1]
	}
	fresh := last == 0 || from != asItIs || has(e.path(last), condemnedName)
	if fresh {
		last++
		if err := e.create(ctx, e.path(last)); err != nil {
			return nil, err
		}
		if from == newComplete {
			mark(e.path(last), completeName)
		}
	}
	for _, n := range numbers {
		if n != last {
			e.remove(n)
		}
	}
	g := &generation{dir: e.path(last), fresh: fresh, complete: has(e.path(last), completeName)}
	if err := sweep(g.dir); err != nil {
		return nil, err
	}
	if g.packs, err = g.countPacks(); err != nil {
		return nil, err
	}
	if g.graph, err = checkGraphs(g.dir); err != nil {
		return nil, err
	}
	if g.use, err = os.OpenFile(filepath.Join(g.dir, useName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("gitrepo: cache: %w", err)
	}
	if ok, err := tryLock(g.use, false); err != nil || !ok {
		closeFile(g.use)
		return nil, errors.Join(errors.New("gitrepo: cache: generation is locked"), err)
	}
	return g, nil
}

func (e *lockedEntry) path(n int) string { return filepath.Join(e.dir, strconv.Itoa(n)+genSuffix) }

// generations are the numbers of the generations there are, ascending.
func (e *lockedEntry) generations() ([]int, error) {
	files, err := os.ReadDir(e.dir)
	if err != nil {
		return nil, fmt.Errorf("gitrepo: cache: %w", err)
	}
	var numbers []int
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), genSuffix); ok {
			if n, err := strconv.Atoi(name); err == nil && n > 0 {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (e *lockedEntry) create(ctx context.Context, dir string) error {
	c := newCommand("init", "--quiet", "--bare", "--template=", "--object-format=sha1")
	c.chdir = e.dir
	if _, err := e.store.git.run(ctx, dir, c); err != nil {
		return err
	}
	return nil
}

// remove removes a generation that nobody reads. One that is left over is
// removed later.
func (e *lockedEntry) remove(n int) {
	dir := e.path(n)
	use, err := os.OpenFile(filepath.Join(dir, useName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		_ = os.RemoveAll(dir)
		return
	}
	defer func() { _ = closeLock(use) }()
	if ok, err := tryLock(use, true); err == nil && ok {
		_ = os.RemoveAll(dir)
	}
}

// sweep removes what a git that was killed, or failed, left behind. The entry is
// locked, so no git writes here now.
func sweep(dir string) error {
	for _, pattern := range []string{"*.lock", "refs/prwarden/in/*/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock", "objects/tmp_*",
		"objects/incoming-*", "objects/??/tmp_*", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "objects/info/commit-graphs/tmp_*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("gitrepo: cache: %w", err)
		}
		for _, path := range paths {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("gitrepo: cache: %w", err)
			}
		}
	}
	return nil
}

// condemn has the next scan start a new generation.
func (g *generation) condemn() { mark(g.dir, condemnedName) }

// mark makes an empty file. Without it a generation is taken for an ordinary
// one, and what is wrong is found once more.
func mark(dir, name string) {
	if f, err := os.Create(filepath.Join(dir, name)); err == nil {
		closeFile(f)
	}
}

func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func (g *generation) release() error {
	if g.temporary {
		if err := os.RemoveAll(g.dir); err != nil {
			return fmt.Errorf("gitrepo: temporary files: %w", err)
		}
		return nil
	}
	if err := closeLock(g.use); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("gitrepo: cache: %w", err)
	}
	return nil
}
