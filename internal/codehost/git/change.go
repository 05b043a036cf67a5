package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/prwarden/prwarden/internal/scan"
)

// change is an opened pull request, read from one generation of the cache.
type change struct {
	repo       *Repo
	head, base Commit
	start      Commit // their merge base
	pairs      []pair // by path
}

var _ scan.Change = (*change)(nil)

// HeadSHA implements scan.Change.
func (c *change) HeadSHA() string { return string(c.head.OID) }

// BaseSHA implements scan.Change.
func (c *change) BaseSHA() string { return string(c.base.OID) }

// FileCount implements scan.Change.
func (c *change) FileCount() int { return len(c.pairs) }

// Close implements scan.Change. It can be called again.
func (c *change) Close() error { return c.repo.close() }

// ReadFile implements scan.Change. A file that was not among the paths to
// prefetch and is not in the cache is fetched.
func (c *change) ReadFile(ctx context.Context, side scan.Side, path string, limit int) ([]byte, bool, error) {
	commit := c.head
	switch side {
	case scan.Base:
		commit = c.base
	case scan.MergeBase:
		commit = c.start
	}
	e, found, err := c.repo.lookup(ctx, commit.Tree, path)
	if err == nil && (!found || e.mode.kind() != typeFile) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, c.repo.fail(ctx, err)
	}
	data, _, err := c.repo.objects.read(ctx, e.oid, "blob", int64(limit))
	if errors.Is(err, errMissing) {
		if err = c.fetchLate(ctx, e.oid); err == nil {
			data, _, err = c.repo.objects.read(ctx, e.oid, "blob", int64(limit))
		}
	}
	if err != nil {
		return nil, false, c.repo.fail(ctx, err)
	}
	return data, true, nil
}

// fetchLate fetches one object after Open, when the entry is not locked any more.
func (c *change) fetchLate(ctx context.Context, oid OID) error {
	entry, err := c.repo.store.lockEntry(ctx, c.repo.request)
	if err != nil {
		return err
	}
	defer entry.unlock(ctx)
	if err := c.repo.fetchMissing(ctx, []OID{oid}); err != nil {
		_ = sweep(c.repo.gen.dir)
		return err
	}
	return nil
}

// Files implements scan.Change.
func (c *change) Files(ctx context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		if err := c.files(ctx, yield); err != nil {
			yield(nil, c.repo.fail(ctx, err))
		}
	}
}

func (c *change) files(ctx context.Context, yield func(*scan.File, error) bool) error {
	patches, err := c.startPatches(ctx)
	if err != nil {
		return err
	}
	defer patches.kill()
	contents := c.readAhead(ctx)
	defer contents.stop()
	for i := range c.pairs {
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

func (c *change) file(ctx context.Context, i int, patches *patches, contents *contents) (*scan.File, error) {
	p := &c.pairs[i]
	file := &scan.File{Path: p.path, Size: p.size}
	if p.newMode.kind() == typeGitlink {
		file.Submodule = true
		return file, nil
	}
	if !p.compared() {
		return file, nil
	}
	var added []scan.LineRange
	isNew := !c.hasOld(p)
	if !isNew {
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
	if isNew {
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

// compared tells whether p's lines are looked at: whether it may have added
// some, and is small enough to be scanned.
func (p *pair) compared() bool {
	return p.newMode.blob() && (p.old != p.now || p.replaced()) && p.size > 0 && p.size <= scan.MaxFileSize
}

// replaced tells whether a file became a symlink or the like. git shows that
// as deleted and added, even when the content stays.
func (p *pair) replaced() bool { return p.oldMode.kind() != p.newMode.kind() }

// hasOld tells whether p, which is compared, has an old side to compare with.
// Of a file without one all lines were added, and git need not say so.
func (c *change) hasOld(p *pair) bool {
	return p.old != noOID && !p.replaced() && p.oldSize <= c.repo.store.git.limits.OldFileSize
}

// patches is the running command that compares files.
type patches struct {
	proc   *process
	reader *patchReader
}

// next returns the added lines of the next file, which must be number i.
func (p *patches) next(ctx context.Context, i int) ([]scan.LineRange, error) {
	defer scan.Begin(ctx, scan.PhaseDiff)()
	number, added, err := p.reader.next()
	if err != nil {
		if ended := p.proc.wait(ctx); ended != nil && !errors.Is(err, errPatch) {
			return nil, ended
		}
		return nil, noEOF(err)
	}
	if number != i {
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

// startPatches has git compare the paired files. The pairs are put into two
// flat trees, each side of a pair under the pair's number: so a patch names
// its pair exactly, whatever the paths are, no path meets an attribute, and
// files that are too large are left out.
//
// The contents decide the hunks; names and modes don't. There is one line of
// context because git without context first cuts off what both files end in,
// which can give other hunks.
func (c *change) startPatches(ctx context.Context) (*patches, error) {
	var before, after []entry
	for i := range c.pairs {
		if p := &c.pairs[i]; p.compared() && c.hasOld(p) {
			name := fmt.Sprintf("%08d", i)
			before = append(before, entry{name: name, mode: typeFile | 0o644, oid: p.old})
			after = append(after, entry{name: name, mode: typeFile | 0o644, oid: p.now})
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
