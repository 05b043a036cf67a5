package match_test

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// quickText is a file as quick rules read it.
type quickText struct {
	content []byte
	lower   []byte // content, ASCII letters in lower case
	lines   [][]byte
	starts  []int // offsets of the lines
}

func newQuickText(content []byte) *quickText {
	t := &quickText{content: content, lower: asciiLower(content), lines: splitLines(content)}
	start := 0
	for range t.lines {
		t.starts = append(t.starts, start)
		start += bytes.IndexByte(content[start:], '\n') + 1
	}
	return t
}

func asciiLower(text []byte) []byte {
	out := slices.Clone(text)
	for i, b := range out {
		if 'A' <= b && b <= 'Z' {
			out[i] = b | 0x20
		}
	}
	return out
}

// quickRule finds what match.Reference finds for one rule, with regexp too, but
// only on lines that have one of a few literals that each match needs.
type quickRule struct {
	rule     match.Rule
	index    int
	re       *regexp.Regexp
	literals [][]byte // in lower case; a match has one of them; nil: not known
}

func newQuickRule(index int, r match.Rule) *quickRule {
	return &quickRule{rule: r, index: index, re: regexp.MustCompile(r.Pattern), literals: neededLiterals(r.Pattern)}
}

func (q *quickRule) hits(t *quickText) []match.Hit {
	if q.rule.Multiline {
		return q.fileHits(t)
	}
	candidate := make([]bool, len(t.lines))
	for _, literal := range q.literals {
		for from := 0; ; {
			i := bytes.Index(t.lower[from:], literal)
			if i < 0 {
				break
			}
			n, found := slices.BinarySearch(t.starts, from+i)
			if !found {
				n--
			}
			candidate[n] = true
			if from = len(t.lower); n+1 < len(t.starts) {
				from = t.starts[n+1]
			}
		}
	}
	var hits []match.Hit
	for n, line := range t.lines {
		if len(line) > match.MaxLine || q.literals != nil && !candidate[n] {
			continue
		}
		if loc := q.re.FindIndex(line); loc != nil {
			hits = append(hits, match.Hit{Rule: q.index, Line: n + 1, Column: loc[0] + 1, EndLine: n + 1, EndColumn: loc[1] + 1})
		}
	}
	return hits
}

// fileHits asks the reference itself, if a match is possible.
func (q *quickRule) fileHits(t *quickText) []match.Hit {
	if q.literals != nil && !slices.ContainsFunc(q.literals, func(l []byte) bool { return bytes.Contains(t.lower, l) }) {
		return nil
	}
	hits := match.Reference([]match.Rule{q.rule}, "", t.content, all)
	for i := range hits {
		hits[i].Rule = q.index
	}
	return hits
}

// neededLiterals returns ASCII texts in lower case of which each match of a
// pattern has one, if its ASCII letters are made lower-case too; nil when none
// are known. It is far simpler than what the engine does, and shares nothing
// with it.
func neededLiterals(pattern string) [][]byte {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var list [][]byte
	for _, s := range needed(re) {
		list = append(list, []byte(s))
	}
	return list
}

func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		// Where case is folded, k and s also match beyond ASCII.
		parts := strings.FieldsFunc(string(re.Rune), func(r rune) bool {
			return r >= utf8.RuneSelf || re.Flags&syntax.FoldCase != 0 && strings.ContainsRune("kKsS", r)
		})
		longest := ""
		for _, p := range parts {
			if len(p) > len(longest) {
				longest = p
			}
		}
		if longest != "" {
			return []string{string(asciiLower([]byte(longest)))}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if list := needed(sub); shortestOf(list) > shortestOf(best) {
				best = list
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			list := needed(sub)
			if list == nil {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

func shortestOf(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

func TestNeededLiterals(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string][]string{
		`\bfoo\.Bar\(`:      {"foo.bar("},
		`(?i:tokens)`:       {"to"},
		`(?i:k)`:            nil,
		`(?:abc|de)[0-9]`:   {"abc", "de"},
		`(?:abc|\d)x`:       {"x"},
		`(abc)?d*e+`:        {"e"},
		`(?:ab){2,3}c`:      {"ab"},
		`[a-z]+`:            nil,
		`pässe`:             {"sse"},
		`\x{212A}`:          nil,
		`(?:abc|(?i:skis))`: {"abc", "i"},
	} {
		var got []string
		for _, l := range neededLiterals(pattern) {
			got = append(got, string(l))
		}
		assert.Equal(t, want, got, pattern)
	}
	// Most rules have some: else the corpus takes hours.
	known := 0
	for _, r := range thousandRules() {
		list := neededLiterals(r.Pattern)
		require.NotContains(t, list, []byte{})
		if len(list) > 0 {
			known++
		}
	}
	assert.Greater(t, known, 950)
}
