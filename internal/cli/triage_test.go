package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/restclient"
)

func TestSetAndUndoTriage(t *testing.T) {
	t.Parallel()
	c, asked := answering(t, `{"change_id": "trg_a", "changed": 2}`, `{"changed": 0}`, `{"changed": 2}`)
	st, out, stderr := streams()
	in := restclient.NewDecision{
		Repo: "acme/shop", PRNumber: 7, Fingerprints: []string{"0a", "0b"}, Decision: "accepted", Reason: "checked",
		Until: "2027-01-31",
	}
	require.NoError(t, cli.SetTriage(t.Context(), st, c, in))
	assert.Equal(t, "trg_a\n", out.String())
	assert.Contains(t, stderr.String(), "2 decisions changed")
	require.NoError(t, cli.SetTriage(t.Context(), st, c, restclient.NewDecision{Decision: "open"}))
	assert.Contains(t, stderr.String(), "decided so already")
	require.NoError(t, cli.UndoTriage(t.Context(), st, c, "trg_a"))
	assert.Contains(t, stderr.String(), "2 decisions put back")
	assert.Equal(t, []string{
		`POST /v1/findings:triage {"repo":"acme/shop","pr_number":7,"fingerprints":["0a","0b"],"decision":"accepted",` +
			`"reason":"checked","until":"2027-01-31"}`,
		`POST /v1/findings:triage {"repo":"","fingerprints":null,"decision":"open"}`,
		`POST /v1/triage/trg_a:undo {}`,
	}, *asked)
}

func TestListTriage(t *testing.T) {
	t.Parallel()
	one := `{"findings": [{"repo": "acme/shop", "pr_number": 7, "fingerprint": "0a", "rule_id": "custom/r",
		"triage": {"decision": "accepted", "reason": "checked\u001b", "until": "2027-01-31", "by": "key:key_a",
		"at": "2026-11-20T09:30:00Z", "scope": "pull_request"}, "change_id": "trg_a"}], "next_page_token": "next"}`
	c, asked := answering(t, one, `{"findings": [], "next_page_token": ""}`)
	st, out, _ := streams()
	in := cli.ListTriageInput{
		Repo: "acme/shop", Decision: "accepted", RuleID: "r", ExpiringBefore: "2027-03-01", Limit: 2, Output: cli.OutputTable,
	}
	require.NoError(t, cli.ListTriage(t.Context(), st, c, in))
	assert.Equal(t, []string{
		"GET /v1/triage?decision=accepted&expiring_before=2027-03-01&page_size=2&repo=acme%2Fshop&rule_id=r ",
		"GET /v1/triage?decision=accepted&expiring_before=2027-03-01&page_size=1&page_token=next&repo=acme%2Fshop&rule_id=r ",
	}, *asked)
	assert.Regexp(t, `acme/shop#7 +custom/r +0a +accepted +2027-01-31 +key:key_a +checked`, out.String())
	assert.NotContains(t, out.String(), "\x1b")

	c, _ = answering(t, `{"findings": [{"repo": "acme/shop", "fingerprint": "0a"}]}`)
	st, out, _ = streams()
	in.Output = cli.OutputJSON
	require.NoError(t, cli.ListTriage(t.Context(), st, c, in))
	assert.Contains(t, out.String(), `{"repo":"acme/shop","fingerprint":"0a"`)
	in.Limit = 0
	require.Error(t, cli.ListTriage(t.Context(), st, c, in))
	in.Limit, in.Output = 1, "xml"
	require.Error(t, cli.ListTriage(t.Context(), st, c, in))
}
