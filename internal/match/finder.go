package match

import "github.com/prwarden/prwarden/internal/match/confirm"

// Finder finds the matches of a rule that has no pattern. No match goes over the end of a
// line.
type Finder interface {
	// Next is the first match in lines of a text that begins at or behind an offset and
	// before end, where a line or its ending begins. work is how many bytes it looked at, at
	// most in proportion to those that it went on.
	Next(text []byte, at, end int) (match Span, work int, ok bool)
}

// noPattern matches nowhere.
const noPattern = `\b\B`

// matchFinders runs the rules with finders on the lines that are looked at.
func (w *worker) matchFinders() {
	for i, finder := range w.matcher.finders {
		rule := uint32(i)
		if finder == nil || !w.asks(rule) {
			continue
		}
		for _, b := range w.blocks {
			w.line, w.cursor = bounds{}, cursor{at: b.from, line: b.line}
			for at := b.from; at < b.to && !w.ended(rule); {
				end := w.lineAt(min(at+batch, b.to)-1, b).next // so that the context is looked at
				at = w.findBefore(rule, b, at, end)
			}
		}
	}
}

// findBefore notes the hits of a rule with a finder from an offset on, up to the end of a
// line. It returns where the search has to go on.
func (w *worker) findBefore(rule uint32, b block, at, end int) (next int) {
	for at < end && !w.ended(rule) {
		match, ok := w.nextFound(rule, at, end)
		if !ok {
			return end
		}
		l := w.lineAt(match.Start, b)
		h := Hit{Rule: int(rule), Line: w.number(l.from)}
		h.Column, h.EndLine, h.EndColumn = match.Start-l.from+1, h.Line, match.End-l.from+1
		at = l.next
		if w.isSuperseded(rule, l) || w.isApart(h, func() bool { return w.firesBefore(rule, l) }) {
			continue
		}
		w.count(rule)
		w.first.add(h)
	}

	return at
}

// nextFound is the first match of a rule with a finder from an offset on, and before another one,
// that meets its conditions where it counts.
func (w *worker) nextFound(rule uint32, at, end int) (match Span, ok bool) {
	for !w.ended(rule) {
		match, work, ok := w.matcher.finders[rule].Next(w.text, at, end)
		w.charge(rule, w.state(rule), work)
		switch {
		case !ok:
			return match, false
		case w.allows(rule, match) && w.acceptsFound(rule, match):
			return match, true
		}
		at = match.End
	}

	return match, false
}

// acceptsFound says whether what a finder found meets the conditions of its rule.
func (w *worker) acceptsFound(rule uint32, match Span) (ok bool) {
	j := w.matcher.judges[rule]
	if j == nil {
		return true
	}
	w.guarded(rule, func(_ *confirm.Program, g *confirm.Guard) {
		ok = j.accepts(w.text, []int{match.Start, match.End}, g)
	})

	return ok
}
