package match

import (
	"bytes"
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// AtGroup is the name of the group that says where in its match a multiline rule has its
// hit, alone or with digits behind it; of several the first by name that takes part counts.
// What comes before it is then only what the file must have, such as a trigger.
const AtGroup = "at"

// IsAtGroup says whether the name of a group is one of AtGroup.
func IsAtGroup(name string) bool {
	digits, ok := strings.CutPrefix(name, AtGroup)

	return ok && strings.Trim(digits, "0123456789") == ""
}

// places are those of the AtGroup in all matches, ascending, or the whole match where it
// takes no part. What was found is hidden, and the pattern is tried again from where that
// match starts, because what stands before the group may be in many matches.
func (j *judge) places(p *confirm.Program, text []byte, g *confirm.Guard) (all []Span) {
	rest, from := bytes.Clone(text), 0
	for more := true; more; {
		more = false
		p.First(rest, from, g, func(loc []int) {
			place := j.place(loc)
			if j.accepts(rest, loc, g) {
				all = append(all, place)
			}
			from, more = loc[0], hide(rest[place.Start:place.End])
		})
	}
	slices.SortFunc(all, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })

	return all
}

// place is where a match with its groups has its hit.
func (j *judge) place(loc []int) Span {
	for _, group := range j.at {
		if at := 2 * group; at < len(loc) && loc[at] >= 0 && loc[at] < loc[at+1] {
			return Span{Start: loc[at], End: loc[at+1]}
		}
	}

	return Span{Start: loc[0], End: loc[1]}
}

// hide puts NUL for all but white space, and says whether there was something else.
func hide(text []byte) (changed bool) {
	for i, c := range text {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != 0 {
			text[i], changed = 0, true
		}
	}

	return changed
}

// atGroups are the numbers of the groups that say where the hit is, by name, of a pattern
// that is valid.
func atGroups(r Rule) (groups []int) {
	if !r.Multiline || !strings.Contains(r.Pattern, "<"+AtGroup) {
		return nil
	}
	re, err := syntax.Parse(r.Pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	names := re.CapNames()
	for i, name := range names {
		if IsAtGroup(name) {
			groups = append(groups, i)
		}
	}
	slices.SortFunc(groups, func(a, b int) int { return cmp.Compare(names[a], names[b]) })

	return groups
}
