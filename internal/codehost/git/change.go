package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"sync"

	"github.com/prwarden/prwarden/internal/scan"
)

// change is an opened pull request, read from one generation of the cache.
type change struct {
	repo                  *Repo
	head, base, mergeBase Commit
	files                 []changedFile // by path
}

var _ scan.Change = (*change)(nil)

// HeadSHA implements scan.Change.
func (c *change) HeadSHA() string { return string(c.head.OID) }

// BaseSHA implements scan.Change.
func (c *change) BaseSHA() string { return string(c.base.OID) }

// FileCount implements scan.Change.
func (c *change) FileCount() int { return len(c.files) }

// Close implements scan.Change. It can be called again.
func (c *change) Close() error { return c.repo.close() }

// ReadFile implements scan.Change. Files that were not among the paths to
// prefetch may be missing.
func (c *change) ReadFile(ctx context.Context, side scan.Side, path string, limit int) ([]byte, bool, error) {
	commit := c.head
	switch side {
	case scan.Base:
		commit = c.base
	case scan.MergeBase:
		commit = c.mergeBase
	}

	oid, err := c.repo.file(ctx, commit.Tree, path)
	if err == nil && oid == "" {
		return nil, false, nil
	}
	var data []byte
	if err == nil {
		data, _, err = c.repo.objects.read(ctx, oid, "blob", int64(limit))
	}
	if err != nil {
		return nil, false, c.repo.fail(ctx, err)
	}
	return data, true, nil
}

// Files implements scan.Change.
func (c *change) Files(ctx context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		if err := c.eachFile(ctx, yield); err != nil {
			yield(nil, c.repo.fail(ctx, err))
		}
	}
}

func (c *change) eachFile(ctx context.Context, yield func(*scan.File, error) bool) error {
	patches, err := c.startPatches(ctx)
	if err != nil {
		return err
	}
	defer patches.kill()
	contents := c.startReading(ctx)
	defer contents.stop()

	for i := range c.files {
		file, err := c.file(ctx, i, patches, contents)
		if err != nil {
			return err
		}
		if !yield(file, nil) {
			return nil
		}
	}
	return patches.end(ctx)
}

func (c *change) file(ctx context.Context, i int, patches *patches, contents *reading) (*scan.File, error) {
	f := &c.files[i]
	file := &scan.File{Path: f.path, Size: f.size, Submodule: f.newMode.kind() == typeGitlink}
	if !f.compared() {
		return file, nil
	}

	var added []scan.LineRange
	hasOld := c.hasOld(f)
	if hasOld {
		var err error
		if added, err = patches.next(ctx, i); err != nil {
			return nil, err
		}
	}

	defer scan.Begin(ctx, scan.PhaseRead)()
	data, err := contents.next(ctx)
	if err != nil {
		return nil, err
	}
	if !hasOld {
		added = []scan.LineRange{{First: 1, Last: countLines(data)}}
	}
	if len(added) == 0 {
		c.repo.store.buffers.put(data)
		return file, nil
	}
	file.Added, file.Content = added, data
	file.Release = func() { c.repo.store.buffers.put(data) }
	return file, nil
}

// countLines counts the lines of a file that is not empty, as git does.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// compared tells whether the lines of f are looked at: whether it may have added
// some, and is small enough to be scanned.
func (f *changedFile) compared() bool {
	return f.newMode.blob() && (f.old != f.now || f.replaced()) && f.size > 0 && f.size <= scan.MaxFileSize
}

// replaced tells whether a file became a symlink or the like. git shows that
// as deleted and added, even when the content stays.
func (f *changedFile) replaced() bool { return f.oldMode.kind() != f.newMode.kind() }

// hasOld tells whether f, which is compared, has an old side to compare with.
// Of a file without one all lines were added, and git need not say so.
func (c *change) hasOld(f *changedFile) bool {
	return f.old != noOID && !f.replaced() && f.oldSize <= c.repo.store.git.limits.OldFileSize
}

// patches is the running command that compares files.
type patches struct {
	proc   *process
	reader *patchReader
}

// startPatches has git compare the files. They are put into two flat trees, each
// side of a file under the file's number: so a patch names its file exactly,
// whatever the paths are, no path meets an attribute, and files that are too
// large are left out.
//
// The contents decide the hunks; names and modes don't. There is one line of
// context because git without context first cuts off what both files end in,
// which can give other hunks.
func (c *change) startPatches(ctx context.Context) (*patches, error) {
	var before, after []entry
	for i := range c.files {
		if f := &c.files[i]; f.compared() && c.hasOld(f) {
			name := fmt.Sprintf("%08d", i)
			before = append(before, entry{name: name, mode: typeFile | 0o644, oid: f.old})
			after = append(after, entry{name: name, mode: typeFile | 0o644, oid: f.now})
		}
	}
	if len(after) == 0 {
		return &patches{}, nil
	}

	old, err := c.repo.writeTree(before)
	if err != nil {
		return nil, err
	}
	now, err := c.repo.writeTree(after)
	if err != nil {
		return nil, err
	}
	proc, err := c.repo.store.git.start(ctx, c.repo.gen.dir, newCommand("diff-tree",
		"-r", "-p", "-U1", "--text", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--full-index", "--src-prefix=a/", "--dst-prefix=b/").oids(old, now))
	if err != nil {
		return nil, err
	}
	return &patches{proc: proc, reader: &patchReader{r: bufio.NewReaderSize(proc.stdout, 64<<10)}}, nil
}

// next returns the added lines of the next file, which must be number i.
func (p *patches) next(ctx context.Context, i int) ([]scan.LineRange, error) {
	defer scan.Begin(ctx, scan.PhaseDiff)()
	number, added, err := p.reader.next()
	switch {
	case errors.Is(err, errPatch):
		return nil, err
	case err != nil:
		if ended := p.proc.wait(ctx); ended != nil { // it says why the patch is cut off
			return nil, ended
		}
		return nil, noEOF(err)
	case number != i:
		return nil, fmt.Errorf("%w: file %d instead of %d", errPatch, number, i)
	}
	return added, nil
}

func (p *patches) kill() {
	if p.proc != nil {
		p.proc.kill()
	}
}

// end checks that nothing was left and that git ended well.
func (p *patches) end(ctx context.Context) error {
	if p.proc == nil {
		return nil
	}
	if _, _, err := p.reader.next(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more files than expected", errPatch)
	}
	return p.proc.wait(ctx)
}

// filesAhead is how many files' contents are read before git has said which of
// their lines were added. Each has at most scan.MaxFileSize.
const filesAhead = 8

// reading is the reading of files of a change at head, while git compares them.
type reading struct {
	contents chan []byte
	err      error // why contents ended, once it is closed
	cancel   context.CancelFunc
}

// startReading begins to read the contents of all files that are compared. Until
// stop nothing else may use the repository's objects.
func (c *change) startReading(ctx context.Context) *reading {
	var blobs []string
	for i := range c.files {
		if f := &c.files[i]; f.compared() {
			blobs = append(blobs, string(f.now))
		}
	}

	ctx, cancel := context.WithCancel(ctx)
	r := &reading{contents: make(chan []byte, filesAhead), cancel: cancel}
	go func() {
		defer close(r.contents)
		r.err = c.repo.objects.batch(ctx, queryContents, blobs, func(obj object, content io.Reader) error {
			data := c.repo.store.buffers.get(min(obj.size, scan.MaxFileSize))
			if err := obj.read("blob", content, data); err != nil {
				return err
			}
			select {
			case r.contents <- data:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	return r
}

// next returns the content of the next file that is compared.
func (r *reading) next(ctx context.Context) ([]byte, error) {
	data, ok := <-r.contents
	switch {
	case ok:
		return data, nil
	case r.err != nil:
		return nil, r.err
	}
	return nil, context.Cause(ctx)
}

// stop ends the reading and waits for its end.
func (r *reading) stop() {
	r.cancel()
	for range r.contents {
	}
}

// buffers are bytes of files that were scanned, kept for other files.
type buffers struct{ pool sync.Pool }

// get returns n bytes with anything in them.
func (b *buffers) get(n int64) []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok && int64(cap(*kept)) >= n {
		return (*kept)[:n]
	}
	// Powers of two, so that one that was kept mostly suffices.
	return make([]byte, n, max(16<<10, int64(1)<<bits.Len64(uint64(n))))
}

// put keeps bytes that get gave.
func (b *buffers) put(data []byte) { b.pool.Put(&data) }
