package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"

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
		if f := &c.files[i]; f.compared() {
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
	file := &scan.File{Path: f.path, Size: f.size, Submodule: f.newMode.kind() == typeGitlink}
	if !f.compared() {
		return file, nil
	}

	hasOld := c.hasOld(f)
	if hasOld {
		var err error
		if file.Added, err = patches.next(ctx, i); err != nil {
			return nil, err
		}
	}
	defer scan.Begin(ctx, scan.PhaseRead)()
	err := c.repo.next(ctx, func(obj object, content io.Reader) (err error) {
		if !hasOld || len(file.Added) > 0 {
			file.Content, err = obj.read("blob", content, scan.MaxFileSize)
		}
		return err
	})

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

// patches reads the output of a `git diff-tree -p --text` between two trees whose
// names are numbers, and keeps only which lines were added.
type patches struct {
	proc   *process // nil when there is nothing to compare
	r      *bufio.Reader
	header []byte // the first line of the next file, when it was read
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
	var before, after bytes.Buffer
	for i := range c.files {
		if f := &c.files[i]; f.compared() && c.hasOld(f) {
			fmt.Fprintf(&before, "100644 %08d\x00%s", i, f.old.raw())
			fmt.Fprintf(&after, "100644 %08d\x00%s", i, f.now.raw())
		}
	}

	if after.Len() == 0 {
		return &patches{}, nil
	}

	old, err := c.repo.writeTree(before.Bytes())
	if err != nil {
		return nil, err
	}
	now, err := c.repo.writeTree(after.Bytes())
	if err != nil {
		return nil, err
	}

	proc, err := c.repo.git.start(ctx, newCommand("diff-tree",
		"-r", "-p", "-U1", "--text", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--full-index", "--src-prefix=a/", "--dst-prefix=b/").oids(old, now))
	if err != nil {
		return nil, err
	}
	return &patches{proc: proc, r: bufio.NewReaderSize(proc.stdout, 64<<10)}, nil
}

// next returns the added lines of the next file, which must be number i.
func (p *patches) next(ctx context.Context, i int) ([]scan.LineRange, error) {
	defer scan.Begin(ctx, scan.PhaseDiff)()
	number, added, err := p.file()
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
	if _, _, err := p.file(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more files than expected", errPatch)
	}
	return p.proc.wait(ctx)
}

var (
	errPatch   = errors.New("git: unexpected text in a patch")
	fileHeader = regexp.MustCompile(`^diff --git a/(\d+) b/`)
	hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	// otherLine is what may stand between a file's header and its hunks, or after
	// the last line of a hunk.
	otherLine = regexp.MustCompile(`^(index |--- |\+\+\+ |new file mode |old mode |new mode |deleted file mode |\\)`)
)

// file returns the number of the next file and its added lines. It returns
// io.EOF after the last file.
func (p *patches) file() (number int, added []scan.LineRange, err error) {
	line := p.header
	if line == nil {
		if line, err = p.line(); err != nil {
			return 0, nil, err
		}
	}
	p.header = nil
	name := fileHeader.FindSubmatch(line)
	if name == nil {
		return 0, nil, fmt.Errorf("%w: %.80q is no file header", errPatch, line)
	}

	if number, err = strconv.Atoi(string(name[1])); err != nil {
		return 0, nil, fmt.Errorf("%w: %.80q names no number", errPatch, line)
	}

	for {
		line, err := p.line()
		switch {
		case errors.Is(err, io.EOF):
			return number, added, nil
		case err != nil:
			return 0, nil, err
		case fileHeader.Match(line):
			p.header = bytes.Clone(line) // reading on overwrites it
			return number, added, nil
		case otherLine.Match(line):
			continue
		}
		if added, err = p.hunk(line, added); err != nil {
			return 0, nil, err
		}
	}
}

// hunk reads one hunk, whose first line is header, and appends its added lines
// to added.
func (p *patches) hunk(header []byte, added []scan.LineRange) ([]scan.LineRange, error) {
	counts := hunkHeader.FindSubmatch(header)
	if counts == nil {
		return nil, fmt.Errorf("%w: hunk %.80q", errPatch, header)
	}
	oldCount, err1 := count(counts[1])
	at, err2 := count(counts[2])
	newCount, err3 := count(counts[3])
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("%w: hunk %.80q: %w", errPatch, header, err)
	}

	for oldCount > 0 || newCount > 0 {
		line, err := p.line()
		if err != nil {
			return nil, noEOF(err)
		}
		switch line[0] {
		case ' ':
			oldCount--
			newCount--
			at++
		case '-':
			oldCount--
		case '+':
			newCount--
			if n := len(added); n > 0 && added[n-1].Last == at-1 {
				added[n-1].Last = at
			} else {
				added = append(added, scan.LineRange{First: at, Last: at})
			}
			at++
		case '\\': // `\ No newline at end of file`
		default:
			return nil, fmt.Errorf("%w: %.80q in a hunk", errPatch, line)
		}
		if oldCount < 0 || newCount < 0 {
			return nil, fmt.Errorf("%w: a hunk longer than its header says", errPatch)
		}
	}

	return added, nil
}

// count reads a number of lines, which is 1 when it is left out.
func count(digits []byte) (int, error) {
	if len(digits) == 0 {
		return 1, nil
	}
	n, err := strconv.ParseInt(string(digits), 10, 32) // git's own bound
	return int(n), err
}

// line returns the beginning of the next line, never empty. It is valid until the
// next call.
func (p *patches) line() ([]byte, error) {
	line, err := p.r.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	if len(line) == 0 {
		return nil, err
	}

	start := bytes.Clone(line[:min(len(line), 256)]) // reading on overwrites it
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = p.r.ReadSlice('\n')
	}
	return start, noEOF(err) // git ends each line
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
