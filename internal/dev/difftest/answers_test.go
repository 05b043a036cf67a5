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
	for _, tt := range []struct{ from, to, problem string }{
		{"", "", ""},
		{`"state": "new"`, `"state": "existing"`, ""},
		{"<x>", `\u003cx\u003e`, ""},
		{`"line": 2`, `"line": 4`, `only the local scan has finding {"line":2,"rule_id":"a/b"}`},
		{`"line": 2`, `"line": 2, "column": 1`, `only the server has finding {"column":1,"line":2,"rule_id":"a/b"}`},
		{`{"rule_id": "a/b", "line": 2}`, `{"rule_id": "a/b", "line": 2}, {"rule_id": "a/b", "line": 2}`,
			"the order or the number"},
		{`, {"rule_id": "a/b", "line": 2}`, ``, "only the local scan has finding"},
		{`"reason": "r"`, `"reason": "s"`, "only the local scan has suppressed"},
		{"binary", "submodule", "only the server has skipped"},
		{`"low": 0`, `"low": 1`, "only the server has summary"},
		{"false", "true", "only the server has truncated true"},
		{"complete", "failed", "only the server has status failed"},
		{`"a", "base`, `"c", "base`, "only the server has head c"},
	} {
		var local, server difftest.Answer
		require.NoError(t, json.Unmarshal([]byte(text), &local))
		require.NoError(t, json.Unmarshal([]byte(strings.Replace(text, tt.from, tt.to, 1)), &server))
		problems, stopped := difftest.CompareAnswers(local, server)
		assert.Empty(t, stopped)
		assert.Equal(t, tt.problem == "", len(problems) == 0, problems)
		assert.Contains(t, strings.Join(problems, "\n"), tt.problem)
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
	problems, stopped := difftest.CompareAnswers(local, server)
	assert.Empty(t, problems)
	assert.Equal(t, []string{"a/slow"}, stopped)
	server.Findings = nil
	problems, _ = difftest.CompareAnswers(local, server)
	assert.Len(t, problems, 1)
}
