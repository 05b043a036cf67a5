package match

import "bytes"

// matchWeak tries the rules that nothing is known of on every line. It goes
// rule by rule through a few thousand lines at a time, so that these and the
// rule's automaton stay in the cache.
func (w *worker) matchWeak(b block) {
	for pos, line := b.from, b.line; pos < b.to && !w.over; {
		end := min(pos+batch/4, b.to)
		w.bounds = w.bounds[:0]
		for pos < end {
			l := w.lineFrom(pos, pos, b.to)
			w.bounds = append(w.bounds, l)
			pos = l.next
		}
		for i := range w.plan.weak {
			if w.over {
				return
			}
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
	asking := 0
	for _, rule := range g.rules {
		if w.asks(rule) {
			asking++
		}
	}
	if asking == 0 {
		return
	}
	looked := 0
	for i, l := range w.bounds {
		looked += w.matchWeakLine(g, l, line+i)
	}
	for _, rule := range g.rules {
		if w.asks(rule) {
			w.charge(rule, w.state(rule), looked/asking)
		}
	}
}

// asks says whether a rule looks at the file and has time left.
func (w *worker) asks(rule uint32) bool {
	return w.file.looks(rule) && !w.file.session.stopped[rule].Load()
}

// matchWeakLine tries the rules of a group on a line. It returns how many bytes
// it looked at to ask for all of them.
func (w *worker) matchWeakLine(g *weakGroup, l bounds, line int) (looked int) {
	if g.group != nil {
		may, steps := g.group.MayMatchLine(w.text[l.from:l.to])
		w.tick(steps + stepsOfTry)
		if looked = steps + 1; !may {
			return looked
		}
	}
	for _, rule := range g.rules {
		if !w.file.looks(rule) {
			continue
		}
		if r := w.state(rule); w.matchesLine(rule, r, l) {
			w.hit(rule, r, line, l, 0)
		}
	}

	return looked
}

var (
	longS  = []byte("\u017F")
	kelvin = []byte("\u212A")
)

// hasSpecial says whether a text has ſ or K.
func hasSpecial(text []byte) bool { return bytes.Contains(text, longS) || bytes.Contains(text, kelvin) }

// specials finds the places of ſ and K in a text, each byte looked at once.
type specials struct {
	text          []byte
	longS, kelvin int // the first of each that was not passed yet; -1 before the first look
}

// next returns the first place at or behind an offset, or the length of the text.
func (s *specials) next(from int) int {
	find := func(at *int, what []byte) {
		if *at < from {
			*at = len(s.text)
			if k := bytes.Index(s.text[from:], what); k >= 0 {
				*at = from + k
			}
		}
	}
	find(&s.longS, longS)
	find(&s.kelvin, kelvin)

	return min(s.longS, s.kelvin)
}

// matchSpecial runs the rules on a line that has ſ or K, which the filter does
// not know to be s and k: on the whole line those that may match on it.
func (w *worker) matchSpecial(l bounds, number int) {
	for _, rule := range w.found(w.file, w.plan, w.text[l.from:l.to]) {
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
	w.maybe = w.found(f, p, text)
	for _, g := range p.weak {
		for _, rule := range g.rules {
			if f.looks(rule) {
				w.maybe = append(w.maybe, rule)
			}
		}
	}

	return w.maybe
}

// found returns the rules of a plan that look at a file and that the filter finds
// in a text or, where it has ſ or K, in a copy in which these are s and k. The
// result is good until the next call.
func (w *worker) found(f *File, p *plan, text []byte) []uint32 {
	w.maybe = w.maybe[:0]
	w.collect(f, p, text, false)
	if p.anyFolds && hasSpecial(text) {
		folded := bytes.ReplaceAll(bytes.ReplaceAll(text, longS, []byte{'s'}), kelvin, []byte{'k'})
		w.collect(f, p, folded, true)
	}
	for _, rule := range w.maybe {
		w.rules[rule].maybe = false
	}

	return w.maybe
}

// collect adds the rules to maybe of which a sequence is in text; only those
// with folds when that is set.
func (w *worker) collect(f *File, p *plan, text []byte, folds bool) {
	offer := func(o *owner) {
		w.tick(len(o.rules))
		for _, rule := range o.rules {
			if r := &w.rules[rule]; !r.maybe && (!folds || p.folds[rule]) && f.looks(rule) {
				r.maybe = true
				w.maybe = append(w.maybe, rule)
			}
		}
	}
	for _, t := range p.filter.Tables {
		for pos := 0; pos < len(text) && !w.over; {
			w.places, pos = t.Scan(text, pos, min(pos+batch, len(text)), w.places[:0])
			w.tick(batch / 16)
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
