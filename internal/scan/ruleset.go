package scan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/match"
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

// plan is what one scan applies.
type plan struct {
	groups  []group
	exclude match.Globs
	digest  string
}

// group is a ruleset that takes part in a scan. Rules with redact hide what
// they match also when the selection leaves them out, so that no selection
// shows a secret; that is why there are two sessions.
type group struct {
	rules []rule.Rule
	hits  *match.Session
	masks *match.Session
}

// plan puts the rules of a scan together. file is the base's rules file, nil
// when there is none that is valid.
func (s *Scanner) plan(r Request, file *rule.File) (*plan, error) {
	disabled := map[string]bool{}
	var exclude []string
	if file != nil {
		for _, d := range file.Disable {
			disabled[rule.FullID(d.ID)] = true
		}
		exclude = file.Exclude
	}
	// An organization's rule shadows a default rule with its id.
	shadowed := map[string]bool{}
	for _, x := range r.Rules.rules {
		if x.Origin != rule.OriginDefault && r.Selection.includes(x.Origin) {
			shadowed[x.FullID()] = true
		}
	}
	isOff := func(x rule.Rule) bool {
		return x.Origin == rule.OriginDefault && (disabled[x.FullID()] || shadowed[x.FullID()])
	}
	p := &plan{exclude: match.NewGlobs(exclude)}
	applied := p.add(r.Rules, r.Selection, isOff)
	if file == nil && len(applied) == len(r.Rules.rules) { // the usual case: all of them, whose digest is known
		p.digest = r.Rules.digest
		return p, nil
	}
	if file != nil && len(file.Rules) > 0 {
		digest := rule.Digest(file.Rules)
		rules, err := s.cache.Load(digest, func() (*Ruleset, error) { return newRuleset(digest, file.Rules) })
		if err != nil {
			return nil, err
		}
		applied = append(applied, p.add(rules, r.Selection, isOff)...)
	}
	p.digest = rule.Digest(applied, exclude...)
	return p, nil
}

// add adds a ruleset to the plan and returns those of its rules that apply.
func (p *plan) add(r *Ruleset, selection Selection, isOff func(rule.Rule) bool) (applied []rule.Rule) {
	off := make([]bool, len(r.rules))
	noHits := make([]bool, len(r.rules))
	selective := false
	for i, x := range r.rules {
		off[i] = isOff(x)
		noHits[i] = off[i] || !selection.includes(x.Origin)
		selective = selective || noHits[i] != off[i]
		if !noHits[i] {
			applied = append(applied, x)
		}
	}
	g := group{rules: r.rules, hits: r.matcher.NewSession(rule.Budget, noHits)}
	g.masks = g.hits
	if selective {
		g.masks = r.matcher.NewSession(rule.Budget, off)
	}
	p.groups = append(p.groups, g)
	return applied
}

func (s Selection) includes(o rule.Origin) bool {
	switch s {
	case SelectDefault:
		return o == rule.OriginDefault
	case SelectCustom:
		return o == rule.OriginCustom
	}
	return true
}
