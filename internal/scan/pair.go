package scan

import (
	"bytes"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
)

// Pair is a changed file as it was and as it is.
type Pair struct {
	Place    int    // in the paths that were asked for
	Path     string // bytes, not always UTF-8
	OldPath  string // "" when it is new
	Change   finding.Change
	Old, New []byte      // nil when there is none, and when NotShown
	Added    []LineRange // as File has them
	Removed  []Removed   // likewise
	NotShown string      // why it was not read; "" when it was
}

// edit is lines of a pair that others take the place of.
type edit struct {
	old, oldCount int // the first of the removed lines, or the line before which they would be
	now, nowCount int // likewise the added lines
}

// edits are those of a pair, in order, apart from each other.
func (p *Pair) edits() (all []edit) {
	added, removed := p.Added, p.Removed
	behind := 0 // how far numbers of old lines are behind those of the new
	for len(added) > 0 || len(removed) > 0 {
		var e edit
		if len(added) == 0 || len(removed) > 0 && removed[0].Line <= added[0].First {
			e.now = removed[0].Line
			e.oldCount = match.SplitLines(removed[0].Text).Count()
			removed = removed[1:]
		} else {
			e.now = added[0].First
		}
		e.old = e.now - behind
		if len(added) > 0 && added[0].First == e.now {
			e.nowCount, added = added[0].Last-added[0].First+1, added[1:]
		}

		behind += e.nowCount - e.oldCount
		all = append(all, e)
	}

	return all
}

// counts are how many lines were added and removed in all.
func counts(edits []edit) (added, removed int) {
	for _, e := range edits {
		added, removed = added+e.nowCount, removed+e.oldCount
	}

	return added, removed
}

// stretch is lines to show: those from one to another of the new side, and the edits
// there.
type stretch struct {
	from, to int // to is from-1 when there are removed lines only
	behind   int // of old numbers, at from
	edits    []edit
}

// stretches are the edits with so many lines around each.
func stretches(edits []edit, around, lines int) (all []stretch) {
	behind := 0
	for _, e := range edits {
		from, to := max(1, e.now-around), min(lines, e.now+e.nowCount-1+around)
		if k := len(all) - 1; k >= 0 && all[k].to >= from-1 {
			all[k].to, all[k].edits = max(all[k].to, to), append(all[k].edits, e)
		} else {
			all = append(all, stretch{from: from, to: to, behind: behind, edits: []edit{e}})
		}
		behind += e.nowCount - e.oldCount
	}

	return all
}

// unfolded is a stretch of given lines.
func unfolded(edits []edit, from, to, lines int) []stretch {
	s := stretch{from: from, to: min(to, lines)}
	if s.from > s.to {
		return nil
	}
	for _, e := range edits {
		last := e.now + e.nowCount - 1
		switch {
		case e.now < from && last < from: // before
			s.behind += e.nowCount - e.oldCount
		case e.now <= s.to:
			if cut := from - e.now; cut > 0 { // its removed lines are before, too
				s.behind += cut - e.oldCount
				e = edit{old: e.old + e.oldCount, now: from, nowCount: e.nowCount - cut}
			}
			e.nowCount = min(e.nowCount, s.to-e.now+1)
			s.edits = append(s.edits, e)
		}
	}

	return []stretch{s}
}

// headOf is the last line from one to another that begins as the head of a function may;
// 0 for none.
func headOf(lines match.Lines, from, to int) int {
	for n := to; n >= from; n-- {
		line := lines.Line(n)
		if len(line) == 0 {
			continue
		}
		if c := line[0]; c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' {
			return n
		}
	}

	return 0
}

// endsOpen says whether a text ends without a line ending.
func endsOpen(text []byte) bool { return len(text) > 0 && !bytes.HasSuffix(text, []byte{'\n'}) }
