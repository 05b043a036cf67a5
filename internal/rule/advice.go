package rule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/match"
)

// Costly is the time for a MiB of code over which the author of a rule is
// advised. Of a thousand rules of an organization, six take more.
const Costly = 50 * time.Microsecond

// Cost is what matching a rule is expected to cost, and what can be done about
// it. It is an estimate from the pattern alone, the same on every machine.
type Cost struct {
	// PerMiB is the time for a MiB of the files that the rule looks at, on one
	// core of a machine of 2025.
	PerMiB time.Duration
	// Weak says that there is nothing that the rule could be looked for by, so
	// that it is tried everywhere.
	Weak bool
	// By is the text that the rule is looked for by, if there is one.
	By string
	// Advice is sentences for people: why the rule is costly, and what to do.
	// It is empty unless the rule is weak or takes more than Costly.
	Advice string
}

// Cost estimates what matching the rule costs. That takes 0.1 ms mostly, and
// 20 ms at worst. It fails for a pattern that a rule can't have.
func (r Rule) Cost() (Cost, error) {
	if r.Type == TypeSpelling {
		return Cost{PerMiB: spellingTime}, nil
	}
	looked := r.ToMatch()
	c, err := match.CostOf(looked.Pattern, looked.Multiline)
	if err != nil {
		return Cost{}, err
	}
	cost := Cost{PerMiB: c.Time(), Weak: c.Weak, By: c.By}
	if !c.Weak && cost.PerMiB <= Costly {
		return cost, nil
	}

	why := "The characters that the rule is looked for by are few or common in code."
	switch {
	case c.Weak:
		why = "The pattern has no run of three or more known characters that is in every match and rare in code, " +
			"so it is tried everywhere."
	case c.By != "":
		why = fmt.Sprintf("The rule is looked for by %s, which is short or common in code.", strconv.Quote(c.By))
	}

	cost.Advice = why + " Add a word to the pattern that every match has"
	if len(r.Paths.Include) == 0 {
		cost.Advice += ", or restrict the rule with paths"
	}
	cost.Advice += "."
	return cost, nil
}

// Advise returns what is allowed in the file and probably not meant, or costly,
// by line. defaults are the rules of the default ruleset.
func (f *File) Advise(defaults []Rule) []Mistake {
	var list []Mistake
	warn := func(line int, format string, args ...any) {
		list = append(list, Mistake{Line: line, Message: fmt.Sprintf(format, args...)})
	}
	glob := func(place, glob string) {
		if !strings.Contains(glob, "/") && strings.ContainsAny(glob, "*?") && strings.Trim(glob, "*") != "" {
			n := nodeAt(f.root, place)
			warn(n.Line, "%s: matches files in the root folder only; write `**/%s` for all folders", place, glob)
		}
	}

	f.adviseOnIDs(defaults, warn)
	own := ByID(f.Rules)
	for i, g := range f.Exclude {
		glob(fmt.Sprintf("exclude[%d]", i), g)
	}
	for i, r := range f.Rules {
		place := fmt.Sprintf("rules[%d]", i)
		for k, g := range r.Paths.Include {
			glob(fmt.Sprintf("%s.paths.include[%d]", place, k), g)
		}
		for k, g := range r.Paths.Exclude {
			glob(fmt.Sprintf("%s.paths.exclude[%d]", place, k), g)
		}
		if strings.HasPrefix(r.ID, "secrets/") && !r.Redact {
			warn(f.lines[i], "%s: shows the secret in every report; add `redact: true`", place)
		}

		for k, id := range r.Supersedes {
			if _, ok := own[FullID(id)]; !ok {
				warn(f.lines[i], "%s.supersedes[%d]: %s is no rule of this file, so it stays as it is", place, k, id)
			}
		}

		cost, err := r.Cost()
		switch {
		case err != nil: // it would have been a mistake
		case cost.PerMiB == 0:
			warn(f.lines[i], "%s.pattern: can never match: lines are matched without their ends; add `multiline: true`", place)
		case cost.Advice != "":
			warn(f.lines[i], "%s.pattern: costs %v for a MiB of code. %s", place, cost.PerMiB.Round(time.Microsecond),
				cost.Advice)
		}
	}

	return byLine(list)
}

// adviseOnIDs warns of ids under `disable` and `override` that no default rule
// has.
func (f *File) adviseOnIDs(defaults []Rule, warn func(line int, format string, args ...any)) {
	known := ByID(defaults)
	check := func(place, id string, line int) {
		if _, ok := known[FullID(id)]; ok || IsMeta(id) {
			return
		}
		hint := "`prwarden rules list` shows them"
		if near := NearestID(id, slices.Sorted(maps.Keys(known))); near != "" {
			hint = "did you mean `" + near + "`?"
		}
		warn(line, "%s: %s is not a rule of the default ruleset; %s", place, id, hint)
	}

	for _, x := range f.Disable {
		check("disable", x.ID, x.Line)
	}
	for _, x := range f.Overrides {
		check("override", x.ID, x.Line)
	}
}

// NearestID returns the one of full ids that a mistyped id was meant to be, or
// "": also one with the same name in another category.
func NearestID(id string, ids []string) string {
	_, name, _ := strings.Cut(FullID(id), "/")
	for _, other := range ids {
		if _, its, _ := strings.Cut(other, "/"); its == name {
			return other
		}
	}

	return nearest(FullID(id), ids)
}

// nearest returns the one of words that a mistyped word was meant to be, or "".
// One mistake is allowed in three letters.
func nearest(word string, words []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, w := range words {
		if d := distance(strings.ToLower(word), w); d < least {
			best, least = w, d
		}
	}

	return best
}

// distance is the number of bytes to add, remove or change between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}

	return row[len(b)]
}
