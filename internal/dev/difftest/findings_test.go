package difftest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
)

func TestStoppedRulesMayMissButNotInvent(t *testing.T) {
	t.Parallel()
	at := func(path, rule string) finding.Finding { return finding.Finding{File: path, Line: 1, RuleID: rule} }
	stop := []finding.Skip{{File: "a", RuleID: "p/slow", Reason: finding.SkipRuleStopped},
		{File: "b", Reason: finding.SkipBinary}}
	all := []found{{"a", 1, "p/quick"}, {"a", 1, "p/slow"}, {"b", 1, "p/slow"}}
	for name, test := range map[string]struct {
		findings []finding.Finding
		skips    []finding.Skip
		problems int
	}{
		"all found":           {[]finding.Finding{at("a", "p/quick"), at("a", "p/slow"), at("b", "p/slow")}, nil, 0},
		"missed":              {[]finding.Finding{at("a", "p/quick"), at("a", "p/slow")}, nil, 1},
		"missed when stopped": {[]finding.Finding{at("a", "p/quick"), at("b", "p/slow")}, stop, 0},
		"missed elsewhere":    {[]finding.Finding{at("a", "p/quick"), at("a", "p/slow")}, stop, 1},
		"missed by another":   {[]finding.Finding{at("a", "p/slow"), at("b", "p/slow")}, stop, 1},
		"invented":            {[]finding.Finding{at("a", "p/quick"), at("b", "p/slow"), at("c", "p/slow")}, stop, 1},
		"twice": {
			[]finding.Finding{at("a", "p/quick"), at("a", "p/slow"), at("a", "p/slow"), at("b", "p/slow")}, stop, 1,
		},
		"about the rules": {
			[]finding.Finding{at("a", "p/quick"), at("b", "p/slow"), at("x", "meta/rules-file-changed")}, stop, 0,
		},
	} {
		want := map[found]bool{}
		for _, f := range all {
			want[f] = true
		}
		r := differences(finding.Result{Findings: test.findings, Skips: test.skips}, want)
		assert.Len(t, r.Problems, test.problems, "%s: %q", name, r.Problems)
	}
}
