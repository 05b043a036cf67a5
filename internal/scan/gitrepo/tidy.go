package gitrepo

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
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
)

// looseAge is how old a tree made by startPatches gets before it is removed;
// no scan lasts so long.
const looseAge = time.Hour

// treeTemp is the pattern of the names that trees have while they are written.
const treeTemp = "prwarden-tree-*"

// writeTree stores a flat tree, sorted already, and returns its name. A tree
// that is there gets a new time, so that it is not removed while it is used.
func (r *Repo) writeTree(entries []entry) (OID, error) {
	var body bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(string(e.oid))
		if err != nil {
			return "", fmt.Errorf("gitrepo: tree: %w", err)
		}
		fmt.Fprintf(&body, "%o %s\x00%s", uint32(e.mode), e.name, raw)
	}
	data := append(fmt.Appendf(nil, "tree %d\x00", body.Len()), body.Bytes()...)
	sum := sha1.Sum(data) // what git calls objects by
	oid := hex.EncodeToString(sum[:])
	path := filepath.Join(r.gen.dir, "objects", oid[:2], oid[2:])
	now := time.Now()
	if os.Chtimes(path, now, now) == nil {
		return OID(oid), nil
	}
	// The temporary file is where sweep doesn't look: others may hold the lock now.
	if err := writeLoose(path, r.gen.dir, data); err != nil {
		return "", fmt.Errorf("gitrepo: tree: %w", err)
	}
	return OID(oid), nil
}

func writeLoose(path, tempDir string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(tempDir, treeTemp)
	if err != nil {
		return err
	}
	z := zlib.NewWriter(temp)
	_, err = z.Write(data)
	err = errors.Join(err, z.Close(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// tidy keeps the cache quick and small after a fetch: a commit-graph (which
// the next fetch and merge base gain from), few packs, and the size limit.
func (r *Repo) tidy(ctx context.Context) error {
	packs, err := filepath.Glob(filepath.Join(r.gen.dir, "objects", "pack", "*.pack"))
	if err != nil {
		return fmt.Errorf("gitrepo: cache: %w", err)
	}
	if len(packs) == r.gen.packs { // the fetches brought nothing
		return nil
	}
	if _, err := r.store.git.run(ctx, r.gen.dir, newCommand("commit-graph", "write", "--reachable", "--split", "--no-progress")); err != nil {
		return err
	}
	if len(packs) > r.store.git.limits.Packs {
		if err := r.combine(ctx, packs); err != nil {
			return err
		}
	}
	entry := r.store.entryDir(r.request)
	size, err := treeSize(entry)
	if err != nil {
		return fmt.Errorf("gitrepo: cache: %w", err)
	}
	if err := os.WriteFile(filepath.Join(entry, sizeName), strconv.AppendInt(nil, size, 10), 0o600); err != nil {
		return fmt.Errorf("gitrepo: cache: %w", err)
	}
	r.store.evict()
	return nil
}

// combine puts all packs but the largest into one.
func (r *Repo) combine(ctx context.Context, packs []string) error {
	slices.SortFunc(packs, func(a, b string) int { return int(min(1, max(-1, fileSize(a)-fileSize(b)))) })
	packs = packs[:len(packs)-1]
	var names bytes.Buffer
	for _, pack := range packs {
		index, err := os.Open(strings.TrimSuffix(pack, ".pack") + ".idx")
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		show := newCommand("show-index")
		show.stdin = index
		out, err := r.store.git.run(ctx, r.gen.dir, show)
		closeFile(index)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(out) { // offset, name, checksum
			if fields := bytes.Fields(line); len(fields) > 1 {
				names.Write(append(fields[1], '\n'))
			}
		}
	}
	write := newCommand("pack-objects", "--quiet", "--window=0", "objects/pack/pack")
	write.stdin = &names
	out, err := r.store.git.run(ctx, r.gen.dir, write)
	if err != nil {
		return err
	}
	name := "pack-" + strings.TrimSpace(string(out))
	dir := filepath.Join(r.gen.dir, "objects", "pack")
	if err := os.WriteFile(filepath.Join(dir, name+".promisor"), nil, 0o600); err != nil {
		return fmt.Errorf("gitrepo: cache: %w", err)
	}
	for _, pack := range packs {
		stem := strings.TrimSuffix(pack, ".pack")
		if filepath.Base(stem) == name {
			continue
		}
		for _, suffix := range []string{".idx", ".pack", ".promisor", ".rev"} { // the index first: git goes by it
			if err := os.Remove(stem + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("gitrepo: cache: %w", err)
			}
		}
	}
	r.gen.removeOldTrees()
	return nil
}

// removeOldTrees removes what writeTree wrote long ago. All other objects are
// in packs.
func (g *generation) removeOldTrees() {
	paths, _ := filepath.Glob(filepath.Join(g.dir, "objects", "[0-9a-f][0-9a-f]", "*"))
	unfinished, _ := filepath.Glob(filepath.Join(g.dir, treeTemp))
	paths = append(paths, unfinished...)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > looseAge {
			_ = os.Remove(path)
		}
	}
}

// evict removes the entries that were not used for the longest time until the
// cache is within its size. Those in use stay.
func (s *Store) evict() {
	limit := s.git.limits.CacheSize
	if limit == 0 {
		return
	}
	type known struct {
		dir  string
		used time.Time
		size int64
	}
	locks, _ := filepath.Glob(filepath.Join(s.dir, entriesName, "*", lockName))
	var entries []known
	var total int64
	for _, lock := range locks {
		info, err := os.Stat(lock)
		if err != nil {
			continue
		}
		data, _ := os.ReadFile(filepath.Join(filepath.Dir(lock), sizeName))
		size, _ := strconv.ParseInt(string(data), 10, 64) // none yet counts as nothing
		total += size
		entries = append(entries, known{dir: filepath.Dir(lock), used: info.ModTime(), size: size})
	}
	slices.SortFunc(entries, func(a, b known) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if total <= limit {
			return
		}
		if s.removeEntry(e.dir) {
			total -= e.size
		}
	}
}

// removeEntry removes an entry that nobody uses.
func (s *Store) removeEntry(dir string) bool {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	e := &lockedEntry{store: s, dir: dir, lock: lock}
	defer e.unlock()
	if ok, err := tryLock(lock, true); err != nil || !ok || !current(lock) {
		return false
	}
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

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// treeSize is the size of the files below dir, in bytes.
func treeSize(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil { // others may be removing trees
			total += info.Size()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return total, err
}
