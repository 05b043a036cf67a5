package match

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	gramSize    = 3   // bytes of a literal that are looked up
	maxLiterals = 128 // alternatives that a pattern is described by
)

// required returns literals of which every match of the pattern has at least
// one, ASCII letters in lower case in both; nil when no such list is known in
// which every literal has gramSize bytes. (An invalid byte matches as U+FFFD,
// so that character is never part of a literal.)
func required(re *syntax.Regexp) []string {
	info := literalsOf(re)
	list := better(info.exact, info.needed)
	if shortest(list) < gramSize {
		return nil
	}
	return list
}

// literals is what is known of an expression's matches: exact is all texts
// that it matches, when they are few; needed is texts of which each match has
// one. nil is not known.
type literals struct{ exact, needed []string }

func literalsOf(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return literals{exact: []string{""}}
	case syntax.OpLiteral:
		parts := make([]literals, len(re.Rune))
		for i, r := range re.Rune {
			parts[i] = runeLiterals(r, re.Flags&syntax.FoldCase != 0)
		}
		return concat(parts)
	case syntax.OpCharClass:
		return classLiterals(re.Rune)
	case syntax.OpCapture:
		return literalsOf(re.Sub[0])
	case syntax.OpPlus:
		sub := literalsOf(re.Sub[0])
		return literals{needed: better(sub.exact, sub.needed)}
	case syntax.OpQuest:
		if sub := literalsOf(re.Sub[0]); sub.exact != nil {
			return literals{exact: union(sub.exact, []string{""})}
		}
	case syntax.OpRepeat:
		sub := literalsOf(re.Sub[0])
		if re.Min == 0 {
			return literals{}
		}
		if re.Min == re.Max && re.Min <= 8 {
			parts := make([]literals, re.Min)
			for i := range parts {
				parts[i] = sub
			}
			return concat(parts)
		}
		return literals{needed: better(sub.exact, sub.needed)}
	case syntax.OpConcat:
		parts := make([]literals, len(re.Sub))
		for i, sub := range re.Sub {
			parts[i] = literalsOf(sub)
		}
		return concat(parts)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return literals{}
}

func runeLiterals(r rune, fold bool) literals {
	set := []rune{r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			set = append(set, f)
		}
	}
	var exact []string
	for _, r := range set {
		if r == utf8.RuneError {
			return literals{}
		}
		exact = union(exact, []string{lower(string(r))})
	}
	return literals{exact: exact}
}

// classLiterals handles a class of few characters, given as ranges.
func classLiterals(ranges []rune) literals {
	var exact []string
	count := 0
	for i := 0; i < len(ranges); i += 2 {
		if count += int(ranges[i+1]-ranges[i]) + 1; count > 16 {
			return literals{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == utf8.RuneError {
				return literals{}
			}
			exact = union(exact, []string{lower(string(r))})
		}
	}
	return literals{exact: exact}
}

// concat joins what is known of consecutive parts: exact texts as long as they
// are few, and the best needed texts of any run of parts.
func concat(parts []literals) literals {
	var needed []string
	run := []string{""}
	whole := true
	for _, p := range parts {
		needed = better(needed, p.needed)
		if p.exact != nil && len(run)*len(p.exact) <= maxLiterals {
			run = cross(run, p.exact)
			continue
		}
		needed = better(needed, run)
		whole = false
		run = []string{""}
		if p.exact != nil {
			run = p.exact
		}
	}
	if whole {
		return literals{exact: run, needed: needed}
	}
	return literals{needed: better(needed, run)}
}

func alternate(subs []*syntax.Regexp) literals {
	var exact, needed []string
	allExact, allNeeded := true, true
	for _, sub := range subs {
		info := literalsOf(sub)
		allExact = allExact && info.exact != nil
		exact = union(exact, info.exact)
		best := better(info.exact, info.needed)
		allNeeded = allNeeded && best != nil
		needed = union(needed, best)
	}
	var result literals
	if allExact && len(exact) <= maxLiterals {
		result.exact = exact
	}
	if allNeeded && len(needed) <= maxLiterals {
		result.needed = needed
	}
	return result
}

// better returns the list whose shortest text is longer, then the list with
// fewer texts. A list with an empty text, and no list, are the worst.
func better(a, b []string) []string {
	sa, sb := min(shortest(a), 8), min(shortest(b), 8) // past 8 bytes, fewer is better
	if sb > sa || sb == sa && len(b) < len(a) && len(b) > 0 {
		return b
	}
	return a
}

func shortest(list []string) int {
	if len(list) == 0 {
		return -1
	}
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}

func cross(a, b []string) []string {
	if len(a) == 1 && len(b) == 1 {
		return []string{a[0] + b[0]}
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return union(nil, out)
}

// union returns the texts of both lists once, without changing either.
func union(a, b []string) []string {
	out := a[:len(a):len(a)]
	seen := make(map[string]bool, len(a)+len(b))
	for _, s := range a {
		seen[s] = true
	}
	for _, s := range b {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// lower turns ASCII letters into lower case and leaves every other byte.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// index finds which of many literals occur in a text, by looking up the
// gramSize bytes at each place in a small table.
type index struct {
	filter [1 << 10]uint64 // a bit for each hash of a gram that is in entries
	grams  map[uint32][]entry
	count  int
}

// entry is a literal that has the gram at offset.
type entry struct {
	literal string
	offset  int
	rules   []int32
}

func gramAt(s string, i int) uint32 {
	return uint32(s[i])<<16 | uint32(s[i+1])<<8 | uint32(s[i+2])
}

func gramHash(gram uint32) uint32 { return (gram * 0x9E3779B1) >> 16 }

// add files literal, lower-cased and at least gramSize bytes, under its gram
// with the fewest frequent letters.
func (x *index) add(literal string, rule int32) {
	best, bestScore := 0, -1
	for i := 0; i+gramSize <= len(literal); i++ {
		score := 0
		for _, c := range literal[i : i+gramSize] {
			if !strings.ContainsRune(" etaoinsrlcdu_.=\"'()", c) {
				score++
			}
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if x.grams == nil {
		x.grams = map[uint32][]entry{}
	}
	gram := gramAt(literal, best)
	h := gramHash(gram)
	x.filter[h>>6] |= 1 << (h & 63)
	x.count++
	list := x.grams[gram]
	for i := range list {
		if list[i].literal == literal {
			list[i].rules = append(list[i].rules, rule)
			return
		}
	}
	x.grams[gram] = append(list, entry{literal: literal, offset: best, rules: []int32{rule}})
}

// scan calls found with the rules of each literal that occurs in text, for
// each place where it does.
func (x *index) scan(text []byte, found func(rules []int32)) {
	if x.count == 0 || len(text) < gramSize {
		return
	}
	gram := uint32(lowerByte(text[0]))<<8 | uint32(lowerByte(text[1]))
	for i := gramSize - 1; i < len(text); i++ {
		gram = (gram<<8 | uint32(lowerByte(text[i]))) & 0xFFFFFF
		h := gramHash(gram)
		if x.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, e := range x.grams[gram] {
			if start := i - (gramSize - 1) - e.offset; start >= 0 && hasLower(text[start:], e.literal) {
				found(e.rules)
			}
		}
	}
}

// hasLower says whether text begins with literal when its ASCII letters are
// turned into lower case.
func hasLower(text []byte, literal string) bool {
	if len(text) < len(literal) {
		return false
	}
	for i := range len(literal) {
		if lowerByte(text[i]) != literal[i] {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}
