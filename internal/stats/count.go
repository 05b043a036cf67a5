package stats

import (
	"cmp"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Count is what one review adds to the numbers of a rule.
type Count struct {
	RuleID     string // `category/name`
	Severity   rule.Severity
	Found      int   // in no list of the review before: reported, suppressed or observed
	Fixed      int   // reported by the review before, and gone
	Suppressed int   // suppressed by a comment, and not by the review before
	Work       int64 // bytes that the engine looked at for the rule
}

// Of counts what changed from the previous review of a pull request to the
// current one, whose comparison is c, so that a repeated scan counts nothing
// twice, and what its rules took. It is ordered by rule and severity.
//
// A finding that a comment suppressed and that is reported now is new to those
// who gate by new findings, but it was found before. So was one of a rule that was
// observed: these count as found, since that is what a rule is observed for.
func Of(previous, current finding.Result, c finding.Comparison) []Count {
	type key struct {
		rule     string
		severity rule.Severity
	}
	counts := map[key]*Count{}
	of := func(f finding.Finding) *Count {
		k := key{f.RuleID, f.Severity}
		if counts[k] == nil {
			counts[k] = &Count{RuleID: f.RuleID, Severity: f.Severity}
		}

		return counts[k]
	}

	suppressed, observed := finding.Fingerprints(previous.Suppressed), finding.Fingerprints(previous.Observed)
	for i, f := range current.Findings {
		if c.Reported[i] == finding.StateNew && !suppressed[f.Fingerprint] && !observed[f.Fingerprint] {
			of(f).Found++
		}
	}
	for i, f := range current.Observed {
		if c.Observed[i] == finding.StateNew {
			of(f).Found++
		}
	}
	for i, f := range current.Suppressed {
		if suppressed[f.Fingerprint] {
			continue
		}
		n := of(f)
		n.Suppressed++
		if c.Suppressed[i] == finding.StateNew {
			n.Found++
		}
	}
	for _, i := range c.Fixed {
		of(previous.Findings[i]).Fixed++
	}
	for _, cost := range current.RuleCosts {
		of(finding.Finding{RuleID: cost.RuleID, Severity: cost.Severity}).Work += cost.Work
	}

	all := make([]Count, 0, len(counts))
	for _, n := range counts {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.Severity, b.Severity))
	})

	return all
}
