package api_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
)

func TestListRuleStats(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	b.Stats.Rules = []stats.Rule{
		{RuleID: "custom/a", Repo: "acme/shop", Found: math.MaxInt64, Fixed: 2, Suppressed: 1, Work: 5 << 19,
			Accepted: 4, FalsePositive: 5, WontFix: 6},
		{RuleID: "custom/b"},
		{RuleID: "custom/c"},
	}
	_, token := b.Key(t, auth.ReviewsRead)
	a := b.Do(t, "GET", "/v1/stats/rules?repo=acme/shop&rule_id=a&min_severity=low&by_repository=true&page_size=2"+
		"&since=2026-11-01&until=2026-11-10", "", servertest.Bearer(token))
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, []any{
		map[string]any{"rule_id": "custom/a", "repo": "acme/shop", "found": 2147483647.0, "fixed": 2.0, "suppressed": 1.0,
			"work_mib": 3.0, "accepted": 4.0, "false_positive": 5.0, "wont_fix": 6.0},
		map[string]any{"rule_id": "custom/b", "found": 0.0, "fixed": 0.0, "suppressed": 0.0, "work_mib": 0.0,
			"accepted": 0.0, "false_positive": 0.0, "wont_fix": 0.0},
	}, a.JSON["rules"])
	assert.Equal(t, "2026-11-01", a.JSON["since"])
	assert.Equal(t, "2026-11-10", a.JSON["until"])
	assert.NotEmpty(t, a.JSON["next_page_token"])
	assert.Equal(t, stats.Filter{
		Since: "2026-11-01", Until: "2026-11-10", Repo: "acme/shop", RuleID: "custom/a", MinSeverity: rule.Low,
		ByRepository: true, Limit: 3,
	}, b.Stats.Asked)

	_, token = b.Key(t, auth.RulesRead, auth.RulesWrite, auth.ReviewsWrite, auth.KeysAdmin)
	a = b.Do(t, "GET", "/v1/stats/rules", "", servertest.Bearer(token))
	assert.Equal(t, 403, a.Status)
	assert.Equal(t, "SCOPE_MISSING", a.Reason())
}

func TestGetTrends(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t, auth.ReviewsRead)
	get := func() map[string]any {
		a := b.Do(t, "GET", "/v1/stats/trends?since=2026-11-01&until=2026-11-10&bucket=week", "", servertest.Bearer(token))
		require.Equal(t, 200, a.Status, a.Body)

		return a.JSON
	}
	none := get()
	assert.Len(t, none["buckets"], 3, "the first of November is a Sunday")
	assert.NotContains(t, none, "fix_percent")
	assert.NotContains(t, none, "mean_fix_seconds")
	assert.NotContains(t, none, "median_fix_seconds")

	b.Stats.Trends = stats.Trend{
		Days: []stats.Day{{Day: "2026-11-02", Severity: rule.High, Found: 3, Fixed: 2}},
		Open: map[rule.Severity]int{rule.High: 1}, FixSeconds: 7, Median: time.Second, P90: 2 * time.Second,
	}
	got := get()
	assert.Equal(t, []any{66.0, 3.0, 1.0, 2.0},
		[]any{got["fix_percent"], got["mean_fix_seconds"], got["median_fix_seconds"], got["p90_fix_seconds"]})
	second := got["buckets"].([]any)[1].(map[string]any)
	assert.Equal(t, "2026-11-02 2026-11-08", second["since"].(string)+" "+second["until"].(string))
	assert.Equal(t, 1.0, second["open"].(map[string]any)["high"])
}
