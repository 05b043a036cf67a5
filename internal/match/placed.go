package match

import (
	"cmp"
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// Reader knows what the places in a text are, such as comments.
type Reader interface {
	// Allows says whether a match of a rule in a text counts. It is asked of rules that
	// are Placed.
	Allows(text []byte, rule int, match Span) bool
	// MayFind says whether Find may find something. It is quick.
	MayFind(text []byte, rule int) bool
	// Find finds what the matches of a rule that is Structured mean, until spend, which
	// counts work, says stop. also are other parts of the text whose lines count as those
	// of the match do.
	Find(text []byte, rule int, spend func(work int) bool, found func(match Span, also ...Span))
}

// isPlaced says whether not every match of a rule counts in this file.
func (w *worker) isPlaced(rule uint32) bool { return w.matcher.placed[rule] && w.file.reader != nil }

// allows says whether a match of a rule counts.
func (w *worker) allows(rule uint32, span Span) bool {
	return !w.isPlaced(rule) || w.file.reader.Allows(w.text, int(rule), span)
}

// structuredFile finds the hits of a structured rule that may match: each stands on the
// first line that is looked at of what the match means, and is the first on it.
func (w *worker) structuredFile(rule uint32) {
	for _, h := range w.structuredHits(rule) {
		if w.isSuperseded(rule, w.boundsOf(h.Line)) {
			continue
		}
		line := h.Line
		before := func() bool { _, ok := w.structuredAt(rule, line-1); return ok }
		if w.isApart(h, before) {
			continue
		}
		w.count(rule)
		w.first.add(h)
	}
}

// structuredHits are the hits of a structured rule by their lines, superseded ones too.
func (w *worker) structuredHits(rule uint32) []Hit {
	if w.rules[rule].searched || w.file.reader == nil {
		return w.structured[rule]
	}
	w.state(rule).searched = true
	if !w.file.reader.MayFind(w.text, int(rule)) {
		return nil
	}
	var hits []Hit
	w.guarded(rule, func(_ *confirm.Program, g *confirm.Guard) {
		w.file.reader.Find(w.text, int(rule), g.Spend, func(span Span, also ...Span) {
			at, ok := w.firstTouched(span)
			if !ok && slices.ContainsFunc(also, w.touches) {
				at, ok = span.Start, true
			}
			if !ok {
				return
			}
			h := Hit{Rule: int(rule)}
			h.Line, h.Column = w.lines.At(at)
			if last := len(hits) - 1; last >= 0 && hits[last].Line == h.Line {
				return // there may be one for each word of a long line
			}
			h.EndLine, h.EndColumn = w.lines.At(span.End - 1)
			h.EndColumn++
			hits = append(hits, h)
		})
	})
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Line, b.Line) })
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Line == b.Line })
	if len(hits) == 0 {
		return nil
	}
	if w.structured == nil {
		w.structured = map[uint32][]Hit{}
	}
	w.structured[rule] = hits

	return hits
}

// structuredAt returns the hit of a structured rule on a line.
func (w *worker) structuredAt(rule uint32, line int) (h Hit, ok bool) {
	hits := w.structuredHits(rule)
	i, ok := slices.BinarySearchFunc(hits, line, func(h Hit, line int) int { return cmp.Compare(h.Line, line) })
	if ok {
		h = hits[i]
	}

	return h, ok
}

// firstTouched is the offset of the first byte of a span that is no blank and stands on a
// line that is looked at. ok is false when no line of the span is.
func (w *worker) firstTouched(span Span) (at int, ok bool) {
	if !w.touches(span) {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(w.blocks, span.Start, func(b block, at int) int {
		if b.to <= at {
			return -1
		}

		return 1
	})
	at = max(span.Start, w.blocks[i].from)
	for at+1 < span.End && w.text[at] <= ' ' {
		at++
	}

	return at, true
}

// boundsOf is where a line is.
func (w *worker) boundsOf(line int) bounds {
	from := w.lines.Start(line)
	b := bounds{from: from, to: from + len(w.lines.Line(line)), next: len(w.text)}
	if line < w.lines.Count() {
		b.next = w.lines.Start(line + 1)
	}

	return b
}

// Spans finds where a rule matches in a text that is of the file, which has size
// bytes, whether or not it looks at the file: every match that meets its conditions, not
// only the first on a line, from left to right. A multiline rule takes text as a file, another rule takes
// it as a line. All calls for a rule share the work of one more Match; ok is false
// when that is used up. It fails only when ctx ends.
func (f *File) Spans(ctx context.Context, text []byte, size, rule int) (spans []Span, ok bool, err error) {
	if f.spans == nil {
		f.spans = map[int]int64{}
	}
	g := confirm.NewGuard(ctx, f.limit.of(size)-f.spans[rule])
	if !g.Stopped {
		m := f.session.matcher
		add := func(span Span) { spans = append(spans, span) }
		switch {
		case !m.structured[rule]:
			m.accepted(uint32(rule), m.programs[rule], text, g, add)
		case f.reader != nil:
			f.reader.Find(text, rule, g.Spend, func(span Span, _ ...Span) { add(span) })
		}
	}
	f.spans[rule] += g.Spent
	f.session.work[rule].Add(g.Spent)

	return spans, !g.Stopped, ctx.Err()
}
