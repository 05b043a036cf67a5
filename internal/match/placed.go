package match

import "github.com/prwarden/prwarden/internal/match/confirm"

// isPlaced says whether not every match of a rule counts in this file.
func (w *worker) isPlaced(rule uint32) bool { return w.matcher.placed[rule] && w.file.reader != nil }

// allows says whether a match of a rule counts.
func (w *worker) allows(rule uint32, span Span) bool {
	return !w.isPlaced(rule) || w.file.reader.Allows(w.text, int(rule), span)
}

// all finds the matches of a multiline rule that meet its conditions.
func (w *worker) all(rule uint32, p *confirm.Program, g *confirm.Guard, found func(Span)) {
	switch {
	case !w.matcher.structured[rule]:
		w.matcher.accepted(rule, p, w.text, g, found)
	case w.file.reader != nil:
		w.file.reader.Find(w.text, int(rule), g.Spend, found)
	}
}
