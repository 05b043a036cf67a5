package blackbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pull request whose paths are six times as long in JSON makes no answer that
// a server can't hold: it is truncated, alike by a server and a local scan.
func TestAnswersStaySmallWhateverPathsAreMadeOf(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	rules := "version: 1\nrules:\n" +
		"- {id: small, type: regex, pattern: 'frobnicate', message: m, severity: low}\n" +
		"- {id: large, type: regex, pattern: 'needle', message: m, severity: critical}\n"
	r := h.create(t, "acme/api", files{".prwarden/rules.yml": rules})
	change := files{"z.txt": "needle\n"}
	for i := range 10 {
		change[fmt.Sprintf("%s%d", strings.Repeat("\x01", 3768), i)] = strings.Repeat("frobnicate(1)\n", 840)
	}
	r.pull(1, change)
	id := c.review(t, "acme/api", 1)
	require.Equal(t, "complete", c.wait(t, id)["status"])

	const most = 33 << 20 // 32 MiB, and what there is beside findings
	a := c.do(t, "GET", "/v1/reviews/"+id, nil)
	assert.Less(t, len(a.body), most)
	assert.Less(t, len(c.do(t, "GET", "/v1/reviews/"+id+"/sarif", nil).body), most)
	m := a.decode(t)
	assert.Equal(t, true, m["truncated"])
	summary := m["summary"].(map[string]any)
	assert.InDelta(t, 8400, summary["low"], 0, "the summary counts all")
	assert.InDelta(t, 1, summary["critical"], 0)
	findings := list(m["findings"])
	require.Greater(t, len(findings), 1000)
	assert.Equal(t, "z.txt", findings[len(findings)-1].(map[string]any)["file"], "the most severe one is there")

	code, out, errOut := scanIn(
		t, r.dir, nil, "--base", "main", "--head", "refs/pull/1/head", "--output", "json", "--fail-on", "none",
	)
	require.Equal(t, 0, code, errOut)
	local := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(out), &local))
	assert.Equal(t, fingerprints(findings), fingerprints(list(local["findings"])))
	assert.Equal(t, true, local["truncated"])
	assert.Equal(t, summary, local["summary"])
}

func fingerprints(findings []any) []any {
	var out []any
	for _, f := range findings {
		out = append(out, f.(map[string]any)["fingerprint"])
	}
	return out
}
