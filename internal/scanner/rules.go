package scanner

import (
	"fmt"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/rule"
)

var origins = []struct {
	domain rule.Origin
	proto  scannerv1.ScanRule_Origin
}{
	{rule.OriginDefault, scannerv1.ScanRule_default_ruleset},
	{rule.OriginCustom, scannerv1.ScanRule_custom},
	{rule.OriginRepository, scannerv1.ScanRule_repository},
	{rule.OriginRulesFile, scannerv1.ScanRule_rules_file},
}

func toProtoRule(r rule.Rule) *scannerv1.ScanRule {
	p := &scannerv1.ScanRule{
		Id:          r.ID,
		Type:        r.Type,
		Pattern:     r.Pattern,
		Message:     r.Message,
		Severity:    r.Severity.String(),
		Include:     r.Paths.Include,
		Exclude:     r.Paths.Exclude,
		Multiline:   r.Multiline,
		Redact:      r.Redact,
		CaseMatch:   r.Cases.Match,
		CaseNoMatch: r.Cases.NoMatch,
		References:  r.References,
	}
	for _, o := range origins {
		if o.domain == r.Origin {
			p.Origin = o.proto
		}
	}
	return p
}

func fromProtoRule(p *scannerv1.ScanRule) (rule.Rule, error) {
	severity, ok := rule.ParseSeverity(p.GetSeverity())
	if !ok {
		return rule.Rule{}, fmt.Errorf("rule %q: unknown severity %q", p.GetId(), p.GetSeverity())
	}
	r := rule.Rule{
		ID:         p.GetId(),
		Type:       p.GetType(),
		Pattern:    p.GetPattern(),
		Message:    p.GetMessage(),
		Severity:   severity,
		Paths:      rule.Paths{Include: p.GetInclude(), Exclude: p.GetExclude()},
		Multiline:  p.GetMultiline(),
		Redact:     p.GetRedact(),
		Cases:      rule.Cases{Match: p.GetCaseMatch(), NoMatch: p.GetCaseNoMatch()},
		References: p.GetReferences(),
	}
	for _, o := range origins {
		if o.proto == p.GetOrigin() {
			r.Origin = o.domain
		}
	}
	if r.Origin == 0 {
		return rule.Rule{}, fmt.Errorf("rule %q: unknown origin %v", p.GetId(), p.GetOrigin())
	}
	return r, nil
}

func fromProtoRules(ps []*scannerv1.ScanRule) ([]rule.Rule, error) {
	rules := make([]rule.Rule, 0, len(ps))
	for _, p := range ps {
		r, err := fromProtoRule(p)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func toProtoRules(rules []rule.Rule) []*scannerv1.ScanRule {
	ps := make([]*scannerv1.ScanRule, 0, len(rules))
	for _, r := range rules {
		ps = append(ps, toProtoRule(r))
	}
	return ps
}
