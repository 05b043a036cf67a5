package blackbox_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// undecided scans a pull request with one finding, and returns its fingerprint.
func undecided(t *testing.T, c *client, h *hosts, repo string) (r *repository, fingerprint string) {
	t.Helper()
	r = h.create(t, repo, files{"a.js": "a()\n"}).pull(1, files{"a.js": "a()\neval(x)\n"})
	m := c.scan(t, repo, 1)
	findings := list(m["findings"])
	require.Len(t, findings, 1)

	return r, findings[0].(map[string]any)["fingerprint"].(string)
}

// A decision changes the verdict at once, for all who ask, and an undo brings it back.
func TestTriage(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,audit:read,findings:triage,policy:write"))
	r, fingerprint := undecided(t, c, h, "acme/api")
	review := func() map[string]any {
		t.Helper()
		listed := list(c.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])[0].(map[string]any)
		m := c.do(t, "GET", "/v1/reviews/"+listed["review_id"].(string), nil).decode(t)
		assert.Equal(t, listed["verdict"], m["verdict"])

		return m
	}
	outcome := func() any { return review()["verdict"].(map[string]any)["outcome"] }
	suppressions := func() []any {
		t.Helper()
		var log struct {
			Runs []struct {
				Results []struct {
					Suppressions []any `json:"suppressions"`
				} `json:"results"`
			} `json:"runs"`
		}
		a := c.do(t, "GET", "/v1/reviews/"+review()["review_id"].(string)+"/sarif", nil)
		require.NoError(t, json.Unmarshal([]byte(a.body), &log))

		return log.Runs[0].Results[0].Suppressions
	}
	require.Equal(t, "fail", outcome())
	assert.Empty(t, suppressions())

	decision := map[string]any{
		"repo": "acme/api", "pr_number": 1, "fingerprints": []any{fingerprint}, "decision": "accepted", "reason": "our own",
	}
	a := c.do(t, "POST", "/v1/findings:triage", decision)
	assert.Equal(t, 403, a.status, "the policy wants an end")
	assert.Contains(t, a.body, "TRIAGE_NOT_ALLOWED")
	decision["until"] = nextMonth()
	a = c.do(t, "POST", "/v1/findings:triage", decision)
	require.Equal(t, 200, a.status, a.body)
	change := a.decode(t)["change_id"].(string)

	assert.Equal(t, "pass", outcome())
	found := list(review()["findings"])[0].(map[string]any)
	assert.Equal(t, "our own", found["triage"].(map[string]any)["reason"])
	assert.InDelta(t, 1, review()["summary"].(map[string]any)["high"], 0, "all are counted")
	require.Len(t, suppressions(), 1)
	assert.Equal(t, "external", suppressions()[0].(map[string]any)["kind"])
	path := "/v1/reviews/" + review()["review_id"].(string) + "/findings?decision="
	assert.Empty(t, c.do(t, "GET", path+"open", nil).decode(t)["findings"])
	assert.Len(t, c.do(t, "GET", path+"accepted", nil).decode(t)["findings"], 1)

	// The next scan knows it, although lines moved, and so does the gate.
	r.pull(1, files{"a.js": "b()\na()\n\neval(x)\n"})
	out, says, status := s.prwarden(t, c, "review", "acme/api", "1")
	assert.Equal(t, 0, status, out+says)
	assert.Contains(t, out, "Set aside, accepted by key:")
	assert.Equal(t, "pass", outcome())

	out, says, status = s.prwarden(t, c, "findings", "list")
	assert.Equal(t, 0, status, says)
	assert.Contains(t, out, fingerprint)
	_, says, status = s.prwarden(t, c, "findings", "undo", change)
	assert.Equal(t, 0, status, says)
	assert.Equal(t, "fail", outcome())
	assert.Empty(t, suppressions())
	_, says, status = s.prwarden(t, c, "review", "acme/api", "1")
	assert.Equal(t, 1, status, says)

	for _, action := range []string{"finding.triage", "finding.triage.undo"} {
		events := list(c.do(t, "GET", "/v1/audit?action="+action, nil).decode(t)["events"])
		require.Len(t, events, 1, action)
		assert.Equal(t, change, events[0].(map[string]any)["target"])
	}
}

// What the policy does not allow any more does not count in the next scan.
func TestTriageUnderAStricterPolicy(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,findings:triage,policy:write"))
	_, fingerprint := undecided(t, c, h, "acme/api")
	_, says, status := s.prwarden(t, c, "findings", "triage", "acme/api", fingerprint, "--decision", "wont_fix",
		"--reason", "old", "--until", nextMonth())
	require.Equal(t, 0, status, says)
	verdict := func() any { return c.scan(t, "acme/api", 1)["verdict"].(map[string]any)["outcome"] }
	assert.Equal(t, "pass", verdict())

	a := c.do(t, "PUT", "/v1/policy", map[string]any{"locked": map[string]any{"rules": []any{"security/*"}}})
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, "fail", verdict())
	_, says, status = s.prwarden(t, c, "findings", "triage", "acme/api", fingerprint, "--decision", "accepted",
		"--reason", "old", "--until", nextMonth())
	assert.NotEqual(t, 0, status)
	assert.Contains(t, says, "has locked")
}
