package api_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/triage"
)

func TestTriage(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	_, token := b.Key(t, auth.ReviewsRead, auth.FindingsTriage)
	header := servertest.Bearer(token)

	a := b.Do(t, "POST", "/v1/findings:triage", `{"repo": "acme/api", "pr_number": 7, "fingerprints": ["0f", "1f"],
		"decision": "accepted", "reason": "checked", "until": "2027-01-31"}`, header)
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, map[string]any{"change_id": "trg_a", "changed": 2.0}, a.JSON)
	assert.Equal(t, []triage.Change{{
		Repo: "acme/api", PRNumber: 7, Fingerprints: []string{"0f", "1f"}, Decision: finding.Accepted, Reason: "checked",
		Until: "2027-01-31",
	}}, b.Triage.Changes)
	for body, field := range map[string]string{
		`{"repo": "acme/api", "fingerprints": ["0f"]}`:                                          "decision",
		`{"repo": "acme/api", "fingerprints": ["0F"], "decision": "open"}`:                      "fingerprints[0]",
		`{"repo": "acme/api", "fingerprints": ["0f"], "decision": "open", "pr_number": 0}`:      "pr_number",
		`{"repo": "acme/api", "fingerprints": ["0f"], "decision": "open", "until": "tomorrow"}`: "until",
	} {
		a = b.Do(t, "POST", "/v1/findings:triage", body, header)
		assert.Equal(t, 400, a.Status, body)
		assert.Contains(t, a.Body, field)
	}

	a = b.Do(t, "POST", "/v1/triage/trg_a:undo", "{}", header)
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, map[string]any{"changed": 1.0}, a.JSON)
	a = b.Do(t, "POST", "/v1/triage/trg_b:undo", "{}", header)
	assert.Equal(t, 404, a.Status)
	assert.Equal(t, "TRIAGE_NOT_FOUND", a.Reason())

	a = b.Do(t, "GET", "/v1/triage?repo=acme/api&decision=wont_fix&rule_id=r&expiring_before=2027-03-01&page_size=5", "", header)
	require.Equal(t, 200, a.Status, a.Body)
	assert.Equal(t, map[string]any{"next_page_token": "", "findings": []any{map[string]any{
		"repo": "acme/api", "pr_number": 7.0, "fingerprint": "0f", "rule_id": "custom/r", "change_id": "trg_a",
		"triage": map[string]any{
			"decision": "accepted", "reason": "checked", "until": "2027-01-31", "by": "key:key_a",
			"at": "2026-11-20T09:30:00Z", "scope": "pull_request",
		},
	}}}, a.JSON)
	assert.Equal(t, triage.ListInput{
		Repo: "acme/api", Decision: finding.WontFix, RuleID: "r", ExpiringBefore: "2027-03-01", PageSize: 5,
	}, b.Triage.Listed)

	_, reader := b.Key(t, auth.ReviewsRead)
	a = b.Do(t, "POST", "/v1/findings:triage", `{}`, servertest.Bearer(reader))
	assert.Equal(t, "SCOPE_MISSING", a.Reason())
	assert.Equal(t, 200, b.Do(t, "GET", "/v1/triage", "", servertest.Bearer(reader)).Status)
}
