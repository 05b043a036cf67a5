package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

// answering is a server that gives answers in turn, and what it was asked.
func answering(t *testing.T, answers ...string) (c config.Client, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, r.Method+" "+r.URL.String()+" "+string(body))
		_, _ = io.WriteString(w, answers[min(len(*asked), len(answers))-1])
	}))
	t.Cleanup(server.Close)

	return config.Client{Server: server.URL}, asked
}

func streams() (st cli.Streams, out, stderr *bytes.Buffer) {
	out, stderr = &bytes.Buffer{}, &bytes.Buffer{}

	return cli.Streams{Out: out, Err: stderr, Env: []string{"PRWARDEN_API_KEY=prw_key"}}, out, stderr
}

func TestRuleStats(t *testing.T) {
	t.Parallel()
	page1 := `{"rules": [{"rule_id": "custom/a", "repo": "acme/shop", "found": 31, "fixed": 2, "suppressed": 1, "false_positive": 4, "work_mib": 12}],
		"since": "2026-11-01", "until": "2026-11-30", "next_page_token": "next"}`
	page2 := `{"rules": [{"rule_id": "custom/b\u001b", "repo": "acme/shop", "found": 3, "fixed": 0, "suppressed": 0}],
		"since": "2026-11-01", "until": "2026-11-30", "next_page_token": ""}`
	in := cli.RuleStatsInput{Since: "2026-11-01", Repo: "acme/shop", RuleID: "a", Severity: "low", ByRepository: true,
		Limit: 1500, Output: cli.OutputTable}
	c, asked := answering(t, page1, page2)
	st, out, stderr := streams()
	require.NoError(t, cli.RuleStats(t.Context(), st, c, in))
	assert.Equal(t, []string{
		"GET /v1/stats/rules?by_repository=true&min_severity=low&page_size=1000&repo=acme%2Fshop&rule_id=a&since=2026-11-01 ",
		"GET /v1/stats/rules?by_repository=true&min_severity=low&page_size=1000&page_token=next&repo=acme%2Fshop&rule_id=a" +
			"&since=2026-11-01 ",
	}, *asked)
	assert.Contains(t, out.String(), "RULE")
	assert.Regexp(t, `custom/a +acme/shop +31 +2 +1 +4 +12\n`, out.String())
	assert.NotContains(t, out.String(), "\x1b")
	assert.Equal(t, "From 2026-11-01 to 2026-11-30 (UTC).\n", stderr.String())

	c, _ = answering(t, page2)
	st, out, _ = streams()
	require.NoError(t, cli.RuleStats(t.Context(), st, c, cli.RuleStatsInput{Limit: 1, Output: cli.OutputJSON}))
	assert.JSONEq(t, `{"rule_id": "custom/b\u001b", "repo": "acme/shop", "found": 3, "fixed": 0, "suppressed": 0, "false_positive": 0, "work_mib": 0}`, out.String())

	for name, wrong := range map[string]cli.RuleStatsInput{
		"limit":    {Output: cli.OutputTable},
		"output":   {Limit: 1, Output: "xml"},
		"severity": {Limit: 1, Output: cli.OutputTable, Severity: "bad"},
	} {
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(cli.RuleStats(t.Context(), st, c, wrong)), name)
	}
}

func TestTryLast(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(file, []byte("version: 1\nrules:\n"+
		"  - {id: a, type: regex, pattern: a, message: m, severity: low, paths: {include: ['*.go']}}\n"), 0o600))
	answer := `{"rules": [{"rule_id": "custom/a", "hits": 3, "pull_requests": 1,
			"matching_cost": {"microseconds_per_mib": 7, "weak": false}}],
		"pull_requests": [
			{"repo": "acme/shop", "pr_number": 4, "hits": 3, "truncated": true, "findings": [
				{"rule_id": "custom/a", "severity": "low", "file": "f.go", "line": 2, "column": 5, "snippet": "a\u001b = 1"}]},
			{"repo": "acme/shop", "pr_number": 3, "hits": 0, "findings": [], "truncated": false},
			{"repo": "acme/site", "pr_number": 9, "hits": 0, "findings": [], "truncated": false,
				"error": {"code": "commit_not_found", "message": "It is gone."}}],
		"untried": 2}`
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(answer)))
	c, asked := answering(t, compact.String())
	st, out, _ := streams()
	in := cli.TryLastInput{File: file, Last: 50, Repo: "acme/shop", Output: cli.OutputTable}
	require.NoError(t, cli.TryLast(t.Context(), st, c, in))
	require.Len(t, *asked, 1)
	assert.Equal(t, `POST /v1/rules:try {"rules":[{"id":"a","type":"regex","pattern":"a","message":"m","severity":"low",`+
		`"paths":{"include":["*.go"]}}],"last":50,"repo":"acme/shop"}`, (*asked)[0])
	assert.NotContains(t, out.String(), "\x1b")
	assert.Contains(t, out.String(), "acme/shop#4: 3 hits or more\n  f.go:2:5: custom/a  a")
	assert.NotContains(t, out.String(), "acme/shop#3")
	assert.Contains(t, out.String(), "acme/site#9: not tried: It is gone.\n")
	assert.Regexp(t, `custom/a +3 +1 of 3 +7\n`, out.String())
	assert.Contains(t, out.String(), "There was no time for 2 pull requests more.\n")

	st, out, _ = streams()
	in.Output = cli.OutputJSON
	require.NoError(t, cli.TryLast(t.Context(), st, c, in))
	assert.True(t, json.Valid(out.Bytes()))

	for name, wrong := range map[string]cli.TryLastInput{
		"none":   {File: file, Output: cli.OutputTable},
		"many":   {File: file, Last: 51, Output: cli.OutputTable},
		"output": {File: file, Last: 1, Output: "xml"},
		"file":   {File: file + "x", Last: 1, Output: cli.OutputTable},
	} {
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(cli.TryLast(t.Context(), st, c, wrong)), name)
	}
}
