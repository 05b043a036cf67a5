package scan

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
)

// Of what matching rules took, the most costly are told, and no small amounts:
// rules are looked for together, which costs none of them anything by itself.
const (
	maxCosts = 100
	minCost  = 1 << 20 // bytes of work
)

// costs returns what the rules took that applied, the most costly first.
func (p *plan) costs() []finding.RuleCost {
	var all []finding.RuleCost
	for _, g := range p.groups {
		for i, r := range g.rules {
			if g.noHits[i] {
				continue
			}
			if work := g.hits.Work(i); work >= minCost {
				all = append(all, finding.RuleCost{RuleID: r.FullID(), Severity: r.Severity, Work: work})
			}
		}
	}
	slices.SortFunc(all, func(a, b finding.RuleCost) int {
		return cmp.Or(cmp.Compare(b.Work, a.Work), cmp.Compare(a.RuleID, b.RuleID))
	})

	return all[:min(len(all), maxCosts)]
}
