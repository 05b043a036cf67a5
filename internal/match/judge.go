package match

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// Conditions are what a match must meet to be a hit. They look at the text of a group
// of the pattern, or of the whole match.
type Conditions struct {
	Entropy   *Entropy // nil when the text need not look random
	Checksum  string   // one of Checksums that the text must have; "" for none
	Stopwords []string // texts that it must not have, in any case of ASCII letters
	Allow     []string // regular expressions that must match nowhere in it; valid by CheckPattern
}

// Entropy asks for a text that looks as if it was made at random.
type Entropy struct {
	Min   float64 // bits for each character; 0 for what is usual for such a text
	Group int     // of the pattern, whose text is looked at; 0 for the whole match
}

// maxJudged is how many bytes of a text conditions look at.
const maxJudged = 1 << 10

// judge decides about the matches of a rule with conditions or an AtGroup.
type judge struct {
	entropy   *Entropy
	checksum  string
	stopwords [][]byte // in lower case
	allow     []*regexp.Regexp
	work      int   // for each byte of a text
	at        []int // the groups that say where the hit is; the whole match when there is none
}

// newJudge returns nil for no conditions and none of AtGroup, of which at are the numbers.
func newJudge(c Conditions, at []int) (*judge, error) {
	if len(at) == 0 && c.Entropy == nil && c.Checksum == "" && len(c.Stopwords)+len(c.Allow) == 0 {
		return nil, nil
	}

	j := &judge{entropy: c.Entropy, checksum: c.Checksum, work: 1 + len(c.Stopwords), at: at}
	if c.Checksum != "" {
		if !IsChecksum(c.Checksum) {
			return nil, fmt.Errorf("checksum: %q is not known", c.Checksum)
		}
		j.work++
	}
	for _, word := range c.Stopwords {
		j.stopwords = append(j.stopwords, bytes.ToLower([]byte(word)))
	}
	for _, pattern := range c.Allow {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("allow: %w", err)
		}
		j.allow = append(j.allow, re)
		j.work += confirm.SearchWork(pattern)
	}

	return j, nil
}

// size estimates the memory that it holds, in bytes.
func (j *judge) size() int64 {
	if j == nil {
		return 0
	}

	return 200 + 40*int64(len(j.stopwords)) + 2<<10*int64(len(j.allow))
}

// accepts says whether a match with its groups, as regexp has them, meets the
// conditions; it does when there are none. Where the guard said stop that is not known, and
// the rule counts as stopped.
func (j *judge) accepts(text []byte, loc []int, g *confirm.Guard) bool {
	if j == nil {
		return true
	}
	at := 0
	if j.entropy != nil {
		at = 2 * j.entropy.Group
	}
	if g.Stopped || at >= len(loc) {
		return false
	}
	if loc[at] < 0 { // the group took no part
		at = 0
	}
	found := text[loc[at]:loc[at+1]]
	found = found[:min(len(found), maxJudged)]
	g.Spend(j.work * len(found))

	if j.entropy != nil && !LooksRandom(found, j.entropy.Min) {
		return false
	}
	if j.checksum != "" && !HasChecksum(j.checksum, found) {
		return false
	}
	if len(j.stopwords) > 0 {
		lower := bytes.ToLower(found)
		for _, word := range j.stopwords {
			if bytes.Contains(lower, word) {
				return false
			}
		}
	}
	for _, re := range j.allow {
		if re.Match(found) {
			return false
		}
	}

	return true
}

// accepted calls found with each match of a rule in a text that meets its conditions,
// as confirm.Program.All does.
func (m *Matcher) accepted(rule uint32, p *confirm.Program, text []byte, g *confirm.Guard, found func(Span)) {
	j := m.judges[rule]
	switch {
	case j == nil:
		p.All(text, g, found)
		return
	case len(j.at) > 0:
		for _, place := range j.places(p, text, g) {
			found(place)
		}
		return
	}

	p.Groups(text, g, func(loc []int) bool {
		if j.accepts(text, loc, g) {
			found(Span{Start: loc[0], End: loc[1]})
		}
		return true
	})
}

// meets says whether a match of a rule on a line meets its conditions where it counts, and
// then sets the columns of the hit. It is asked once the rule is known to match on the line.
func (w *worker) meets(rule uint32, l bounds, h *Hit) (ok bool) {
	j := w.matcher.judges[rule]
	if j == nil && !w.isPlaced(rule) {
		return true
	}

	line := w.text[l.from:l.to]
	w.guarded(rule, func(p *confirm.Program, g *confirm.Guard) {
		p.Groups(line, g, func(loc []int) bool {
			ok = w.allows(rule, Span{Start: l.from + loc[0], End: l.from + loc[1]}) && j.accepts(line, loc, g)
			if ok {
				h.Column, h.EndLine, h.EndColumn = loc[0]+1, h.Line, loc[1]+1
			}
			return !ok
		})
	})

	if !ok && j != nil && w.rules[rule].stopped && j.trusts() {
		h.Column, h.EndLine, h.EndColumn = 1, h.Line, len(line)+1
		return true
	}

	return ok
}

// trusts says whether what could not be judged within the work of a rule is a hit: many
// placeholders must not hide what comes behind them. It is none when the pattern says
// little without its conditions, as with usual entropy.
func (j *judge) trusts() bool { return j.entropy == nil || j.entropy.Min > 0 }

// superseding returns the rules that supersede each rule; nil when none does. What would
// have rules supersede themselves by way of others is left out: one of them has to stay.
func superseding(rules []Rule) (better [][]uint32) {
	for i, r := range rules {
		for _, other := range r.Supersedes {
			if better == nil {
				better = make([][]uint32, len(rules))
			}
			if !reaches(better, uint32(i), uint32(other), map[uint32]bool{}) {
				better[other] = append(better[other], uint32(i))
			}
		}
	}

	return better
}

// reaches says whether a rule is superseded by another one, or by way of others, or is
// the same. seen are rules that were looked at.
func reaches(better [][]uint32, rule, by uint32, seen map[uint32]bool) bool {
	if rule == by {
		return true
	}
	seen[rule] = true

	return slices.ContainsFunc(better[rule], func(next uint32) bool {
		return !seen[next] && reaches(better, next, by, seen)
	})
}

// isSuperseded says whether a rule that supersedes a rule has a hit on a line. It is
// asked for the lines of hits only, which are few.
func (w *worker) isSuperseded(rule uint32, l bounds) bool {
	if w.matcher.better == nil {
		return false
	}
	for _, other := range w.matcher.better[rule] {
		if !w.file.looks(other) {
			continue
		}
		if w.matcher.structured[other] {
			line, _ := w.lines.At(l.from)
			if _, ok := w.structuredAt(other, line); ok {
				return true
			}
			continue
		}
		if w.fires(other, l) {
			return true
		}
	}

	return false
}

// LooksRandom says whether a text may have been made at random: it is no placeholder,
// and has so many bits for each byte or, with 0, what random texts of its length
// and characters mostly have, with a letter and a digit at least.
func LooksRandom(text []byte, bits float64) bool {
	if len(text) == 0 || isFiller(text) {
		return false
	}
	if bits > 0 {
		return entropyOf(text) >= bits
	}

	letters, digits, hex := 0, 0, true
	for _, c := range text {
		switch lower := c | 0x20; {
		case c >= '0' && c <= '9':
			digits++
		case lower >= 'a' && lower <= 'z':
			letters++
			hex = hex && lower <= 'f'
		default:
			hex = hex && c == '-'
		}
	}

	return letters > 0 && digits > 0 && entropyOf(text) >= usualEntropy(len(text), hex)
}

// usualEntropy is what all but about one in a hundred random texts of a length have, of
// hexadecimal digits or of small letters and digits.
func usualEntropy(length int, hex bool) float64 {
	switch {
	case length < 16:
		return 2
	case hex && length < 25:
		return 2.5
	case hex:
		return 3
	case length < 25:
		return 3.1
	case length < 41:
		return 3.6
	}

	return 4
}

// entropyOf is the entropy of a text by Shannon, in bits for each byte.
func entropyOf(text []byte) (bits float64) {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(text))
			bits -= share * math.Log2(share)
		}
	}

	return bits
}

// shortestRun is how many characters in a row, each the same as the one before it or
// the next one, make a run.
const shortestRun = 4

// isFiller says whether at least half of a text is runs such as `xxxx`, `1234` and `aBcD`.
func isFiller(text []byte) bool {
	inRuns, length, step := 0, 1, 0
	for i := 1; i <= len(text); i++ {
		if i < len(text) {
			next := int(small(text[i])) - int(small(text[i-1]))
			if length > 1 && next == step || length == 1 && next >= -1 && next <= 1 {
				length, step = length+1, next
				continue
			}
		}
		if length >= shortestRun {
			inRuns += length
		}
		length = 1
	}

	return 2*inRuns >= len(text)
}

// small is a letter of ASCII as a small one, and any other byte as it is.
func small(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}

	return c
}
