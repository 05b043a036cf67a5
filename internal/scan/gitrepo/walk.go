package gitrepo

import (
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
	trees   int
	bytes   int // of their paths
}

// compare looks at what differs between the trees old and now, either of which
// may be "" for none.
func (w *walk) compare(ctx context.Context, old, now OID, prefix, depth int) error {
	if depth > w.limits.Depth {
		return tooLarge("The pull request changes directories nested more than %d deep.", w.limits.Depth)
	}
	before, err := w.read(ctx, old)
	if err != nil {
		return err
	}
	after, err := w.read(ctx, now)
	if err != nil {
		return err
	}
	was := make(map[string]entry, len(before))
	for _, e := range before {
		was[e.name] = e
	}
	for _, e := range after {
		b, had := was[e.name]
		delete(was, e.name)
		if had && b.oid == e.oid && b.mode == e.mode {
			continue
		}
		if err := w.pair(ctx, b, e, prefix, depth); err != nil {
			return err
		}
	}
	for _, e := range before {
		if _, gone := was[e.name]; gone {
			if err := w.pair(ctx, e, entry{}, prefix, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// pair looks at one name whose entry changed from old to now.
func (w *walk) pair(ctx context.Context, old, now entry, prefix, depth int) error {
	size := prefix + max(len(old.name), len(now.name))
	if size > w.limits.PathSize {
		return tooLarge("The pull request changes a file whose path is longer than %d bytes.", w.limits.PathSize)
	}
	var trees [2]OID
	for i, e := range []entry{old, now} {
		switch {
		case e.name == "":
		case e.mode.kind() == typeTree:
			trees[i] = e.oid
		default:
			w.files++
			w.bytes += size
			// An old and a new side of one file are one changed file.
			if i == 1 && old.name != "" && old.mode.kind() != typeTree {
				w.files--
			}
			if e.mode.blob() && (old.oid != now.oid || old.mode.kind() != now.mode.kind()) {
				w.blobs[e.oid] = true
			}
		}
	}
	if w.bytes > w.limits.PathBytes {
		return tooLarge("The paths of the files that the pull request changes take more than %d bytes.", w.limits.PathBytes)
	}
	if w.files > w.limits.ChangedFiles {
		return tooLarge("The pull request changes more than %d files.", w.limits.ChangedFiles)
	}
	if trees[0] == trees[1] {
		return nil
	}
	return w.compare(ctx, trees[0], trees[1], size+1, depth+1)
}

func (w *walk) read(ctx context.Context, oid OID) ([]entry, error) {
	if oid == "" || oid == emptyTree {
		return nil, nil
	}
	w.trees++
	if w.trees > w.limits.Trees {
		return nil, tooLarge("The pull request changes more than %d directories.", w.limits.Trees)
	}
	return readTree(ctx, w.objects, oid, w.limits)
}

func readTree(ctx context.Context, o *objects, oid OID, l Limits) ([]entry, error) {
	data, size, err := o.read(ctx, oid, "tree", l.TreeSize)
	if err != nil {
		return nil, err
	}
	if size > l.TreeSize {
		return nil, tooLarge("A directory of the repository is larger than %d bytes.", l.TreeSize)
	}
	return parseTree(data)
}

func tooLarge(format string, args ...any) *scan.Failure {
	return &scan.Failure{Code: scan.CodePullRequestTooLarge, Message: fmt.Sprintf(format, args...), Lasting: true}
}
