package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/prwarden/prwarden/internal/scan"
)

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
	removed  []scan.Removed
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
			if n := len(into.removed); n == 0 || into.removed[n-1].Line != at {
				into.removed = append(into.removed, scan.Removed{Line: at})
			}
			last := &into.removed[len(into.removed)-1]
			last.Text = append(last.Text, line[1:]...)
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

// line returns the next line, never empty; of a long one that was not removed, the
// beginning. It is valid until the next call.
func (p *patches) line() ([]byte, error) {
	line, err := p.r.ReadSlice('\n')
	p.hasNUL = bytes.IndexByte(line, 0) >= 0
	if err == nil {
		return line, nil
	}
	if len(line) == 0 {
		return nil, err
	}

	isRemoved := line[0] == '-'
	if !isRemoved {
		line = line[:min(len(line), 256)]
	}
	start := bytes.Clone(line) // reading on overwrites it
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = p.r.ReadSlice('\n')
		p.hasNUL = p.hasNUL || bytes.IndexByte(more, 0) >= 0
		if isRemoved {
			start = append(start, more...)
		}
	}
	return start, noEOF(err) // git ends each line
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
