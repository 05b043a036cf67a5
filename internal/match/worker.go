package match

import (
	"bytes"
	"context"

	"github.com/prwarden/prwarden/internal/match/confirm"
	"github.com/prwarden/prwarden/internal/match/filter"
)

const (
	// batch is how many bytes are filtered, at most, before the context is
	// looked at.
	batch = 64 << 10
	// maxAgain is how many bytes a rule may look at that tries before had looked
	// at already, until the whole line is tried instead: many places on a line
	// must not make it quadratic.
	maxAgain = 4096
	// stepsOfTry is how many bytes a try counts as beside those that it looks at.
	stepsOfTry = 8
	// stepsOfVain is how many bytes it counts as to compare a window in vain.
	stepsOfVain = 8
	// checkSteps is how many steps all rules make before the context is looked
	// at: at most 10 ms.
	checkSteps = 2 << 20
)

// worker is what matching one file needs beside the file. Workers are reused,
// so that nothing is allocated for a line.
type worker struct {
	matcher *Matcher
	rules   []ruleState
	places  []filter.Place
	touched []uint32 // rules whose state is not zero
	blocks  []block
	bounds  []bounds       // lines of a batch, for the weak rules
	maybe   []uint32       // see candidates
	vain    [2]filter.Vain // by kind of plan

	ctx     context.Context
	done    <-chan struct{} // of ctx
	file    *File
	limit   int64 // of the work of each rule in this file
	lines   Lines
	text    []byte
	plan    *plan
	first   first
	apart   Apart // nil for none
	aside   [ApartLists]aside
	stopped []int

	structured map[uint32][]Hit // by rule, of this file; see structuredHits

	line   bounds // the line that was looked at last
	cursor cursor
	steps  int  // since the context was looked at
	over   bool // the context has ended
}

// aside is one list of hits that are apart.
type aside struct {
	first
	count int // of all
}

// ruleState is what a worker knows of a rule in one file.
type ruleState struct {
	work     int64
	from, to uint32 // the line that needs no more tries, when done
	reach    uint32 // offset up to which the last try looked
	again    uint32 // bytes that tries looked at again since one began behind reach
	count    uint32 // hits
	done     bool
	stopped  bool // its work is over the limit of the file
	touched  bool
	maybe    bool // see candidates
	searched bool // see structuredHits
}

// bounds is where a line is in the text: its bytes, and where the next begins.
type bounds struct{ from, to, next int }

// cursor counts lines. It is quick when it is moved forward.
type cursor struct{ at, line int }

func newWorker(m *Matcher) *worker {
	return &worker{matcher: m, rules: make([]ruleState, m.Len())}
}

func (w *worker) begin(ctx context.Context, f *File, lines Lines, limit int) {
	w.ctx, w.done, w.file, w.lines, w.text = ctx, ctx.Done(), f, lines, lines.Text()
	w.limit = f.limit.of(len(w.text))
	w.first = first{hits: w.first.hits[:0], limit: limit}
	for i := range w.aside {
		w.aside[i] = aside{first: first{limit: limit}}
	}
	w.stopped = nil
	w.line, w.cursor = bounds{}, cursor{line: 1}
	w.steps, w.over = 0, ctx.Err() != nil
}

// end lets go of the file.
func (w *worker) end() {
	w.touched = w.touched[:0]
	w.ctx, w.done, w.file, w.lines, w.text, w.stopped, w.over = nil, nil, nil, Lines{}, nil, nil, false
	w.apart, w.aside, w.structured = nil, [ApartLists]aside{}, nil
	if cap(w.first.hits) > 1<<12 {
		w.first.hits = nil
	}
}

// state returns the state of a rule, to be changed.
func (w *worker) state(rule uint32) *ruleState {
	r := &w.rules[rule]
	if !r.touched {
		r.touched = true
		w.touched = append(w.touched, rule)
	}

	return r
}

// matchLines runs the rules that are matched line by line on the blocks.
func (w *worker) matchLines() {
	w.plan = &w.matcher.lines
	for _, b := range w.blocks {
		if w.over {
			return
		}
		if !w.plan.anyFolds {
			w.matchBlock(b)
			continue
		}
		// Lines with ſ or K are taken out and looked at on their own.
		special := specials{text: w.text[:b.to], longS: -1, kelvin: -1}
		for !w.over {
			at := special.next(b.from)
			if at == b.to {
				break
			}
			l := w.lineAt(at, b)
			number := b.line + bytes.Count(w.text[b.from:l.from], []byte{'\n'})
			w.matchBlock(block{from: b.from, to: l.from, line: b.line})
			w.matchSpecial(l, number)
			w.tick(stepsOfTry + l.next - l.from)
			b.from, b.line = l.next, number+1
		}
		w.matchBlock(b)
	}
}

// matchBlock finds rules on consecutive lines.
func (w *worker) matchBlock(b block) {
	f := w.plan.filter
	w.line = bounds{}
	start := cursor{at: b.from, line: b.line}
	for _, t := range f.Tables {
		w.cursor = start
		w.scan(b, t)
	}
	if w.cursor = start; f.HasRuns() {
		f.ScanRuns(w.text, b.from, b.to, func(id uint32, at int) {
			if at < w.cursor.at { // of another run than the last
				w.cursor = start
			}
			w.try(&w.plan.owners[id], at, b)
		})
	}
	if len(w.plan.weak) > 0 {
		w.matchWeak(b)
	}
}

// scan filters a block, batch by batch, and asks who may match at the places
// that are found.
func (w *worker) scan(b block, t *filter.Table) {
	for pos := b.from; pos < b.to && !w.over; {
		to := min(pos+batch, b.to)
		for pos < to && !w.over {
			var compared int
			w.places, pos, compared = t.Scan(w.text, pos, to, w.places[:0], &w.vain[w.plan.kind])
			for _, p := range w.places {
				if !w.over {
					w.try(&w.plan.owners[p.ID], int(p.At), b)
				}
			}
			w.tick(compared)
		}
		w.over = w.over || w.ctx.Err() != nil
	}
}

// try asks the rules of an owner whether they match at a place.
func (w *worker) try(o *owner, at int, b block) {
	if begin := at - int(o.begin); o.group != nil && begin >= b.from {
		may, steps := o.group.MayMatch(w.text[:b.to], begin)
		// The rules take turns to be charged for all of them.
		if rule := o.rules[at%len(o.rules)]; w.asks(rule) {
			w.charge(rule, w.state(rule), steps)
		} else {
			w.tick(steps)
		}
		if !may {
			return
		}
	}
	w.tick(len(o.rules))

	for _, rule := range o.rules {
		w.tryRule(o, rule, at, b)
	}
}

// tryRule asks whether a rule matches at a place, or on its line.
func (w *worker) tryRule(o *owner, rule uint32, at int, b block) {
	r := &w.rules[rule]
	if on := uint32(at + int(o.inside)); r.done && on >= r.from && on < r.to || !w.file.looks(rule) {
		return
	}
	r = w.state(rule)
	if o.begin != unknownBegin {
		begin := at - int(o.begin)
		if begin < b.from {
			return
		}
		if uint32(begin) >= r.reach {
			r.again = 0
		}
		if r.again <= maxAgain {
			match, ok := w.matchesAt(rule, r, begin, b.to)
			if match {
				// It is the rule's match on this line, unless the bytes before the
				// sequence go back to the line before.
				if l := w.lineAt(at+int(o.inside), b); begin >= l.from {
					w.hit(rule, r, w.number(l.from), l, max(at-int(w.plan.farthest[rule])-l.from, 0))
				}
			}
			if ok {
				return
			}
		}
	}
	l := w.lineAt(at+int(o.inside), b)
	if w.matchesLine(rule, r, l) {
		w.hit(rule, r, w.number(l.from), l, 0)
	}
	r.from, r.to, r.done = uint32(l.from), uint32(l.next), true
}

// matchesAt says whether a match begins at an offset. ok is false when only the
// whole line can tell.
func (w *worker) matchesAt(rule uint32, r *ruleState, begin, end int) (match, ok bool) {
	if w.ended(rule) {
		return false, true
	}
	match, steps, ok := w.matcher.programs[rule].At(w.text[:end], begin, w.done)
	if reach := uint32(min(begin+steps, end)); uint32(begin) < r.reach {
		r.again += uint32(steps)
		r.reach = max(r.reach, reach)
	} else {
		r.reach = reach
	}
	w.charge(rule, r, steps)

	return match, ok
}

// matchesLine says whether a rule matches on a line.
func (w *worker) matchesLine(rule uint32, r *ruleState, l bounds) bool {
	if w.ended(rule) {
		return false
	}
	match, steps, ok := w.matcher.programs[rule].Line(w.text[l.from:l.to], w.done)
	w.charge(rule, r, steps)
	if !ok {
		w.guarded(rule, func(p *confirm.Program, g *confirm.Guard) {
			_, match = p.Find(w.text[l.from:l.to], 0, g)
		})
	}

	return match
}

// ended says whether a rule was stopped in this file, or the scan has ended.
func (w *worker) ended(rule uint32) bool { return w.over || w.rules[rule].stopped }

// charge counts what an automaton did for a rule.
func (w *worker) charge(rule uint32, r *ruleState, steps int) {
	if r.work += int64(steps + stepsOfTry); r.work > w.limit {
		w.stop(rule, r)
	}
	w.tick(steps + stepsOfTry)
}

// guarded runs work for a rule that counts itself, unless the rule was stopped.
func (w *worker) guarded(rule uint32, work func(p *confirm.Program, g *confirm.Guard)) {
	if w.ended(rule) {
		return
	}
	r := w.state(rule)
	g := confirm.NewGuard(w.ctx, w.limit-r.work)
	work(w.matcher.programs[rule], g)
	r.work += g.Spent
	w.over = w.over || w.ctx.Err() != nil
	if g.Stopped && !w.over {
		w.stop(rule, r)
	}
}

// stop ends a rule in this file.
func (w *worker) stop(rule uint32, r *ruleState) {
	if !r.stopped {
		r.stopped = true
		w.stopped = append(w.stopped, int(rule))
	}
}

// chargeVain charges rules for the windows that were compared in vain. The file is
// through, so it stops none.
func (w *worker) chargeVain() {
	for _, p := range []*plan{&w.matcher.lines, &w.matcher.files} {
		v := &w.vain[p.kind]
		for _, id := range v.IDs {
			for _, rule := range p.owners[id].rules {
				if w.file.looks(rule) {
					w.state(rule).work += stepsOfVain * int64(v.Counts[id])
				}
			}
		}
		v.Reset()
	}
}

// tick counts work, and looks at the context once in a while. (Candidates has
// none.)
func (w *worker) tick(steps int) {
	if w.steps += steps; w.steps > checkSteps {
		w.steps, w.over = 0, w.over || w.ctx != nil && w.ctx.Err() != nil
	}
}

// hit notes that a rule matches on a line, and not before the offset from of it.
// Until finish, a hit that may be among the first has the bounds of its line in
// place of columns, and -from in place of EndLine.
func (w *worker) hit(rule uint32, r *ruleState, number int, l bounds, from int) {
	r.from, r.to, r.done = uint32(l.from), uint32(l.next), true
	h := Hit{Rule: int(rule), Line: number, Column: l.from, EndColumn: l.to, EndLine: -from}
	if !w.meets(rule, l, &h) || w.isSuperseded(rule, l) {
		return
	}
	if w.isApart(h, func() bool { return w.firesBefore(rule, l) }) {
		return
	}
	r.count++
	w.first.add(h)
}

// isApart says whether a hit is apart, and then notes it.
func (w *worker) isApart(h Hit, before func() bool) bool {
	if w.apart == nil {
		return false
	}
	list := w.apart(h.Rule, h.Line, before)
	if list > 0 {
		w.aside[list-1].count++
		w.aside[list-1].add(h)
	}

	return list > 0
}

// firesBefore says whether a rule matches on the line before a line, or was
// stopped before it could say: a hit is rather reported than apart.
func (w *worker) firesBefore(rule uint32, l bounds) bool {
	if l.from == 0 {
		return false
	}
	from := bytes.LastIndexByte(w.text[:l.from-1], '\n') + 1
	before := bounds{from: from, to: from + len(trimEnding(w.text[from:l.from])), next: l.from}

	return w.fires(rule, before) || w.ended(rule)
}

// fires says whether a rule that is matched line by line has a match on a line that meets its
// conditions.
func (w *worker) fires(rule uint32, l bounds) bool {
	if w.matcher.finders[rule] != nil {
		_, ok := w.nextFound(rule, l.from, l.to)
		return ok
	}

	return w.matchesLine(rule, w.state(rule), l) && w.meets(rule, l, &Hit{})
}

// count counts a hit of a multiline rule.
func (w *worker) count(rule uint32) { w.state(rule).count++ }
