package difftest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/scan"
)

func TestStoppedRulesMayMissButNotInvent(t *testing.T) {
	t.Parallel()
	found := func(path, rule string) scan.Finding { return scan.Finding{Path: path, Line: 1, RuleID: rule} }
	stop := []scan.Skip{{Path: "a", RuleID: "p/slow", Reason: scan.SkipRuleTimeout}, {Path: "b", Reason: scan.SkipBinary}}
	all := []Found{{"a", 1, "p/quick"}, {"a", 1, "p/slow"}, {"b", 1, "p/slow"}}
	tests := map[string]struct {
		findings []scan.Finding
		skips    []scan.Skip
		problems int
	}{
		"all found":           {[]scan.Finding{found("a", "p/quick"), found("a", "p/slow"), found("b", "p/slow")}, nil, 0},
		"missed":              {[]scan.Finding{found("a", "p/quick"), found("a", "p/slow")}, nil, 1},
		"missed when stopped": {[]scan.Finding{found("a", "p/quick"), found("a", "p/slow")}, stop, 0},
		"missed by another":   {[]scan.Finding{found("a", "p/slow")}, stop, 1},
		"invented":            {[]scan.Finding{found("a", "p/quick"), found("c", "p/slow")}, stop, 1},
		"twice":               {[]scan.Finding{found("a", "p/quick"), found("a", "p/slow"), found("a", "p/slow")}, stop, 1},
		"about the rules":     {[]scan.Finding{found("a", "p/quick"), found("x", "meta/rules-file-changed")}, stop, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[Found]bool{}
			for _, f := range all {
				want[f] = true
			}
			r := differences(&scan.Result{Findings: test.findings, Skips: test.skips}, want)
			assert.Len(t, r.Problems, test.problems, "%q", r.Problems)
			assert.Equal(t, len(test.findings), r.Findings)
			assert.Equal(t, test.skips != nil, len(r.Stopped) == 1)
		})
	}
}
