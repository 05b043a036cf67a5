package scan

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/suppress"
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

	return s.load(digest, rules)
}

func (s *Scanner) load(digest string, rules []rule.Rule) (*Ruleset, error) {
	return s.cache.Load(digest, func() (*Ruleset, error) { return newRuleset(digest, rules) })
}

func newRuleset(digest string, rules []rule.Rule) (*Ruleset, error) {
	r := &Ruleset{digest: digest, rules: slices.Clone(rules)}
	slices.SortStableFunc(r.rules, func(a, b rule.Rule) int { return cmp.Compare(a.FullID(), b.FullID()) })
	compiled := make([]match.Rule, len(rules))
	for i, x := range r.rules {
		compiled[i] = match.Rule{
			Pattern: x.Pattern, Multiline: x.Multiline, Include: x.Paths.Include, Exclude: x.Paths.Exclude,
		}
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
	groups     []group
	exclude    match.Globs
	digest     string
	comments   suppress.Options // by which comments suppress findings
	otherRules bool             // see Request.OtherRules
	placesOnly bool             // see Request.PlacesOnly
	head       *rule.File       // the rules file as it will be; nil when there is none that is valid
	budget     time.Duration    // of each rule

	// places has the rules by full id, once somebody asks for it.
	places func() map[string]place
}

// group is a ruleset that takes part in a scan. Rules with redact hide what
// they match also when the selection leaves them out, so that no selection
// shows a secret; that is why there are two sessions.
type group struct {
	rules  []rule.Rule
	noHits []bool // by rule: it takes no part, but for what it hides
	hits   *match.Session
	masks  *match.Session
}

// place is where a plan has a rule. The zero place is of no group: the rule is
// known, and has no part in the scan.
type place struct {
	session *match.Session
	rule    int
}

// plan puts the rules of a scan together. file is the base's rules file, nil
// when there is none that is valid.
func (s *Scanner) plan(r Request, file *rule.File) (*plan, error) {
	disabled := map[string]bool{}
	changes := map[string]rule.Override{}
	var exclude []string
	if file != nil {
		for _, d := range file.Disable {
			disabled[rule.FullID(d.ID)] = true
		}
		for _, o := range file.Overrides {
			changes[rule.FullID(o.ID)] = o
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

	p := &plan{
		exclude:    match.NewGlobs(exclude),
		comments:   suppress.Options{RequireReason: r.RequireReason, Today: r.Today},
		otherRules: r.OtherRules,
		placesOnly: r.PlacesOnly,
		budget:     cmp.Or(r.Budget, rule.Budget),
	}
	p.places = sync.OnceValue(p.locate)
	if p.comments.Today == "" {
		p.comments.Today = time.Now().UTC().Format(time.DateOnly)
	}

	applied := p.add(r.Rules, r.Selection, isOff, changes)
	// The usual case is all of the rules, whose digest is known.
	if file == nil && len(applied) == len(r.Rules.rules) {
		p.digest = r.Rules.digest
		return p, nil
	}
	if file != nil && len(file.Rules) > 0 {
		digest := rule.Digest(file.Rules)
		rules, err := s.load(digest, file.Rules)
		if err != nil {
			return nil, err
		}
		applied = append(applied, p.add(rules, r.Selection, isOff, nil)...)
	}
	p.digest = rule.Digest(applied, exclude...)
	return p, nil
}

// add adds a ruleset to the plan and returns those of its rules that apply, as
// they apply: changes are of default rules, by full id.
func (p *plan) add(
	r *Ruleset, selection Selection, isOff func(rule.Rule) bool, changes map[string]rule.Override,
) (applied []rule.Rule) {
	off := make([]bool, len(r.rules))
	g := group{rules: r.rules, noHits: make([]bool, len(r.rules))}
	var spares []match.Spare
	selective, changed := false, false
	for i, x := range r.rules {
		off[i] = isOff(x)
		g.noHits[i] = off[i] || !selection.includes(x.Origin)
		selective = selective || g.noHits[i] != off[i]
		if len(changes) > 0 && x.Origin == rule.OriginDefault && !off[i] {
			if change, ok := changes[x.FullID()]; ok {
				if !changed {
					g.rules, changed = slices.Clone(g.rules), true // the ruleset is other scans' too
				}
				x = overridden(x, change)
				g.rules[i] = x
				if len(change.Exclude) > 0 {
					spares = append(spares, match.Spare{Rule: i, Files: match.NewGlobs(change.Exclude)})
				}
			}
		}
		if !g.noHits[i] {
			applied = append(applied, x)
		}
	}
	g.hits = r.matcher.NewSession(p.budget, g.noHits)
	g.masks = g.hits
	if selective {
		g.masks = r.matcher.NewSession(p.budget, off)
	}
	g.hits.Spare(spares)
	g.masks.Spare(spares)
	p.groups = append(p.groups, g)
	return applied
}

// overridden is a rule with what an override changes.
func overridden(x rule.Rule, o rule.Override) rule.Rule {
	if o.Severity != 0 {
		x.Severity = o.Severity
	}
	x.Paths.Exclude = slices.Concat(x.Paths.Exclude, o.Exclude)
	return x
}

// locate returns the places of all rules that are known, also of those that only
// the head's rules file has.
func (p *plan) locate() map[string]place {
	places := map[string]place{}
	if p.head != nil {
		for _, x := range p.head.Rules {
			places[x.FullID()] = place{}
		}
	}
	for _, g := range p.groups {
		for i, x := range g.rules {
			if _, ok := places[x.FullID()]; !g.noHits[i] {
				places[x.FullID()] = place{g.hits, i}
			} else if !ok {
				places[x.FullID()] = place{}
			}
		}
	}
	return places
}

// use tells what the scan knows of a rule so far.
func (p *plan) use(fullID string) suppress.Use {
	at, ok := p.places()[fullID]
	switch {
	case !ok && !p.otherRules:
		return suppress.Unknown
	case at.session == nil || at.session.Stopped(at.rule):
		return suppress.Idle
	}
	return suppress.Active
}
