package blackbox_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// TestConnectionsByCommand manages connections as the operator does, at a private
// address, and as an organization does over the API.
func TestConnectionsByCommand(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(giteafake.New(t))
	t.Cleanup(web.Close)
	s := startServer(t, newHosts(t), serverOptions{
		organizations: []organization{{"acme", "*/*"}, {"other", "*/*"}},
		args:          []string{"--public-url", "https://prwarden.example.com/"},
	})
	files := t.TempDir()
	token, keyFile := filepath.Join(files, "token"), filepath.Join(files, "key")
	require.NoError(t, os.WriteFile(token, []byte(hosttest.Token+"\n"), 0o600))
	key := s.key(t, "acme", "--scopes", "hosts:read,hosts:write")
	require.NoError(t, os.WriteFile(keyFile, []byte(key), 0o600))
	operator := []string{"--org", "acme", "--database", s.database, "--config", s.config}
	overAPI := []string{"--server", s.base, "--key-file", keyFile}
	run := func(with []string, args ...string) string {
		return s.command(t, append(append([]string{"connections"}, args...), with...)...)
	}
	refused := func(with []string, args ...string) string {
		_, stderr := s.fails(t, append(append([]string{"connections"}, args...), with...)...)
		return stderr
	}

	create := []string{
		"create", "gitea", "--kind", "gitea", "--url", web.URL, "--repositories", "acme/*", "--token-file", token,
	}
	out := run(operator, create...)
	assert.Regexp(t, `^webhook_url: /hooks/con_\w{26} of the server, whose public_url is not set\nwebhook_secret: \w{52}\n$`, out)
	assert.FileExists(t, filepath.Join(s.dir, "prwarden.db.key"))
	for _, with := range [][]string{operator, overAPI} {
		assert.Regexp(t, `(?m)^gitea +gitea +active +`+regexp.QuoteMeta(web.URL)+` +acme/\* +operator +`, run(with, "list"))
		assert.Regexp(t, `(?m)^account: +`+hosttest.Account+`$`, run(with, "test", "gitea"))
		assert.Equal(t, hosttest.Repo+"\n", run(with, "repositories", "gitea"))
	}
	assert.Contains(t, run(overAPI, "show", "gitea"), "https://prwarden.example.com/hooks/con_")
	assert.Contains(t, refused(overAPI, "delete", "gitea"), "CONNECTION_DECLARED")
	assert.Contains(t, refused(overAPI, append([]string{"create", "x"}, create[2:]...)...), "url: it must be https")
	assert.Contains(t, refused(operator, create...), "already")
	assert.Contains(t, refused(operator, "show", "none"), "there is no connection none")
	assert.Regexp(t, `webhook_secret: \w{52}`, run(operator, "rotate-secret", "gitea", "--webhook"))
	assert.Contains(t, run(operator, "update", "gitea", "--name", "new", "--repositories", "acme/**"), "acme/**")

	https := []string{
		"create", "own", "--kind", "forgejo", "--url", "https://127.0.0.1:1", "--repositories", "acme/*", "--token-file", token,
	}
	out = run(overAPI, https...)
	assert.Regexp(t, `^webhook_url: https://prwarden\.example\.com/hooks/con_\w{26}\nwebhook_secret: \w{52}\n$`, out)
	run(overAPI, "update", "own", "--name", "mine")
	run(overAPI, "rotate-secret", "mine", "--token-file", token)
	run(overAPI, "delete", "mine")
	run(operator, "delete", "new")
	assert.NotContains(t, run(operator, "list"), "con_")
	s.command(t, "connections", "reseal", "--database", s.database, "--config", s.config)
	assert.NotContains(t, s.logged(), hosttest.Token)
}

// TestHostsOfOrganizationsArePublic has an organization choose what only the machine of
// the server, or its network, can reach. Nothing arrives there.
func TestHostsOfOrganizationsArePublic(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	private := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(private.Close)
	address := strings.Replace(private.URL, "127.0.0.1", "localhost", 1)
	s := startServer(t, newHosts(t), serverOptions{})
	c := s.client(s.key(t, "acme", "--scopes", "hosts:read,hosts:write"))
	for _, kind := range []string{"github", "gitlab", "gitea", "forgejo", "bitbucket", "bitbucket_server"} {
		for name, url := range map[string]string{"a": private.URL, "n": address, "m": "https://169.254.169.254"} {
			a := c.do(t, "POST", "/v1/connections", map[string]any{
				"name": kind + "-" + name, "kind": kind, "url": url, "repositories": []any{"acme/*"}, "token": "secret",
			})
			if a.status == 400 { // kinds that there is no host for yet
				assert.Contains(t, a.body, "is not supported by this server", kind)
				continue
			}
			require.Equal(t, 201, a.status, a.body)
			path := "/v1/connections/" + a.decode(t)["connection"].(map[string]any)["connection_id"].(string)
			tested := c.do(t, "POST", path+":test", map[string]any{})
			require.Equal(t, 200, tested.status, "%s %s", kind, tested.body)
			assert.Equal(t, "broken", tested.decode(t)["state"], tested.body)
			assert.Contains(t, tested.decode(t)["reason"], "may not be reached", kind)
			if name == "n" {
				assert.NotContains(t, tested.body, "127.0.0.1", "the address of a name is not told")
			}
		}
		for _, url := range []string{"http://git.example.com", "file:///etc", "ssh://git.example.com"} {
			a := c.do(t, "POST", "/v1/connections", map[string]any{
				"name": "x", "kind": kind, "url": url, "repositories": []any{"acme/*"}, "token": "secret",
			})
			assert.Equal(t, 400, a.status, "%s %s", kind, url)
		}
	}
	assert.Zero(t, asked.Load())
}

// TestLostKeyBreaksConnections holds that a lost key breaks connections and nothing
// else.
func TestLostKeyBreaksConnections(t *testing.T) {
	t.Parallel()
	s := newServer(t, newHosts(t), serverOptions{})
	s.start(t)
	c := s.client(s.key(t, "acme", "--scopes", "hosts:read,hosts:write,reviews:read"))
	require.Equal(t, 201, c.do(t, "POST", "/v1/connections", connectionToAudit("gitea")).status)
	assert.Contains(t, s.logged(), "made the file of the key that seals the secrets of connections")
	s.stop(t)
	require.NoError(t, os.Remove(filepath.Join(s.dir, "prwarden.db.key")))

	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	c.base = s.base
	listed := list(c.do(t, "GET", "/v1/connections", nil).decode(t)["connections"])
	require.Len(t, listed, 1)
	broken := listed[0].(map[string]any)
	assert.Equal(t, "broken", broken["state"])
	assert.Contains(t, broken["reason"], "which sealed it, is missing")
	path := "/v1/connections/" + broken["connection_id"].(string)
	assert.Equal(t, "CONNECTION_BROKEN", c.do(t, "GET", path+"/repositories", nil).reason(t))
	assert.Equal(t, 200, c.do(t, "GET", "/v1/reviews", nil).status)
	require.Equal(t, 200, c.do(t, "POST", path+":rotate", map[string]any{"token": "another"}).status)
	assert.Equal(t, "active", c.do(t, "GET", path, nil).decode(t)["state"])
}
