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
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/prwarden/prwarden/internal/scan"
)

// The directories of the cache, and the files in them that are not git's.
const (
	entriesName   = "repositories"
	locksName     = "locks"
	sizeName      = "size"
	useName       = "prwarden-use"
	condemnedName = "prwarden-condemned"
	completeName  = "prwarden-complete"
	genSuffix     = ".git"
)

// lockPause is how long a scan waits before it tries again to get a lock.
const lockPause = 5 * time.Millisecond

// lockedEntry is one organization's copy of one repository, locked for this
// scan alone. Its directory holds generations, `<n>.git`, of which the highest
// is the present one.
type lockedEntry struct {
	store *Store
	dir   string
	lock  *flock.Flock
	size  int64 // when it was locked, in bytes; unknownSize after a kill
}

// entryName names the directory by a hash: no name of a repository or an
// organization becomes a path, and a changed URL is another repository.
func (req Request) entryName() string {
	sum := sha256.Sum256([]byte(req.Organization + "\x00" + req.Repo + "\x00" + req.Remote.URL))
	return hex.EncodeToString(sum[:16])
}

// lockOf is the lock of an entry. It is a file outside of the entry, so that
// the entry can be removed while the lock is held.
func (s *Store) lockOf(entryName string) *flock.Flock {
	return flock.New(filepath.Join(s.dir, locksName, entryName))
}

func (s *Store) lockEntry(ctx context.Context, req Request) (*lockedEntry, error) {
	if err := os.MkdirAll(filepath.Join(s.dir, locksName), 0o700); err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
	}
	lock := s.lockOf(req.entryName())
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("git: cache lock: %w", err)
	}

	dir := filepath.Join(s.dir, entriesName, req.entryName())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("git: cache: %w", err), lock.Unlock())
	}
	e := &lockedEntry{store: s, dir: dir, lock: lock, size: recordedSize(dir)}
	// While an entry changes, and after a kill, its size is measured.
	_ = os.Remove(filepath.Join(dir, sizeName))
	return e, nil
}

// unlock ends the work on an entry, however that went: it records the entry's
// size and, when the entry grew, brings the cache back to its limit.
func (e *lockedEntry) unlock(ctx context.Context) {
	defer scan.Begin(ctx, scan.PhaseCache)()
	size := treeSize(e.dir)
	// Without the file the entry is measured.
	_ = os.WriteFile(filepath.Join(e.dir, sizeName), strconv.AppendInt(nil, size, 10), 0o600)
	_ = e.lock.Unlock() // fails only where it is lost already
	if size > e.size {
		e.store.evict()
	}
}

// generation is a bare repository in the cache. While its lock is held it is
// not removed.
type generation struct {
	dir      string
	use      *flock.Flock
	fresh    bool // made by this scan
	complete bool // has the contents of all files, for servers that give out no single objects
	packs    int  // when it was opened
	graph    bool // it has a commit-graph, which is whole
	// temporary is for one that is not in the cache: it is only there to read
	// a local repository and goes when it is released.
	temporary bool
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
	packs, err := g.packFiles()
	if err != nil {
		return nil, err
	}
	g.packs = len(packs)
	if g.graph, err = checkGraph(g.dir); err != nil {
		return nil, err
	}

	g.use = flock.New(filepath.Join(g.dir, useName))
	if ok, err := g.use.TryRLock(); err != nil || !ok {
		return nil, errors.Join(errors.New("git: cache: generation is locked"), err)
	}
	return g, nil
}

func (e *lockedEntry) path(n int) string { return filepath.Join(e.dir, strconv.Itoa(n)+genSuffix) }

// generations are the numbers of the generations there are, ascending.
func (e *lockedEntry) generations() ([]int, error) {
	files, err := os.ReadDir(e.dir)
	if err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
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
	_, err := e.store.git.run(ctx, dir, c)
	return err
}

// remove removes a generation that nobody reads. One that is left over is
// removed later.
func (e *lockedEntry) remove(n int) {
	use := flock.New(filepath.Join(e.path(n), useName))
	if ok, err := use.TryLock(); err != nil || !ok {
		return
	}
	_ = os.RemoveAll(e.path(n))
	_ = use.Unlock()
}

// sweep removes what a git that was killed, or failed, left behind. The entry is
// locked, so no git writes here now.
func sweep(dir string) error {
	for _, pattern := range []string{
		"*.lock", incomingName + "*/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock", "objects/tmp_*",
		"objects/incoming-*", "objects/??/tmp_*", "objects/info/*.lock", graphsName + "/*.lock", graphsName + "/tmp_*",
	} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range paths {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			return fmt.Errorf("git: cache: %w", err)
		}
	}
	return nil
}

// packFiles are the paths of its packs.
func (g *generation) packFiles() ([]string, error) {
	packs, err := filepath.Glob(filepath.Join(g.dir, "objects", "pack", "*.pack"))
	if err != nil {
		return nil, fmt.Errorf("git: cache: %w", err)
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

// condemn has the next scan start a new generation.
func (g *generation) condemn() { mark(g.dir, condemnedName) }

// release ends the use of a generation. It can be called again.
func (g *generation) release() error {
	var err error
	if g.temporary {
		err = os.RemoveAll(g.dir)
	} else {
		err = g.use.Unlock()
	}
	if err != nil {
		return fmt.Errorf("git: release: %w", err)
	}
	return nil
}

// mark makes an empty file. Without it a generation is taken for an ordinary
// one, and what is wrong is found once more.
func mark(dir, name string) {
	_ = os.WriteFile(filepath.Join(dir, name), nil, 0o600)
}

func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
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
