// Package matchtest has what the matching engine is tested against.
package matchtest

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prwarden/prwarden/internal/match"
)

// Reference defines what hits are: it finds the same as match.File.Match, in the
// plainest way and without regard to time. It is there to test the engine
// against. Patterns and globs must be valid.
func Reference(rules []match.Rule, path string, content []byte, added []match.LineRange) []match.Hit {
	// Lines with their endings; and the ones to look at.
	lines := bytes.SplitAfter(content, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	wanted := map[int]bool{}
	text := func(n int) []byte {
		line, ended := bytes.CutSuffix(lines[n-1], []byte("\n"))
		if ended {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}

		return line
	}
	for _, r := range added {
		for n := max(r.First, 1); n <= min(r.Last, len(lines)); n++ {
			wanted[n] = true
		}
	}

	var hits []match.Hit
	for i, rule := range rules {
		if !looksAt(rule, path) {
			continue
		}
		if rule.Multiline {
			hits = append(hits, referenceFile(i, rule, content, wanted)...)
			continue
		}
		for n := range lines {
			if !wanted[n+1] {
				continue
			}
			if superseded(rules, i, path, text(n+1)) {
				continue
			}
			if loc := firstOf(rule, text(n+1)); loc != nil {
				hits = append(hits, match.Hit{Rule: i, Line: n + 1, Column: loc[0] + 1, EndLine: n + 1, EndColumn: loc[1] + 1})
			}
		}
	}
	slices.SortFunc(hits, func(a, b match.Hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})

	return hits
}

// firstOf is the first match of a rule on a line that meets its conditions, or nil.
func firstOf(rule match.Rule, line []byte) []int {
	for _, loc := range regexp.MustCompile(rule.Pattern).FindAllSubmatchIndex(line, -1) {
		if Meets(rule.Conditions, line, loc) {
			return loc
		}
	}

	return nil
}

// superseded says whether a rule that supersedes a rule has a hit on a line.
func superseded(rules []match.Rule, i int, path string, line []byte) bool {
	return slices.ContainsFunc(rules, func(other match.Rule) bool {
		return slices.Contains(other.Supersedes, i) && looksAt(other, path) && firstOf(other, line) != nil
	})
}

// Meets says whether a match meets conditions, in the plainest way.
func Meets(c match.Conditions, text []byte, loc []int) bool {
	found := text[loc[0]:loc[1]]
	if c.Entropy != nil && loc[2*c.Entropy.Group] >= 0 {
		found = text[loc[2*c.Entropy.Group]:loc[2*c.Entropy.Group+1]]
	}
	found = found[:min(len(found), 1<<10)]
	if c.Entropy != nil && !match.LooksRandom(found, c.Entropy.Min) {
		return false
	}
	if c.Checksum != "" && !match.HasChecksum(c.Checksum, found) {
		return false
	}

	return !slices.ContainsFunc(c.Stopwords, func(word string) bool {
		return bytes.Contains(bytes.ToLower(found), bytes.ToLower([]byte(word)))
	}) && !slices.ContainsFunc(c.Allow, func(pattern string) bool {
		return regexp.MustCompile(pattern).Match(found)
	})
}

// matchesIn are the places of a multiline rule in a file where its conditions are met.
func matchesIn(rule match.Rule, content []byte) (places [][]int) {
	re := regexp.MustCompile(rule.Pattern)
	var at []string
	for _, name := range re.SubexpNames() {
		if match.IsAtGroup(name) {
			at = append(at, name)
		}
	}
	slices.Sort(at)
	if len(at) == 0 {
		for _, loc := range re.FindAllSubmatchIndex(content, -1) {
			if Meets(rule.Conditions, content, loc) {
				places = append(places, loc)
			}
		}
		return places
	}

	rest := bytes.Clone(content)
	for loc := re.FindSubmatchIndex(rest); loc != nil; loc = re.FindSubmatchIndex(rest) {
		place := loc[:2]
		for _, name := range slices.Backward(at) {
			if group := loc[2*re.SubexpIndex(name):]; group[0] < group[1] {
				place = group[:2]
			}
		}
		if Meets(rule.Conditions, rest, loc) {
			places = append(places, place)
		}
		found := rest[place[0]:place[1]]
		if len(bytes.Trim(found, " \t\r\n\x00")) == 0 {
			break
		}
		for i := range found {
			if !strings.ContainsRune(" \t\r\n", rune(found[i])) {
				found[i] = 0
			}
		}
	}
	slices.SortFunc(places, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })

	return places
}

func referenceFile(i int, rule match.Rule, content []byte, wanted map[int]bool) []match.Hit {
	place := func(offset int) (line, column int) {
		before := content[:offset]
		return bytes.Count(before, []byte{'\n'}) + 1, offset - bytes.LastIndexByte(before, '\n')
	}
	var hits []match.Hit
	reported := map[int]bool{}
	for _, loc := range matchesIn(rule, content) {
		h := match.Hit{Rule: i}
		h.Line, h.Column = place(loc[0])
		h.EndLine, h.EndColumn = place(loc[1] - 1)
		h.EndColumn++
		for n := h.Line; n <= h.EndLine && !reported[h.Line]; n++ {
			if wanted[n] {
				reported[h.Line] = true
				hits = append(hits, h)
			}
		}
	}

	return hits
}

// maxGlobPath is the length of a path, in bytes, over which globs are not tried.
const maxGlobPath = 4096

func looksAt(rule match.Rule, path string) bool {
	if len(path) > maxGlobPath {
		return true
	}
	included := len(rule.Include) == 0
	for _, g := range rule.Include {
		included = included || doublestar.MatchUnvalidated(g, path) ||
			doublestar.MatchUnvalidated(strings.ToLower(g), strings.ToLower(path))
	}
	for _, g := range rule.Exclude {
		included = included && !doublestar.MatchUnvalidated(g, path)
	}

	return included
}
