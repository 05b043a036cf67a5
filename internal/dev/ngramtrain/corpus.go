package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	maxFile = 1 << 20 // bytes; the engine looks at no larger file
	sniffed = 8000    // bytes, among which a NUL makes a file binary, as for git
)

// file is one text file of a corpus.
type file struct {
	tree fs.FS
	path string
	kind string // its extension in lower case, with the dot; "" without
	size int64
}

// read returns the text.
func (f file) read() ([]byte, error) { return fs.ReadFile(f.tree, f.path) }

// corpus is the different text files of some trees, in the order of the trees
// and of paths within them.
type corpus struct {
	files []file
	size  map[string]int64 // bytes, by kind
}

// gather lists the text files of trees. Files of the kinds in skip, over 1 MiB,
// binary, empty, in a .git folder, or equal to an earlier one are left out, and
// so is what is no file: symbolic links aren't followed.
func gather(trees []fs.FS, skip []string) (*corpus, error) {
	c := &corpus{size: map[string]int64{}}
	seen := map[[sha256.Size]byte]bool{}
	for _, tree := range trees {
		err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Name() == ".git" {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			f := file{tree: tree, path: p, kind: strings.ToLower(path.Ext(p))}
			if !d.Type().IsRegular() || slices.Contains(skip, f.kind) {
				return nil
			}
			info, err := d.Info()
			if err != nil || info.Size() == 0 || info.Size() > maxFile {
				return err
			}
			text, err := f.read()
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			if seen[sum] || bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0 {
				return nil
			}
			seen[sum] = true
			f.size = int64(len(text))
			c.files = append(c.files, f)
			c.size[f.kind] += f.size
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading the source trees: %w", err)
		}
	}
	return c, nil
}

// weight is how much one file counts for, so that no kind counts for more than
// limit bytes.
func (c *corpus) weight(f file, limit int64) float64 {
	return min(1, float64(limit)/float64(c.size[f.kind]))
}
