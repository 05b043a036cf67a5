package folder

import (
	"context"
	"errors"
	"fmt"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/scan"
)

const (
	// formatted is how many findings are turned into text at a time.
	formatted = 256
	// flushed is how much text, in bytes, a worker gathers before it waits for
	// its turn to write it.
	flushed = 64 << 10
)

// worker matches files, one after the other.
type worker struct {
	rules  *Rules
	o      Options
	order  *order
	buf    []byte // of the file
	text   []byte // of its findings
	single *scan.Single
}

func newWorker(rules *Rules, o Options, order *order) (*worker, error) {
	single, err := rules.single(o)
	return &worker{rules: rules, o: o, order: order, buf: make([]byte, bufferSize), single: single}, err
}

func (w *worker) run(ctx context.Context, files <-chan item) {
	for it := range files {
		if ctx.Err() != nil {
			return
		}
		r, ok := w.contained(ctx, it)
		if !ok {
			return
		}
		w.order.done(it.number, r)
	}
}

// contained turns a panic into a file that can't be read: content that nobody
// has looked at yet must not end the scan of all others.
func (w *worker) contained(ctx context.Context, it item) (r result, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			r, ok = result{notices: []Notice{{Path: it.file, Reason: Unreadable, Err: fmt.Errorf("a fault in prwarden: %v", p)}}}, true
		}
	}()
	return w.scan(ctx, it)
}

// scan scans one file. It says false when the scan is over.
func (w *worker) scan(ctx context.Context, it item) (r result, ok bool) {
	skip := func(n Notice) (result, bool) {
		n.Path = it.file
		return result{notices: []Notice{n}}, true
	}
	if w.rules.exclude.Match(it.file) {
		return result{}, true
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
	r.counts.scanned = Total{Count: 1, Bytes: size}

	lines := match.SplitLines(content)
	found, err := w.single.Scan(ctx, &scan.File{Path: it.file, Size: size, Content: content, Added: []scan.LineRange{{First: 1, Last: lines.Count()}}})
	if err != nil {
		return result{}, false
	}
	total := 0
	for severity, n := range found.Counts {
		r.counts.findings[severity] += n
		total += n
	}
	r.counts.suppressed = len(found.Suppressed)
	r.notices = w.notices(it.file, lines, found, total)
	if w.o.Found != nil {
		w.o.Found(found)
	}
	return r, w.o.Format == nil || w.write(it, found.Findings, &r)
}

// notices are about parts of a file.
func (w *worker) notices(file string, lines match.Lines, found scan.FileResult, total int) (list []Notice) {
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

// write turns findings into text. What is not too much is left in r for the
// order; for more it waits for its turn.
func (w *worker) write(it item, findings []finding.Finding, r *result) bool {
	w.text = w.text[:0]
	for len(findings) > 0 {
		if len(w.text) >= flushed {
			if !w.order.wait(it.number) {
				return false
			}
			w.order.write(w.text)
			w.text = w.text[:0]
		}
		n := min(len(findings), formatted)
		w.text = w.o.Format(w.text, it.file, findings[:n])
		findings = findings[n:]
	}
	r.text = w.text
	return true
}
