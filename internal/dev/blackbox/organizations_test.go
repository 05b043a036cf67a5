package blackbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOrganizationLeavesTheFile follows an organization out of the
// configuration file, through changes by the command, and out for good.
func TestOrganizationLeavesTheFile(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	s := newServer(t, h, serverOptions{
		organizations: []organization{{"acme", "*/*"}, {"leaving", "*/*"}}, args: []string{"--scan-workers", "1"},
	})
	both, err := os.ReadFile(s.config)
	require.NoError(t, err)
	one, _, _ := strings.Cut(string(both), "  - name: leaving")
	common := []string{"--database", s.database, "--config", s.config}
	organizations := func(args ...string) string {
		return s.command(t, append(append([]string{"organizations"}, args...), common...)...)
	}
	refused := func(args ...string) string {
		_, stderr := s.fails(t, append(append([]string{"organizations"}, args...), common...)...)

		return stderr
	}
	row := func(name string) []string {
		for line := range strings.Lines(organizations("list")) {
			if f := strings.Fields(line); f[0] == name {
				return append(f[1:2:2], f[4:9]...)
			}
		}

		return nil
	}

	s.start(t)
	token, other := s.key(t, "leaving"), s.key(t, "acme")
	addRule(t, s.client(token), todoRule)
	var ids []string
	for n := range 3 {
		ids = append(ids, s.client(token).review(t, "acme/api", n+1))
	}
	within(t, "git asks the host", asked)
	assert.Equal(t, []string{"yes", "3", "2", "1", "1", "1"}, row("leaving"), "reviews, queued, running, rules, keys")
	assert.Contains(t, refused("update", "leaving", "--max-scans", "1"), "a configuration file declares the organization")
	assert.Contains(t, refused("remove", "leaving", "--yes"), "a configuration file declares the organization")
	s.stop(t)

	require.NoError(t, os.WriteFile(s.config, []byte(one), 0o600))
	s.start(t)
	within(t, "git asks the host", asked)
	assert.Equal(t, 200, s.client(token).do(t, "GET", "/v1/reviews/"+ids[0], nil).status, "it stays with all its data")
	assert.Equal(t, "no", row("leaving")[0])
	assert.Contains(t, refused("remove", "acme", "--yes"), "a configuration file declares the organization")

	organizations("update", "leaving", "--repositories", "acme/web")
	allowed := func(repo string) int {
		return s.client(token).do(t, "POST", "/v1/reviews", map[string]any{"repo": repo, "pr_number": 9}).status
	}
	require.Eventually(t, func() bool { return allowed("acme/api") == 403 }, eventually, tick)
	assert.Equal(t, 202, allowed("acme/web"))

	assert.Contains(t, refused("remove", "leaving"), "say --yes")
	organizations("remove", "leaving", "--yes")
	assert.Nil(t, row("leaving"))
	assert.Equal(t, 401, s.client(token).do(t, "GET", "/v1/reviews", nil).status, "the key is gone")
	assert.Equal(t, 200, s.client(other).do(t, "GET", "/v1/reviews", nil).status)
	s.stop(t)
}

// TestOrganizationByCommand makes an organization while the server runs.
func TestOrganizationByCommand(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := newServer(t, h, serverOptions{})
	s.start(t)
	defer s.stop(t)
	common := []string{"--database", s.database}

	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"token of somebody else": {[]string{"--host-token-env", "AWS_SECRET_ACCESS_KEY"}, "must begin with PRWARDEN_"},
		"setting":                {[]string{"--host-token-env", "PRWARDEN_DATABASE"}, "is a setting of prwarden"},
		"repository":             {[]string{"--repositories", "acme"}, "not a glob of OWNER/NAME"},
		"address":                {[]string{"--host-url", "ssh://h/{repo}"}, "must be https, http or file"},
	} {
		_, stderr := s.fails(t, append(append([]string{"organizations", "create", "made"}, test.args...), common...)...)
		assert.Contains(t, stderr, test.want, name)
	}

	_, stderr := s.fails(t, append([]string{"keys", "create", "--org", "made", "--name", "n"}, common...)...)
	assert.Contains(t, stderr, "there is no organization made; there are")

	s.command(t, append([]string{
		"organizations", "create", "made", "--repositories", "acme/*", "--host-url", h.url,
	}, common...)...)
	_, stderr = s.fails(t, append([]string{"organizations", "create", "made"}, common...)...)
	assert.Contains(t, stderr, "there is an organization with this name already")
	token := s.key(t, "made")
	assert.Equal(t, 202, s.client(token).do(t, "POST", "/v1/reviews",
		map[string]any{"repo": "acme/api", "pr_number": 1}).status)
	assert.Equal(t, 403, s.client(token).do(t, "POST", "/v1/reviews",
		map[string]any{"repo": "other/api", "pr_number": 1}).status)
}
