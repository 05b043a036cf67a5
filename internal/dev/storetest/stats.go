package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
)

// The days on which tests finish reviews, and all of them.
const (
	day1, day2 = "2026-11-20", "2026-11-21"
	firstDay   = "2000-01-01"
	lastDay    = "2100-01-01"
)

// numbers reads the numbers of rules.
func numbers(t *testing.T, h Harness, org string, f stats.Filter) []stats.Rule {
	t.Helper()
	if f.Since == "" {
		f.Since, f.Until = firstDay, lastDay
	}
	if f.Limit == 0 {
		f.Limit = 1_000
	}
	rules, err := h.Store.RuleStats(t.Context(), org, f)
	require.NoError(t, err)

	return rules
}

// ofRule gives findings another rule.
func ofRule(id string, s rule.Severity, findings []finding.Finding) []finding.Finding {
	for i := range findings {
		findings[i].RuleID, findings[i].Severity = id, s
	}

	return findings
}

// finishOf finishes a review of an organization's repository.
func finishOf(t *testing.T, h Harness, n review.NewReview, o finding.Result) {
	t.Helper()
	accept(t, h, n)
	c := claim(t, h)
	require.Equal(t, n.ID, c.ReviewID)
	require.NoError(t, h.Store.Finish(t.Context(), c, o))
	h.Clock.Advance(time.Second)
}

func countedFindings(t *testing.T, h Harness) {
	first := found(named("a", "b", "c")...)
	first.Findings = append(first.Findings, ofRule("custom/x", rule.Low, named("x"))...)
	first.Suppressed = by(finding.Suppression{Line: 1}, named("s", "u"))
	first.RuleCosts = []finding.RuleCost{{RuleID: "custom/x", Severity: rule.Low, Work: 1 << 40}}
	finish(t, h, "rev_1", first)
	want := []stats.Rule{
		{RuleID: "security/no-eval", Found: 5, Suppressed: 2}, {RuleID: "custom/x", Found: 1, Work: 1 << 40},
	}
	assert.Equal(t, want, numbers(t, h, acme, stats.Filter{}))

	h.Clock.Advance(time.Second)
	first.RuleCosts = nil
	finish(t, h, "rev_2", first)
	assert.Equal(t, want, numbers(t, h, acme, stats.Filter{}), "a repeated scan counts nothing again")

	h.Clock.Advance(24 * time.Hour)
	second := found(named("a", "d", "u")...) // b, x fixed, c suppressed, d new, u reported
	second.Suppressed = by(finding.Suppression{Line: 1}, named("c", "s"))
	finish(t, h, "rev_3", second)
	assert.Equal(t, []stats.Rule{
		{RuleID: "security/no-eval", Found: 6, Fixed: 1, Suppressed: 3},
		{RuleID: "custom/x", Found: 1, Fixed: 1, Work: 1 << 40},
	}, numbers(t, h, acme, stats.Filter{}))

	assert.Equal(t, want, numbers(t, h, acme, stats.Filter{Since: day1, Until: day1}))
	assert.Equal(t, []stats.Rule{
		{RuleID: "security/no-eval", Found: 1, Fixed: 1, Suppressed: 1}, {RuleID: "custom/x", Fixed: 1},
	}, numbers(t, h, acme, stats.Filter{Since: day2, Until: day2}))
	assert.Empty(t, numbers(t, h, acme, stats.Filter{Since: "2026-11-22", Until: lastDay}))
	assert.Empty(t, numbers(t, h, other, stats.Filter{}), "organizations are apart")

	third := found(named("y")...) // what is observed is found, and not again when it is enforced; it is never fixed
	third.Observed = ofRule("custom/z", rule.High, named("y2", "z"))
	finish(t, h, "rev_4", third)
	h.Clock.Advance(time.Second)
	finish(t, h, "rev_5", found(ofRule("custom/z", rule.High, named("y2"))...))
	assert.Equal(t, []stats.Rule{{RuleID: "custom/z", Found: 2}}, numbers(t, h, acme, stats.Filter{RuleID: "custom/z"}))

	h.Clock.Advance(keep)
	purgeReviews(t, h)
	assert.Len(t, numbers(t, h, acme, stats.Filter{}), 3, "they outlive the reviews")
}

func listedNumbers(t *testing.T, h Harness) {
	result := func(a, b, c int) finding.Result {
		all := ofRule("custom/a", rule.Critical, named("a1", "a2", "a3")[:a])
		all = append(all, ofRule("custom/b", rule.Medium, named("b1", "b2", "b3")[:b])...)

		return found(append(all, ofRule("custom/c", rule.Info, named("c1", "c2", "c3")[:c])...)...)
	}
	for i, o := range []finding.Result{result(1, 2, 2), result(2, 0, 1)} {
		n := newReview(acme, []string{"rev_1", "rev_2"}[i])
		n.Repo = []string{repo, "acme/site"}[i]
		finishOf(t, h, n, o)
	}

	all := []stats.Rule{
		{RuleID: "custom/a", Found: 3}, {RuleID: "custom/c", Found: 3}, {RuleID: "custom/b", Found: 2},
	}
	apart := []stats.Rule{
		{RuleID: "custom/a", Repo: "acme/site", Found: 2}, {RuleID: "custom/b", Repo: repo, Found: 2},
		{RuleID: "custom/c", Repo: repo, Found: 2}, {RuleID: "custom/a", Repo: repo, Found: 1},
		{RuleID: "custom/c", Repo: "acme/site", Found: 1},
	}
	tests := map[string]struct {
		filter stats.Filter
		want   []stats.Rule
	}{
		"all":           {stats.Filter{}, all},
		"by repository": {stats.Filter{ByRepository: true}, apart},
		"of a repository": {
			stats.Filter{Repo: "acme/site"}, []stats.Rule{{RuleID: "custom/a", Found: 2}, {RuleID: "custom/c", Found: 1}},
		},
		"of a rule": {stats.Filter{RuleID: "custom/b"}, all[2:]},
		"severe":    {stats.Filter{MinSeverity: rule.Medium}, []stats.Rule{all[0], all[2]}},
		"none":      {stats.Filter{RuleID: "custom/d"}, nil},
	}
	for name, tc := range tests {
		for _, size := range []int{1, 2, 1_000} {
			var got []stats.Rule
			f := tc.filter
			for f.Limit = size; ; {
				part := numbers(t, h, acme, f)
				got = append(got, part...)
				if len(part) < size {
					break
				}
				last := part[size-1]
				f.After = stats.Cursor{Found: last.Found, RuleID: last.RuleID, Repo: last.Repo}
			}
			assert.Equal(t, tc.want, got, "%s, %d at once", name, size)
		}
	}
}

func purgedNumbers(t *testing.T, h Harness) {
	purge := func(days int, latest time.Time) int {
		total, err := review.Steps(t.Context(), func() (int, bool, error) {
			return h.Store.PurgeStats(t.Context(), days, latest)
		})
		require.NoError(t, err)

		return total
	}
	finish(t, h, "rev_1", found(named("a")...))
	h.Clock.Advance(10 * 24 * time.Hour)
	finish(t, h, "rev_2", found(named("a", "b")...))

	assert.Zero(t, purge(11, h.Clock.Now()))
	assert.Zero(t, purge(10, h.Clock.Now().Add(-24*time.Hour)), "a clock that leaps ahead deletes nothing")
	assert.Equal(t, 2, purge(10, h.Clock.Now().Add(time.Hour)), "of the rule, and what was open")
	assert.Equal(t, []stats.Rule{{RuleID: "security/no-eval", Found: 1}}, numbers(t, h, acme, stats.Filter{}))
}
