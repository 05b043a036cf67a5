package filter

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

// runs is the runs of one set.
type runs struct {
	has    [256]bool
	length int   // the least of them
	each   []run // ascending by length
}

// run is who is to be asked when so many bytes stand in a row.
type run struct {
	length int
	id     uint32
}

// groupRuns makes one of the runs that have the same set.
func groupRuns(needles []Needle) []runs {
	index := map[byteset.Set]int{}
	var groups []runs
	for _, n := range needles {
		i, ok := index[n.Sets[0]]
		if !ok {
			i = len(groups)
			index[n.Sets[0]] = i
			groups = append(groups, runs{})
			n.Sets[0].Each(func(b byte) { groups[i].has[b] = true })
		}
		groups[i].each = append(groups[i].each, run{length: len(n.Sets), id: n.ID})
	}
	for i := range groups {
		g := &groups[i]
		slices.SortStableFunc(g.each, func(a, b run) int { return cmp.Compare(a.length, b.length) })
		g.length = g.each[0].length
	}
	return groups
}

// ScanRuns calls found with the id and the begin of each run in text[from:to],
// ascending for each id.
func (f *Filter) ScanRuns(text []byte, from, to int, found func(id uint32, at int)) {
	text = text[:to]
	for k := range f.runs {
		g := &f.runs[k]
		// Backwards from where a run that begins at begin would have its last
		// byte: the first one that is not of the set is where to go on.
		for begin := from; begin+g.length <= len(text); {
			i := begin + g.length - 1
			for i >= begin && g.has[text[i]] {
				i--
			}
			if i >= begin {
				begin = i + 1
				continue
			}
			end := begin + g.length
			for end < len(text) && g.has[text[end]] {
				end++
			}
			for _, r := range g.each {
				if r.length > end-begin {
					break
				}
				found(r.id, begin)
			}
			begin = end + 1
		}
	}
}
