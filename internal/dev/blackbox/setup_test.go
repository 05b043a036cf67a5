package blackbox_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
)

const setupPublic = "https://prwarden.example.com"

// open reads a page of the set-up as a browser does, from a server in place of the public
// address.
func open(t *testing.T, base, address string) answer {
	t.Helper()
	path, ok := strings.CutPrefix(address, setupPublic)
	require.True(t, ok, address)
	return (&client{base: base, http: &http.Client{}}).do(t, "GET", path, nil)
}

// postForm sends the form of the page to GitHub, which makes an App of it and leads back:
// the address that it leads to.
func postForm(t *testing.T, page answer, host string) (back string, manifest map[string]any) {
	t.Helper()
	require.Equal(t, 200, page.status, page.body)
	assert.Contains(t, page.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-")
	assert.Contains(t, page.header.Get("Content-Security-Policy"), "; form-action "+host+"; base-uri 'none'")
	assert.Equal(t, "no-store", page.header.Get("Cache-Control"))
	assert.Equal(t, "strict-origin", page.header.Get("Referrer-Policy"))
	assert.NotContains(t, page.body, "<script")
	form := regexp.MustCompile(`<form method="post" action="([^"]*)">\s*<input type="hidden" name="manifest" value="([^"]*)">`).
		FindStringSubmatch(page.body)
	require.Len(t, form, 3, page.body)
	action, err := url.Parse(html.UnescapeString(form[1]))
	require.NoError(t, err)
	assert.Equal(t, host+"/organizations/acme/settings/apps/new", action.Scheme+"://"+action.Host+action.Path)
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(form[2])), &manifest))

	return fmt.Sprintf("%s?code=%s&state=%s", manifest["redirect_url"], githubfake.ManifestCode,
		action.Query().Get("state")), manifest
}

// TestNewAppByCommand has GitHub make the App of a connection, as the operator does.
func TestNewAppByCommand(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(githubfake.New(true))
	t.Cleanup(web.Close)
	s := startServer(t, newHosts(t), serverOptions{args: []string{"--public-url", setupPublic}})
	operator := []string{"--org", "acme", "--database", s.database, "--config", s.config}
	run := func(args ...string) string {
		return s.command(t, append(append([]string{"connections"}, args...), operator...)...)
	}
	create := []string{
		"create", "github", "--new-app", "--account", "acme", "--url", web.URL, "--repositories", "acme/*",
		"--public-url", setupPublic,
	}
	out := run(create...)
	require.Regexp(t, `^setup_url: https://prwarden\.example\.com/setup/app\?token=\w{52}\n$`, out)
	address := strings.TrimSpace(strings.TrimPrefix(out, "setup_url: "))
	token := strings.TrimPrefix(address, setupPublic+"/setup/app?token=")

	back, manifest := postForm(t, open(t, s.base, address), web.URL)
	assert.Equal(t, "prwarden-acme", manifest["name"])
	assert.Equal(t, false, manifest["public"])
	assert.Equal(t, "write", manifest["default_permissions"].(map[string]any)["checks"])
	assert.NotContains(t, back, token, "GitHub is not told the address")
	hook := manifest["hook_attributes"].(map[string]any)["url"].(string)

	forged := regexp.MustCompile(`state=\w+`).ReplaceAllString(back, "state="+strings.Repeat("0", 64))
	wrong := open(t, s.base, forged)
	assert.Equal(t, 404, wrong.status)
	assert.Contains(t, wrong.body, "This address was used already, or is older than 10 minutes.")
	assert.Contains(t, wrong.header.Get("Content-Security-Policy"), "form-action 'none'")

	done := open(t, s.base, back)
	require.Equal(t, 200, done.status, done.body)
	assert.Contains(t, done.body, `<a href="`+web.URL+`/github-apps/prwarden/installations/new">install the App</a> in acme`)
	for _, used := range []string{back, address} {
		assert.Equal(t, 404, open(t, s.base, used).status)
	}
	shown := run("show", "github", "--public-url", setupPublic)
	assert.Contains(t, shown, hook)
	assert.Regexp(t, `(?m)^created_by: +cli:`, shown)
	assert.Regexp(t, `(?m)^state: +active$`, run("test", "github"))
	assert.Equal(t, "1234 true", s.query(t, `SELECT json_extract(settings, '$.app_id') || ' ' ||
		(CASE trusted WHEN 1 THEN 'true' ELSE 'false' END) FROM connections`))
	events := s.command(t, "audit", "--org", "acme", "--database", s.database, "--config", s.config)
	assert.Contains(t, events, "connection.setup")
	assert.Contains(t, events, "connection.create")

	assert.Contains(t, s.logged(), `"route":"/setup/app/done"`)
	for _, secret := range []string{token, githubfake.ManifestCode, githubfake.WebhookSecret, "PRIVATE KEY"} {
		assert.NotContains(t, s.logged(), secret)
	}
	_, stderr := s.fails(t, append(append([]string{"connections"}, create...), operator...)...)
	assert.Contains(t, stderr, `a connection "github" already`)
	_, stderr = s.fails(t, append([]string{"connections", "create", "x", "--new-app", "--app-id", "1"}, operator...)...)
	assert.Contains(t, stderr, "--new-app makes the App and its secrets")
}

// TestNewAppOverAPI goes on at another server than the one that began, and has GitHub make
// an App of an account that the connection isn't for.
func TestNewAppOverAPI(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(githubfake.New(true))
	t.Cleanup(web.Close)
	servers, clients := twoServers(t, newHosts(t), serverOptions{
		args:   []string{"--public-url", setupPublic},
		config: fmt.Sprintf("secrets: {keys: [{name: k1, env: SEAL_KEY}]}\nconnections_allow: [%q]\n", web.URL),
		env:    []string{"SEAL_KEY=" + strings.Repeat("A", 43) + "="},
	})
	c := servers[0].client(servers[0].key(t, "acme", "--scopes", "hosts:read,hosts:write,audit:read"))
	start := func(account string) string {
		a := c.do(t, "POST", "/v1/connections:setup", map[string]any{
			"name": "github-" + account, "account": account, "repositories": []any{"acme/*"}, "url": web.URL,
		})
		require.Equal(t, 200, a.status, a.body)
		return a.decode(t)["setup_url"].(string)
	}
	refused := clients[0].do(t, "POST", "/v1/connections:setup", map[string]any{
		"name": "x", "account": "acme", "repositories": []any{"acme/*"},
	})
	assert.Equal(t, "SCOPE_MISSING", refused.reason(t))

	address := start("acme")
	back, manifest := postForm(t, open(t, servers[1].base, address), web.URL)
	done := open(t, servers[1].base, back)
	require.Equal(t, 200, done.status, done.body)
	assert.Equal(t, 404, open(t, servers[0].base, back).status)
	made := list(c.do(t, "GET", "/v1/connections", nil).decode(t)["connections"])
	require.Len(t, made, 1)
	one := made[0].(map[string]any)
	assert.Equal(t, manifest["hook_attributes"].(map[string]any)["url"], one["webhook_url"])
	assert.EqualValues(t, githubfake.AppID, one["app_id"])
	assert.Regexp(t, `^key:key_`, one["created_by"])
	tested := c.do(t, "POST", "/v1/connections/"+one["connection_id"].(string)+":test", map[string]any{})
	assert.Equal(t, "active", tested.decode(t)["state"], tested.body)
	events := c.do(t, "GET", "/v1/audit?action=connection.create", nil)
	assert.Equal(t, one["created_by"], list(events.decode(t)["events"])[0].(map[string]any)["actor"])

	other := open(t, servers[0].base, start("other"))
	require.Equal(t, 200, other.status)
	state := regexp.MustCompile(`state=(\w+)`).FindStringSubmatch(other.body)
	require.Len(t, state, 2)
	late := open(t, servers[0].base, setupPublic+"/setup/app/done?code="+githubfake.ManifestCode+"&state="+state[1])
	assert.Equal(t, 409, late.status, "the code was used")
	assert.Contains(t, late.body, "If GitHub created an App, delete it there.")
	assert.Len(t, list(c.do(t, "GET", "/v1/connections", nil).decode(t)["connections"]), 1)
}
