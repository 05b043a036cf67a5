package review_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// What the REST API answers is read as it was written.
func TestReviewJSON(t *testing.T) {
	t.Parallel()
	f := finding.Finding{
		RuleID: "security/no-eval", Severity: rule.High, File: "caf\xe9.js", Line: 3, EndLine: 4, Column: 5, EndColumn: 6,
		UTF16Column: 7, UTF16EndColumn: 8,
		Message: "m", Snippet: "s", Fingerprint: "f", LineHash: "h:1", State: finding.StateExisting,
		Suppression: &finding.Suppression{Reason: "r", Until: "2027-01-31", Line: 2},
		Steps: []finding.Step{{
			Kind: finding.StepSource, Line: 1, Column: 2, EndColumn: 3, UTF16Column: 4, UTF16EndColumn: 5, Snippet: "s",
		}},
	}

	at := time.Date(2026, 11, 20, 9, 41, 3, 120e6, time.UTC)
	want := review.Review{
		ID: "rev_1", Repo: "acme/web", PRNumber: 17, Ruleset: "acme/web", Status: review.Failed, HeadSHA: "a", BaseSHA: "b",
		CreatedAt: at, StartedAt: at.Add(1), CompletedAt: at.Add(2), Findings: []finding.Finding{f},
		Suppressed: []finding.Finding{f}, Fixed: []finding.Finding{f}, Observed: []finding.Finding{f},
		Summary: finding.Summary{rule.Critical: 1, rule.High: 2, rule.Medium: 0, rule.Warning: 3, rule.Low: 0, rule.Info: 0},
		Failure: &review.Failure{Code: "c", Message: "m"}, Truncated: true, RulesDigest: "d", PreviousID: "rev_0",
		Skips: []finding.Skip{{
			File: "\xff", Line: 1, RuleID: "a/b", Reason: "rule_stopped", Severity: rule.Low, Tolerated: true,
		}},
		Verdict:    &finding.Verdict{Outcome: finding.Incomplete, Threshold: rule.Medium, NotLookedAt: 4},
		Exclusions: finding.Exclusions{Files: 12, By: rule.FilePath},
		SwitchedOff: []finding.SwitchedOff{
			{RuleID: "a/b", By: finding.ByOrganization, How: finding.HowDisable},
			{RuleID: "c/d", By: finding.ByRepository, How: finding.HowOverride},
			{RuleID: "e/f", By: finding.ByRepository, How: finding.HowExclude},
		},
		HeadTitle: "Add a cart", HeadAuthor: "ann", NewTotal: 1, FixedTotal: 2, SuppressedTotal: 3,
		Open:        finding.Summary{rule.Critical: 0, rule.High: 2, rule.Medium: 0, rule.Warning: 3, rule.Low: 0, rule.Info: 0},
		BaseFoundBy: finding.BaseRequested, LookedAt: finding.LookedAt{Files: 1, AddedLines: 2, Rules: 3},
	}

	text, err := json.Marshal(want)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"file":"caf�.js"`)
	var got review.Review
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)

	// A severity of tomorrow must not pass a gate.
	require.NoError(t, json.Unmarshal([]byte(`{"findings":[{"severity":"fatal"}],"summary":{"fatal":1}}`), &got))
	assert.Equal(t, rule.Critical, got.Findings[0].Severity)
	assert.Equal(t, 1, got.Summary[rule.Critical])
}
