package blackbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is open is the same wherever it is counted, before and after a decision.
func TestOneCount(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,findings:triage,rules:read"))
	_, fingerprint := undecided(t, c, h, "acme/api")
	get := func(path string) map[string]any {
		t.Helper()
		a := c.do(t, "GET", path, nil)
		require.Equal(t, 200, a.status, a.body)

		return a.decode(t)
	}
	high := func(summary any) any { return summary.(map[string]any)["high"] }
	first := func(all any) map[string]any { return list(all)[0].(map[string]any) }
	same := func(want float64) {
		t.Helper()
		listed := first(get("/v1/reviews")["reviews"])
		assert.Equal(t, want, high(listed["open"]))
		assert.Equal(t, want, high(get("/v1/reviews/" + listed["review_id"].(string))["open"]))
		assert.Equal(t, want, high(first(get("/v1/repositories")["repositories"])["open"]))
		assert.Equal(t, want, high(get("/v1/findings?group_by=rule")["summary"]))
		assert.Len(t, get("/v1/findings")["findings"], int(want))
		buckets := list(get("/v1/stats/trends")["buckets"])
		assert.Equal(t, want, high(buckets[len(buckets)-1].(map[string]any)["open"]))
		assert.Equal(t, want, get("/v1/reviews:count")["failed"])
	}
	same(1)

	a := c.do(t, "POST", "/v1/findings:triage", map[string]any{
		"repo": "acme/api", "fingerprints": []any{fingerprint}, "decision": "false_positive", "reason": "a test",
		"until": nextMonth(),
	})
	require.Equal(t, 200, a.status, a.body)
	same(0)
	assert.Equal(t, 1.0, first(get("/v1/stats/rules")["rules"])["false_positive"])
	feedback := get("/v1/rules/security/no-eval?since=" + time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))["feedback"]
	assert.Equal(t, []any{1.0, 1.0, 1.0}, []any{
		feedback.(map[string]any)["found"], feedback.(map[string]any)["decided"], feedback.(map[string]any)["false_positives"],
	})
	assert.Equal(t, 400, c.do(t, "GET", "/v1/rules/security/no-eval?since=2000-01-01", nil).status)
	rulesOnly := s.client(s.key(t, "acme", "--scopes", "rules:read"))
	assert.NotContains(t, rulesOnly.do(t, "GET", "/v1/rules/security/no-eval", nil).decode(t), "feedback")
	assert.Len(t, get("/v1/findings?decision=false_positive&query=EVAL")["findings"], 1)
}
