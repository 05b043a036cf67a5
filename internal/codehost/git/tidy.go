package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/scan"
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
	return r.writeObject("tree", body.Bytes())
}

// writeObject stores an object of a kind and returns its name.
func (r *Repo) writeObject(kind string, body []byte) (OID, error) {
	data := append(fmt.Appendf(nil, "%s %d\x00", kind, len(body)), body...)
	sum := sha1.Sum(data) // what git calls objects by
	oid := hex.EncodeToString(sum[:])
	path := filepath.Join(r.gen.dir, "objects", oid[:2], oid[2:])
	now := time.Now()
	if os.Chtimes(path, now, now) == nil {
		return OID(oid), nil
	}
	// The temporary file is where sweep doesn't look: others may hold the lock now.
	if err := writeLoose(path, r.gen.dir, data); err != nil {
		return "", fmt.Errorf("gitrepo: %s: %w", kind, err)
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
	// Not compressed: object names don't get smaller.
	z, err := zlib.NewWriterLevel(temp, zlib.NoCompression)
	if err != nil {
		return errors.Join(err, temp.Close())
	}
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

// tidy keeps a repository quick after a fetch: few packs.
func (r *Repo) tidy(ctx context.Context) error {
	defer scan.Begin(ctx, scan.PhaseCache)()
	packs, err := r.gen.packFiles()
	if err != nil {
		return err
	}
	if len(packs) == r.gen.packs || len(packs) <= r.store.git.limits.Packs { // the fetches brought nothing, or little
		return nil
	}
	return r.combine(ctx, packs)
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

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
