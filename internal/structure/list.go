package structure

import (
	"cmp"
	"slices"
	"sort"
)

// list is the places of a condition in a file, by their starts and then their ends.
type list struct {
	places
	latest  []int32 // by index: the last end of the places up to it
	tree    []int32 // a heap of the last ends below, for enclosing; its leaves are places
	byDepth *byDepth
}

// byDepth is the places of a list by the number of brackets around their starts. It has
// only depths that occur, since a file may have many more brackets than places.
type byDepth struct {
	places
	depths []int32 // ascending
	starts []int32 // by index of depths: the first place, then the number of places
}

// places are some of a list.
type places struct {
	all   []Range
	first []int32 // by index: the first end of the places from it on
}

func newList(all []Range) *list {
	l := &list{places: places{all, make([]int32, len(all))}, latest: make([]int32, len(all))}
	firstEnds(all, l.first)
	for i, r := range all {
		l.latest[i] = int32(r.To)
		if i > 0 {
			l.latest[i] = max(l.latest[i], l.latest[i-1])
		}
	}

	return l
}

// firstEnds puts down the first end of places from each of them on.
func firstEnds(all []Range, first []int32) {
	for i := len(all) - 1; i >= 0; i-- {
		first[i] = int32(all[i].To)
		if i+1 < len(all) {
			first[i] = min(first[i], first[i+1])
		}
	}
}

// split puts the places of a list in order of their depths.
func split(all []Range, depths []int32) *byDepth {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Range) int { return cmp.Compare(depths[a.From], depths[b.From]) })
	first := make([]int32, len(sorted))
	d := &byDepth{places: places{sorted, first}}
	for from, to := 0, 0; from < len(sorted); from = to {
		depth := depths[sorted[from].From]
		for to < len(sorted) && depths[sorted[to].From] == depth {
			to++
		}
		firstEnds(sorted[from:to], first[from:to])
		d.depths, d.starts = append(d.depths, depth), append(d.starts, int32(from))
	}
	d.starts = append(d.starts, int32(len(sorted)))

	return d
}

// at is the places at a depth.
func (d *byDepth) at(depth int32) places {
	if len(d.depths) == 0 {
		return places{}
	}
	i := int(depth - d.depths[0]) // where no depth is missing
	if i < 0 || i >= len(d.depths) || d.depths[i] != depth {
		at, ok := slices.BinarySearch(d.depths, depth)
		if !ok {
			return places{}
		}
		i = at
	}
	from, to := d.starts[i], d.starts[i+1]

	return places{d.all[from:to], d.first[from:to]}
}

// from is the index of the first place that starts at a token or behind it.
func (p places) from(token int) int {
	return sort.Search(len(p.all), func(i int) bool { return p.all[i].From >= token })
}

// list returns the places of a condition, which stand alone. Those of a pattern are found
// once for all rules, but each takes the steps: it must not matter which one was first.
func (s *search) list(n *node) *list {
	if l := s.lists[n.list]; l != nil && !s.plain {
		return l
	}
	key := listKey{s.finder.language, n.alone}
	if known, ok := s.file.lists[key]; ok && n.alone != "" && !s.plain {
		s.step(known.steps)
		s.lists[n.list] = known.list
		return known.list
	}

	before := s.steps
	var all []Range
	s.afresh(func() {
		s.places(n, func(at Range, _ int) bool {
			all = append(all, at)
			return true
		})
	})
	l := newList(all)
	s.lists[n.list] = l
	if n.alone != "" && !s.stopped && !s.plain {
		s.file.keep(key, listOf{l, s.steps - before})
	}

	return l
}

// keep keeps places for other rules, unless they and others are too many for the file.
func (f *File) keep(key listKey, l listOf) {
	if f.kept+len(l.all) > len(f.Tokens)/keptShare {
		return
	}
	if f.lists == nil {
		f.lists = map[listKey]listOf{}
	}
	f.lists[key] = l
	f.kept += len(l.all)
}

// keptShare is how many tokens there are at least for each place that a file keeps.
const keptShare = 4

// sameBound says whether a place of a condition is one, too, with what is bound around it.
func (s *search) sameBound(n *node, at Range) (ok bool) {
	if len(n.shared) == 0 {
		return true
	}
	around := s.bound
	s.afresh(func() {
		for _, slot := range n.shared {
			s.bound[slot] = around[slot]
		}
		ok = s.holds(n, at)
	})

	return ok
}

// isInside says whether a range lies within a place of a condition, and is not all of it.
func (s *search) isInside(n *node, at Range) bool {
	l := s.list(n)
	if s.plain {
		for _, r := range l.all {
			if r.From <= at.From && r.To >= at.To && r != at && s.sameBound(n, r) {
				return true
			}
		}
		return false
	}

	i := l.from(at.From + 1)
	if len(n.shared) == 0 {
		for k := i - 1; k >= 0 && l.all[k].From == at.From; k-- {
			if i = k; l.all[k].To > at.To {
				return true
			}
		}
		return s.step(1) && i > 0 && int(l.latest[i-1]) >= at.To
	}
	for i = l.enclosing(i, at.To); i >= 0 && s.step(1); i = l.enclosing(i, at.To) {
		if l.all[i] != at && s.sameBound(n, l.all[i]) {
			return true
		}
	}

	return false
}

// enclosing is the index of the last place before one that ends at a token or behind it;
// -1 for none.
func (l *list) enclosing(before, end int) int {
	half := 1
	for half <= len(l.all) {
		half *= 2
	}
	if l.tree == nil {
		l.tree = make([]int32, 2*half)
		for i, r := range l.all {
			l.tree[half+i] = int32(r.To)
		}
		for i := half - 1; i > 0; i-- {
			l.tree[i] = max(l.tree[2*i], l.tree[2*i+1])
		}
	}

	for i := half + before; i > 1; i /= 2 {
		if i%2 == 1 && int(l.tree[i-1]) >= end {
			for i--; i < half; {
				if i *= 2; int(l.tree[i+1]) >= end {
					i++
				}
			}
			return i - half
		}
	}

	return -1
}

// contains says whether a place of a condition lies within a range, and is not all of it
// where that is not wanted. A direct one is in no brackets within the range but one pair,
// which is around it when the range is no whole match.
func (s *search) contains(n *node, at Range, direct, isMatch bool) bool {
	if at.From >= at.To {
		return false
	}
	l := s.list(n)
	if !direct {
		return s.within(n, l.places, at, isMatch)
	}

	depths := s.file.depths()
	levels := 0
	if t := s.tokens[at.From]; isMatch || t.Pair == int32(at.To-1) {
		levels = 1
	}
	if l.byDepth == nil {
		l.byDepth = split(l.all, depths)
	}
	for level := range levels + 1 {
		if s.within(n, l.byDepth.at(depths[at.From]+int32(level)), at, isMatch) {
			return true
		}
	}

	return false
}

// within says whether one of some places lies within a range.
func (s *search) within(n *node, l places, at Range, smaller bool) bool {
	if !s.plain && len(n.shared) == 0 {
		i := l.from(at.From)
		for ; smaller && i < len(l.all) && l.all[i].From == at.From; i++ {
			if l.all[i].To < at.To {
				return true
			}
		}
		return s.step(1) && i < len(l.all) && int(l.first[i]) <= at.To
	}

	for i := l.from(at.From); i < len(l.all) && l.all[i].From < at.To && s.step(1); i++ {
		if r := l.all[i]; r.To <= at.To && !(smaller && r == at) && s.sameBound(n, r) {
			return true
		}
	}

	return false
}
