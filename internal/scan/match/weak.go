package match

import (
	"bytes"
	"slices"
)

// matchWeak tries the rules that nothing is known of on every line. It goes
// rule by rule through a few thousand lines at a time, so that these and the
// rule's automaton stay in the cache.
func (w *worker) matchWeak(b block) {
	for pos, line := b.from, b.line; pos < b.to && !w.over; {
		end := min(pos+batch/4, b.to)
		w.bounds = w.bounds[:0]
		for pos < end {
			next := b.to
			if k := bytes.IndexByte(w.text[pos:b.to], '\n'); k >= 0 {
				next = pos + k + 1
			}
			w.bounds = append(w.bounds, bounds{from: pos, to: pos + len(trimEnding(w.text[pos:next])), next: next})
			pos = next
		}
		for i := range w.plan.weak {
			w.matchWeakGroup(&w.plan.weak[i], line)
		}
		line += len(w.bounds)
		w.over = w.over || w.ctx.Err() != nil
	}
}

// matchWeakGroup tries the rules of a group on the lines of a batch, of which the
// first has the given number. What asking for all of them takes is charged to
// each in equal parts.
func (w *worker) matchWeakGroup(g *weakGroup, line int) {
	if !slices.ContainsFunc(g.rules, w.file.looks) {
		return
	}
	asked := 0
	for i, l := range w.bounds {
		if g.group != nil {
			may, steps := g.group.MayMatchLine(w.text[l.from:l.to])
			if asked += steps + 1; !may {
				continue
			}
		}
		w.matchWeakLine(g, l, line+i)
	}
	for _, rule := range g.rules {
		if w.file.looks(rule) {
			w.charge(rule, w.state(rule), asked/len(g.rules))
		}
	}
}

// matchWeakLine tries each rule of a group on a line.
func (w *worker) matchWeakLine(g *weakGroup, l bounds, line int) {
	for _, rule := range g.rules {
		if !w.file.looks(rule) {
			continue
		}
		if r := w.state(rule); w.matchesLine(rule, r, l) {
			w.hit(rule, r, line, l, 0)
		}
	}
}

var (
	longS  = []byte("\u017F")
	kelvin = []byte("\u212A")
)

// special returns the offset of the first ſ or K in a text, or -1.
func special(text []byte) int {
	s := bytes.Index(text, longS)
	if s >= 0 {
		text = text[:s]
	}
	if k := bytes.Index(text, kelvin); k >= 0 {
		return k
	}
	return s
}

// matchSpecial runs the rules on a line that has ſ or K, which the filter does
// not know to be s and k. It asks the filter about the line and about a copy in
// which they are, and tries on the whole line who may match on either.
func (w *worker) matchSpecial(l bounds, number int) {
	line := w.text[l.from:l.to]
	w.maybe = w.maybe[:0]
	w.collect(w.file, w.plan, line, false)
	w.folded = bytes.ReplaceAll(append(w.folded[:0], line...), longS, []byte{'s'})
	w.folded = bytes.ReplaceAll(w.folded, kelvin, []byte{'k'})
	w.collect(w.file, w.plan, w.folded, true)
	for _, rule := range w.maybe {
		w.rules[rule].maybe = false
	}
	for _, rule := range w.maybe {
		r := w.state(rule)
		if w.matchesLine(rule, r, l) {
			w.hit(rule, r, number, l, 0)
		}
	}
	for i := range w.plan.weak {
		w.matchWeakLine(&w.plan.weak[i], l, number)
	}
}

// candidates returns the rules of a plan that look at a file and may match in a
// text. The result is good until the next call.
func (w *worker) candidates(f *File, p *plan, text []byte) []uint32 {
	w.maybe = w.maybe[:0]
	w.collect(f, p, text, false)
	if p.anyFolds && special(text) >= 0 {
		folded := bytes.ReplaceAll(bytes.ReplaceAll(text, longS, []byte{'s'}), kelvin, []byte{'k'})
		w.collect(f, p, folded, true)
	}
	for _, rule := range w.maybe {
		w.rules[rule].maybe = false
	}
	for _, g := range p.weak {
		for _, rule := range g.rules {
			if f.looks(rule) {
				w.maybe = append(w.maybe, rule)
			}
		}
	}
	return w.maybe
}

// collect adds the rules to maybe of which a sequence is in text; only those
// with folds when that is set.
func (w *worker) collect(f *File, p *plan, text []byte, folds bool) {
	offer := func(o *owner) {
		for _, rule := range o.rules {
			if r := &w.rules[rule]; !r.maybe && (!folds || p.folds[rule]) && f.looks(rule) {
				r.maybe = true
				w.maybe = append(w.maybe, rule)
			}
		}
	}
	for _, t := range p.filter.Tables {
		for pos := 0; pos < len(text); {
			w.places, pos = t.Scan(text, pos, len(text), w.places[:0])
			for _, place := range w.places {
				if o := &p.owners[place.ID]; o.sequence.Holds(text, int(place.At)) {
					offer(o)
				}
			}
		}
	}
	if p.filter.HasRuns() {
		p.filter.ScanRuns(text, 0, len(text), func(id uint32, _ int) { offer(&p.owners[id]) })
	}
}
