package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/kind"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// Ruleset is rules, ready to scan with. It is immutable.
type Ruleset struct {
	digest  string
	rules   []rule.Rule // by full id, so that indexes sort as findings do
	places  *rule.Places
	matcher *match.Matcher
	skips   []kind.Set // by rule; nil when none skips anything
}

// Size estimates the memory that it holds, in bytes.
func (r *Ruleset) Size() int64 {
	size := r.matcher.Size()
	for _, x := range r.rules {
		size += 1024 + int64(len(x.Pattern)+len(x.Message))
	}

	return size
}

// Rules returns the rules that were added under digest, when they are still
// there. owner is the organization that uses them.
func (s *Scanner) Rules(owner, digest string) (*Ruleset, bool) { return s.cache.Get(owner, digest) }

// RulesSize estimates how many bytes the rules take that are kept for scans to
// come.
func (s *Scanner) RulesSize() int64 { return s.cache.Used() }

// HalveRules drops rules that were not used for longest, to make room.
func (s *Scanner) HalveRules() { s.cache.Halve() }

// AddRules keeps rules under their digest for scans to come and returns them
// ready to scan with. Rules are those of a request: the default ruleset, the
// organization's rules, and the repository's from the API. It fails when digest
// is not rule.Digest of the rules, when a pattern is not valid, and when ctx ends.
// owner is the organization that uses them.
func (s *Scanner) AddRules(ctx context.Context, owner, digest string, rules []rule.Rule) (*Ruleset, error) {
	if actual := rule.Digest(rules); actual != digest {
		return nil, fmt.Errorf("the rules have digest %s, not %s", actual, digest)
	}

	return s.cache.Load(ctx, owner, digest, func(ctx context.Context) (*Ruleset, error) {
		return newRuleset(ctx, digest, rules)
	})
}

func newRuleset(ctx context.Context, digest string, rules []rule.Rule) (_ *Ruleset, err error) {
	r := &Ruleset{digest: digest, rules: slices.Clone(rules)}
	slices.SortStableFunc(r.rules, func(a, b rule.Rule) int { return cmp.Compare(a.FullID(), b.FullID()) })

	r.places = rule.NewPlaces(r.rules)
	compiled := make([]match.Rule, len(rules))
	for i, x := range r.rules {
		compiled[i] = x.ToMatch()
		compiled[i].Include, compiled[i].Exclude = x.Paths.Include, x.Paths.Exclude
		compiled[i].Supersedes = supersedes(r.rules, x)
		for _, name := range x.Languages {
			if canonical, ok := language.Canonical(name); ok {
				name = canonical
			} // an unknown one is of no file
			compiled[i].Languages = append(compiled[i].Languages, name)
		}
	}
	if slices.ContainsFunc(r.rules, func(x rule.Rule) bool { return len(x.Skip) > 0 }) {
		for _, x := range r.rules {
			r.skips = append(r.skips, kind.SetOf(x.Skip))
		}
	}
	r.matcher, err = match.CompileContext(ctx, compiled)

	return r, err
}

// supersedes returns the indexes of those of rules, which are by full id, that a rule
// supersedes. A repository's rule silences none of others, a rule that is only observed
// or unsure none that counts, and an organization's own may name default rules as well.
func supersedes(rules []rule.Rule, by rule.Rule) (indexes []int) {
	if isWhole(by) {
		return nil
	}
	for _, id := range by.Supersedes {
		full := rule.FullID(id)
		first, _ := slices.BinarySearchFunc(rules, full, func(r rule.Rule, id string) int {
			return cmp.Compare(r.FullID(), id)
		})
		for i := first; i < len(rules) && rules[i].FullID() == full; i++ {
			x := rules[i]
			may := x.Origin == by.Origin || by.Origin == rule.OriginCustom && x.Origin == rule.OriginDefault
			if may && !isWhole(x) && !isQuieter(by, x) && full != by.FullID() {
				indexes = append(indexes, i)
			}
		}
	}

	return indexes
}

// isQuieter reports whether findings of a rule may be apart where those of another count.
func isQuieter(by, x rule.Rule) bool {
	return by.Observed() && !x.Observed() || by.IsUnsure() && !x.IsUnsure()
}

// isWhole says whether a rule is matched on whole files.
func isWhole(r rule.Rule) bool { return r.Multiline || r.Type == rule.TypeStructure }

// plan is what one scan applies.
type plan struct {
	groups     []group
	metas      metas
	exclude    match.Globs
	lockedIn   func(path string) bool // whether excluded files are looked at all the same; nil when none is
	digest     string
	ruleCount  int // that apply
	switched   []finding.SwitchedOff
	today      string     // see Request.Today
	otherRules bool       // see Request.OtherRules
	placesOnly bool       // see Request.PlacesOnly
	head       *rule.File // the rules file as it will be; nil when there is none that is valid

	// maySuppress is policy.Policy.MaySuppress.
	maySuppress func(rule.Rule, finding.Suppression, string) error

	// known has the rules by full id, once somebody asks for it: whether they take part.
	known func() map[string]bool
}

// group is a ruleset that takes part in a scan. Rules with redact hide what
// they match also when the request is for another ruleset, so that none
// shows a secret; that is why there are two sessions.
type group struct {
	rules    []rule.Rule
	places   *rule.Places
	own      []rule.Severity // by rule: as the organization has it
	isLocked []bool          // by rule: nothing in the repository switches it off
	skips    []kind.Set      // by rule: the files that it does not look at; nil for none
	noHits   []bool          // by rule: it takes no part, but for what it hides
	observes bool            // findings of some rule are only observed
	hits     *match.Session
	masks    *match.Session
	locked   *match.Session // of locked rules only, for files that the rules file excludes; nil when there are none
}

// policed is a rule as the organization has it.
func (g group) policed(i int) rule.Rule {
	x := g.rules[i]
	x.Severity = g.own[i]

	return x
}

// plan puts the rules of a scan together. file is the base's rules file, nil
// when there is none that is valid.
func (s *Scanner) plan(ctx context.Context, r Request, file *rule.File) (*plan, error) {
	given := file
	if file == nil {
		file = &rule.File{}
	}
	rules := r.policy()
	c := newChoices(rules, file)
	for _, x := range r.Rules.rules { // an organization's rule shadows a default rule with its id
		if x.Origin != rule.OriginDefault && !x.Disabled && selects(r.Ruleset, x.Origin) {
			c.shadowed[x.FullID()] = true
		}
	}

	p := &plan{
		exclude:     match.NewGlobs(file.Exclude),
		today:       cmp.Or(r.Today, time.Now().UTC().Format(time.DateOnly)),
		otherRules:  r.OtherRules,
		placesOnly:  r.PlacesOnly,
		maySuppress: rules.MaySuppress(),
	}
	p.known = sync.OnceValue(p.know)
	p.metas, p.switched = c.metas()

	applied, changed := p.add(r.Rules, r.Ruleset, c)
	// The usual case is all of the rules, whose digest is known.
	p.digest = r.Rules.digest
	if given != nil || changed {
		if len(file.Rules) > 0 {
			own, err := s.AddRules(ctx, r.Organization, rule.Digest(file.Rules), file.Rules)
			if err != nil {
				return nil, err
			}
			more, _ := p.add(own, r.Ruleset, c)
			applied = append(applied, more...)
		}
		p.digest = rule.Digest(applied, file.Exclude...)
	}
	p.ruleCount = len(applied)
	p.digest = rules.DigestWith(p.digest)
	p.lockedIn = p.lockedPaths()
	p.switched = sortSwitched(p.switched)

	return p, nil
}

// selects reports whether a request for a ruleset applies rules of an origin.
func selects(ruleset string, o rule.Origin) bool {
	switch ruleset {
	case rule.RulesetDefault:
		return o == rule.OriginDefault
	case rule.RulesetCustom:
		return o == rule.OriginCustom
	}

	return true
}

// add adds a ruleset to the plan and returns those of its rules that apply, as
// they apply, and whether that is anything else than all of them as they are.
func (p *plan) add(r *Ruleset, selected string, c *choices) (applied []rule.Rule, changed bool) {
	n := len(r.rules)
	off := make([]bool, n)
	g := group{
		rules: slices.Clone(r.rules), places: r.places, own: make([]rule.Severity, n), isLocked: make([]bool, n),
		noHits: make([]bool, n),
		skips:  r.skips,
	}
	var spares []match.Spare
	for i, x := range r.rules {
		out := chosen{rule: x, own: x.Severity, locked: c.locked(x)}
		if x.Origin == rule.OriginDefault {
			out = c.choose(x)
		}
		off[i] = x.Disabled || out.off
		g.rules[i], g.own[i], g.isLocked[i] = out.rule, out.own, out.locked
		isSelected := selects(selected, x.Origin) || out.locked
		g.noHits[i] = off[i] || !isSelected
		if len(out.exclude) > 0 {
			spares = append(spares, match.Spare{Rule: i, Files: match.NewGlobs(out.exclude)})
		}

		if isSelected {
			p.switched = append(p.switched, out.switched...)
		}
		if x.IsUnsure() && !c.countsLow {
			g.rules[i].Mode = rule.ModeObserve
		}
		g.observes = g.observes || g.rules[i].Observed()
		if !g.noHits[i] {
			applied = append(applied, out.rule)
		}
		changed = changed || g.noHits[i] || out.rule.Severity != x.Severity || len(out.exclude) > 0
	}

	g.hits = r.matcher.NewSession(rule.WorkLimit(), g.noHits)
	g.masks = g.hits
	if !slices.Equal(off, g.noHits) {
		g.masks = r.matcher.NewSession(rule.WorkLimit(), off)
	}
	g.hits.Spare(spares)
	g.masks.Spare(spares)
	g.lock(r.matcher, spares)
	p.groups = append(p.groups, g)

	return applied, changed
}

// know returns all rules that are known, also those that only the head's rules file
// has, and whether they take part.
func (p *plan) know() map[string]bool {
	known := map[string]bool{}
	for _, id := range rule.MetaIDs() {
		known[id] = false
	}
	if p.head != nil {
		for _, x := range p.head.Rules {
			known[x.FullID()] = false
		}
	}

	for _, g := range p.groups {
		for i, x := range g.rules {
			known[x.FullID()] = known[x.FullID()] || !g.noHits[i]
		}
	}

	return known
}
