// Package corpus loads the texts that a benchmark scans: what a review would
// look at of the files below some folders, brought to a size.
package corpus

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Limits of a review: larger files and longer lines are skipped, and so are
// files with a NUL among the first bytes.
const (
	maxFile = 1 << 20
	maxLine = 16 << 10
	sniff   = 8000
)

// File is a text and its path below the folder that it came from.
type File struct {
	Path string
	Text []byte
}

// Corpus is a list of files.
type Corpus struct {
	Files   []File
	Skipped int // files that a review would skip, wholly or in part
}

// Bytes is the size of all files.
func (c Corpus) Bytes() int64 {
	var n int64
	for _, f := range c.Files {
		n += int64(len(f.Text))
	}
	return n
}

// Load reads the regular files below dirs, in the order of their paths, but
// those in .git. A file that a review would skip is left out and counted; so is
// one with a line that a review would skip, because another engine would look at
// that line.
func Load(dirs ...string) (Corpus, error) {
	var c Corpus
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			if !d.Type().IsRegular() {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !Reviewed(text) {
				c.Skipped++
				return nil
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if len(text) > 0 {
				c.Files = append(c.Files, File{Path: filepath.ToSlash(name), Text: text})
			}
			return nil
		})
		if err != nil {
			return Corpus{}, fmt.Errorf("read the corpus: %w", err)
		}
	}
	if len(c.Files) == 0 {
		return Corpus{}, errors.New("the corpus has no text")
	}
	return c, nil
}

// Reviewed says whether a review looks at all of text.
func Reviewed(text []byte) bool {
	if len(text) > maxFile || bytes.IndexByte(text[:min(len(text), sniff)], 0) >= 0 {
		return false
	}
	for rest := text; len(rest) > maxLine; {
		end := bytes.IndexByte(rest, '\n')
		if end > maxLine || end < 0 {
			return false
		}
		rest = rest[end+1:]
	}
	return true
}

// Resize returns a corpus of about size bytes, at most a file more: the files
// from the first one on, and again from the first when they don't suffice. Texts
// are shared with c.
func (c Corpus) Resize(size int64) Corpus {
	var out Corpus
	for n := int64(0); n < size; {
		for i, f := range c.Files {
			if n >= size {
				break
			}
			if rounds := len(out.Files) / len(c.Files); rounds > 0 {
				f.Path = fmt.Sprintf("copy%d/%s", rounds, c.Files[i].Path)
			}
			out.Files = append(out.Files, f)
			n += int64(len(f.Text))
		}
	}
	return out
}

// Spread reorders the files so that any first part of them is a sample of all:
// it takes every n-th file of the list in turn, n about the golden section of it.
func (c Corpus) Spread() Corpus {
	n := len(c.Files)
	step := max(1, int(float64(n)*0.6180339887))
	for gcd(step, n) != 1 {
		step++
	}
	out := Corpus{Files: make([]File, n), Skipped: c.Skipped}
	for i := range n {
		out.Files[i] = c.Files[i*step%n]
	}
	return out
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// WritePack writes a corpus as one file that other programs can load at once:
// for each file the length of its path, the path, the length of the text and the
// text; lengths are 32 bits, little endian.
func WritePack(path string, c Corpus) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriterSize(file, 1<<20)
	for _, f := range c.Files {
		for _, part := range [][]byte{[]byte(f.Path), f.Text} {
			var size [4]byte
			binary.LittleEndian.PutUint32(size[:], uint32(len(part)))
			if _, err := w.Write(size[:]); err != nil {
				return err
			}
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// MapPack maps what WritePack wrote into memory, until the process ends. So the
// texts are no part of the heap, whose size the collector goes by.
func MapPack(path string) (Corpus, error) {
	file, err := os.Open(path)
	if err != nil {
		return Corpus{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Corpus{}, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return Corpus{}, fmt.Errorf("map %s: %w", path, err)
	}
	var c Corpus
	for len(data) > 0 {
		var f [2][]byte
		for i := range f {
			if len(data) < 4 {
				return Corpus{}, io.ErrUnexpectedEOF
			}
			n := int(binary.LittleEndian.Uint32(data))
			if len(data) < 4+n {
				return Corpus{}, io.ErrUnexpectedEOF
			}
			f[i], data = data[4:4+n:4+n], data[4+n:]
		}
		c.Files = append(c.Files, File{Path: string(f[0]), Text: f[1]})
	}
	return c, nil
}
