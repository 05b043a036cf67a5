package difftest

import (
	"context"
	_ "embed"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// Probes is a rules file with rules that fire often: the default ruleset is
// quiet on good code, and would leave little to compare.
//
//go:embed probes.yml
var Probes []byte

// LoadRules returns the default ruleset and the probes.
func LoadRules(ctx context.Context) ([]rule.Rule, error) {
	rules, err := defaults.Load()
	if err != nil {
		return nil, err
	}
	file, err := rule.ParseLocalFile(ctx, Probes)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Rules {
		r.Scope, r.Origin = rule.ScopeOrg, rule.OriginDefault
		rules = append(rules, r)
	}
	return rules, nil
}
