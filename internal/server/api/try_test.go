package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

const tryBody = `{"last": 3, "repo": "acme/shop", "rules": [
	{"id": "a", "type": "regex", "pattern": "a", "message": "m", "severity": "low"},
	{"id": "style/b", "type": "regex", "pattern": "b", "message": "m", "severity": "low"}]}`

func TestTryRules(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	b.Rules.TryFunc = func(in review.TrialInput) (review.Trial, error) {
		assert.Equal(t, 3, in.Last)
		assert.Equal(t, "acme/shop", in.Repo)
		assert.Len(t, in.Rules, 2)

		return review.Trial{Untried: 1, PullRequests: []review.TriedPullRequest{
			{Review: review.Review{ID: "rev_a", Repo: "acme/shop", PRNumber: 1}, Hits: map[string]int{"custom/a": 2, "style/b": 1},
				Findings: []finding.Finding{{RuleID: "custom/a", Severity: rule.Low, File: "f", Line: 1, Snippet: "source",
					Steps: []finding.Step{{Kind: finding.StepSource, Line: 1, Snippet: "source"}},
					Fix:   &finding.Fix{StartLine: 1, EndLine: 1, Text: "source"}}}, Truncated: true},
			{Review: review.Review{ID: "rev_b", Repo: "acme/shop", PRNumber: 2},
				Failure: &review.Failure{Code: "commit_not_found", Message: "It is gone."}},
		}}, nil
	}
	_, token := b.Key(t, auth.RulesWrite, auth.ReviewsRead)
	a := b.Do(t, "POST", "/v1/rules:try", tryBody, servertest.Bearer(token))
	require.Equal(t, 200, a.Status, a.Body)
	rules := a.JSON["rules"].([]any)
	assert.Equal(t, "custom/a", rules[0].(map[string]any)["rule_id"])
	assert.InDelta(t, 2, rules[0].(map[string]any)["hits"], 0)
	assert.InDelta(t, 1, rules[1].(map[string]any)["pull_requests"], 0)
	assert.NotEmpty(t, rules[1].(map[string]any)["matching_cost"])
	prs := a.JSON["pull_requests"].([]any)
	assert.InDelta(t, 3, prs[0].(map[string]any)["hits"], 0)
	findings := prs[0].(map[string]any)["findings"].([]any)
	require.Len(t, findings, 1)
	assert.Equal(t, "new", findings[0].(map[string]any)["state"])
	assert.Len(t, findings[0].(map[string]any)["steps"], 1)
	assert.NotRegexp(t, `"(snippet|text)": *"source"`, a.Body, "without source:read nothing of the lines is shown")
	assert.Equal(t, true, prs[0].(map[string]any)["truncated"])
	assert.Equal(t, map[string]any{"code": "commit_not_found", "message": "It is gone."}, prs[1].(map[string]any)["error"])
	assert.InDelta(t, 1, a.JSON["untried"], 0)
}

func TestTryRulesNeedsBothScopes(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	for _, scope := range []auth.Scope{auth.RulesRead, auth.ReviewsRead, auth.RulesWrite, auth.ReviewsWrite} {
		_, token := b.Key(t, scope)
		a := b.Do(t, "POST", "/v1/rules:try", tryBody, servertest.Bearer(token))
		assert.Equal(t, 403, a.Status, scope)
		assert.Equal(t, "SCOPE_MISSING", a.Reason(), scope)
	}
}

func TestTryRulesNamesTheRule(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t)
	a := b.Do(t, "POST", "/v1/rules:try", strings.Replace(tryBody, `"style/b"`, `"custom/a"`, 1), servertest.Bearer(token))
	assert.Equal(t, 400, a.Status)
	assert.Contains(t, a.Violations(), "rules[1].id")
	a = b.Do(t, "POST", "/v1/rules:try", strings.Replace(tryBody, `"b", "message"`, `"(", "message"`, 1), servertest.Bearer(token))
	assert.Equal(t, 400, a.Status)
	assert.Contains(t, a.Violations(), "rules[1].pattern")
	a = b.Do(t, "POST", "/v1/rules:try", `{"rules": [], "last": 51}`, servertest.Bearer(token))
	assert.Equal(t, 400, a.Status)
	assert.Contains(t, a.Violations(), "rules")
	assert.Contains(t, a.Violations(), "last")
}
