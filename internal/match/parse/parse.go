// Package parse is the first stage of the engine: it brings a pattern into the
// form in which the later stages look at it.
//
// A rule is asked one question about every line: does it match? The answer
// stays the same when the pattern is made simpler in these ways:
//
//   - Captures mean nothing to the question and go.
//   - A line has no "\n" in it and is a text of its own. So "." and classes
//     lose the "\n", a part that needs one can't match, and ^ and $ mean the
//     ends of the line whatever flags they have.
//   - What may be left out at either end of a match changes where the match
//     begins or ends, but not whether there is one: "[\w.-]{0,50}secret\s*"
//     matches on the lines on which "secret" does, and "x+y" on those on
//     which "xy" does. (A match of the longer pattern holds a match of the
//     shorter one, at which all assertions see the same text.)
//
// For example
//
//	(?m)^\s*(import|from) .*
//
// becomes the tree of
//
//	\A[\t\f\r ]*(?:import|from)[ ]
//
// The last step is worth most: what is left begins, more often than not, with
// a literal, and a literal at a known distance from the begin of the match is
// what makes it cheap to look for (see package extract).
package parse

import (
	"regexp/syntax"
	"slices"
)

// Pattern is a pattern, and its form in the engine.
type Pattern struct {
	Source *syntax.Regexp // as it was written
	Tree   *syntax.Regexp // without captures and what may be left out at its ends
	// Begins says that a match of Tree begins where that of the whole pattern does.
	Begins bool
	// Never says that nothing matches the pattern; then Tree is of no use.
	Never bool

	Text      string // Parse was called with
	Multiline bool
}

// Lean is the pattern without its trees, which can be a hundred times as large as
// what was written.
func (p Pattern) Lean() Pattern {
	p.Source, p.Tree = nil, nil

	return p
}

// Again parses the pattern once more, also when it is lean, and returns its Tree.
func (p Pattern) Again() *syntax.Regexp {
	again, err := Parse(p.Text, p.Multiline)
	if err != nil { // it was parsed before
		return noMatch
	}

	return again.Tree
}

// Parse parses a pattern for use on single lines or, when multiline, on whole
// files, where lines and their ends are left as they are. It fails when
// pattern is not a regular expression in Go's syntax.
func Parse(pattern string, multiline bool) (Pattern, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return Pattern{}, err
	}
	tree := rewrite(re, !multiline)
	p := Pattern{Source: re, Tree: tree, Text: pattern, Multiline: multiline}
	if tree.Op == syntax.OpNoMatch {
		p.Never = true
		return p, nil
	}
	trimmed := trim(tree, true)
	p.Tree, p.Begins = trim(trimmed, false), trimmed.Equal(tree)
	share(p.Tree, map[string][]rune{})

	return p, nil
}

// minShared is the length of a class, as pairs of first and last, from which on it
// is worth sharing.
const minShared = 64

// share makes equal classes of a tree one: \pL alone has some 1,300 runes.
func share(re *syntax.Regexp, classes map[string][]rune) {
	if re.Op == syntax.OpCharClass && len(re.Rune) >= minShared {
		key := string(re.Rune)
		if known, ok := classes[key]; ok {
			re.Rune = known
		} else {
			classes[key] = re.Rune
		}
	}

	for _, sub := range re.Sub {
		share(sub, classes)
	}
}

var (
	noMatch = &syntax.Regexp{Op: syntax.OpNoMatch}
	empty   = &syntax.Regexp{Op: syntax.OpEmptyMatch}
)

// rewrite copies a tree without its captures and, for a single line, without
// "\n" and with ^ and $ as the ends of the line.
func rewrite(re *syntax.Regexp, line bool) *syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		return rewrite(re.Sub[0], line)
	case syntax.OpLiteral:
		if line && slices.Contains(re.Rune, '\n') {
			return noMatch
		}

		return re
	case syntax.OpCharClass:
		ranges := re.Rune
		if line {
			ranges = without(ranges, '\n')
		}
		if len(ranges) == 0 {
			return noMatch
		}

		return &syntax.Regexp{Op: syntax.OpCharClass, Flags: re.Flags, Rune: ranges}
	case syntax.OpAnyChar:
		if line {
			return &syntax.Regexp{Op: syntax.OpAnyCharNotNL}
		}
	case syntax.OpBeginLine:
		if line {
			return &syntax.Regexp{Op: syntax.OpBeginText}
		}
	case syntax.OpEndLine:
		if line {
			return &syntax.Regexp{Op: syntax.OpEndText}
		}
	case syntax.OpConcat:
		return concat(rewriteAll(re.Sub, line))
	case syntax.OpAlternate:
		return alternate(rewriteAll(re.Sub, line))
	case syntax.OpStar, syntax.OpQuest, syntax.OpPlus, syntax.OpRepeat:
		sub := rewrite(re.Sub[0], line)
		if sub.Op == syntax.OpNoMatch {
			if re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0 {
				return noMatch
			}

			return empty
		}
		copied := *re
		copied.Sub = []*syntax.Regexp{sub}

		return &copied
	}

	return re
}

func rewriteAll(subs []*syntax.Regexp, line bool) []*syntax.Regexp {
	list := make([]*syntax.Regexp, len(subs))
	for i, sub := range subs {
		list[i] = rewrite(sub, line)
	}

	return list
}

// without removes one character from a class, given as pairs of first and last.
func without(ranges []rune, r rune) []rune {
	out := make([]rune, 0, len(ranges)+2)
	for i := 0; i < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if r < lo || r > hi {
			out = append(out, lo, hi)
			continue
		}
		if lo < r {
			out = append(out, lo, r-1)
		}
		if r < hi {
			out = append(out, r+1, hi)
		}
	}

	return out
}

func concat(subs []*syntax.Regexp) *syntax.Regexp {
	list := make([]*syntax.Regexp, 0, len(subs))
	for _, sub := range subs {
		switch sub.Op {
		case syntax.OpNoMatch:
			return noMatch
		case syntax.OpEmptyMatch:
		case syntax.OpConcat:
			list = append(list, sub.Sub...)
		default:
			list = append(list, sub)
		}
	}

	switch len(list) {
	case 0:
		return empty
	case 1:
		return list[0]
	}

	return &syntax.Regexp{Op: syntax.OpConcat, Sub: list}
}

func alternate(subs []*syntax.Regexp) *syntax.Regexp {
	list := slices.DeleteFunc(subs, func(sub *syntax.Regexp) bool { return sub.Op == syntax.OpNoMatch })
	switch len(list) {
	case 0:
		return noMatch
	case 1:
		return list[0]
	}

	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: list}
}

// trim drops what may be left out at the begin of a match, or at its end.
func trim(re *syntax.Regexp, begin bool) *syntax.Regexp {
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest:
		return empty
	case syntax.OpPlus:
		return trim(re.Sub[0], begin)
	case syntax.OpRepeat:
		switch re.Min {
		case 0:
			return empty
		case 1:
			return trim(re.Sub[0], begin)
		}
		copied := *re
		copied.Max = re.Min

		return &copied
	case syntax.OpConcat:
		subs := slices.Clone(re.Sub)
		for len(subs) > 0 {
			end := &subs[0]
			if !begin {
				end = &subs[len(subs)-1]
			}
			*end = trim(*end, begin)
			if (*end).Op != syntax.OpEmptyMatch {
				break
			}
			if begin {
				subs = subs[1:]
			} else {
				subs = subs[:len(subs)-1]
			}
		}

		return concat(subs)
	case syntax.OpAlternate:
		subs := make([]*syntax.Regexp, len(re.Sub))
		for i, sub := range re.Sub {
			subs[i] = trim(sub, begin)
			if subs[i].Op == syntax.OpEmptyMatch {
				return empty
			}
		}

		return alternate(subs)
	}

	return re
}
