package blackbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rule with a fix is created over the API, and a review and its SARIF log say which lines
// would take the place of others.
func TestFix(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	rule := map[string]any{
		"id": "request-timeout", "type": "structure", "languages": []any{"python"}, "pattern": "fetch_it($$$A)",
		"where":   map[string]any{"A": map[string]any{"not": map[string]any{"has": map[string]any{"pattern": "timeout=$_"}}}},
		"message": "Give a timeout.", "severity": "medium", "fix": "fetch_it($$$A, timeout=3)",
		"cases": map[string]any{"match": []any{"fetch_it(a)"}, "no_match": []any{"fetch_it(a, timeout=1)"}},
	}
	a := c.do(t, "POST", "/v1/rules", rule)
	require.Equal(t, 201, a.status, a.body)
	assert.Equal(t, rule["fix"], a.decode(t)["fix"])
	rule["id"], rule["fix"] = "other", "fetch_it($B)"
	refused := c.do(t, "POST", "/v1/rules", rule)
	assert.Equal(t, 400, refused.status)
	assert.Contains(t, refused.body, "has $B, which is no metavariable")

	repo := h.create(t, "acme/fix", files{"app.py": "a = 1\n"})
	repo.pull(1, files{"app.py": "a = 1\nb = fetch_it(\n    a)\n"})
	review := c.scan(t, "acme/fix", 1)
	require.Equal(t, "complete", review["status"])
	findings := list(review["findings"])
	require.Len(t, findings, 1)
	assert.Equal(t, map[string]any{
		"start_line": 2.0, "end_line": 3.0, "text": "b = fetch_it(a, timeout=3)",
	}, findings[0].(map[string]any)["fix"])
	sarif := c.do(t, "GET", "/v1/reviews/"+review["review_id"].(string)+"/sarif", nil)
	assert.Contains(t, sarif.body, `"deletedRegion":{"startLine":2,"endLine":3},"insertedContent":{"text":"b = fetch_it(a, timeout=3)"}`)
	page := c.do(t, "GET", "/v1/reviews/"+review["review_id"].(string), nil)
	assert.Contains(t, page.body, "b = fetch_it(a, timeout=3)", "as it is stored")
}
