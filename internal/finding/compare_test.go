package finding_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
)

// found returns findings with these fingerprints, in files of the same names.
func found(names ...string) []finding.Finding {
	list := make([]finding.Finding, len(names))
	for i, name := range names {
		list[i] = finding.Finding{RuleID: "a/rule", File: name, Fingerprint: name}
	}

	return list
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const (
		isNew    = finding.StateNew
		existing = finding.StateExisting
	)
	other := finding.Finding{RuleID: "a/other", File: "c", Fingerprint: "c"}

	for name, test := range map[string]struct {
		previous, current finding.Result
		want              finding.Comparison
	}{
		"no previous review": {
			current: finding.Result{Findings: found("a"), Suppressed: found("s")},
			want:    finding.Comparison{Reported: []finding.State{isNew}, Suppressed: []finding.State{isNew}},
		},
		"nothing found": {
			want: finding.Comparison{},
		},
		"new, existing and fixed": {
			previous: finding.Result{Findings: found("a", "b", "c", "d")},
			current:  finding.Result{Findings: found("a", "c", "e")},
			want:     finding.Comparison{Reported: []finding.State{existing, existing, isNew}, Fixed: []int{1, 3}},
		},
		"the order does not count": {
			previous: finding.Result{Findings: found("a", "b")},
			current:  finding.Result{Findings: found("b", "a")},
			want:     finding.Comparison{Reported: []finding.State{existing, existing}},
		},
		"reported, then suppressed": {
			previous: finding.Result{Findings: found("a")},
			current:  finding.Result{Suppressed: found("a")},
			want:     finding.Comparison{Suppressed: []finding.State{existing}},
		},
		"suppressed, then reported": {
			previous: finding.Result{Suppressed: found("a")},
			current:  finding.Result{Findings: found("a")},
			want:     finding.Comparison{Reported: []finding.State{isNew}},
		},
		"suppressed both times": {
			previous: finding.Result{Suppressed: found("a")},
			current:  finding.Result{Suppressed: found("a", "b")},
			want:     finding.Comparison{Suppressed: []finding.State{existing, isNew}},
		},
		"observed, then enforced": {
			previous: finding.Result{Observed: found("a")},
			current:  finding.Result{Findings: found("a")},
			want:     finding.Comparison{Reported: []finding.State{isNew}},
		},
		"enforced, then observed": {
			previous: finding.Result{Findings: found("a"), Suppressed: found("s"), Observed: found("o")},
			current:  finding.Result{Observed: found("a", "s", "o", "b")},
			want:     finding.Comparison{Observed: []finding.State{existing, existing, existing, isNew}},
		},
		"observed, then gone or suppressed": {
			previous: finding.Result{Observed: found("a", "b")},
			current:  finding.Result{Suppressed: found("b")},
			want:     finding.Comparison{Suppressed: []finding.State{existing}},
		},
		"suppressed, then gone": {
			previous: finding.Result{Suppressed: found("a")},
			want:     finding.Comparison{},
		},
		"a file that was skipped": {
			previous: finding.Result{Findings: found("a", "b")},
			current:  finding.Result{Skips: []finding.Skip{{File: "a", Reason: finding.SkipFileTooLarge}}},
			want:     finding.Comparison{Fixed: []int{1}},
		},
		"a rule that was stopped in another file": {
			previous: finding.Result{Findings: append(found("a", "b"), other)},
			current:  finding.Result{Skips: []finding.Skip{{File: "z", RuleID: "a/rule", Reason: finding.SkipRuleStopped}}},
			want:     finding.Comparison{Fixed: []int{0, 1, 2}},
		},
		"a rule that was stopped in the file": {
			previous: finding.Result{Findings: append(found("a", "b"), other)},
			current:  finding.Result{Skips: []finding.Skip{{File: "b", RuleID: "a/rule", Reason: finding.SkipRuleStopped}}},
			want:     finding.Comparison{Fixed: []int{0, 2}},
		},
		"a broken rules file": {
			previous: finding.Result{Findings: found("a", "b")},
			current: finding.Result{
				Skips: []finding.Skip{{File: ".prwarden/rules.yml", Reason: finding.SkipRulesFileInvalid}},
			},
			want: finding.Comparison{},
		},
		"a current result that is truncated": {
			previous: finding.Result{Findings: found("a", "b")},
			current:  finding.Result{Findings: found("a"), Truncated: true},
			want:     finding.Comparison{Reported: []finding.State{existing}},
		},
		"a previous result that is truncated": {
			previous: finding.Result{Findings: found("a", "b"), Truncated: true},
			current:  finding.Result{Findings: found("a")},
			want:     finding.Comparison{Reported: []finding.State{existing}, Fixed: []int{1}},
		},
		"the same fingerprint twice": {
			previous: finding.Result{Findings: found("a", "a")},
			want:     finding.Comparison{Fixed: []int{0, 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := finding.Compare(test.previous, test.current)
			assert.Equal(t, append([]finding.State{}, test.want.Reported...), got.Reported)
			assert.Equal(t, test.want.Fixed, got.Fixed)
			assert.Equal(t, append([]finding.State{}, test.want.Suppressed...), got.Suppressed)
			assert.Equal(t, append([]finding.State{}, test.want.Observed...), got.Observed)
		})
	}
}
