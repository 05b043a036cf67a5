package gitrepo

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
	files   int          // changed entries that are no directories
	trees   int          // changed entries that are directories, empty ones too
	read    int64        // directory objects read, in bytes
	bytes   int          // of the paths of files
}

// trees are two directories of one path that differ. Either may be "" for
// none.
type trees struct {
	old, now OID
	path     int // its length with a slash at the end, in bytes
}

// compare looks at what differs between two directories, depth levels below
// the root, which is 1.
func (w *walk) compare(ctx context.Context, t trees, depth int) error {
	if depth > w.limits.Depth {
		return tooLarge("The pull request changes directories nested more than %d deep.", w.limits.Depth)
	}
	below, err := w.level(ctx, t)
	if err != nil {
		return err
	}
	for _, t := range below {
		if err := w.compare(ctx, t, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// level looks at the entries of two directories and returns those
// subdirectories that differ. It keeps nothing else of what it read, which can
// be as much as TreeSize on both sides.
func (w *walk) level(ctx context.Context, t trees) ([]trees, error) {
	before, err := w.open(ctx, t.old)
	if err != nil {
		return nil, err
	}
	after, err := w.open(ctx, t.now)
	if err != nil {
		return nil, err
	}
	var below []trees
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
		var a, b line
		if order <= 0 {
			a = old
			if old, hadOld, err = before.next(); err != nil {
				return nil, err
			}
		}
		if order >= 0 {
			b = now
			if now, hasNow, err = after.next(); err != nil {
				return nil, err
			}
		}
		if bytes.Equal(a.oid, b.oid) && a.mode == b.mode {
			continue
		}
		if below, err = w.pair(a, b, t.path, below); err != nil {
			return nil, err
		}
	}
	return below, nil
}

// pair looks at one name whose entry changed from old to now, either of which
// may be no line. It appends to below when it is a directory.
func (w *walk) pair(old, now line, prefix int, below []trees) ([]trees, error) {
	size := prefix + max(len(old.name), len(now.name))
	if size > w.limits.PathSize {
		return nil, tooLarge("The pull request changes a file whose path is longer than %d bytes.", w.limits.PathSize)
	}
	if old.mode.kind() == typeTree || now.mode.kind() == typeTree {
		if bytes.Equal(old.oid, now.oid) { // only its mode is written in another way
			return below, nil
		}
		t := trees{old: old.object(), now: now.object(), path: size + 1}
		return append(below, t), w.count(t)
	}
	w.files++
	w.bytes += size
	for _, l := range []line{old, now} {
		if l.mode.blob() && (!bytes.Equal(old.oid, now.oid) || old.mode.kind() != now.mode.kind()) {
			w.blobs[l.object()] = true
		}
	}
	if w.bytes > w.limits.PathBytes {
		return nil, tooLarge("The paths of the files that the pull request changes take more than %d bytes.", w.limits.PathBytes)
	}
	if w.files > w.limits.ChangedFiles {
		return nil, tooLarge("The pull request changes more than %d files.", w.limits.ChangedFiles)
	}
	return below, nil
}

// count counts two directories before they are read: those that are yet to be
// read take memory too.
func (w *walk) count(t trees) error {
	for _, oid := range []OID{t.old, t.now} {
		if oid != "" {
			w.trees++
		}
	}
	if w.trees > w.limits.Trees {
		return tooLarge("The pull request changes more than %d directories.", w.limits.Trees)
	}
	return nil
}

// open reads a directory of the change.
func (w *walk) open(ctx context.Context, oid OID) (*treeReader, error) {
	if oid == "" || oid == emptyTree {
		return &treeReader{}, nil
	}
	tree, err := openTree(ctx, w.objects, oid, w.limits)
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
	data, size, err := o.read(ctx, oid, "tree", l.TreeSize)
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
