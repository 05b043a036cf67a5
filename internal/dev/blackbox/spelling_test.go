package blackbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A spelling rule is created over the API, and a review corrects its words and the common ones.
func TestSpellingRule(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	words := map[string]any{"frobnicat": "frobnicate"}
	a := c.do(t, "POST", "/v1/rules", map[string]any{
		"id": "spelling", "type": "spelling", "words": words, "message": "Correct it.", "severity": "low",
		"allow": []any{"^seperate$"}, "cases": map[string]any{"match": []any{"// We frobnicat it."}},
	})
	require.Equal(t, 201, a.status, a.body)
	assert.Equal(t, words, c.do(t, "GET", "/v1/rules/custom/spelling", nil).decode(t)["words"])
	refused := c.do(t, "POST", "/v1/rules", map[string]any{
		"id": "other", "type": "spelling", "words": map[string]any{"Abc": "x"}, "pattern": "a", "message": "m", "severity": "low",
	})
	assert.Equal(t, 400, refused.status)
	assert.Contains(t, refused.body, `"words"`)
	assert.Contains(t, refused.body, `"pattern"`)
	tried := c.do(t, "POST", "/v1/rules:test", map[string]any{"type": "spelling", "words": words, "text": "// We frobnicat it.\n"})
	assert.Contains(t, tried.body, `"column":7`)

	repo := h.create(t, "acme/spelling", files{"app.go": "package app\n"})
	repo.pull(1, files{"app.go": "package app\n\n// Frobnicat the seperate list.\n// Recieve the rest.\nvar recieve int\n"})
	review := c.scan(t, "acme/spelling", 1)
	require.Equal(t, "complete", review["status"])
	fixes := map[float64]any{}
	for _, f := range list(review["findings"]) {
		if f := f.(map[string]any); f["rule_id"] == "custom/spelling" {
			fixes[f["line"].(float64)] = f["fix"].(map[string]any)["text"]
		}
	}
	assert.Equal(t, map[float64]any{3: "// Frobnicate the seperate list.", 4: "// Receive the rest."}, fixes)
}
