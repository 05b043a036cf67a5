package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// mode is the mode of a tree entry.
type mode uint32

// The types of entries.
const (
	typeMask    mode = 0o170000
	typeTree    mode = 0o040000
	typeFile    mode = 0o100000
	typeSymlink mode = 0o120000
	typeGitlink mode = 0o160000
)

func (m mode) kind() mode { return m & typeMask }

// blob tells whether an entry is a file or a symlink.
func (m mode) blob() bool { return m.kind() == typeFile || m.kind() == typeSymlink }

// entry is one name in a directory.
type entry struct {
	name string
	mode mode
	oid  OID
}

// findEntry finds a name in the content of a tree object: entries of a mode in
// octal digits, a space, a name, a zero and an object's name in binary.
func findEntry(tree []byte, name string) (found entry, ok bool, err error) {
	const rawSize = oidSize / 2
	for len(tree) > 0 {
		header, rest, ended := bytes.Cut(tree, []byte{0})
		digits, entryName, spaced := bytes.Cut(header, []byte{' '})
		if !ended || !spaced || len(rest) < rawSize {
			return entry{}, false, fmt.Errorf("%w: a tree is cut off", errDamaged)
		}
		if string(entryName) == name {
			bits, err := strconv.ParseUint(string(digits), 8, 32)
			if err != nil {
				return entry{}, false, fmt.Errorf("%w: a tree has an invalid mode", errDamaged)
			}
			return entry{name: name, mode: mode(bits), oid: OID(hex.EncodeToString(rest[:rawSize]))}, true, nil
		}
		tree = rest[rawSize:]
	}
	return entry{}, false, nil
}

// looseAge is how old a tree made by startPatches gets before it is removed;
// no scan lasts so long.
const looseAge = time.Hour

// treeTemp is the pattern of the names that trees have while they are written.
const treeTemp = "prwarden-tree-*"

// writeTree stores a flat tree, sorted already, and returns its name.
func (r *Repo) writeTree(entries []entry) (OID, error) {
	var body bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(string(e.oid))
		if err != nil {
			return "", fmt.Errorf("git: tree: %w", err)
		}
		fmt.Fprintf(&body, "%o %s\x00%s", uint32(e.mode), e.name, raw)
	}
	return r.writeObject("tree", body.Bytes())
}

// writeObject stores an object of a kind and returns its name. One that is there
// gets a new time, so that it is not removed while it is used.
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
		return "", fmt.Errorf("git: %s: %w", kind, err)
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
	if err == nil {
		_, err = z.Write(data)
		err = errors.Join(err, z.Close())
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// removeOldTrees removes what writeTree wrote long ago. All other objects are
// in packs.
func (g *generation) removeOldTrees() {
	paths, _ := filepath.Glob(filepath.Join(g.dir, "objects", "[0-9a-f][0-9a-f]", "*"))
	unfinished, _ := filepath.Glob(filepath.Join(g.dir, treeTemp))
	for _, path := range append(paths, unfinished...) {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > looseAge {
			_ = os.Remove(path)
		}
	}
}
