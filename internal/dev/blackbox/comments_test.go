package blackbox_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// comment has somebody write a comment, and the host deliver it.
func (c *connected) comment(t *testing.T, author, text string) codehost.Ref {
	t.Helper()
	ref := c.gitea.Write(hosttest.Comment{Author: author, Body: text})
	header, raw := c.gitea.Deliver(hosttest.Commented, hookSecret)
	var payload map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&payload))
	user := map[string]any{"id": json.Number(hosttest.People[author]), "login": author}
	made := payload["comment"].(map[string]any)
	made["id"], made["body"], made["user"], payload["sender"] = json.Number(ref), text, user, user
	body, err := json.Marshal(payload)
	require.NoError(t, err)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	signature := hex.EncodeToString(mac.Sum(nil))
	header.Set("X-Gitea-Signature", signature)
	header.Set("X-Hub-Signature-256", "sha256="+signature)

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+c.hook, bytes.NewReader(body))
	require.NoError(t, err)
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 202, resp.StatusCode)
	require.Eventually(t, func() bool {
		return c.query(t, `SELECT COUNT(*) FROM deliveries WHERE outcome = 'waiting'`) == "0"
	}, eventually, tick)

	return ref
}

// TestCommandsInComments gives commands, and looks at the check and the reactions.
func TestCommandsInComments(t *testing.T) {
	t.Parallel()
	c := newConnected(t)
	client := c.client(c.key(t, "acme", "--scopes", "reviews:read,audit:read"))
	c.push(files{"a.js": "eval(x)\n"})
	status, text := c.deliver(t, hosttest.Opened, hookSecret)()
	require.Equal(t, 202, status, text)
	c.checked(t, codehost.Failure)
	reviews := func() []any { return list(client.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"]) }
	id := reviews()[0].(map[string]any)["review_id"].(string)
	found := list(client.do(t, "GET", "/v1/reviews/"+id, nil).decode(t)["findings"])
	require.Len(t, found, 1)
	ignore := "/prwarden ignore " + found[0].(map[string]any)["fingerprint"].(string) + " -- our own"

	mine := c.comment(t, hosttest.Stranger, ignore+" until "+nextMonth())
	assert.Empty(t, c.gitea.Reactions(mine))
	mine = c.comment(t, hosttest.Writer, "> "+ignore+" until "+nextMonth())
	assert.Empty(t, c.gitea.Reactions(mine))
	mine = c.comment(t, hosttest.Writer, ignore)
	assert.Equal(t, []string{"-1"}, c.gitea.Reactions(mine), "the policy wants an end")
	assert.Empty(t, client.do(t, "GET", "/v1/triage", nil).decode(t)["findings"])
	c.checked(t, codehost.Failure)

	mine = c.comment(t, hosttest.Writer, "Fine.\n\n"+ignore+" until "+nextMonth())
	assert.Equal(t, []string{"+1"}, c.gitea.Reactions(mine))
	c.checked(t, codehost.Success)
	events := list(client.do(t, "GET", "/v1/audit?action=finding.triage", nil).decode(t)["events"])
	require.Len(t, events, 1)
	assert.Equal(t, "host:gitea/"+hosttest.Writer, events[0].(map[string]any)["actor"])

	require.Len(t, reviews(), 1)
	mine = c.comment(t, hosttest.Writer, "/prwarden rescan")
	assert.Equal(t, []string{"+1"}, c.gitea.Reactions(mine))
	assert.Len(t, reviews(), 2)
	mine = c.comment(t, hosttest.Writer, "/prwarden explain security/js-eval-not-there")
	assert.Equal(t, []string{"-1"}, c.gitea.Reactions(mine))
}
