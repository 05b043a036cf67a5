package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/scan"
)

// formatAtOnce is how many findings are turned into text at a time.
const formatAtOnce = 64

// worker matches files, one after the other.
type worker struct {
	rules  *Rules
	o      Options
	buf    []byte // of the file
	single *scan.Single
}

func newWorker(rules *Rules, o Options) (*worker, error) {
	single, err := rules.single(o)
	return &worker{rules: rules, o: o, buf: make([]byte, bufferSize), single: single}, err
}

// run scans files until there are no more or ctx ends.
func (w *worker) run(ctx context.Context, files <-chan item) {
	for it := range files {
		if err := w.contained(ctx, it); err != nil {
			return
		}
		close(it.result.text)
	}
}

// contained turns a panic into a file that can't be read: content that nobody
// has looked at yet must not end the scan of all others.
func (w *worker) contained(ctx context.Context, it item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			fault := fmt.Errorf("a fault in prwarden: %v", p)
			it.result.notices = []Notice{{Path: it.file, Reason: Unreadable, Err: fault}}
			err = nil
		}
	}()

	return w.scan(ctx, it)
}

// scan scans one file. It fails with ctx's error.
func (w *worker) scan(ctx context.Context, it item) error {
	if err := ctx.Err(); err != nil || w.rules.exclude.Match(it.file) {
		return err
	}

	r := it.result
	skip := func(n Notice) error {
		n.Path = it.file
		r.notices = []Notice{n}
		return nil
	}
	content, size, err := it.read(w.buf)
	switch {
	case errors.Is(err, errSpecial):
		return skip(Notice{Reason: SkipSpecial})
	case err != nil:
		return skip(failed(it.file, err))
	case content == nil:
		return skip(Notice{Reason: finding.SkipFileTooLarge, Bytes: size})
	case scan.IsBinary(content):
		return skip(Notice{Reason: finding.SkipBinary, Bytes: size})
	}

	lines := match.SplitLines(content)
	found, err := w.single.Scan(ctx, &scan.File{
		Path: it.file, Size: size, Content: content, Added: []scan.LineRange{{First: 1, Last: lines.Count()}},
	})
	if err != nil {
		return err
	}

	r.counts = counts{scanned: Total{Count: 1, Bytes: size}, suppressed: len(found.Suppressed)}
	total := 0
	for severity, n := range found.Counts {
		r.counts.findings[severity] += n
		total += n
	}
	r.notices = notices(it.file, lines, found, total)
	if w.o.Found != nil {
		w.o.Found(found)
	}
	if w.o.Format == nil {
		return nil
	}

	return w.write(ctx, it, found.Findings)
}

// notices are about parts of a file.
func notices(file string, lines match.Lines, found scan.FileResult, total int) (list []Notice) {
	for _, s := range found.Skips {
		n := Notice{Path: file, Line: s.Line, RuleID: s.RuleID, Reason: s.Reason}
		if s.Reason == finding.SkipLineTooLong {
			n.Bytes = int64(len(lines.Line(s.Line)))
		}
		list = append(list, n)
	}
	if total > len(found.Findings) {
		list = append(list, Notice{Path: file, Reason: SkipTooManyHits})
	}

	return list
}

// write turns findings into text and sends it. Of a file with much text it waits
// until the output comes to it.
func (w *worker) write(ctx context.Context, it item, findings []finding.Finding) error {
	var text []byte
	for len(findings) > 0 {
		n := min(len(findings), formatAtOnce)
		text = w.o.Format(text, it.file, findings[:n])
		findings = findings[n:]
		if len(text) < chunkSize && len(findings) > 0 {
			continue
		}

		select {
		case it.result.text <- text:
			text = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}

	return nil
}

// errSpecial says that a file is none that can be read to its end.
var errSpecial = errors.New("not a regular file")

// bufferSize is room for a file that is not too large, and for a byte that
// tells that it is.
const bufferSize = scan.MaxFileSize + 1

// read reads a file as a review would see it: a symbolic link is a file that
// holds its target. The content is in buf, which has bufferSize. It is nil when
// the file is over scan.MaxFileSize; size is what is known of its size then.
func (it item) read(buf []byte) (content []byte, size int64, err error) {
	if it.kind == symlink {
		target, err := os.Readlink(it.path)
		if err != nil {
			return nil, 0, err
		}
		n := copy(buf, target) // no system has longer ones

		return buf[:n], int64(n), nil
	}

	f, err := os.OpenFile(it.path, os.O_RDONLY|fileFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errSpecial
	}
	if info.Size() > scan.MaxFileSize {
		return nil, info.Size(), nil
	}

	return readAll(buf, info.Size(), f)
}

// readAll reads a file of a size to its end, or until buf is full. A file that
// says that it has no size is one that the system makes up as it is read; it is
// read until nothing comes. Another one may grow or shrink meanwhile: then what
// counts is what was there.
func readAll(buf []byte, size int64, f io.Reader) (content []byte, got int64, err error) {
	n := 0
	for n < len(buf) {
		more, err := f.Read(buf[n:])
		n += more
		if errors.Is(err, io.EOF) || err == nil && size > 0 && int64(n) == size {
			return buf[:n], int64(n), nil
		}
		if err != nil {
			return nil, 0, err
		}
	}

	return nil, int64(n), nil
}
