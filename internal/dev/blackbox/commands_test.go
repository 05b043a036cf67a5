package blackbox_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prwarden runs a client command with the key of c, and returns its outputs and
// exit status.
func (s *server) prwarden(t *testing.T, c *client, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(binary, append(args, "--server", c.base)...)
	cmd.Env = append(env(s.dir), "PRWARDEN_API_KEY="+c.token)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestReviewShowListCancel(t *testing.T) {
	t.Parallel()
	h := newGatedHosts(t)
	h.create(t, "acme/group/api", files{"a.js": "1"}).pull(1, files{"a.js": "eval(x)\n"})
	s := startServer(t, h.hosts, serverOptions{organizations: []organization{{"acme", "acme/**"}}})
	c := s.client(s.key(t, "acme"))

	id, _, status := s.prwarden(t, c, "review", "https://git.example.com/acme/group/api/-/merge_requests/1", "--no-wait")
	require.Equal(t, 0, status)
	id = strings.TrimSpace(id)
	second := c.review(t, "acme/group/api", 1)

	out, _, status := s.prwarden(t, c, "review", "show", second)
	assert.Equal(t, 0, status)
	assert.Regexp(t, `^Review `+second+` of acme/group/api#1 is (queued|in_progress)\.\n$`, out)

	_, says, status := s.prwarden(t, c, "review", "cancel", second)
	assert.Equal(t, 0, status)
	assert.Equal(t, "Review "+second+" of acme/group/api#1 is canceled.\n", says)
	_, says, status = s.prwarden(t, c, "review", "cancel", second)
	assert.Equal(t, 2, status)
	assert.Contains(t, says, "REVIEW_FINISHED")

	h.open()
	c.wait(t, id)
	out, _, status = s.prwarden(t, c, "review", "show", id)
	assert.Equal(t, 1, status, "as review ends for it")
	assert.Contains(t, out, "a.js")

	out, _, status = s.prwarden(t, c, "review", "list", "--repo", "acme/group/api")
	assert.Equal(t, 0, status)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	assert.Regexp(t, `^`+second+` +acme/group/api#1 +canceled +- +- +\d{4}-`, lines[1])
	assert.Regexp(t, `^`+id+` +acme/group/api#1 +complete +fail +1 high +\d{4}-`, lines[2])

	out, _, _ = s.prwarden(t, c, "review", "list", "--status", "complete", "--limit", "1", "-o", "json")
	assert.Regexp(t, `^\{.*"review_id":"`+id+`".*\}\n$`, out)
	_, says, status = s.prwarden(t, c, "review", "list", "--status", "done")
	assert.Equal(t, 2, status)
	assert.Contains(t, says, `--status: "done"`)
}

// A server that reaches no scanner says so to whoever waits for one.
func TestNoScanner(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	h.create(t, "acme/api", files{"a": "1"}).pull(1, files{"a": "2"})
	s := startServer(t, h, serverOptions{args: []string{"--scanner", "127.0.0.1:1"}})
	c := s.client(s.key(t, "acme"))

	ready := c.do(t, "GET", "/readyz", nil)
	assert.Equal(t, 200, ready.status, "all but scanning works")
	assert.Contains(t, ready.decode(t)["warning"], "no scanner can be reached")

	a := c.do(t, "POST", "/v1/reviews", map[string]any{"repo": "acme/api", "pr_number": 1})
	require.Equal(t, 202, a.status, a.body)
	assert.Equal(t, false, a.decode(t)["scanner_available"])

	_, says, status := s.prwarden(t, c, "review", "acme/api", "1", "--timeout", "3s")
	assert.Equal(t, 3, status)
	assert.Contains(t, says, "but the server reaches no scanner now")
	assert.Contains(t, says, "waiting: the server reaches no scanner")
}
