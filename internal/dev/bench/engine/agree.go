package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// Agreement is what comparing the pairs of two engines shows. Where they differ,
// the standard library's regexp decides: it says what prwarden's rules mean.
type Agreement struct {
	Same    int            // pairs that both have
	Missing []string       // pairs that the standard library has and ours doesn't: faults, one line each
	Wrong   []string       // pairs that ours has and the standard library doesn't: faults, one line each
	Theirs  map[string]int // pairs that only the other engine has or lacks, by why
	Unclear []string       // those of them that have no explanation, one line each
}

// Differences is the number of pairs that not both engines have.
func (a Agreement) Differences() int {
	n := len(a.Missing) + len(a.Wrong)
	for _, count := range a.Theirs {
		n += count
	}
	return n
}

// Agree compares our pairs with another engine's, on the same rules and corpus.
func Agree(ours, theirs []Pair, rules []ruleset.Rule, c corpus.Corpus) (Agreement, error) {
	order := func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Rule, b.Rule))
	}
	ours, theirs = slices.Clone(ours), slices.Clone(theirs)
	slices.SortFunc(ours, order)
	slices.SortFunc(theirs, order)
	result := Agreement{Theirs: map[string]int{}}
	for len(ours) > 0 || len(theirs) > 0 {
		side := -1
		switch {
		case len(ours) == 0:
			side = 1
		case len(theirs) > 0:
			side = order(ours[0], theirs[0])
		}
		var err error
		switch {
		case side == 0:
			result.Same++
			ours, theirs = ours[1:], theirs[1:]
		case side < 0:
			err = result.judge(ours[0], true, rules, c)
			ours = ours[1:]
		default:
			err = result.judge(theirs[0], false, rules, c)
			theirs = theirs[1:]
		}
		if err != nil {
			return Agreement{}, err
		}
	}
	return result, nil
}

// judge says who is right about a pair that one of the engines has.
func (a *Agreement) judge(p Pair, ours bool, rules []ruleset.Rule, c corpus.Corpus) error {
	re, err := regexp.Compile(rules[p.Rule].Pattern)
	if err != nil {
		return err
	}
	f := c.Files[p.File]
	line, _, ended := bytes.Cut(f.Text[p.Start:], []byte("\n"))
	full := line
	if ended {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	matches := re.Match(line)
	place := fmt.Sprintf("rule %s, %s, offset %d: %.200q", rules[p.Rule].ID, f.Path, p.Start, line)
	switch {
	case ours && !matches:
		a.Wrong = append(a.Wrong, place)
	case !ours && matches:
		a.Missing = append(a.Missing, place)
	default:
		reason := why(line, full, ours)
		if strings.Contains(reason, unexplained) {
			a.Unclear = append(a.Unclear, place)
		}
		a.Theirs[reason]++
	}
	return nil
}

const unexplained = "neither prwarden nor the standard library finds it"

// why explains a pair that vectorscan lacks, or has alone.
func why(line, full []byte, lacks bool) string {
	reasons := []string{}
	if bytes.ContainsFunc(line, func(r rune) bool { return r > 127 }) {
		reasons = append(reasons, "the line has characters beyond ASCII, which it counts as several")
	}
	if len(full) > len(line) {
		reasons = append(reasons, "it takes the carriage return of CRLF as part of the line")
	}
	if len(reasons) == 0 {
		reasons = append(reasons, unexplained)
	}
	verb := "it has alone: "
	if lacks {
		verb = "it lacks: "
	}
	return verb + strings.Join(reasons, "; ")
}
