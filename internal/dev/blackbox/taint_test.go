package blackbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A taint rule is created over the API, and a review says how the value came to where it
// was found.
func TestTaintRule(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	a := c.do(t, "POST", "/v1/rules", map[string]any{
		"id": "request-command", "type": "taint", "languages": []any{"python"}, "message": "Run a fixed command.",
		"severity": "high", "sources": []any{map[string]any{"any": []any{
			map[string]any{"pattern": "request.args"}, map[string]any{"pattern": "request.form"},
		}}},
		"sinks":      []any{map[string]any{"pattern": "run_it($X)", "focus": "X"}},
		"sanitizers": []any{map[string]any{"pattern": "quote($$$)"}},
		"cases":      map[string]any{"match": []any{"run_it(request.args)"}, "no_match": []any{"run_it(quote(request.args))"}},
	})
	require.Equal(t, 201, a.status, a.body)
	refused := c.do(t, "POST", "/v1/rules", map[string]any{
		"id": "other", "type": "taint", "languages": []any{"python"}, "message": "m", "severity": "high",
		"sources": []any{map[string]any{"pattern": "f("}}, "sinks": []any{},
	})
	assert.Equal(t, 400, refused.status)
	assert.Contains(t, refused.body, "sources[0].pattern")
	assert.Contains(t, refused.body, `"sinks"`)

	const before = "def f():\n    name = request.args['name']\n    pass\n"
	repo := h.create(t, "acme/taint", files{"app.py": before, "other.py": "x = 1\n"})
	repo.pull(1, files{"app.py": before[:len(before)-5] + "run_it('ls ' + name)\n", "other.py": "run_it(quote(request.args))\n"})
	review := c.scan(t, "acme/taint", 1)
	require.Equal(t, "complete", review["status"])
	findings := list(review["findings"])
	require.Len(t, findings, 1)
	found := findings[0].(map[string]any)
	assert.Equal(t, "custom/request-command", found["rule_id"])
	assert.InDelta(t, 3, found["line"], 0)

	var kinds []any
	for _, s := range list(found["steps"]) {
		kinds = append(kinds, s.(map[string]any)["kind"])
	}
	assert.Equal(t, []any{"source", "assignment", "sink"}, kinds)
	assert.Equal(t, "    name = request.args['name']", list(found["steps"])[0].(map[string]any)["snippet"])
	sarif := c.do(t, "GET", "/v1/reviews/"+review["review_id"].(string)+"/sarif", nil)
	assert.Contains(t, sarif.body, `"codeFlows":[{"threadFlows":[{"locations":[`)
}
