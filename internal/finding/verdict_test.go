package finding_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		binary   = finding.SkipBinary
		tooLarge = finding.SkipFileTooLarge
		stopped  = finding.SkipRuleStopped
	)
	type counts = finding.SkipCounts
	kind := func(reason string, s rule.Severity) finding.SkipKind {
		return finding.SkipKind{Reason: reason, Severity: s}
	}
	nothing := func(string) bool { return false }

	for name, test := range map[string]struct {
		summary     finding.Summary
		counts      counts
		threshold   rule.Severity     // high when 0
		tolerates   func(string) bool // binary files and submodules when nil
		want        finding.Outcome
		notLookedAt int
	}{
		"nothing":             {want: finding.Pass},
		"counts of zero":      {summary: finding.NewSummary(), threshold: rule.Info, want: finding.Pass},
		"below the threshold": {summary: finding.Summary{rule.Medium: 9, rule.Info: 1}, want: finding.Pass},
		"at the threshold":    {summary: finding.Summary{rule.High: 1}, want: finding.Fail},
		"above it":            {summary: finding.Summary{rule.Critical: 1}, threshold: rule.Low, want: finding.Fail},
		"a large file":        {counts: counts{kind(tooLarge, 0): 2}, want: finding.Incomplete, notLookedAt: 2},
		"a binary file":       {counts: counts{kind(binary, 0): 9}, want: finding.Pass},
		"a submodule":         {counts: counts{kind(finding.SkipSubmodule, 0): 9}, want: finding.Pass},
		"a broken rules file": {
			counts: counts{kind(finding.SkipRulesFileInvalid, 0): 1}, threshold: rule.Critical,
			want: finding.Incomplete, notLookedAt: 1,
		},
		"a reason of tomorrow": {counts: counts{kind("other", 0): 1}, want: finding.Incomplete, notLookedAt: 1},
		"a stopped rule":       {counts: counts{kind(stopped, rule.High): 1}, want: finding.Incomplete, notLookedAt: 1},
		"a worse one":          {counts: counts{kind(stopped, rule.Critical): 1}, want: finding.Incomplete, notLookedAt: 1},
		"one below":            {counts: counts{kind(stopped, rule.Medium): 3}, want: finding.Pass},
		"one that is unknown":  {counts: counts{kind(stopped, 0): 1}, want: finding.Incomplete, notLookedAt: 1},
		"fail goes first": {
			summary: finding.Summary{rule.High: 1}, counts: counts{kind(tooLarge, 0): 2},
			want: finding.Fail, notLookedAt: 2,
		},
		"all is tolerated": {
			counts: counts{kind(tooLarge, 0): 2}, tolerates: func(string) bool { return true }, want: finding.Pass,
		},
		"nothing is tolerated": {
			counts: counts{kind(binary, 0): 2}, tolerates: nothing, want: finding.Incomplete, notLookedAt: 2,
		},
		"but a stopped rule below": {counts: counts{kind(stopped, rule.Low): 2}, tolerates: nothing, want: finding.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := finding.Result{Summary: test.summary, SkipCounts: test.counts}
			for k := range test.counts { // one of each kind is listed
				r.Skips = append(r.Skips, finding.Skip{Reason: k.Reason, Severity: k.Severity})
			}
			if test.tolerates == nil {
				test.tolerates = func(reason string) bool {
					return reason == finding.SkipBinary || reason == finding.SkipSubmodule
				}
			}
			test.threshold = cmp.Or(test.threshold, rule.High)
			r.Judge(test.threshold, test.tolerates)

			want := finding.Verdict{Outcome: test.want, Threshold: test.threshold, NotLookedAt: test.notLookedAt}
			assert.Equal(t, want, r.Verdict)
			for _, s := range r.Skips {
				assert.Equal(t, test.notLookedAt == 0, s.Tolerated)
			}
		})
	}
}

// A threshold that is asked for later counts what was stopped below the one before.
func TestStricter(t *testing.T) {
	t.Parallel()
	stopped := func(s rule.Severity, tolerated bool) finding.Skip {
		return finding.Skip{File: "a", Reason: finding.SkipRuleStopped, Severity: s, Tolerated: tolerated}
	}
	observed := stopped(rule.Medium, true)
	observed.Observed = true
	skips := []finding.Skip{
		stopped(rule.High, false), stopped(rule.High, true), stopped(rule.Medium, true), stopped(rule.Low, true), observed,
		{File: "logo.png", Reason: finding.SkipBinary, Tolerated: true},
	}
	v := finding.Verdict{Outcome: finding.Incomplete, Threshold: rule.High, NotLookedAt: 1}

	for _, same := range []rule.Severity{rule.Critical, rule.High} {
		got, list := v.Stricter(same, skips)
		assert.Equal(t, v, got)
		assert.Equal(t, skips, list)
	}
	got, list := v.Stricter(rule.Medium, skips)
	assert.Equal(t, finding.Verdict{Outcome: finding.Incomplete, Threshold: rule.Medium, NotLookedAt: 2}, got)
	assert.False(t, list[2].Tolerated)
	assert.True(t, skips[2].Tolerated, "what was given stays")
	for _, i := range []int{1, 3, 4, 5} {
		assert.Equal(t, skips[i], list[i])
	}
}
