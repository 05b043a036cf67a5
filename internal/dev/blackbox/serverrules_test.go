package blackbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScanWithRulesOfAServer scans in a work tree by what an organization has on a
// server, which then goes away.
func TestScanWithRulesOfAServer(t *testing.T) {
	t.Parallel()
	s := newServer(t, newHosts(t), serverOptions{})
	s.start(t)
	admin := s.client(s.key(t, "acme", "--scopes", "rules:write,policy:write"))
	addRule(t, admin, map[string]any{
		"id": "straw", "type": "regex", "pattern": "straw", "message": "Ours.", "severity": "low",
	})
	a := admin.do(t, "PUT", "/v1/policy", map[string]any{"fail_on": "low"})
	require.Equal(t, 200, a.status, a.body)

	key, cache := s.key(t, "acme", "--scopes", "rules:read,policy:read"), t.TempDir()
	r := worktree(t)
	scan := func(key string, args ...string) (code int, rules []any, errOut string) {
		t.Helper()
		code, out, errOut := scanIn(t, r.dir, []string{"PRWARDEN_API_KEY=" + key, "XDG_CACHE_HOME=" + cache},
			append(args, "--output", "json", "--server", s.base)...)
		if code == 0 || code == 1 {
			for _, f := range answerOf(t, out).Findings {
				rules = append(rules, f["rule_id"])
			}
		}
		return code, rules, errOut
	}
	ours := []any{"custom/straw"}

	r.write(files{"a.txt": "hay\nstraw\n"})
	r.git("", "add", "a.txt")
	code, rules, errOut := scan(key, "--staged")
	assert.Equal(t, 1, code, "the organization's threshold: %s", errOut)
	assert.Equal(t, ours, rules)
	assert.Contains(t, errOut, "applying 1 rule of "+s.base+"\n")

	r.git("", "commit", "-q", "-m", "second")
	code, rules, _ = scan(key, "--base", "HEAD~1")
	assert.Equal(t, 1, code)
	assert.Equal(t, ours, rules)
	code, rules, _ = scan(key, "--base", "HEAD~1", "--no-server")
	assert.Zero(t, code)
	assert.Empty(t, rules)

	s.stop(t)
	for _, args := range [][]string{{"--base", "HEAD~1"}, {"--base", "HEAD~1", "--offline"}} {
		code, rules, errOut = scan(key, args...)
		assert.Equal(t, 1, code, errOut)
		assert.Equal(t, ours, rules)
		assert.Regexp(t, `applying 1 rule of \S+, fetched \d+s ago`, errOut)
	}
	code, _, errOut = scan("prw_another", "--base", "HEAD~1", "--offline")
	assert.Equal(t, 2, code, "what one key may read is not another's")
	assert.Contains(t, errOut, "no rules of "+s.base+" were fetched before")
}
