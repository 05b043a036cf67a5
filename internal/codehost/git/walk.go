package git

import (
	"bytes"
	"context"
	"fmt"

	"github.com/prwarden/prwarden/internal/scan"
)

// walk compares two trees before git does, so that git is asked only about
// trees whose comparison is bounded. It collects the contents that git will
// need for it.
type walk struct {
	objects *objects
	limits  Limits
	blobs   map[OID]bool // of files that differ, on both sides
	pairs   []pair       // files that are there at head, each paired with the one of its name
	added   int          // files that were not there before
	removed int          // files that are not there any more
	files   int          // changed entries that are no directories
	trees   int          // changed entries that are directories, empty ones too
	read    int64        // directory objects read, in bytes
	bytes   int          // of the paths of files and of the names of directories
}

// renames tells whether a file can have been renamed, which git decides.
func (w *walk) renames() bool { return w.added > 0 && w.removed > 0 }

// trees are two directories of one path that differ. Either may be "" for
// none.
type trees struct {
	old, now OID
	up       *trees // nil for the root
	name     string // in up
	path     int    // the path's length with a slash at the end, in bytes
}

// join is the path of a name in the directory.
func (t *trees) join(name []byte) string {
	path := make([]byte, t.path+len(name))
	copy(path[t.path:], name)
	for ; t.up != nil; t = t.up {
		path[t.path-1] = '/'
		copy(path[t.up.path:], t.name)
	}
	return string(path)
}

// compare looks at what differs between two root directories, one level after
// the other, so that the directories of a level are asked for all at once: a
// question and its answer take longer than the work between them.
func (w *walk) compare(ctx context.Context, roots trees) error {
	level := []*trees{&roots}
	for depth := 1; len(level) > 0; depth++ {
		if depth > w.limits.Depth {
			return tooLarge("The pull request changes directories nested more than %d deep.", w.limits.Depth)
		}
		var oids []OID
		for _, t := range level {
			for _, oid := range []OID{t.old, t.now} {
				if oid.readable() {
					oids = append(oids, oid)
				}
			}
		}
		var below []*trees
		err := w.objects.askAll(ctx, askContents, oids, func(a *answers) (err error) {
			for _, t := range level {
				if below, err = w.directory(a, t, below); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		level = below
	}
	return nil
}

// readable tells whether a directory has to be read: neither none nor empty.
func (o OID) readable() bool { return o != "" && o != emptyTree }

// directory looks at the entries of two directories, which answers has next,
// and appends those subdirectories that differ to below. It keeps nothing else
// of what it read, which can be as much as TreeSize on both sides.
func (w *walk) directory(a *answers, t *trees, below []*trees) ([]*trees, error) {
	before, err := w.open(a, t.old)
	if err != nil {
		return nil, err
	}
	after, err := w.open(a, t.now)
	if err != nil {
		return nil, err
	}
	old, hadOld, err := before.next()
	if err != nil {
		return nil, err
	}
	now, hasNow, err := after.next()
	if err != nil {
		return nil, err
	}
	for hadOld || hasNow {
		// A file and a directory of one name are not one line: they sort apart.
		order := 0
		switch {
		case !hadOld:
			order = 1
		case !hasNow:
			order = -1
		default:
			order = compareNames(old, now)
		}
		var removed, added line
		if order <= 0 {
			removed = old
			if old, hadOld, err = before.next(); err != nil {
				return nil, err
			}
		}
		if order >= 0 {
			added = now
			if now, hasNow, err = after.next(); err != nil {
				return nil, err
			}
		}
		if bytes.Equal(removed.oid, added.oid) && removed.mode == added.mode {
			continue
		}
		if below, err = w.pair(removed, added, t, below); err != nil {
			return nil, err
		}
	}
	return below, nil
}

// pair looks at one name in a directory whose entry changed from old to now,
// either of which may be no line. It appends to below when it is a directory.
func (w *walk) pair(old, now line, in *trees, below []*trees) ([]*trees, error) {
	name := old.name
	if now.name != nil {
		name = now.name
	}
	size := in.path + len(name)
	if size > w.limits.PathSize {
		return nil, tooLarge("The pull request changes a file whose path is longer than %d bytes.", w.limits.PathSize)
	}
	if old.mode.kind() == typeTree || now.mode.kind() == typeTree {
		if bytes.Equal(old.oid, now.oid) { // only its mode is written in another way
			return below, nil
		}
		w.bytes += len(name)
		t := &trees{old: old.object(), now: now.object(), up: in, name: string(name), path: size + 1}
		return append(below, t), w.count(t)
	}
	if bytes.Equal(old.oid, now.oid) && old.mode.canonical() == now.mode.canonical() {
		return below, nil // the same
	}
	w.files++
	w.bytes += size
	if w.files > w.limits.ChangedFiles {
		return nil, tooLarge("The pull request changes more than %d files.", w.limits.ChangedFiles)
	}
	if err := w.checkBytes(); err != nil {
		return nil, err
	}
	w.keep(old, now, in)
	return below, nil
}

// keep keeps a changed file.
func (w *walk) keep(old, now line, in *trees) {
	p := pair{oldMode: old.mode.canonical(), newMode: now.mode.canonical(), old: noOID, now: noOID}
	if old.name != nil {
		p.old = old.object()
	}
	if now.name != nil {
		p.now = now.object()
	}
	if p.old != p.now || p.replaced() {
		for _, side := range []struct {
			mode mode
			oid  OID
		}{{p.oldMode, p.old}, {p.newMode, p.now}} {
			if side.mode.blob() {
				w.blobs[side.oid] = true
			}
		}
	}
	switch {
	case now.name == nil:
		w.removed++
		return
	case old.name == nil:
		w.added++
	}
	p.path = in.join(now.name)
	w.pairs = append(w.pairs, p)
}

func (w *walk) checkBytes() error {
	if w.bytes > w.limits.PathBytes {
		return tooLarge("The paths of the files that the pull request changes take more than %d bytes.", w.limits.PathBytes)
	}
	return nil
}

// count counts two directories before they are read: those that are yet to be
// read take memory too.
func (w *walk) count(t *trees) error {
	for _, oid := range []OID{t.old, t.now} {
		if oid != "" {
			w.trees++
		}
	}
	if w.trees > w.limits.Trees {
		return tooLarge("The pull request changes more than %d directories.", w.limits.Trees)
	}
	return w.checkBytes()
}

// open reads a directory of the change, which answers has next.
func (w *walk) open(a *answers, oid OID) (*treeReader, error) {
	if !oid.readable() {
		return &treeReader{}, nil
	}
	tree, err := newTreeReader(w.limits, func() ([]byte, int64, error) { return a.content("tree", w.limits.TreeSize, newBuffer) })
	if err != nil {
		return nil, err
	}
	w.read += int64(len(tree.data))
	if w.read > w.limits.TreeBytes {
		return nil, tooLarge("The directories that the pull request changes take more than %d bytes.", w.limits.TreeBytes)
	}
	return tree, nil
}

// openTree begins to read a directory.
func openTree(ctx context.Context, o *objects, oid OID, l Limits) (*treeReader, error) {
	return newTreeReader(l, func() ([]byte, int64, error) { return o.read(ctx, oid, "tree", l.TreeSize) })
}

func newTreeReader(l Limits, read func() (data []byte, size int64, err error)) (*treeReader, error) {
	data, size, err := read()
	if err != nil {
		return nil, err
	}
	if size > l.TreeSize {
		return nil, tooLarge("A directory of the repository is larger than %d bytes.", l.TreeSize)
	}
	return &treeReader{data: data}, nil
}

func tooLarge(format string, args ...any) *scan.Failure {
	return &scan.Failure{Code: scan.CodePullRequestTooLarge, Message: fmt.Sprintf(format, args...), Lasting: true}
}
