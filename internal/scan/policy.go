package scan

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// choices are what an organization and a repository change of default rules and of
// findings of the category meta, by full id. The organization's go first, and the
// repository's don't touch what is locked.
type choices struct {
	countsLow bool // findings of low confidence are as others

	locked   func(rule.Rule) bool
	shadowed map[string]bool // default rules in whose place the organization has its own

	offByPolicy map[string]bool
	byPolicy    map[string]rule.Override
	offByFile   map[string]bool
	byFile      map[string]rule.Override
}

func newChoices(p policy.Policy, file *rule.File) *choices {
	c := &choices{
		countsLow: p.CountsLow(),

		locked: p.Locker(), shadowed: map[string]bool{}, offByPolicy: p.Disabled(), byPolicy: p.Overrides(),
		offByFile: map[string]bool{}, byFile: map[string]rule.Override{},
	}
	for _, d := range file.Disable {
		c.offByFile[rule.FullID(d.ID)] = true
	}
	for _, o := range file.Overrides {
		c.byFile[rule.FullID(o.ID)] = o
	}

	return c
}

// chosen is what became of a rule.
type chosen struct {
	rule     rule.Rule     // as it applies
	own      rule.Severity // as the organization has it
	exclude  []string      // globs beside those that it came with
	off      bool
	locked   bool
	switched []finding.SwitchedOff
}

// choose says what becomes of a default rule, or of findings of the category meta.
func (c *choices) choose(x rule.Rule) chosen {
	id := x.FullID()
	out := chosen{rule: x, own: x.Severity, locked: c.locked(x), off: c.shadowed[id]}
	note := func(by, how string) {
		out.switched = append(out.switched, finding.SwitchedOff{RuleID: id, By: by, How: how})
	}
	change := func(o rule.Override, by string) {
		if o.Severity > out.rule.Severity {
			note(by, finding.HowOverride)
		}
		if len(o.Exclude) > 0 {
			note(by, finding.HowExclude)
		}
		out.rule.Severity = cmp.Or(o.Severity, out.rule.Severity)
		out.exclude = slices.Concat(out.exclude, o.Exclude)
	}

	switch {
	case out.off:
		return out
	case c.offByPolicy[id]:
		out.off = true
		note(finding.ByOrganization, finding.HowDisable)

		return out
	}
	change(c.byPolicy[id], finding.ByOrganization)
	out.own = out.rule.Severity

	switch {
	case out.locked:
	case c.offByFile[id]:
		out.off = true
		note(finding.ByRepository, finding.HowDisable)
	default:
		change(c.byFile[id], finding.ByRepository)
	}
	out.rule.Paths.Exclude = slices.Concat(x.Paths.Exclude, out.exclude)

	return out
}

// metas are what becomes of findings that are about rules files, links and comments.
type metas map[string]meta

type meta struct {
	off      bool
	severity rule.Severity // 0 for its own
	exclude  match.Globs
}

func (c *choices) metas() (all metas, switched []finding.SwitchedOff) {
	all = metas{}
	for _, id := range rule.MetaIDs() {
		out := c.choose(rule.Rule{ID: id})
		all[id] = meta{off: out.off, severity: out.rule.Severity, exclude: match.NewGlobs(out.exclude)}
		switched = append(switched, out.switched...)
	}

	return all, switched
}

// apply sets the severity and confidence of a finding, and says whether it is wanted at
// all.
func (m metas) apply(f *finding.Finding) bool {
	own := m[f.RuleID]
	f.Confidence = rule.ConfidenceHigh
	f.Severity = cmp.Or(own.severity, f.Severity)

	return !own.off && !own.exclude.Match(f.File)
}

// wanted are those of findings that are.
func (m metas) wanted(list []finding.Finding) (out []finding.Finding) {
	for _, f := range list {
		if m.apply(&f) {
			out = append(out, f)
		}
	}
	return out
}

// lockedPaths returns what says whether a locked rule may look at a path. It is nil
// when none is locked.
func (p *plan) lockedPaths() func(path string) bool {
	var include []string
	some, all := false, false
	for _, g := range p.groups {
		if g.locked == nil {
			continue
		}
		for i, x := range g.rules {
			if !g.isLocked[i] || g.noHits[i] {
				continue
			}
			some = true
			all = all || len(x.Paths.Include) == 0 || len(x.Languages) > 0
			include = append(include, x.Paths.Include...)
		}
	}

	switch {
	case !some:
		return nil
	case all:
		return func(string) bool { return true }
	}

	return match.NewIncludes(include).Match
}

// lock gives the group the session for files that the rules file excludes, in which
// only locked rules take part.
func (g *group) lock(m *match.Matcher, spares []match.Spare) {
	if !slices.Contains(g.isLocked, true) {
		return
	}
	off := make([]bool, len(g.rules))
	for i := range off {
		off[i] = g.noHits[i] || !g.isLocked[i]
	}
	g.locked = m.NewSession(rule.WorkLimit(), off)
	g.locked.Spare(spares)
}

// sortSwitched sorts what was switched off as results have it.
func sortSwitched(all []finding.SwitchedOff) []finding.SwitchedOff {
	slices.SortFunc(all, func(a, b finding.SwitchedOff) int {
		return cmp.Or(cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.By, b.By), cmp.Compare(a.How, b.How))
	})

	return all
}
