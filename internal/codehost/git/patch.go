package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

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

	r.grew(int64(len(before)+len(after)) * 36) // an entry of such a tree has so many bytes
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
	r      *bufio.Reader
	header []byte // the first line of the next file, when it was read
}

var (
	errPatch   = errors.New("git: unexpected text in a patch")
	fileHeader = regexp.MustCompile(`^diff --git a/(\d+) b/`)
	hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	// otherLine is what may stand between a file's header and its hunks, or after
	// the last line of a hunk.
	otherLine = regexp.MustCompile(`^(index |--- |\+\+\+ |new file mode |old mode |new mode |deleted file mode |\\)`)
)

// next returns the number of the next file and its added lines. It returns
// io.EOF after the last file.
func (p *patchReader) next() (number int, added []scan.LineRange, err error) {
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
func (p *patchReader) hunk(header []byte, added []scan.LineRange) ([]scan.LineRange, error) {
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
func (p *patchReader) line() ([]byte, error) {
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

// writeTree stores a flat tree, sorted already, in the repository dir.
func writeTree(dir string, entries []entry) (OID, error) {
	var body bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(string(e.oid))
		if err != nil {
			return "", fmt.Errorf("git: tree: %w", err)
		}
		fmt.Fprintf(&body, "%o %s\x00%s", uint32(e.mode), e.name, raw)
	}

	data := append(fmt.Appendf(nil, "tree %d\x00", body.Len()), body.Bytes()...)
	sum := sha1.Sum(data) // what git calls objects by
	oid := hex.EncodeToString(sum[:])
	path := filepath.Join(dir, "objects", oid[:2], oid[2:])
	now := time.Now()
	if err := os.Chtimes(path, now, now); err == nil { // it is there, and stays for another day
		return OID(oid), nil
	}

	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, zlib.NoCompression) // object names don't get smaller
	if err == nil {
		_, err = z.Write(data)
		err = errors.Join(err, z.Close())
	}
	if err == nil {
		err = writeFile(path, packed.Bytes())
	}

	if err != nil {
		return "", fmt.Errorf("git: tree: %w", err)
	}
	return OID(oid), nil
}

// writeFile makes a file appear at once and whole: others may read it now.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}

	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
