package api_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/policy"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t, auth.PolicyRead, auth.PolicyWrite)
	header := servertest.Bearer(token)

	a := b.Do(t, "GET", "/v1/policy", "", header)
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, map[string]any{
		"disable": []any{}, "override": map[string]any{},
		"locked": map[string]any{"rules": []any{}, "rulesets": []any{}},
		"suppression": map[string]any{
			"allowed": true, "up_to": "high", "secrets": false, "require_reason": true, "require_end": true, "max_days": 366.0,
		},
		"low_confidence": "hide",
		"skips":          map[string]any{"tolerated": []any{"binary", "submodule"}}, "etag": policy.Default().ETag(),
		"publish": map[string]any{
			"check": true, "comments": "new", "comments_min": "high", "comments_max": 20.0, "summary": "findings",
			"drafts": false, "forks_comments_max": 5.0, "repositories": []any{},
		},
	}, a.JSON)

	const changed = `{"disable": ["meta/rules-file-changed"], "locked": {"rules": ["secrets/*"], "rulesets": ["default"]},
		"override": {"meta/suppression-unused": {"severity": "info", "exclude": ["a/**"]}},
		"suppression": {"allowed": false, "up_to": "low", "secrets": true, "require_reason": false, "require_end": false,
			"max_days": 0}, "fail_on": "low", "low_confidence": "count", "skips": {"tolerated": []}, "publish": {"summary": "none", "comments_max": 0,
			"repositories": [{"match": ["a/*"], "check": false, "comments_min": "low", "forks_comments_max": 1}]}, "etag": "`
	a = b.Do(t, "PUT", "/v1/policy", changed+policy.Default().ETag()+`"}`, header)
	require.Equal(t, 200, a.Status, a.Body)
	stored := a.JSON
	assert.Equal(t, "key:key_a", stored["updated_by"])
	assert.Equal(t, "low", stored["fail_on"])
	assert.Equal(t, map[string]any{"tolerated": []any{}}, stored["skips"])
	assert.Equal(t, map[string]any{"rules": []any{"secrets/*"}, "rulesets": []any{"default"}}, stored["locked"])
	assert.Equal(t, map[string]any{
		"meta/suppression-unused": map[string]any{"severity": "info", "exclude": []any{"a/**"}},
	}, stored["override"])
	assert.Equal(t, map[string]any{
		"allowed": false, "up_to": "low", "secrets": true, "require_reason": false, "require_end": false, "max_days": 0.0,
	}, stored["suppression"])
	assert.Equal(t, map[string]any{
		"check": true, "comments": "new", "comments_min": "high", "comments_max": 0.0, "summary": "none",
		"drafts": false, "forks_comments_max": 5.0, "repositories": []any{
			map[string]any{"match": []any{"a/*"}, "check": false, "comments_min": "low", "forks_comments_max": 1.0},
		},
	}, stored["publish"])
	assert.Equal(t, stored, b.Do(t, "GET", "/v1/policy", "", header).JSON)

	a = b.Do(t, "PUT", "/v1/policy", `{"etag": "`+policy.Default().ETag()+`"}`, header)
	assert.Equal(t, 409, a.Status)
	assert.Equal(t, "ETAG_MISMATCH", a.Reason())
	for body, want := range map[string]string{
		`{"disable": ["no/such-rule"]}`:                 "disable[0]: no/such-rule is not a rule of the default ruleset",
		`{"disable": ["A"]}`:                            "disable[0]: an id must not have 'A'",
		`{"locked": {"rules": ["*"]}}`:                  "locked.rules[0]",
		`{"override": {"meta/suppression-unused": {}}}`: "changes nothing",
		`{"suppression": {"max_days": -1}}`:             "max_days",
		`{"nothing": 1}`:                                "nothing",
	} {
		a = b.Do(t, "PUT", "/v1/policy", body, header)
		assert.Equal(t, 400, a.Status, body)
		assert.Contains(t, a.Body, want, body)
	}

	_, token = b.Key(t, auth.PolicyRead, auth.RulesWrite, auth.KeysAdmin)
	header = servertest.Bearer(token)
	a = b.Do(t, "PUT", "/v1/policy", `{}`, header)
	assert.Equal(t, 403, a.Status)
	assert.Equal(t, "SCOPE_MISSING", a.Reason())
}
