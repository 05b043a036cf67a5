package folder

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
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
	number int
	path   string // to open
	file   string // relative to the folder, with slashes
	kind   kind   // regular or symlink
}

// walker finds the files of a tree in the byte order of their paths.
type walker struct {
	ctx   context.Context //nolint:containedctx // for the length of one walk
	rules *Rules
	omit  []string // see Options
	ahead int      // directories that are read ahead in each directory on the way
	order *order
	files chan<- item

	next    int            // number of the next file or notice
	reading sync.WaitGroup // directories that are read ahead
}

// walk sends all files of the folder at path, or the one file there under name.
func (w *walker) walk(path, name string, info fs.FileInfo) {
	defer w.reading.Wait()
	switch kindOf(info.Mode()) {
	case directory:
		w.directory(path, "", list(w.ctx, path))
	default:
		w.entry(path, name, kindOf(info.Mode()))
	}
}

// directory walks through a directory with these entries. It says false when
// the scan is over.
func (w *walker) directory(path, file string, l listing) bool {
	prefix := file
	if file != "" {
		prefix += "/"
	}
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	var ahead []<-chan listing // of the directories to come, in order
	looked := 0                // entries that were looked at for that
	for _, e := range l.entries {
		for ; looked < len(l.entries) && len(ahead) < w.ahead; looked++ {
			if d := l.entries[looked]; d.kind == directory && !w.rules.prunes(prefix+d.name) {
				ahead = append(ahead, w.listAhead(path+d.name))
			}
		}
		full := path + e.name
		file := full[len(full)-len(prefix)-len(e.name):]
		ok := true
		switch {
		case e.kind != directory:
			ok = w.entry(full, file, e.kind)
		case !w.rules.prunes(file):
			ok = w.directory(full, file, <-ahead[0])
			ahead = ahead[1:]
		}
		if !ok {
			return false
		}
	}
	return l.err == nil || w.tell(failed(cmp.Or(file, "."), l.err))
}

// entry sends one file.
func (w *walker) entry(path, file string, k kind) bool {
	if slices.Contains(w.omit, file) {
		return true
	}
	if k == special {
		return w.rules.exclude.Match(file) || w.tell(Notice{Path: file, Reason: SkipSpecial})
	}
	number, ok := w.number()
	if !ok {
		return false
	}
	select {
	case w.files <- item{number: number, path: path, file: file, kind: k}:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// tell sends a notice.
func (w *walker) tell(n Notice) bool {
	number, ok := w.number()
	if ok {
		w.order.done(number, result{notices: []Notice{n}})
	}
	return ok
}

func (w *walker) number() (n int, ok bool) {
	w.next++
	return w.next - 1, w.order.admit(w.next - 1)
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

// listing is what is in a directory, in the order of the walk.
type listing struct {
	entries []entry
	err     error // why entries are not all
}

type entry struct {
	name string
	kind kind
}

func (w *walker) listAhead(path string) <-chan listing {
	c := make(chan listing, 1)
	w.reading.Go(func() { c <- list(w.ctx, path) })
	return c
}

// listBatch is how many entries are read at a time.
const listBatch = 1024

// list reads a directory.
func list(ctx context.Context, path string) (l listing) {
	d, err := openDirectory(path)
	if err != nil {
		return listing{err: err}
	}
	defer func() { _ = d.Close() }() // it was only read
	for err == nil && ctx.Err() == nil {
		var batch []fs.DirEntry
		batch, err = d.ReadDir(listBatch)
		for _, e := range batch {
			if name := e.Name(); name != gitDir {
				l.entries = append(l.entries, entry{name: name, kind: kindOf(e.Type())})
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		l.err = err
	}
	slices.SortFunc(l.entries, inOrder)
	return l
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
