package match

import (
	"context"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// Match matches the active rules on the added lines of a file. Rules that are
// matched line by line see each added line on its own, without its ending. A
// multiline rule sees the whole file, and a match counts when it touches an
// added line; the first on each line where matches start is the hit. added is
// ascending; lines that the file does not have are left out. At most limit hits
// are kept; all are counted.
//
// It fails only when ctx ends.
func (f *File) Match(ctx context.Context, lines Lines, added []LineRange, limit int) (Result, error) {
	return f.MatchApart(ctx, lines, added, limit, nil)
}

// Apart says whether the hit of a rule on a line is set apart from the others.
// before says whether a match of the rule starts on the line before as well,
// added or not.
type Apart func(rule, line int, before func() bool) bool

// MatchApart is Match, and apart is asked of each hit in any order; nil sets none
// apart. At most limit hits that are apart are kept, in their own list.
func (f *File) MatchApart(ctx context.Context, lines Lines, added []LineRange, limit int, apart Apart) (Result, error) {
	m := f.session.matcher
	w := m.workers.Get().(*worker)
	defer m.workers.Put(w)
	w.begin(ctx, f, lines, limit)
	w.apart = apart
	var result Result
	w.blocks, result.LongLines = lines.blocks(added, w.blocks[:0])
	if len(w.blocks) > 0 {
		w.matchLines()
		w.matchFile()
	}
	w.finish(&result)
	return result, ctx.Err()
}

// matchFile runs the multiline rules that may match.
func (w *worker) matchFile() {
	s, text := w.file.session, w.text
	for _, rule := range w.candidates(w.file, &s.matcher.files, text) {
		s.timed(w.ctx, int(rule), &w.stopped, func(p *confirm.Program, g *confirm.Guard) {
			last := 0               // line of the start of the last hit
			started, before := 0, 0 // lines of the start of the last match, and of the last one on another line
			p.All(text, g, func(span Span) {
				h := Hit{Rule: int(rule)}
				h.Line, h.Column = w.lines.At(span.Start)
				if h.Line != started {
					started, before = h.Line, started
				}
				if h.Line == last || !w.touches(span) {
					return
				}
				h.EndLine, h.EndColumn = w.lines.At(span.End - 1)
				h.EndColumn++
				last = h.Line
				if w.apart != nil && w.apart(h.Rule, h.Line, func() bool { return before > 0 && before == h.Line-1 }) {
					w.asideHit(h)
					return
				}
				w.count(rule)
				w.first.add(h)
			})
		})
	}
}

// touches says whether one of the lines that are looked at has a byte of span.
func (w *worker) touches(span Span) bool {
	i, _ := slices.BinarySearchFunc(w.blocks, span.Start, func(b block, at int) int {
		if b.to <= at {
			return -1
		}
		return 1
	})
	return i < len(w.blocks) && w.blocks[i].from < span.End
}

// finish gives the first hits their columns, and leaves the worker as it was
// before the file.
func (w *worker) finish(result *Result) {
	result.Hits = w.located(&w.first, func(rule int) { w.rules[rule].count-- })
	result.Apart = w.located(&w.aside, func(int) { w.asides-- })
	result.ApartCount = w.asides
	for _, rule := range w.touched {
		r := &w.rules[rule]
		w.settle(rule, r)
		if r.count > 0 {
			if result.Counts == nil {
				result.Counts = map[int]int{}
			}
			result.Counts[int(rule)] = int(r.count)
		}
		*r = ruleState{}
	}
	result.Stopped = w.stopped
	w.end()
}

// located returns the first hits with their columns. missed hears of the rule of
// each whose time is used up by finding them.
func (w *worker) located(first *first, missed func(rule int)) []Hit {
	first.cut()
	if len(first.hits) == 0 {
		return nil
	}
	hits := make([]Hit, 0, len(first.hits))
	for _, h := range first.hits {
		if w.over {
			break // nobody wants the result
		}
		if h.EndLine > 0 || w.locate(&h) {
			hits = append(hits, h)
		} else {
			missed(h.Rule)
		}
	}
	return hits
}

// locate finds the columns of a hit on a line. It fails when the rule's time is
// used up by that.
func (w *worker) locate(h *Hit) (ok bool) {
	rule := uint32(h.Rule)
	if !w.ended(rule) {
		var span Span
		line, from := w.text[h.Column:h.EndColumn], -h.EndLine // see hit
		start := time.Now()
		span, ok = w.matcher.programs[rule].Columns(line, from)
		r := w.state(rule)
		r.steps += uint32(min(time.Since(start), time.Second))
		w.charge(rule, r, 0)
		if !ok {
			w.file.session.timed(w.ctx, h.Rule, &w.stopped, func(p *confirm.Program, g *confirm.Guard) {
				span, ok = p.Find(line, 0, g)
			})
		}
		h.Column, h.EndLine, h.EndColumn = span.Start+1, h.Line, span.End+1
	}
	return ok
}
