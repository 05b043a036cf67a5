package restclient

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

func everything() review.Review {
	f := finding.Finding{
		RuleID: "security/no-eval", Severity: rule.High, File: "caf\xe9.js", Line: 3, EndLine: 4, Column: 5, EndColumn: 6,
		UTF16Column: 7, UTF16EndColumn: 8,
		Message: "m", Snippet: "s", Fingerprint: "f", LineHash: "h:1", State: finding.StateExisting,
		Suppression: &finding.Suppression{Reason: "r", Until: "2027-01-31", Line: 2},
	}
	at := time.Date(2026, 11, 20, 9, 41, 3, 120e6, time.UTC)
	return review.Review{
		ID: "rev_1", Repo: "acme/web", PRNumber: 17, Ruleset: "acme/web", Status: review.Failed, HeadSHA: "a", BaseSHA: "b",
		CreatedAt: at, StartedAt: at.Add(1), CompletedAt: at.Add(2), Findings: []finding.Finding{f},
		Suppressed: []finding.Finding{f}, Fixed: []finding.Finding{f},
		Summary: finding.Summary{rule.Critical: 1, rule.High: 2, rule.Medium: 0, rule.Warning: 3, rule.Low: 0, rule.Info: 0},
		Failure: &review.Failure{Code: "c", Message: "m"}, Truncated: true, RulesDigest: "d", PreviousID: "rev_0",
		Skips: []finding.Skip{{File: "\xff", Line: 1, RuleID: "a/b", Reason: "rule_timeout"}},
	}
}

// What is encoded decodes to the same.
func TestReviewRoundTrip(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]review.Review{
		"everything": everything(),
		"nothing": {
			Status: review.Complete, Summary: Encode(review.Review{}).Decoded().Summary, Skips: []finding.Skip{},
			Findings: []finding.Finding{}, Suppressed: []finding.Finding{}, Fixed: []finding.Finding{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(Encode(want))
			require.NoError(t, err)
			assert.NotContains(t, string(text), "null")
			var r Review
			require.NoError(t, json.Unmarshal(text, &r))
			assert.Equal(t, want, r.Decoded())
		})
	}
}

// A server of tomorrow may have severities that are not known here; they must
// not pass a gate for that.
func TestUnknownSeverity(t *testing.T) {
	t.Parallel()
	r := Review{
		Findings: []Finding{{Severity: "fatal"}},
		Summary:  map[string]int{"fatal": 1, "critical": 2},
		Verdict:  &Verdict{Threshold: "medium"},
	}.Decoded()
	assert.Equal(t, rule.Critical, r.Findings[0].Severity)
	assert.Equal(t, 3, r.Summary[rule.Critical])
	assert.Equal(t, rule.Medium, r.FailOn)
}
