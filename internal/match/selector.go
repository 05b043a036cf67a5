package match

import (
	"slices"
	"strings"
)

// selector decides which rules look at a file. Rules with the same globs and
// languages are one group, which is decided once a file; and so is a glob.
type selector struct {
	globs     Globs
	languages map[string]int32 // index by name
	groups    []globGroup
	group     []uint32 // by rule
	all       []bool   // the answer when there are neither globs nor languages

	exact  literals // globs that are looked up, of which case counts
	folded literals // likewise, of which it doesn't
	unsure []int8   // by glob: -1 for those that are looked up, which don't match unless they are found, else 0
}

// literals are globs of which what they name in a path is all text, by that text.
type literals struct {
	folders  map[string][]int32 // `**/folder/**`
	names    map[string][]int32 // `**/name`
	suffixes map[string][]int32 // `**/*suffix`
	lengths  []int              // of the suffixes
}

// add adds a glob, and reports whether all of it is literal: others have to be tried.
func (l *literals) add(g glob, index int32) bool {
	if !g.isLiteral() {
		return false
	}
	put := func(into *map[string][]int32, text string) {
		if *into == nil {
			*into = map[string][]int32{}
		}
		(*into)[text] = append((*into)[text], index)
	}
	for _, choice := range g.choices {
		l.add(choice, index)
	}
	for _, s := range g.suffixes {
		put(&l.suffixes, s)
		if !slices.Contains(l.lengths, len(s)) {
			l.lengths = append(l.lengths, len(s))
		}
	}
	switch {
	case g.segment == nil:
	case g.folder:
		put(&l.folders, g.segment[0])
	default:
		put(&l.names, g.segment[0])
	}

	return true
}

func (g glob) isLiteral() bool {
	if g.choices != nil {
		return !slices.ContainsFunc(g.choices, func(choice glob) bool { return !choice.isLiteral() })
	}

	return g.suffixes != nil || len(g.segment) == 1
}

// find decides the globs that match a path.
func (l *literals) find(path string, decided []int8) {
	decide := func(globs []int32) {
		for _, i := range globs {
			decided[i] = 1
		}
	}
	for _, n := range l.lengths {
		if n <= len(path) {
			decide(l.suffixes[path[len(path)-n:]])
		}
	}
	decide(l.names[path[strings.LastIndexByte(path, '/')+1:]])
	if len(l.folders) > 0 {
		for segment := range strings.SplitSeq(path, "/") {
			decide(l.folders[segment])
		}
	}
}

// globGroup is the globs and languages of some rules, as indexes into the selector's.
type globGroup struct{ include, exclude, languages []int32 }

func newSelector(rules []Rule) selector {
	s := selector{group: make([]uint32, len(rules)), languages: map[string]int32{}}
	index := func(known map[string]int32, prepare func(string) glob, patterns []string) []int32 {
		var list []int32
		for _, p := range patterns {
			i, ok := known[p]
			if !ok {
				i = int32(len(s.globs))
				known[p] = i
				g := prepare(p)
				s.globs = append(s.globs, g)
				var isLookedUp bool
				if g.folded != nil { // what matches as it is written does in lower case, too
					isLookedUp = s.folded.add(*g.folded, i)
				} else {
					isLookedUp = s.exact.add(g, i)
				}
				s.unsure = append(s.unsure, 0)
				if isLookedUp {
					s.unsure[i] = -1
				}
			}
			list = append(list, i)
		}

		return list
	}
	included, excluded := map[string]int32{}, map[string]int32{}
	named := func(names []string) (list []int32) {
		for _, name := range names {
			if _, ok := s.languages[name]; !ok {
				s.languages[name] = int32(len(s.languages))
			}
			list = append(list, s.languages[name])
		}

		return list
	}
	groups := map[string]uint32{}
	for i, r := range rules {
		var parts []string
		for _, list := range [][]string{r.Include, r.Exclude, r.Languages} {
			parts = append(parts, strings.Join(list, "\x00"))
		}
		key := strings.Join(parts, "\x00\x00")
		g, ok := groups[key]
		if !ok {
			g = uint32(len(s.groups))
			groups[key] = g
			s.groups = append(s.groups, globGroup{
				index(included, newFolded, r.Include), index(excluded, newGlob, r.Exclude), named(r.Languages),
			})
		}
		s.group[i] = g
	}
	if len(s.globs)+len(s.languages) == 0 {
		s.all = slices.Repeat([]bool{true}, len(s.groups))
	}

	return s
}

// active says for each group whether its rules look at the file at path that has
// the given languages. Every rule looks at a path over 4,096 bytes: a path must not
// hide a file.
func (s selector) active(path string, languages []string) []bool {
	if s.all != nil {
		return s.all
	}
	active := make([]bool, len(s.groups))
	decided := make([]int8, len(s.globs)) // 0 not yet, 1 yes, -1 no
	lower := strings.ToLower(path)
	if path != "" && len(path) <= maxGlobPath {
		copy(decided, s.unsure)
		s.exact.find(path, decided)
		s.folded.find(lower, decided)
	}
	anyOf := func(list []int32) bool {
		for _, i := range list {
			if decided[i] == 0 {
				decided[i] = -1
				if s.globs[i].matchAny(path, lower) {
					decided[i] = 1
				}
			}
			if decided[i] == 1 {
				return true
			}
		}

		return false
	}
	spoken := make([]bool, len(s.languages))
	for _, name := range languages {
		if i, ok := s.languages[name]; ok {
			spoken[i] = true
		}
	}
	isSpoken := func(i int32) bool { return spoken[i] }
	for i, g := range s.groups {
		ofLanguage := len(g.languages) == 0 || slices.ContainsFunc(g.languages, isSpoken)
		active[i] = len(path) > maxGlobPath || ofLanguage && (len(g.include) == 0 || anyOf(g.include)) && !anyOf(g.exclude)
	}

	return active
}
