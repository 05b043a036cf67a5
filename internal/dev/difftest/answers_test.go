package difftest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/difftest"
)

func TestCompareAnswers(t *testing.T) {
	t.Parallel()
	const text = `{"status": "complete", "head_sha": "a", "base_sha": "b", "truncated": false, "summary": {"high": 2, "low": 0},
		"findings": [{"rule_id": "a/b", "line": 1, "snippet": "<x>", "state": "new"}, {"rule_id": "a/b", "line": 2}],
		"suppressed": [{"line": 3, "suppression": {"reason": "r"}}], "skipped": [{"file": "x", "reason": "binary"}]}`
	for name, tt := range map[string]struct{ from, to, problem string }{
		"nothing":     {"", "", ""},
		"state":       {`"state": "new"`, `"state": "existing"`, ""},
		"no state":    {`, "state": "new"`, ``, ""},
		"white space": {`"line": 1`, ` "line":1 `, ""},
		"escapes":     {"<x>", `\u003cx\u003e`, ""},
		"line":        {`"line": 2`, `"line": 4`, `findings: only the local scan has {"line":2,"rule_id":"a/b"}`},
		"field": {`"line": 2`, `"line": 2, "column": 1`,
			`findings: only the server has {"column":1,"line":2,"rule_id":"a/b"}`},
		"one more": {`{"rule_id": "a/b", "line": 2}`, `{"rule_id": "a/b", "line": 2}, {"rule_id": "a/b", "line": 2}`,
			"findings: the order or the number differs"},
		"one less":   {`, {"rule_id": "a/b", "line": 2}`, ``, "findings: only the local scan has"},
		"suppressed": {`"reason": "r"`, `"reason": "s"`, "suppressed: only the local scan has"},
		"skipped":    {"binary", "submodule", "skipped: only the server has"},
		"summary":    {`"low": 0`, `"low": 1`, `summary: {"high":2,"low":0} locally, {"high":2,"low":1} by the server`},
		"truncated":  {"false", "true", "truncated: false locally, true by the server"},
		"status":     {"complete", "failed", "status: complete locally, failed by the server"},
		"commits":    {`"a", "base`, `"c", "base`, "commits: a and b locally, c and b by the server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var local, server difftest.Answer
			require.NoError(t, json.Unmarshal([]byte(text), &local))
			require.NoError(t, json.Unmarshal([]byte(strings.Replace(text, tt.from, tt.to, 1)), &server))
			problems, stopped := difftest.CompareAnswers(local, server)
			assert.Empty(t, stopped)
			if tt.problem == "" {
				assert.Empty(t, problems)
				return
			}
			require.NotEmpty(t, problems)
			assert.Contains(t, strings.Join(problems, "\n"), tt.problem)
		})
	}
}

// What depends on how busy the machine is, is told and not compared.
func TestCompareAnswersOfRulesOutOfTime(t *testing.T) {
	t.Parallel()
	var local, server difftest.Answer
	require.NoError(t, json.Unmarshal([]byte(`{"summary": {"low": 2},
		"findings": [{"rule_id": "a/slow", "line": 1}, {"rule_id": "a/b", "line": 2}]}`), &local))
	require.NoError(t, json.Unmarshal([]byte(`{"summary": {"low": 1}, "findings": [{"rule_id": "a/b", "line": 2}],
		"skipped": [{"file": "x", "rule_id": "a/slow", "reason": "rule_timeout"}]}`), &server))
	for range 2 {
		problems, stopped := difftest.CompareAnswers(local, server)
		assert.Empty(t, problems)
		assert.Equal(t, []string{"a/slow"}, stopped)
		local, server = server, local
	}
	server.Findings = nil
	problems, _ := difftest.CompareAnswers(local, server)
	assert.Len(t, problems, 1)
}
