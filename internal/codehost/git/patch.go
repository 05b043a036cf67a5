package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/prwarden/prwarden/internal/scan"
)

// patches is the running command that compares files; without files there is
// none.
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

	r := c.repo
	old, err := writeTree(r.dir, before)
	if err != nil {
		return nil, err
	}
	now, err := writeTree(r.dir, after)
	if err != nil {
		return nil, err
	}
	proc, err := r.git.start(ctx, r.dir, newCommand("diff-tree",
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

// patchReader reads the output of `git diff-tree -p --text` between two trees
// whose names are numbers, and keeps only which lines were added.
type patchReader struct {
	r    *bufio.Reader
	line []byte // the beginning of the line that is next, nil when not read
}

var errPatch = errors.New("git: unexpected text in a patch")

var (
	fileHeader = []byte("diff --git a/")
	hunkHeader = []byte("@@ -")
)

// next returns the number of the next file and its added lines. It returns
// io.EOF after the last file.
func (p *patchReader) next() (number int, added []scan.LineRange, err error) {
	line, err := p.peek()
	if err != nil {
		return 0, nil, err
	}
	rest, ok := bytes.CutPrefix(line, fileHeader)
	if !ok {
		return 0, nil, fmt.Errorf("%w: %.80q is no file header", errPatch, line)
	}
	name, _, _ := bytes.Cut(rest, []byte(" b/"))
	number, err = strconv.Atoi(string(name))
	if err != nil || number < 0 {
		return 0, nil, fmt.Errorf("%w: %.80q names no number", errPatch, line)
	}
	p.line = nil
	for {
		line, err := p.peek()
		if errors.Is(err, io.EOF) || err == nil && bytes.HasPrefix(line, fileHeader) {
			return number, added, nil
		}
		if err != nil {
			return 0, nil, err
		}
		header := bytes.HasPrefix(line, hunkHeader)
		if header {
			added, err = p.hunk(line, added)
		} else if !extended(line) {
			err = fmt.Errorf("%w: %.80q", errPatch, line)
		}
		if err != nil {
			return 0, nil, err
		}
		if !header {
			p.line = nil
		}
	}
}

// extended tells whether line may stand between a file's header and its hunks.
func extended(line []byte) bool {
	for _, prefix := range []string{
		"index ", "--- ", "+++ ", "new file mode ", "old mode ", "new mode ", "deleted file mode ",
	} {
		if bytes.HasPrefix(line, []byte(prefix)) {
			return true
		}
	}
	return false
}

// hunk reads one hunk, whose first line is header, and appends its added lines
// to added.
func (p *patchReader) hunk(header []byte, added []scan.LineRange) ([]scan.LineRange, error) {
	oldCount, newFirst, newCount, ok := parseHunk(header)
	if !ok {
		return nil, fmt.Errorf("%w: hunk %.80q", errPatch, header)
	}
	p.line = nil
	for at := newFirst; oldCount > 0 || newCount > 0; {
		line, err := p.peek()
		if err != nil {
			return nil, noEOF(err)
		}
		p.line = nil
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
	if line, err := p.peek(); err == nil && line[0] == '\\' {
		p.line = nil
	}
	return added, nil
}

// parseHunk reads `@@ -a,b +c,d @@`; b and d are 1 when left out.
func parseHunk(line []byte) (oldCount, newFirst, newCount int, ok bool) {
	old, rest, ok1 := bytes.Cut(line[len(hunkHeader):], []byte(" +"))
	now, _, ok2 := bytes.Cut(rest, []byte(" @@"))
	_, oldCount, ok3 := parseSpan(old)
	newFirst, newCount, ok4 := parseSpan(now)
	return oldCount, newFirst, newCount, ok1 && ok2 && ok3 && ok4
}

func parseSpan(span []byte) (first, count int, ok bool) {
	const most = math.MaxInt32 // lines; git's own bound
	a, b, two := bytes.Cut(span, []byte(","))
	first, err1 := strconv.Atoi(string(a))
	count = 1
	var err2 error
	if two {
		count, err2 = strconv.Atoi(string(b))
	}
	return first, count, err1 == nil && err2 == nil && first >= 0 && count >= 0 && first < most && count < most
}

// peek returns the beginning of the next line, never empty, and leaves it
// there until p.line is set to nil. It is valid until the next peek.
func (p *patchReader) peek() ([]byte, error) {
	if p.line != nil {
		return p.line, nil
	}
	line, err := p.r.ReadSlice('\n')
	if len(line) == 0 {
		return nil, err
	}
	if err == nil {
		p.line = line
		return line, nil
	}
	p.line = bytes.Clone(line[:min(len(line), 256)]) // reading on overwrites it
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = p.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if errors.Is(err, io.EOF) { // git ends each line
		return nil, io.ErrUnexpectedEOF
	}
	return p.line, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
