package blackbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A review of which not all was looked at is no pass, in the API and at the gate.
func TestIncompleteReview(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	r := h.create(t, "acme/api", files{".prwarden/rules.yml": "version: 7\n"}).pull(1, files{"a.txt": "one\ntwo\n"})

	m := c.start(t, map[string]any{"fail_on": "critical"})
	assert.Equal(t, map[string]any{"outcome": "incomplete", "threshold": "critical", "not_looked_at": 1.0}, m["verdict"])
	assert.Equal(t, []any{
		map[string]any{"file": ".prwarden/rules.yml", "reason": "rules_file_invalid", "tolerated": false},
	}, m["skipped"])
	looked := m["looked_at"].(map[string]any)
	assert.InDelta(t, 1, looked["files"], 0)
	assert.InDelta(t, 2, looked["added_lines"], 0)
	assert.Greater(t, looked["rules"], 100.0)
	listed := list(c.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])
	assert.Equal(t, m["verdict"], listed[0].(map[string]any)["verdict"])

	out, says, status := s.prwarden(t, c, "review", "acme/api", "1", "--fail-on", "critical", "-o", "github")
	assert.Equal(t, 1, status, says)
	assert.Contains(t, out, "::error file=.prwarden/rules.yml,title=Not looked at::")
	assert.Contains(t, says, "Incomplete: no finding is critical, but 1 part was not looked at.")
	_, says, status = s.prwarden(t, c, "review", "acme/api", "1", "--fail-on", "critical", "--allow-incomplete")
	assert.Equal(t, 0, status, says)

	// What fails goes first.
	m = c.start(t, nil)
	assert.Equal(t, map[string]any{"outcome": "fail", "threshold": "high", "not_looked_at": 1.0}, m["verdict"])

	// A file that nobody can look at as text is tolerated.
	r.commit("refs/heads/main", r.sha("refs/heads/main"), files{".prwarden/rules.yml": "version: 1\n"})
	r.pull(2, files{"a.png": "\x89PNG\x00\x01\x02"})
	m = c.scan(t, "acme/api", 2)
	assert.Equal(t, map[string]any{"outcome": "pass", "threshold": "high", "not_looked_at": 0.0}, m["verdict"])
}

// Every answer says how the base was found, and a guess can be refused.
func TestHowTheBaseIsFound(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	r := h.create(t, "acme/api", files{"a.txt": "one\n"}).pull(1, files{"a.txt": "one\ntwo\n"})
	main, head := r.sha("refs/heads/main"), r.sha("refs/pull/1/head")

	m := c.start(t, nil)
	assert.Equal(t, "default_branch", m["base_found_by"])
	refused := c.start(t, map[string]any{"require_base": true})
	assert.Equal(t, "failed", refused["status"])
	failure := refused["error"].(map[string]any)
	assert.Equal(t, "base_unknown", failure["code"])
	assert.Contains(t, failure["message"], "base_ref")
	out, says, status := s.prwarden(t, c, "review", "acme/api", "1", "--require-base")
	assert.Equal(t, 2, status, out+says)
	out, _, status = s.prwarden(t, c, "review", "acme/api", "1")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "which is a guess: the default branch")

	m = c.start(t, map[string]any{"head_sha": head, "base_ref": "main", "require_base": true})
	require.Equal(t, "complete", m["status"])
	assert.Equal(t, "requested", m["base_found_by"])
	merge := r.git("", "commit-tree", head+"^{tree}", "-p", main, "-p", head, "-m", "merge")
	r.git("", "update-ref", "refs/pull/1/merge", merge)
	m = c.start(t, map[string]any{"require_base": true})
	require.Equal(t, "complete", m["status"])
	assert.Equal(t, "merge_ref", m["base_found_by"])
	assert.Equal(t, main, m["base_sha"])
}
