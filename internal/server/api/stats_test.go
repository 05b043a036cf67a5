package api_test

import (
	"math"
	"testing"

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
		{RuleID: "custom/a", Repo: "acme/shop", Found: math.MaxInt64, Fixed: 2, Suppressed: 1, Work: 5 << 19},
		{RuleID: "custom/b"},
		{RuleID: "custom/c"},
	}
	_, token := b.Key(t, auth.ReviewsRead)
	a := b.Do(t, "GET", "/v1/stats/rules?repo=acme/shop&rule_id=a&min_severity=low&by_repository=true&page_size=2"+
		"&since=2026-11-01&until=2026-11-10", "", servertest.Bearer(token))
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, []any{
		map[string]any{"rule_id": "custom/a", "repo": "acme/shop", "found": 2147483647.0, "fixed": 2.0, "suppressed": 1.0, "work_mib": 3.0},
		map[string]any{"rule_id": "custom/b", "found": 0.0, "fixed": 0.0, "suppressed": 0.0, "work_mib": 0.0},
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
