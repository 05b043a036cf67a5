package difftest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
)

func TestStoppedRulesMayMissButNotInvent(t *testing.T) {
	t.Parallel()
	found := func(path, rule string) finding.Finding { return finding.Finding{File: path, Line: 1, RuleID: rule} }
	stop := []finding.Skip{{File: "a", RuleID: "p/slow", Reason: finding.SkipRuleTimeout},
		{File: "b", Reason: finding.SkipBinary}}
	all := []Found{{"a", 1, "p/quick"}, {"a", 1, "p/slow"}, {"b", 1, "p/slow"}}
	tests := map[string]struct {
		findings []finding.Finding
		skips    []finding.Skip
		problems int
	}{
		"all found":           {[]finding.Finding{found("a", "p/quick"), found("a", "p/slow"), found("b", "p/slow")}, nil, 0},
		"missed":              {[]finding.Finding{found("a", "p/quick"), found("a", "p/slow")}, nil, 1},
		"missed when stopped": {[]finding.Finding{found("a", "p/quick"), found("a", "p/slow")}, stop, 0},
		"missed by another":   {[]finding.Finding{found("a", "p/slow")}, stop, 1},
		"invented":            {[]finding.Finding{found("a", "p/quick"), found("c", "p/slow")}, stop, 1},
		"twice": {[]finding.Finding{found("a", "p/quick"), found("a", "p/slow"), found("a", "p/slow")},
			stop, 1},
		"about the rules": {[]finding.Finding{found("a", "p/quick"), found("x", "meta/rules-file-changed")}, stop, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[Found]bool{}
			for _, f := range all {
				want[f] = true
			}
			r := differences(finding.Result{Findings: test.findings, Skips: test.skips}, want)
			assert.Len(t, r.Problems, test.problems, "%q", r.Problems)
			assert.Equal(t, len(test.findings), r.Findings)
			assert.Equal(t, test.skips != nil, len(r.Stopped) == 1)
		})
	}
}
