package scanner

import (
	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxCosts is how many rules may have their costs told.
const maxCosts = 100

func toProtoRuleCost(c finding.RuleCost) *scannerv1.RuleCost {
	return &scannerv1.RuleCost{RuleId: c.RuleID, Severity: c.Severity.String(), Work: c.Work}
}

// fromProtoRuleCosts leaves out what no scanner sends.
func fromProtoRuleCosts(all []*scannerv1.RuleCost) (out []finding.RuleCost) {
	for _, p := range all[:min(len(all), maxCosts)] {
		severity, ok := rule.ParseSeverity(p.GetSeverity())
		if ok && p.GetWork() > 0 {
			out = append(out, finding.RuleCost{RuleID: p.GetRuleId(), Severity: severity, Work: p.GetWork()})
		}
	}

	return out
}
