package folder

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/scan"
)

// gitDir is the one name that is left out: a repository's own data, or in a
// worktree and a submodule the file that says where that is.
const gitDir = ".git"

// errSpecial says that a file is none that can be read to its end.
var errSpecial = errors.New("not a regular file")

// walker finds the files of a tree in the byte order of their paths, and reads
// them.
type walker struct {
	root  string // the folder, without links in its path; "" for a file
	rules *Rules
	omit  []string                // see Options
	most  int64                   // bytes of a file
	yield func(f *scan.File) bool // says false when the scan is over
}

// directory walks through a directory. It says false when the scan is over.
func (w *walker) directory(path, file string) bool {
	prefix := file
	if file != "" {
		prefix += "/"
	}

	entries, err := list(path)
	for _, e := range entries {
		full, file := strings.TrimSuffix(path, "/")+"/"+e.Name(), prefix+e.Name()
		ok := false
		if e.IsDir() {
			ok = w.directory(full, file)
		} else {
			ok = w.entry(full, file, e.Type())
		}
		if !ok {
			return false
		}
	}
	nobodyLooks := !w.rules.locks && w.rules.pruned.Match(file)

	return err == nil || isGone(err) || nobodyLooks || w.yield(&scan.File{Path: cmp.Or(file, "."), Err: err})
}

// entry yields one file with its content, which is not read when no rule looks at it.
func (w *walker) entry(path, file string, mode fs.FileMode) bool {
	switch {
	case slices.Contains(w.omit, file):
		return true
	case !w.rules.locks && w.rules.exclude.Match(file):
		return w.yield(&scan.File{Path: file})
	}

	f := &scan.File{Path: file}
	if mode&fs.ModeType == fs.ModeSymlink && w.follow(f, path) {
		return w.yield(f)
	}
	if f.Content, f.Size, f.Err = read(path, mode, w.most); isGone(f.Err) {
		return true
	}
	if f.Err == nil && mode&fs.ModeType == fs.ModeSymlink && w.root != "" {
		f.LinkTo = scan.LinkTarget(file, string(f.Content))
	}
	if f.TooLarge = f.Err == nil && f.Size > w.most; !f.TooLarge {
		f.Added = []scan.LineRange{{First: 1, Last: match.SplitLines(f.Content).Count()}}
	}

	return w.yield(f)
}

// follow reads the file of the folder that a link leads to, as a review does: as one
// that was moved from there. So only the rules that don't look at it there match it.
func (w *walker) follow(f *scan.File, link string) bool {
	path, err := filepath.EvalSymlinks(link)
	if err != nil || w.root == "" {
		return false
	}
	from, err := filepath.Rel(w.root, path)
	if err != nil || !filepath.IsLocal(from) {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}

	f.LinkTo = filepath.ToSlash(from)
	f.Before = &scan.Before{Path: f.LinkTo}
	f.Content, f.Size, err = read(path, info.Mode(), w.most)
	if err != nil {
		*f = scan.File{Path: f.Path}
	}
	f.TooLarge = f.Size > w.most

	return err == nil
}

// isGone says that something was removed while the scan ran, which is no fault.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// list reads what was a directory a moment ago, in the order of the walk. With an
// error it returns the entries before.
func list(path string) ([]fs.DirEntry, error) {
	d, err := os.OpenFile(path, os.O_RDONLY|directoryFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read

	entries, err := d.ReadDir(-1)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == gitDir })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(inPaths(a), inPaths(b)) })

	return entries, err
}

// inPaths is the name of an entry as paths have it: a directory is followed by a
// slash. That is how git orders files.
func inPaths(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}

	return e.Name()
}

// read reads a file as a review would see it: a symbolic link is a file that
// holds its target. The content is nil when the file is over most bytes; size is what is known of its size then.
func read(path string, mode fs.FileMode, most int64) (content []byte, size int64, err error) {
	switch {
	case mode&fs.ModeType == fs.ModeSymlink:
		target, err := os.Readlink(path)
		return []byte(target), int64(len(target)), err
	case !mode.IsRegular():
		return nil, 0, errSpecial
	}

	f, err := os.OpenFile(path, os.O_RDONLY|fileFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular(): // it was exchanged meanwhile
		return nil, 0, errSpecial
	case info.Size() > most:
		return nil, info.Size(), nil
	}

	// The file may grow meanwhile, and one that the system makes up as it is read has
	// no size.
	buffer := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if size, err = buffer.ReadFrom(io.LimitReader(f, most+1)); err != nil || size > most {
		return nil, size, err
	}

	return buffer.Bytes(), size, nil
}
