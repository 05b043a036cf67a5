package git

import (
	"context"
	"io"
	"iter"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// Pairs implements scan.Change.
func (c *change) Pairs(ctx context.Context, paths []string, most int64) iter.Seq2[*scan.Pair, error] {
	return func(yield func(*scan.Pair, error) bool) {
		if err := c.eachPair(ctx, paths, most, yield); err != nil {
			yield(nil, c.repo.fail(ctx, err))
		}
	}
}

// eachPair has git compare the files at those paths alone, and reads both sides.
func (c *change) eachPair(
	ctx context.Context, paths []string, most int64, yield func(*scan.Pair, error) bool,
) error {
	c.repo.git.limits.ScannedSize = min(c.repo.git.limits.ScannedSize, most) // it is this change's own
	places := c.choose(paths)
	patches, err := c.startPatches(ctx)
	if err != nil {
		return err
	}
	defer patches.kill()

	var blobs []OID
	for i := range c.files {
		blobs = append(blobs, c.sides(&c.files[i])...)
	}
	c.repo.ask(queryContents, blobs...)
	for i := range c.files {
		pair, err := c.pair(ctx, i, patches)
		if err != nil {
			return err
		}
		pair.Place = places[i]
		if !yield(pair, nil) {
			return nil
		}
	}

	return patches.end(ctx)
}

// choose leaves only the files at some paths, in their order, and returns the places of
// these among the paths.
func (c *change) choose(paths []string) (places []int) {
	byPath := map[string]int{}
	for i, f := range c.files {
		if shown := finding.Shown(f.path); shown != f.path {
			byPath[shown] = i
		}
	}
	for i, f := range c.files { // what is really called so goes first
		byPath[f.path] = i
	}

	var files []changedFile
	for place, path := range paths {
		if i, ok := byPath[path]; ok {
			files, places = append(files, c.files[i]), append(places, place)
		}
	}
	c.files = files

	return places
}

// sides are the contents of f that are read, the old one first.
func (c *change) sides(f *changedFile) (blobs []OID) {
	if notShown(f, c.repo.git.limits.ScannedSize) != "" {
		return nil
	}
	if f.oldMode.blob() {
		blobs = append(blobs, f.old)
	}
	if f.newMode.blob() {
		blobs = append(blobs, f.now)
	}

	return blobs
}

// notShown says why the lines of f are not read; "" when they are.
func notShown(f *changedFile, most int64) string {
	switch {
	case f.oldMode.kind() == typeGitlink || f.newMode.kind() == typeGitlink:
		return finding.SkipSubmodule
	case f.size > most || f.oldSize > most:
		return finding.SkipFileTooLarge
	}

	return ""
}

// pair reads file i.
func (c *change) pair(ctx context.Context, i int, patches *patches) (*scan.Pair, error) {
	f := &c.files[i]
	pair := &scan.Pair{
		Path: f.path, OldPath: f.oldPath, Change: finding.FileModified,
		NotShown: notShown(f, c.repo.git.limits.ScannedSize),
	}
	switch f.status {
	case 'A':
		pair.Change, pair.OldPath = finding.FileAdded, ""
	case 'D':
		pair.Change = finding.FileDeleted
	case 'R':
		pair.Change = finding.FileRenamed
	}

	wasCompared := c.compared(f) && c.hasOld(f) && f.old != f.now
	if wasCompared {
		p, err := patches.next(ctx, i)
		if err != nil {
			return nil, err
		}
		pair.Added, pair.Removed = p.added, p.removed
	}
	if pair.NotShown != "" {
		return pair, nil
	}

	for _, side := range []struct {
		mode mode
		into *[]byte
	}{{f.oldMode, &pair.Old}, {f.newMode, &pair.New}} {
		if !side.mode.blob() {
			continue
		}
		err := c.repo.next(ctx, func(obj object, content io.Reader) (err error) {
			*side.into, err = obj.read("blob", content, c.repo.git.limits.ScannedSize)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if !wasCompared && (f.old != f.now || f.replaced()) { // one side is empty, or of another kind
		if len(pair.Old) > 0 {
			pair.Removed = []scan.Removed{{Line: 1, Text: pair.Old}}
		}
		if len(pair.New) > 0 {
			pair.Added = []scan.LineRange{{First: 1, Last: countLines(pair.New)}}
		}
	}

	return pair, nil
}
