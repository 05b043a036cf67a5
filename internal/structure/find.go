package structure

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/syntax"
)

// Range is a run of tokens, From included, To not.
type Range struct{ From, To int }

// Match is a place that a condition means.
type Match struct {
	Range
	Focus Range // what is meant of it
	bound []Range
	names []string
}

// Bound returns the tokens that a metavariable stands for.
func (m Match) Bound(name string) (r Range, ok bool) {
	for slot, n := range m.names {
		if n == name && m.bound[slot].From >= 0 {
			return m.bound[slot], true
		}
	}

	return Range{}, false
}

// Binds reports whether a metavariable stands for something in every match.
func (f *Finder) Binds(name string) bool {
	slot := slices.Index(f.names, name)

	return slot >= 0 && f.bound[slot]
}

// MayFind says whether a file has words that a match needs. It is quick.
func (f *Finder) MayFind(file *File) bool { return file.mayHave(f.language, f.needs) }

// Spend counts steps of matching, and says whether to go on.
type Spend func(steps int) bool

// All calls found with each match in order, until spend says stop.
func (f *Finder) All(file *File, spend Spend, found func(Match)) {
	if f.MayFind(file) {
		newSearch(f, file, spend).all(found)
	}
}

func (s *search) all(found func(Match)) {
	s.places(s.finder.root, func(at Range, focus int) bool {
		m := Match{Range: at, Focus: at, bound: s.keepBound(), names: s.finder.names}
		if focus >= 0 {
			m.Focus = s.bound[focus]
		}
		found(m)

		return true
	})
}

// keepBound is a copy of what is bound. Many share one allocation.
func (s *search) keepBound() []Range {
	n := len(s.bound)
	if len(s.free) < n {
		s.free = make([]Range, 32*n)
	}
	kept := s.free[:n:n]
	s.free = s.free[n:]
	copy(kept, s.bound)

	return kept
}

// search finds the places of a condition in one file.
type search struct {
	finder   *Finder
	file     *File
	tokens   []syntax.Token
	spend    Spend
	steps    int
	stopped  bool
	bound    []Range // by slot; From is -1 for none
	trail    []int   // slots in the order in which they were bound
	ends     []int   // of the operands that are tried
	free     []Range // for what is bound in matches
	matchers []*matcher
	lists    []*list

	// Whether to do without all that is remembered, and to try everywhere: that is the
	// definition, which tests hold the other way equal to.
	plain bool
}

func newSearch(f *Finder, file *File, spend Spend) *search {
	return &search{
		finder: f, file: file, tokens: file.Tokens, spend: spend, bound: unbound(len(f.names)),
		matchers: make([]*matcher, f.patterns), lists: make([]*list, f.lists),
	}
}

// unbound is what metavariables stand for when nothing is bound.
func unbound(slots int) []Range { return slices.Repeat([]Range{{From: -1}}, slots) }

// afresh looks for something with nothing bound.
func (s *search) afresh(look func()) {
	bound, trail := s.bound, s.trail
	s.bound, s.trail = unbound(len(bound)), nil
	look()
	s.bound, s.trail = bound, trail
}

// step counts steps.
func (s *search) step(n int) bool {
	s.steps += n
	s.stopped = s.stopped || !s.spend(n)
	return !s.stopped
}

func (s *search) matcher(p *pattern) *matcher {
	if s.matchers[p.index] == nil {
		s.matchers[p.index] = &matcher{pattern: p, search: s}
	}

	return s.matchers[p.index]
}

// undo takes back what was bound since the trail had a length.
func (s *search) undo(length int) {
	for _, slot := range s.trail[length:] {
		s.bound[slot] = Range{From: -1}
	}
	s.trail = s.trail[:length]
}

// takes is told a place, with what is bound there. focus is the slot that is meant, -1
// for the whole place. It says whether the place is one.
type takes func(at Range, focus int) bool

// places calls found with each place of a condition by its start and then its end.
func (s *search) places(n *node, found takes) {
	accept := func(at Range, focus int) bool {
		mark := len(s.trail)
		ok := s.rest(n, at)
		if ok && n.focus >= 0 {
			focus = n.focus
		}
		ok = ok && found(at, focus)
		s.undo(mark)

		return ok
	}

	switch {
	case n.pattern != nil:
		s.starts(n.pattern, func(i int) bool {
			mark := len(s.trail)
			if end, ok := s.matcher(n.pattern).at(i); ok {
				accept(Range{i, end}, -1)
			}
			s.undo(mark)

			return s.step(1)
		})
	case n.byAll():
		s.places(n.all[0], accept)
	default:
		s.either(n, accept)
	}
}

// byAll says whether the first part of `all` finds the places of a condition.
func (n *node) byAll() bool { return n.pattern == nil && len(n.all) > 0 && n.all[0].finds() }

// either calls accept with the places of alternatives, until it takes one, for each range.
func (s *search) either(n *node, accept takes) {
	type held struct{ slot, from, to int32 }
	type candidate struct{ from, to, focus, first, last int32 } // small, since there may be one for each token
	var bound []held                                            // of all candidates
	rest := make([][]candidate, len(n.any))
	for k, sub := range n.any {
		s.places(sub, func(at Range, focus int) bool {
			first := len(bound)
			for _, slot := range s.trail {
				r := s.bound[slot]
				bound = append(bound, held{int32(slot), int32(r.From), int32(r.To)})
			}
			if len(rest[k]) == cap(rest[k]) { // append would grow it by a quarter only
				rest[k] = slices.Grow(rest[k], max(16, len(rest[k])))
			}
			rest[k] = append(rest[k], candidate{int32(at.From), int32(at.To), int32(focus), int32(first), int32(len(bound))})
			return true
		})
	}

	taken := Range{From: -1}
	for {
		next := -1 // the alternative whose next place is the first; each one's are in order
		for k, r := range rest {
			if len(r) > 0 && (next < 0 ||
				cmp.Or(cmp.Compare(r[0].from, rest[next][0].from), cmp.Compare(r[0].to, rest[next][0].to)) < 0) {
				next = k
			}
		}
		if next < 0 {
			return
		}
		c := rest[next][0]
		rest[next] = rest[next][1:]
		at := Range{int(c.from), int(c.to)}
		if at == taken || !s.step(1) {
			continue
		}
		mark := len(s.trail)
		for _, h := range bound[c.first:c.last] {
			if s.bound[h.slot].From < 0 {
				s.bound[h.slot] = Range{int(h.from), int(h.to)}
				s.trail = append(s.trail, int(h.slot))
			}
		}
		if accept(at, int(c.focus)) {
			taken = at
		}
		s.undo(mark)
	}
}

// rest says whether a place that the first part of a condition found meets the others, and
// binds what they bind.
func (s *search) rest(n *node, at Range) bool {
	all := n.all
	if n.byAll() {
		all = all[1:]
	}
	for _, sub := range all {
		if !s.holds(sub, at) {
			return false
		}
	}
	if len(n.any) > 0 && (n.pattern != nil || n.byAll()) && !s.anyHolds(n, at) {
		return false
	}

	return s.meets(n, at)
}

// holds says whether a place meets a condition, and binds what it binds.
func (s *search) holds(n *node, at Range) bool {
	mark := len(s.trail)
	ok := s.step(1) && (n.pattern == nil || s.matcher(n.pattern).fits(at))
	for _, sub := range n.all {
		ok = ok && s.holds(sub, at)
	}
	ok = ok && (len(n.any) == 0 || s.anyHolds(n, at)) && s.meets(n, at)
	if !ok {
		s.undo(mark)
	}

	return ok
}

func (s *search) anyHolds(n *node, at Range) bool {
	return slices.ContainsFunc(n.any, func(sub *node) bool { return s.holds(sub, at) })
}

// meets says whether a place meets what is beside patterns.
func (s *search) meets(n *node, at Range) bool {
	if n.not != nil {
		mark := len(s.trail)
		held := s.holds(n.not, at)
		s.undo(mark)
		if held {
			return false
		}
	}
	for _, t := range n.where {
		if !s.passes(t, s.bound[t.slot]) {
			return false
		}
	}

	return (n.has == nil || s.contains(n.has, at, n.direct, true)) &&
		(n.inside == nil || s.isInside(n.inside, at)) &&
		(n.notInside == nil || !s.isInside(n.notInside, at)) && !s.stopped
}
