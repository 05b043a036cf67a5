package blackbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// TestPushIsAnsweredInThePullRequest follows a push to the status, the comment on the
// line and the summary at the host, and what the API says of them.
func TestPushIsAnsweredInThePullRequest(t *testing.T) {
	t.Parallel()
	c := newConnected(t)
	client := c.client(c.key(t, "acme", "--scopes", "rules:write,rules:read,reviews:read,hosts:read,hosts:write,audit:read"))
	addRule(t, client, with2(todoRule, "severity", "high"))
	path := fmt.Sprintf("/v1/pull-requests/%d", hosttest.Number)
	sha := func() string { return c.repository.sha("refs/pull/7/head") }
	verdict := func(want codehost.Verdict) {
		t.Helper()
		require.Eventually(t, func() bool {
			check := c.gitea.Check(sha())
			return check != nil && check.Verdict == want
		}, eventually, tick)
		require.Eventually(t, func() bool {
			p := client.do(t, "GET", path+"?repo="+hosttest.Repo, nil).decode(t)
			publication, _ := p["publication"].(map[string]any)
			return publication["pending"] == false && publication["problem"] == ""
		}, eventually, tick)
	}
	ours := func() (line, below []hosttest.Comment) {
		for _, x := range c.gitea.Comments() {
			if x.Path != "" {
				line = append(line, x)
			} else {
				below = append(below, x)
			}
		}
		return line, below
	}

	status, text := c.deliver(t, hosttest.Opened, hookSecret)()
	require.Equal(t, 202, status, text)
	verdict(codehost.Failure)
	onLine, below := ours()
	require.Len(t, onLine, 1)
	assert.Equal(t, "b.txt", onLine[0].Path)
	assert.Equal(t, 1, onLine[0].Line)
	assert.Contains(t, onLine[0].Body, "Call adjust instead.")
	require.Len(t, below, 1)
	assert.Contains(t, below[0].Body, "Fail: 1 finding high or worse")

	// The finding is fixed: its comment is closed, and the summary changes in its place.
	c.push(files{"b.txt": "adjust(1)\n"})
	status, text = c.deliver(t, hosttest.Pushed, hookSecret)()
	require.Equal(t, 202, status, text)
	verdict(codehost.Success)
	onLine, below = ours()
	require.Len(t, onLine, 1)
	assert.True(t, onLine[0].Closed)
	assert.Contains(t, onLine[0].Body, "**No longer found**")
	require.Len(t, below, 1)
	assert.Contains(t, below[0].Body, "Pass: no findings")

	listed := list(client.do(t, "GET", "/v1/pull-requests?state=open", nil).decode(t)["pull_requests"])
	require.Len(t, listed, 1)
	assert.Equal(t, hosttest.Repo, listed[0].(map[string]any)["repo"])
	threads := list(client.do(t, "GET", path+"/threads?repo="+hosttest.Repo, nil).decode(t)["threads"])
	require.Len(t, threads, 1)
	assert.Equal(t, "fixed", threads[0].(map[string]any)["state"])

	a := client.do(t, "POST", path+":republish", map[string]any{"repo": hosttest.Repo})
	require.Equal(t, 200, a.status, a.body)
	verdict(codehost.Success)
	events := list(client.do(t, "GET", "/v1/audit?action=publication.repeat", nil).decode(t)["events"])
	require.Len(t, events, 1)
	assert.Equal(t, hosttest.Repo+"#7", events[0].(map[string]any)["target"])
	missing := client.do(t, "GET", "/v1/pull-requests/8?repo="+hosttest.Repo, nil)
	assert.Equal(t, 404, missing.status)
	assert.Equal(t, "PULL_REQUEST_NOT_FOUND", missing.reason(t))
	assert.NotContains(t, c.logged(), hosttest.Token)

	// Jobs of a CI service are told of checks that have all findings, as those of Apps.
	reviews := list(client.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])
	require.NotEmpty(t, reviews)
	newest := "/v1/reviews/" + reviews[0].(map[string]any)["review_id"].(string)
	assert.NotContains(t, client.do(t, "GET", newest, nil).decode(t), "check_url")
	c.query(t, `UPDATE connections SET kind = 'github', settings = json_set(settings, '$.app_id', 1) RETURNING id`)
	page := listed[0].(map[string]any)["url"].(string) + "/checks"
	assert.Equal(t, page, client.do(t, "GET", newest, nil).decode(t)["check_url"])
}
