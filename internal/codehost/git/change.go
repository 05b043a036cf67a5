package git

import (
	"bytes"
	"context"
	"io"
	"iter"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// change is an opened pull request.
type change struct {
	repo                  *repo
	head, base, mergeBase Commit
	baseFoundBy           finding.BaseFoundBy
	files                 []changedFile // by path
}

var _ scan.Change = (*change)(nil)

// HeadSHA implements scan.Change.
func (c *change) HeadSHA() string { return string(c.head.OID) }

// BaseSHA implements scan.Change.
func (c *change) BaseSHA() string { return string(c.base.OID) }

// HeadCommit implements scan.Change.
func (c *change) HeadCommit() (subject, author string) { return c.head.Subject, c.head.Author }

// BaseFoundBy implements scan.Change.
func (c *change) BaseFoundBy() finding.BaseFoundBy { return c.baseFoundBy }

// FileCount implements scan.Change.
func (c *change) FileCount() int { return len(c.files) }

// Close implements scan.Change. It can be called again.
func (c *change) Close() error { return c.repo.close() }

// ReadFile implements scan.Change. Only the rules file and what changes is sure
// to be here.
func (c *change) ReadFile(ctx context.Context, side scan.Side, path string, limit int) ([]byte, bool, error) {
	commit := c.head
	switch side {
	case scan.Base:
		commit = c.base
	case scan.MergeBase:
		commit = c.mergeBase
	}

	var data []byte
	oid, err := c.repo.file(ctx, commit.Tree, path)
	if err == nil && oid != "" {
		c.repo.ask(queryContents, oid)
		err = c.repo.next(ctx, func(obj object, content io.Reader) (err error) {
			data, err = obj.read("blob", content, int64(limit)+1)
			return err
		})
	}
	if err != nil {
		return nil, false, c.repo.fail(ctx, err)
	}

	return data, oid != "", nil
}

// Files implements scan.Change.
func (c *change) Files(ctx context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		if err := c.eachFile(ctx, yield); err != nil {
			yield(nil, c.repo.fail(ctx, err))
		}
	}
}

// eachFile has one process of git compare the files and another one read them.
// Both work ahead of what is read here.
func (c *change) eachFile(ctx context.Context, yield func(*scan.File, error) bool) error {
	patches, err := c.startPatches(ctx)
	if err != nil {
		return err
	}
	defer patches.kill()
	var blobs []OID
	for i := range c.files {
		if f := &c.files[i]; c.compared(f) {
			blobs = append(blobs, f.now)
		}
	}

	c.repo.ask(queryContents, blobs...)
	for i := range c.files {
		file, err := c.file(ctx, i, patches)
		if err != nil {
			return err
		}
		if !yield(file, nil) {
			return nil
		}
	}

	return patches.end(ctx)
}

func (c *change) file(ctx context.Context, i int, patches *patches) (*scan.File, error) {
	f := &c.files[i]
	file := &scan.File{
		Path: f.path, Size: f.size, Submodule: f.newMode.kind() == typeGitlink,
		TooLarge: f.differs() && f.size > c.repo.git.limits.ScannedSize,
	}
	if f.isFollowed {
		file.LinkTo = f.oldPath
	}
	if !c.compared(f) {
		return file, nil
	}

	hasOld := c.hasOld(f)
	if hasOld {
		var p patch
		if f.old != f.now {
			var err error
			if p, err = patches.next(ctx, i); err != nil {
				return nil, err
			}
		}
		file.Added, file.Removed = p.added, p.removed
		if f.moved() || p.oldFirst != nil || p.oldNUL {
			file.Before = &scan.Before{Path: f.oldPath, FirstLine: p.oldFirst, Binary: p.oldNUL}
		}
	}
	defer scan.Begin(ctx, scan.PhaseRead)()
	err := c.repo.next(ctx, func(obj object, content io.Reader) (err error) {
		if !hasOld || len(file.Added)+len(file.Removed) > 0 || file.Before != nil {
			file.Content, err = obj.read("blob", content, c.repo.git.limits.ScannedSize)
		}
		return err
	})

	if f.newMode.kind() == typeSymlink && len(file.Content) <= maxTarget { // to what isn't there
		file.LinkTo = scan.LinkTarget(f.path, string(file.Content))
	}
	if !hasOld && err == nil {
		file.Added = []scan.LineRange{{First: 1, Last: countLines(file.Content)}}
	}
	return file, err
}

// countLines counts the lines of a file that is not empty, as git does.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if data[len(data)-1] != '\n' {
		n++
	}
	return n
}
