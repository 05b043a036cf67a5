package web

import (
	"testing"

	"github.com/stretchr/testify/assert"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

func TestChart(t *testing.T) {
	t.Parallel()
	c := newChart("Found", []*prwardenv1.TrendBucket{
		{Since: "2026-11-16", Until: "2026-11-22", Found: &prwardenv1.SeveritySummary{Critical: 1, Low: 3}},
		{Since: "2026-11-23", Until: "2026-11-23"},
	}, (*prwardenv1.TrendBucket).GetFound)
	c.scale(c.Max)

	assert.Equal(t, 4, c.Max)
	assert.Equal(t, 5, c.Top)
	assert.Equal(t, "16 Nov", c.From)
	assert.Equal(t, "23 Nov", c.To)
	assert.Equal(t, "16 Nov to 22 Nov: 4, of them 1 critical 3 low", c.Bars[0].Label)
	assert.Equal(t, []chartPart{{"s-critical", "80.00", "20.00"}, {"s-low", "20.00", "60.00"}}, c.Bars[0].Parts)
	assert.Equal(t, "6.000", c.Bars[0].X)
	assert.Equal(t, "56.000", c.Bars[1].X)
	assert.Empty(t, c.Bars[1].Parts)
}

func TestRoundUp(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 1, 1: 1, 3: 5, 5: 5, 6: 10, 11: 20, 201: 500, 1000: 1000, 1001: 2000} {
		assert.Equal(t, want, roundUp(n), "%d", n)
	}
}

func TestNoisiest(t *testing.T) {
	t.Parallel()
	quiet, some := &prwardenv1.RuleStats{RuleId: "a/quiet", Found: 9, Accepted: 9}, &prwardenv1.RuleStats{RuleId: "a/some", Suppressed: 1}
	most := &prwardenv1.RuleStats{RuleId: "a/most", FalsePositive: 1, WontFix: 1}
	assert.Equal(t, []*prwardenv1.RuleStats{most, some}, noisiest([]*prwardenv1.RuleStats{quiet, some, most}))
}

func TestSpanWords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "–", spanWords(nil))
	for seconds, want := range map[int32]string{60: "1 minute", 7200: "2 hours", 172800: "2 days"} {
		assert.Equal(t, want, spanWords(&seconds))
	}
}

func TestHandles(t *testing.T) {
	t.Parallel()
	one := handle(&prwardenv1.FoundFinding{Repo: "a-b/c", PrNumber: 1, Finding: &prwardenv1.Finding{Fingerprint: "5f"}})
	again := handle(&prwardenv1.FoundFinding{Repo: "a-b/c", PrNumber: 2, Finding: &prwardenv1.Finding{Fingerprint: "5f"}})
	assert.Regexp(t, `^[a-z0-9-]+$`, one)

	order, fingerprints, err := placesOf([]string{one, again}, false)
	assert.NoError(t, err)
	assert.Equal(t, []place{{repo: "a-b/c"}}, order)
	assert.Equal(t, map[place][]string{{repo: "a-b/c"}: {"5f"}}, fingerprints)
	order, _, err = placesOf([]string{one, again}, true)
	assert.NoError(t, err)
	assert.Equal(t, []place{{"a-b/c", 1}, {"a-b/c", 2}}, order)
	for _, bad := range []string{"", "5f", "5f-x-61", "5f-1-zz"} {
		_, _, err = placesOf([]string{bad}, false)
		assert.Error(t, err, bad)
	}
}

func TestPolicyWords(t *testing.T) {
	t.Parallel()
	words := policyWords(&prwardenv1.Policy{
		FailOn: prwardenv1.Severity_high.Enum(), Disable: []string{"a/b"},
		Override: map[string]*prwardenv1.Policy_Override{"c/d": {}, "e/f": {}},
		Locked:   &prwardenv1.Policy_Locked{Rules: []string{"secrets/*"}, Rulesets: []string{"custom"}},
		Suppression: &prwardenv1.Policy_Suppression{
			Allowed: new(true), UpTo: prwardenv1.Severity_medium.Enum(), Secrets: new(true), RequireReason: new(true),
		},
	})
	assert.Equal(t, []string{
		"A review fails from high on; a request can only be stricter.",
		"One person may set findings aside up to medium, secrets too, with a reason.",
		"1 rule is off in all repositories: a/b.",
		"2 rules are changed: c/d, e/f.",
		"No repository can switch these off: secrets/*, all custom rules.",
		"A change passes only when all of it was looked at.",
		"Findings of low confidence are hidden and fail nothing.",
		"Nothing is published in pull requests of connections.",
	}, words)
}
