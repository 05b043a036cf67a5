package folder

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/match"
)

// Rules is what a scan looks for, compiled. It is immutable.
type Rules struct {
	list    []rule.Rule // by full id, so that hits sort as findings do
	matcher *match.Matcher
	exclude match.Globs
	pruned  match.Globs // those of exclude that match all that is in a directory they match
}

// Compile prepares valid rules with different full ids, and globs of files that
// none of them looks at.
func Compile(rules []rule.Rule, exclude []string) (*Rules, error) {
	r := &Rules{list: slices.Clone(rules), exclude: match.NewGlobs(exclude)}
	slices.SortFunc(r.list, func(a, b rule.Rule) int { return cmp.Compare(a.FullID(), b.FullID()) })
	compiled := make([]match.Rule, len(rules))
	for i, x := range r.list {
		compiled[i] = match.Rule{Pattern: x.Pattern, Multiline: x.Multiline, Include: x.Paths.Include, Exclude: x.Paths.Exclude}
	}
	var err error
	if r.matcher, err = match.Compile(compiled); err != nil {
		return nil, err
	}
	r.pruned = match.NewGlobs(slices.DeleteFunc(slices.Clone(exclude), func(glob string) bool {
		return glob != "**" && !strings.HasSuffix(glob, "/**")
	}))
	return r, nil
}

// List is the rules by the index that hits have. It must not be changed.
func (r *Rules) List() []rule.Rule { return r.list }

// Cost is what the rule with an index of List is expected to cost, without
// match.Cost.By.
func (r *Rules) Cost(i int) match.Cost { return r.matcher.Cost(i) }

// prunes says whether all in a directory is excluded, so that it need not be
// read: what `x/**` matches as a directory it matches with all that is in it.
func (r *Rules) prunes(directory string) bool { return r.pruned.Match(directory) }
