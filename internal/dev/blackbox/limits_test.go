package blackbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSkippedFilesAndLines(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{args: []string{"--max-file-size", "1MiB"}})
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,rules:write"))
	addRule(t, c, todoRule)
	const hit = "frobnicate(1)\n"
	r := h.create(t, "acme/api", files{"README": "x"})
	commit := r.commit("refs/pull/1/head", r.sha("refs/heads/main"), files{
		"binary":    hit + strings.Repeat("\x00", 100),
		"late-nul":  strings.Repeat("x", 8000) + "\x00\n" + hit,
		"too-large": hit + strings.Repeat("x\n", 1<<19),
		"just-fits": hit + strings.Repeat("x", 1<<20-len(hit)-1) + "\n",
		"long-line": strings.Repeat("y", 1<<17) + hit,
		"latin\xe9": hit,
		"invalid":   "\xff\xfe" + hit,
	})

	r.git("", "update-ref", "refs/pull/1/head", commit)
	m := c.scan(t, "acme/api", 1)
	require.Equal(t, "complete", m["status"], "%v", m)
	skips := map[string]any{}
	for _, s := range list(m["skipped"]) {
		s := s.(map[string]any)
		skips[s["file"].(string)] = s["reason"]
	}

	assert.Equal(t, map[string]any{"binary": "binary", "too-large": "file_too_large"}, skips)
	found := map[string]any{}
	for _, f := range list(m["findings"]) {
		f := f.(map[string]any)
		found[f["file"].(string)] = f["file_bytes"]
	}
	assert.Equal(t, map[string]any{
		"late-nul": nil, "just-fits": nil, "long-line": nil, "invalid": nil, "latin\uFFFD": "bGF0aW7p",
	}, found)
}

func TestManyFindingsAreCutAndCounted(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	addRule(t, c, todoRule)
	h.create(t, "acme/api", files{"README": "x"}).pull(1, files{
		"a.txt": strings.Repeat("frobnicate()\n", 6000), "b.txt": strings.Repeat("frobnicate()\n", 6000),
	})

	m := c.scan(t, "acme/api", 1)
	assert.Len(t, m["findings"], 10_000)
	assert.Equal(t, true, m["truncated"])
	assert.InDelta(t, 12_000, m["summary"].(map[string]any)["warning"], 0)
}

// A rule that uses up its work in a file is stopped there and listed; the others go on, and so does the rule in the
// next file.
func TestRuleBudget(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	addRule(t, c, todoRule)
	addRule(t, c, map[string]any{
		"id": "slow", "type": "regex", "pattern": `first|(?s)x.*!|x`, "multiline": true, "message": "m",
		"severity": "low",
	})

	change := files{"z.txt": "frobnicate(1)\nfirst\n"}
	for i := range 4 {
		change[fmt.Sprintf("a%02d.txt", i)] = strings.Repeat(strings.Repeat("x", 1000)+"\n", 100) // each x looks for a !
	}
	h.create(t, "acme/api", files{"README": "x"}).pull(1, change)
	m := c.scan(t, "acme/api", 1)
	require.Equal(t, "complete", m["status"], "%v", m)
	last := map[any]bool{}
	for _, f := range list(m["findings"]) {
		if f := f.(map[string]any); f["file"] == "z.txt" {
			last[f["rule_id"]] = true
		}
	}
	assert.Equal(t, map[any]bool{"custom/no-frobnicate": true, "custom/slow": true}, last)

	stopped := map[any]any{}
	for _, s := range list(m["skipped"]) {
		s := s.(map[string]any)
		assert.Equal(t, "rule_stopped", s["reason"])
		assert.Equal(t, "low", s["severity"])
		stopped[s["file"]] = s["rule_id"]
	}
	assert.Equal(t, map[any]any{
		"a00.txt": "custom/slow", "a01.txt": "custom/slow", "a02.txt": "custom/slow", "a03.txt": "custom/slow",
	}, stopped)
	verdict := m["verdict"].(map[string]any)
	assert.Equal(t, "pass", verdict["outcome"], "the rule is below the threshold")
	assert.InDelta(t, 0, verdict["not_looked_at"], 0)

	strict := c.start(t, map[string]any{"fail_on": "low"})["verdict"].(map[string]any)
	assert.NotEqual(t, "pass", strict["outcome"])
	assert.InDelta(t, len(stopped), strict["not_looked_at"], 0)
}

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
