package folder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// gitDir is the one name that is left out: a repository's own data, or in a
// worktree and a submodule the file that says where that is.
const gitDir = ".git"

// kind is what an entry of a directory is.
type kind uint8

const (
	regular kind = iota
	directory
	symlink
	special // everything else
)

func kindOf(m fs.FileMode) kind {
	switch {
	case m.IsRegular():
		return regular
	case m.IsDir():
		return directory
	case m&fs.ModeType == fs.ModeSymlink:
		return symlink
	}

	return special
}

// item is a file for the workers.
type item struct {
	path   string // to open
	file   string // relative to the folder, with slashes
	kind   kind   // regular or symlink
	result *result
}

// walker finds the files of a tree in the byte order of their paths.
type walker struct {
	rules   *Rules
	omit    []string // see Options
	files   chan<- item
	results chan<- *result
}

// walk sends all files of the folder at path, or the one file there under name.
func (w *walker) walk(ctx context.Context, path, name string, info fs.FileInfo) {
	if kind := kindOf(info.Mode()); kind == directory {
		w.directory(ctx, path, "")
	} else {
		w.entry(ctx, path, name, kind)
	}
}

// directory walks through a directory. It says false when the scan is over.
func (w *walker) directory(ctx context.Context, path, file string) bool {
	prefix := file
	if file != "" {
		prefix += "/"
	}
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}

	entries, err := list(path)
	for _, e := range entries {
		full := path + e.name
		file := full[len(full)-len(prefix)-len(e.name):] // shares the memory of full
		ok := true
		switch {
		case e.kind != directory:
			ok = w.entry(ctx, full, file, e.kind)
		case !w.rules.prunes(file):
			ok = w.directory(ctx, full, file)
		}
		if !ok {
			return false
		}
	}

	return err == nil || w.tell(ctx, failed(cmp.Or(file, "."), err))
}

// entry sends one file.
func (w *walker) entry(ctx context.Context, path, file string, k kind) bool {
	if slices.Contains(w.omit, file) {
		return true
	}
	if k == special {
		return w.rules.exclude.Match(file) || w.tell(ctx, Notice{Path: file, Reason: SkipSpecial})
	}

	r := &result{text: make(chan []byte, 1)}
	if !w.send(ctx, r) {
		return false
	}
	select {
	case w.files <- item{path: path, file: file, kind: k, result: r}:
		return true
	case <-ctx.Done():
		return false
	}
}

// tell sends a notice.
func (w *walker) tell(ctx context.Context, n Notice) bool {
	r := &result{text: make(chan []byte), notices: []Notice{n}}
	close(r.text)

	return w.send(ctx, r)
}

// send puts a result in its place in the output.
func (w *walker) send(ctx context.Context, r *result) bool {
	select {
	case w.results <- r:
		return true
	case <-ctx.Done():
		return false
	}
}

// failed says why a file or directory could not be read.
func failed(file string, err error) Notice {
	if errors.Is(err, fs.ErrNotExist) {
		return Notice{Path: file, Reason: SkipGone}
	}

	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}

	return Notice{Path: file, Reason: Unreadable, Err: err}
}

type entry struct {
	name string
	kind kind
}

// list reads what was a directory a moment ago, in the order of the walk. With an
// error it returns the entries before.
func list(path string) ([]entry, error) {
	d, err := os.OpenFile(path, os.O_RDONLY|directoryFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read

	all, err := d.ReadDir(-1)
	entries := make([]entry, 0, len(all))
	for _, e := range all {
		if name := e.Name(); name != gitDir {
			entries = append(entries, entry{name: name, kind: kindOf(e.Type())})
		}
	}
	slices.SortFunc(entries, inOrder)

	return entries, err
}

// inOrder compares entries by what paths have for them: a directory is
// followed by a slash. That is how git orders files.
func inOrder(a, b entry) int {
	n := min(len(a.name), len(b.name))
	if c := strings.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}

	return cmp.Compare(a.after(n), b.after(n))
}

// after is what follows the first n bytes of the name in a path; -1 is its end.
func (e entry) after(n int) int {
	switch {
	case n < len(e.name):
		return int(e.name[n])
	case e.kind == directory:
		return '/'
	}

	return -1
}
