package blackbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// TestConnectionPages has an admin connect a Gitea by the steps of the pages, and others
// see no more than their roles allow.
func TestConnectionPages(t *testing.T) {
	t.Parallel()
	fake := giteafake.New(t)
	web := httptest.NewServer(fake)
	t.Cleanup(web.Close)
	s := startServer(t, newHosts(t), serverOptions{config: fmt.Sprintf("connections_allow: [%q]\n", web.URL)})
	owner := s.setUp(t, "acme")
	admin, member, viewer := s.join(t, owner, "acme", "admin"), s.join(t, owner, "acme", "member"), s.join(t, owner, "acme", "viewer")
	const page = "/o/acme/settings/connections"

	a := admin.get(t, page)
	assert.Contains(t, a.body, "No code host is connected")
	assert.Contains(t, a.body, "Connect a host")
	a = admin.get(t, page+"/new")
	for _, kind := range []string{
		"github-app", "github-own-app", "github-token", "gitlab", "gitea", "forgejo", "bitbucket", "bitbucket-data-center",
	} {
		require.Contains(t, a.body, `href="`+page+"/new?kind="+kind+`"`)
		form := admin.get(t, page+"/new?kind="+kind)
		assert.Equal(t, http.StatusOK, form.status, kind)
		assert.Contains(t, form.body, `name="kind" value="`+kind+`"`)
	}
	assert.Contains(t, admin.get(t, page+"/new?kind=git").body, "prwarden organizations update acme")
	assert.Equal(t, http.StatusNotFound, admin.get(t, page+"/new?kind=cvs").status)

	app := []string{"kind", "github-app", "name", "github", "account", "acme", "repositories", "acme/*"}
	unknown := admin.post(t, page, app...)
	assert.Equal(t, http.StatusConflict, unknown.status)
	assert.Contains(t, unknown.found(t, `role="alert">([^<]*)`), "public_url")
	create := []string{"kind", "gitea", "name", "gitea", "url", web.URL, "repositories", "acme/*", "token", hosttest.Token}
	bad := admin.post(t, page, append([]string{"git_url", "ftp://x"}, create...)...)
	assert.Equal(t, http.StatusBadRequest, bad.status)
	assert.Contains(t, bad.found(t, `role="alert">([^<]*)`), "git_url")
	assert.Contains(t, bad.body, `value="`+web.URL+`"`, "the form is as it was sent")
	assert.NotContains(t, bad.body, hosttest.Token, "but for its secrets")

	a = admin.post(t, page, create...)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	id := a.found(t, `/hooks/(con_\w+)<`)
	secret := a.found(t, `<code id="hook-3">(\w{52})</code>`)
	assert.Contains(t, a.body, "Pull Request Synchronized")
	one := page + "/" + id
	assert.NotContains(t, admin.get(t, one).body, secret, "it is shown once")
	assert.Contains(t, admin.get(t, page).body, "not tested yet")

	assert.Contains(t, admin.sent(t, one+"/test").body, "It works, as "+hosttest.Account)
	assert.Contains(t, admin.get(t, one+"/repositories").body, "<code>"+hosttest.Repo+"</code>")
	assert.Contains(t, admin.sent(t, one, "name", "forge", "repositories", "acme/**\nother/*").body, "<h1>forge</h1>")
	a = admin.post(t, one, "name", "A B", "repositories", "acme/**")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, `role="alert"`)
	a = admin.post(t, one+"/rotate", "new_webhook_secret", "yes")
	assert.NotEqual(t, secret, a.found(t, `<code id="hook-3">(\w{52})</code>`))
	assert.Contains(t, admin.sent(t, one+"/rotate", "token", "wrong").body, "The credentials are replaced")
	a = admin.sent(t, one+"/test")
	assert.Contains(t, a.body, "The test found that it doesn&#39;t work.")
	assert.Contains(t, a.body, `class="pill fail"`)
	assert.Equal(t, http.StatusConflict, admin.get(t, one+"/repositories").status)

	a = member.get(t, one)
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "you need the role admin")
	for _, none := range []string{"Save", "Replace", "?delete", "/settings/members", "/settings/webhooks", "/audit"} {
		assert.NotContains(t, a.body, none, "a member can't")
	}
	for path, needs := range map[string]string{
		page + "/new": "admin", page: "admin", one: "admin", one + "/rotate": "admin", one + "/delete": "admin",
	} {
		refused := member.post(t, path, "kind", "gitea", "name", "x", "repositories", "a/*")
		if strings.HasSuffix(path, "/new") {
			refused = member.get(t, path)
		}
		assert.Equal(t, http.StatusForbidden, refused.status, path)
		assert.Contains(t, refused.body, "This needs the role "+needs+"; yours is member.", path)
	}
	for _, path := range []string{page, one, one + "/repositories", one + "/pulls"} {
		refused := viewer.get(t, path)
		assert.Equal(t, http.StatusForbidden, refused.status, path)
		assert.Contains(t, refused.body, "This needs the role member; yours is viewer.", path)
		assert.NotContains(t, refused.body, `href="`+page+`"`, "no entry of the menu")
	}

	assert.Contains(t, admin.get(t, one+"?delete").body, ">Delete forge</button>")
	assert.Contains(t, admin.sent(t, one+"/delete").body, "No code host is connected")
	assert.Equal(t, http.StatusNotFound, admin.get(t, one).status)
}

// TestNewAppPages has GitHub make the App of a connection, from a page that leads to the
// address of the set-up.
func TestNewAppPages(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{args: []string{"--public-url", "http://prwarden.example.com"}})
	owner := s.setUp(t, "acme")
	const page = "/o/acme/settings/connections"

	app := []string{"kind", "github-app", "name", "github", "repositories", "acme/*", "url", "https://github.com"}
	bad := owner.post(t, page, append(app, "account", "a b")...)
	assert.Equal(t, http.StatusBadRequest, bad.status)
	assert.Contains(t, bad.found(t, `role="alert">([^<]*)`), "account")
	a := owner.post(t, page, append(app, "account", "acme")...)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	setUp := owner.get(t, a.found(t, `href="http://prwarden\.example\.com(/setup/app\?token=\w+)"`))
	assert.Equal(t, http.StatusOK, setUp.status)
	assert.Contains(t, setUp.body, "https://github.com/organizations/acme/settings/apps/new")
}

// TestPullRequestPages publishes a review again, by a connection of the operator.
func TestPullRequestPages(t *testing.T) {
	t.Parallel()
	c := newConnected(t)
	owner := c.setUp(t, "acme")
	member := c.join(t, owner, "acme", "member")
	one := "/o/acme/settings/connections/" + strings.TrimPrefix(c.hook, "/hooks/")
	assert.Contains(t, owner.get(t, one).body, "in the configuration file of the server")
	assert.NotContains(t, owner.get(t, one).body, "?delete")
	refused := owner.post(t, one+"/delete")
	assert.Equal(t, http.StatusConflict, refused.status)
	assert.Contains(t, refused.body, `role="alert"`)
	assert.Contains(t, owner.get(t, one+"/pulls").body, "The host has told of no pull request yet.")

	status, text := c.deliver(t, hosttest.Opened, hookSecret)()
	require.Equal(t, 202, status, text)
	c.checked(t, codehost.Success)
	row := fmt.Sprintf("%s #%d", hosttest.Repo, hosttest.Number)
	require.Eventually(t, func() bool { return strings.Contains(owner.get(t, one+"/pulls").body, "published just now") },
		eventually, tick)
	a := owner.get(t, one+"/pulls?state=open")
	assert.Contains(t, a.body, row)
	assert.Contains(t, a.body, `aria-label="Republish `+row+`"`)
	assert.NotContains(t, owner.get(t, one+"/pulls?state=merged").body, row)
	number := fmt.Sprint(hosttest.Number)
	assert.Contains(t, owner.sent(t, one+"/pulls", "repo", hosttest.Repo, "number", number).body, "is published again")

	a = member.get(t, one+"/pulls")
	assert.Contains(t, a.body, row)
	assert.NotContains(t, a.body, "Republish")
	assert.Equal(t, http.StatusForbidden, member.post(t, one+"/pulls", "repo", hosttest.Repo, "number", number).status)
}
