package scanner

import (
	"encoding/json"
	"fmt"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/structure"
)

// toProtoRule makes a rule one for the wire, where origins have the same numbers.
func toProtoRule(r rule.Rule) *scannerv1.ScanRule {
	c := r.Conditions
	out := &scannerv1.ScanRule{
		Id:          r.ID,
		Type:        r.Type,
		Pattern:     r.Pattern,
		Message:     r.Message,
		Severity:    r.Severity.String(),
		Include:     r.Paths.Include,
		Exclude:     r.Paths.Exclude,
		Multiline:   r.Multiline,
		Redact:      r.Redact,
		Origin:      scannerv1.ScanRule_Origin(r.Origin),
		CaseMatch:   r.Cases.Match,
		CaseNoMatch: r.Cases.NoMatch,
		References:  r.References,
		Languages:   r.Languages,
		Skip:        r.Skip,
		Observe:     r.Observed(),
		Disabled:    r.Disabled,
		In:          rule.WordsOf(r.In),
		Checksum:    c.Checksum,
		Stopwords:   c.Stopwords,
		Allow:       c.Allow,
		Supersedes:  r.Supersedes,
		Confidence:  string(r.Confidence),
		Fix:         r.Fix,
		Words:       r.Words,
	}
	if len(r.Structure.Fields()) > 0 {
		out.Structure = string(rule.CompactJSON(r.Structure))
	}
	if !r.Taint.IsZero() {
		out.Taint = string(rule.CompactJSON(r.Taint))
	}
	if c.Entropy != nil {
		out.Entropy = &scannerv1.ScanRule_Entropy{Min: c.Entropy.Min, Group: int32(c.Entropy.Group)}
	}

	return out
}

func fromProtoRule(p *scannerv1.ScanRule) (rule.Rule, error) {
	severity, ok := rule.ParseSeverity(p.GetSeverity())
	if !ok {
		return rule.Rule{}, fmt.Errorf("rule %q: unknown severity %q", p.GetId(), p.GetSeverity())
	}
	origin := rule.Origin(p.GetOrigin())
	if origin < rule.OriginDefault || origin > rule.OriginRulesFile {
		return rule.Rule{}, fmt.Errorf("rule %q: unknown origin %d", p.GetId(), p.GetOrigin())
	}

	mode := rule.ModeEnforce
	if p.GetObserve() {
		mode = rule.ModeObserve
	}

	conditions := match.Conditions{Checksum: p.GetChecksum(), Stopwords: p.GetStopwords(), Allow: p.GetAllow()}
	if e := p.GetEntropy(); e != nil {
		conditions.Entropy = &match.Entropy{Min: e.GetMin(), Group: int(e.GetGroup())}
	}

	var asked structure.Condition
	var followed rule.Taint
	for _, x := range []struct {
		text string
		into any
	}{{p.GetStructure(), &asked}, {p.GetTaint(), &followed}} {
		if x.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(x.text), x.into); err != nil {
			return rule.Rule{}, fmt.Errorf("rule %q: %w", p.GetId(), err)
		}
	}

	return rule.Rule{
		ID:         p.GetId(),
		Type:       p.GetType(),
		Pattern:    p.GetPattern(),
		Message:    p.GetMessage(),
		Severity:   severity,
		Paths:      rule.Paths{Include: p.GetInclude(), Exclude: p.GetExclude()},
		Multiline:  p.GetMultiline(),
		Redact:     p.GetRedact(),
		Origin:     origin,
		Cases:      rule.Cases{Match: p.GetCaseMatch(), NoMatch: p.GetCaseNoMatch()},
		References: p.GetReferences(),
		Languages:  p.GetLanguages(),
		Skip:       p.GetSkip(),
		Disabled:   p.GetDisabled(),
		Mode:       mode,
		In:         rule.PlacesOf(p.GetIn()),
		Conditions: conditions,
		Supersedes: p.GetSupersedes(),
		Structure:  asked,
		Taint:      followed,
		Confidence: rule.Confidence(p.GetConfidence()),
		Fix:        p.Fix,
		Words:      p.GetWords(),
	}, nil
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

// What the ErrorInfo of a scanner's errors has.
const (
	errorDomain    = "prwarden.scanner"
	reasonStopping = "scanner_stopping" // the scanner stops and hands the scan back
	reasonBusy     = "scanner_busy"     // the scanner has no free slot
	metaLasting    = "lasting"          // "true" when trying again is pointless
)
