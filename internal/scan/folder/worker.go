package folder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/match"
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
	format func(dst []byte, file string, hits []match.Hit) []byte
	order  *order
	buf    []byte // of the file
	text   []byte // of its findings

	session *match.Session
	budget  time.Duration // of a rule in one file
	used    time.Duration // by files in the session
}

func newWorker(rules *Rules, o Options, order *order) *worker {
	w := &worker{rules: rules, format: o.Format, order: order, buf: make([]byte, bufferSize), budget: o.Budget}
	w.renew()
	return w
}

// renew starts a session for the next files. Making one costs as much as a
// small file, so it serves until slack is used up. Every rule has its whole
// budget left then, and one that is stopped is stopped in one file only.
func (w *worker) renew() {
	w.session, w.used = w.rules.matcher.NewSession(w.budget+w.slack(), nil), 0
}

// slack is how long files may match in a session before the last one.
func (w *worker) slack() time.Duration { return w.budget / 20 }

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
			w.renew()
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
		return skip(Notice{Reason: scan.SkipFileTooLarge, Bytes: size})
	case scan.IsBinary(content):
		return skip(Notice{Reason: scan.SkipBinary, Bytes: size})
	}
	r.counts.scanned = Total{Count: 1, Bytes: size}

	lines := match.SplitLines(content)
	began := time.Now()
	found, err := w.session.File(it.file).Match(ctx, lines, []match.LineRange{{First: 1, Last: lines.Count()}}, MaxFindings)
	if err != nil {
		return result{}, false
	}
	if w.used += time.Since(began); w.used > w.slack() || len(found.Stopped) > 0 {
		w.renew()
	}
	total := 0
	for i, n := range found.Counts {
		r.counts.findings[w.rules.list[i].Severity] += n
		total += n
	}
	r.notices = w.notices(it.file, lines, found, total)
	return r, w.write(it, found.Hits, &r)
}

// notices are about parts of a file.
func (w *worker) notices(file string, lines match.Lines, found match.Result, total int) (list []Notice) {
	for _, n := range found.LongLines {
		size := int64(len(lines.Line(n)))
		list = append(list, Notice{Path: file, Line: n, Reason: scan.SkipLineTooLong, Bytes: size})
	}
	for _, i := range found.Stopped {
		list = append(list, Notice{Path: file, RuleID: w.rules.list[i].FullID(), Reason: scan.SkipRuleTimeout})
	}
	if total > len(found.Hits) {
		list = append(list, Notice{Path: file, Reason: SkipTooManyHits})
	}
	return list
}

// write turns findings into text. What is not too much is left in r for the
// order; for more it waits for its turn.
func (w *worker) write(it item, hits []match.Hit, r *result) bool {
	w.text = w.text[:0]
	for len(hits) > 0 {
		if len(w.text) >= flushed {
			if !w.order.wait(it.number) {
				return false
			}
			w.order.write(w.text)
			w.text = w.text[:0]
		}
		n := min(len(hits), formatted)
		w.text = w.format(w.text, it.file, hits[:n])
		hits = hits[n:]
	}
	r.text = w.text
	return true
}
