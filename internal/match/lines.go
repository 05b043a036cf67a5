package match

import (
	"bytes"
	"sort"
	"sync"
)

// Lines is a text divided into its lines, as git counts them: a line ends
// after "\n", and what follows the last "\n" is a line unless it is empty. It
// is safe for concurrent use.
type Lines struct {
	text  []byte
	index *lineIndex
}

// lineIndex knows how many lines there are and where they begin, once somebody
// asks.
type lineIndex struct {
	counted, indexed sync.Once
	count            int
	starts           []int32 // offset of each line, then the length of the text
}

// SplitLines divides text, which must be under 2 GiB and stay unchanged while
// the result is used.
func SplitLines(text []byte) Lines { return Lines{text: text, index: &lineIndex{}} }

func (l Lines) starts() []int32 {
	l.index.indexed.Do(func() {
		starts := make([]int32, 0, l.Count()+1)
		for pos := 0; pos < len(l.text); {
			starts = append(starts, int32(pos))
			n := bytes.IndexByte(l.text[pos:], '\n')
			if n < 0 {
				break
			}
			pos += n + 1
		}
		starts = append(starts, int32(len(l.text)))
		l.index.starts = starts
	})

	return l.index.starts
}

// Count is the number of lines.
func (l Lines) Count() int {
	if len(l.text) == 0 {
		return 0
	}
	l.index.counted.Do(func() {
		l.index.count = bytes.Count(l.text, []byte{'\n'})
		if l.text[len(l.text)-1] != '\n' {
			l.index.count++
		}
	})

	return l.index.count
}

// Text is the whole text.
func (l Lines) Text() []byte { return l.text }

// Line returns line n, from 1 to Count, without its ending: one "\n" and one
// "\r" before it. A "\r" that no "\n" follows belongs to the line.
func (l Lines) Line(n int) []byte {
	starts := l.starts()
	return trimEnding(l.text[starts[n-1]:starts[n]])
}

// trimEnding removes the ending of a line.
func trimEnding(line []byte) []byte {
	if k := len(line) - 1; k >= 0 && line[k] == '\n' {
		line = line[:k]
		if k > 0 && line[k-1] == '\r' {
			line = line[:k-1]
		}
	}

	return line
}

// Start is the offset of line n, from 1 to Count.
func (l Lines) Start(n int) int { return int(l.starts()[n-1]) }

// At returns the line, from 1, that holds the byte at offset, and its column,
// from 1. The text has such a byte.
func (l Lines) At(offset int) (line, column int) {
	starts := l.starts()
	n := sort.Search(len(starts)-1, func(i int) bool { return int(starts[i+1]) > offset })

	return n + 1, offset - int(starts[n]) + 1
}

// block is a run of lines that rules look at.
type block struct {
	from, to int // bytes
	line     int // number of the first line
}

// blocks returns the added lines as blocks. added is ascending; what the text does
// not have is left out.
func (l Lines) blocks(added []LineRange, blocks []block) []block {
	for _, r := range added {
		b := block{from: 0, to: len(l.text), line: max(r.First, 1)}
		last := min(r.Last, l.Count())
		if last < b.line {
			continue
		}
		if b.line > 1 || last < l.Count() { // else it is the whole text
			b.from, b.to = l.Start(b.line), int(l.starts()[last])
		}
		blocks = append(blocks, b)
	}

	return blocks
}

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

// asks says whether a rule looks at the file and was not stopped in it.
func (w *worker) asks(rule uint32) bool {
	return w.file.looks(rule) && !w.rules[rule].stopped
}

// matchWeakLine tries the rules of a group on a line. It returns how many bytes
// it looked at to ask for all of them.
func (w *worker) matchWeakLine(g *weakGroup, l bounds, line int) (looked int) {
	if g.group != nil {
		may, steps := g.group.MayMatchLine(w.text[l.from:l.to], w.done)
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
			var compared int
			w.places, pos, compared = t.Scan(text, pos, min(pos+batch, len(text)), w.places[:0], &w.vain[p.kind])
			w.tick(batch/16 + compared)
			for _, place := range w.places {
				offer(&p.owners[place.ID])
			}
		}
	}
	if p.filter.HasRuns() {
		p.filter.ScanRuns(text, 0, len(text), func(id uint32, _ int) { offer(&p.owners[id]) })
	}
}

// lineAt returns the line of a block that has the byte at an offset.
func (w *worker) lineAt(at int, b block) bounds {
	if at >= w.line.from && at < w.line.next {
		return w.line
	}
	from := b.from
	if k := bytes.LastIndexByte(w.text[b.from:at], '\n'); k >= 0 {
		from = b.from + k + 1
	}
	w.line = w.lineFrom(from, at, b.to)

	return w.line
}

// lineFrom returns the line that begins at from and has the byte at an offset,
// in a text that goes on to end.
func (w *worker) lineFrom(from, at, end int) bounds {
	next := end
	if k := bytes.IndexByte(w.text[at:end], '\n'); k >= 0 {
		next = at + k + 1
	}

	return bounds{from: from, to: from + len(trimEnding(w.text[from:next])), next: next}
}

// number is the number of the line that begins at an offset, which is not
// before the cursor.
func (w *worker) number(from int) int {
	w.cursor.line += bytes.Count(w.text[w.cursor.at:from], []byte{'\n'})
	w.cursor.at = from

	return w.cursor.line
}
