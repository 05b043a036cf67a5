package scan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// Ruleset is rules, ready to scan with. It is immutable.
type Ruleset struct {
	digest  string
	rules   []rule.Rule // by full id, so that indexes sort as findings do
	matcher *match.Matcher
	size    int64
}

// Digest is rule.Digest of the rules.
func (r *Ruleset) Digest() string { return r.digest }

// Size estimates the memory that it holds, in bytes.
func (r *Ruleset) Size() int64 { return r.size }

// Rules returns the rules that were added under digest, when they are still
// there.
func (s *Scanner) Rules(digest string) (*Ruleset, bool) { return s.cache.Get(digest) }

// AddRules keeps rules under their digest for scans to come and returns them
// ready to scan with. Rules are those of a request: the default ruleset, the
// organization's rules, and the repository's from the API. It fails when digest
// is not rule.Digest of the rules, and when a pattern is not valid.
func (s *Scanner) AddRules(digest string, rules []rule.Rule) (*Ruleset, error) {
	if actual := rule.Digest(rules); actual != digest {
		return nil, fmt.Errorf("the rules have digest %s, not %s", actual, digest)
	}
	return s.cache.Load(digest, func() (*Ruleset, error) { return newRuleset(digest, rules) })
}

func newRuleset(digest string, rules []rule.Rule) (*Ruleset, error) {
	r := &Ruleset{digest: digest, rules: slices.Clone(rules)}
	slices.SortStableFunc(r.rules, func(a, b rule.Rule) int { return cmp.Compare(a.FullID(), b.FullID()) })
	compiled := make([]match.Rule, len(rules))
	for i, x := range r.rules {
		compiled[i] = match.Rule{Pattern: x.Pattern, Multiline: x.Multiline, Include: x.Paths.Include, Exclude: x.Paths.Exclude}
		r.size += 400 + int64(len(x.ID)+len(x.Message))
	}
	var err error
	if r.matcher, err = match.Compile(compiled); err != nil {
		return nil, err
	}
	r.size += r.matcher.Size()
	return r, nil
}
