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
		file.Added = p.added
		if f.moved() || p.oldFirst != nil || p.oldNUL {
			file.Before = &scan.Before{Path: f.oldPath, FirstLine: p.oldFirst, Binary: p.oldNUL}
		}
	}
	defer scan.Begin(ctx, scan.PhaseRead)()
	err := c.repo.next(ctx, func(obj object, content io.Reader) (err error) {
		if !hasOld || len(file.Added) > 0 || file.Before != nil {
			file.Content, err = obj.read("blob", content, c.repo.git.limits.ScannedSize)
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
// names are numbers.
type patches struct {
	proc   *process // nil when there is nothing to compare
	r      *bufio.Reader
	header []byte // the first line of the next file, when it was read
	hasNUL bool   // the line that was read last has one
}

// patch is what is kept of the patch of a file.
type patch struct {
	added    []scan.LineRange
	oldFirst []byte // the first line as it was, up to 255 bytes, when the file has another one now
	oldNUL   bool   // a line that was removed has a NUL
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
		if f := &c.files[i]; c.compared(f) && c.hasOld(f) && f.old != f.now {
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

// next returns the patch of the next file, which must be number i.
func (p *patches) next(ctx context.Context, i int) (patch, error) {
	defer scan.Begin(ctx, scan.PhaseDiff)()
	number, found, err := p.file()
	switch {
	case errors.Is(err, errPatch):
		return patch{}, err
	case err != nil:
		if ended := p.proc.wait(ctx); ended != nil { // it says why the patch is cut off
			return patch{}, ended
		}
		return patch{}, noEOF(err)
	case number != i:
		return patch{}, fmt.Errorf("%w: file %d instead of %d", errPatch, number, i)
	}

	return found, nil
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
	hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	// otherLine is what may stand between a file's header and its hunks, or after
	// the last line of a hunk.
	otherLine = regexp.MustCompile(`^(index |--- |\+\+\+ |new file mode |old mode |new mode |deleted file mode |\\)`)
)

// file returns the number of the next file and its patch. It returns io.EOF after
// the last file.
func (p *patches) file() (number int, found patch, err error) {
	line := p.header
	if line == nil {
		if line, err = p.line(); err != nil {
			return 0, patch{}, err
		}
	}
	p.header = nil
	name := fileHeader.FindSubmatch(line)
	if name == nil {
		return 0, patch{}, fmt.Errorf("%w: %.80q is no file header", errPatch, line)
	}

	if number, err = strconv.Atoi(string(name[1])); err != nil {
		return 0, patch{}, fmt.Errorf("%w: %.80q names no number", errPatch, line)
	}

	for {
		line, err := p.line()
		switch {
		case errors.Is(err, io.EOF):
			return number, found, nil
		case err != nil:
			return 0, patch{}, err
		case fileHeader.Match(line):
			p.header = bytes.Clone(line) // reading on overwrites it
			return number, found, nil
		case otherLine.Match(line):
			continue
		}
		if err = p.hunk(line, &found); err != nil {
			return 0, patch{}, err
		}
	}
}

// hunk reads one hunk, whose first line is header, into the patch of its file.
func (p *patches) hunk(header []byte, into *patch) error {
	counts := hunkHeader.FindSubmatch(header)
	if counts == nil {
		return fmt.Errorf("%w: hunk %.80q", errPatch, header)
	}
	oldAt, oldCount, at, newCount, err := hunkCounts(counts)
	if err != nil {
		return fmt.Errorf("%w: hunk %.80q: %w", errPatch, header, err)
	}

	for oldCount > 0 || newCount > 0 {
		line, err := p.line()
		if err != nil {
			return noEOF(err)
		}
		if oldAt == 1 && (line[0] == '-' || line[0] == ' ' && at > 1) {
			into.oldFirst = append([]byte{}, line[1:min(len(line), maxFirstLine)]...)
		}
		switch line[0] {
		case ' ':
			oldCount--
			oldAt++
			newCount--
			at++
		case '-':
			oldCount--
			oldAt++
			into.oldNUL = into.oldNUL || p.hasNUL
		case '+':
			newCount--
			if n := len(into.added); n > 0 && into.added[n-1].Last == at-1 {
				into.added[n-1].Last = at
			} else {
				into.added = append(into.added, scan.LineRange{First: at, Last: at})
			}
			at++
		case '\\': // `\ No newline at end of file`
		default:
			return fmt.Errorf("%w: %.80q in a hunk", errPatch, line)
		}
		if oldCount < 0 || newCount < 0 {
			return fmt.Errorf("%w: a hunk longer than its header says", errPatch)
		}
	}

	return nil
}

// maxFirstLine is how much of a first line is kept, in bytes, with the character
// before it in a patch.
const maxFirstLine = 256

// hunkCounts reads the numbers in the header of a hunk.
func hunkCounts(numbers [][]byte) (oldAt, oldCount, newAt, newCount int, err error) {
	for i, into := range []*int{&oldAt, &oldCount, &newAt, &newCount} {
		n, oneErr := count(numbers[1+i])
		*into, err = n, errors.Join(err, oneErr)
	}

	return oldAt, oldCount, newAt, newCount, err
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
	p.hasNUL = bytes.IndexByte(line, 0) >= 0
	if err == nil {
		return line, nil
	}
	if len(line) == 0 {
		return nil, err
	}

	start := bytes.Clone(line[:min(len(line), 256)]) // reading on overwrites it
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = p.r.ReadSlice('\n')
		p.hasNUL = p.hasNUL || bytes.IndexByte(more, 0) >= 0
	}
	return start, noEOF(err) // git ends each line
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
