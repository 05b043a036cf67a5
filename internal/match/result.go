package match

import (
	"cmp"
	"slices"
)

// Result is what Match finds in one file.
type Result struct {
	Hits       []Hit       // the first ones, by line, then by rule; one for each rule and line
	Counts     map[int]int // of all hits, by rule
	Apart      []Hit       // the first ones that are apart, likewise; in no Counts
	ApartCount int         // of all that are apart
	LongLines  []int       // added lines over MaxLine, which no rule looked at
	Stopped    []int       // rules that used up their time in this file
}

// first keeps the first of many hits, by line and then by rule, in any order
// that they come in. It holds at most twice as many as it is to keep.
type first struct {
	hits   []Hit
	limit  int
	behind int // line after which hits are not among the first; 0 when not known
}

func (f *first) add(h Hit) {
	if f.behind > 0 && h.Line > f.behind {
		return
	}
	f.hits = append(f.hits, h)
	if len(f.hits) > 2*f.limit {
		f.cut()
	}
}

// cut sorts the hits and keeps the first.
func (f *first) cut() {
	slices.SortFunc(f.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	if len(f.hits) > f.limit {
		f.hits = f.hits[:f.limit]
		if f.behind = 1; f.limit > 0 {
			f.behind = f.hits[f.limit-1].Line
		}
	}
}
