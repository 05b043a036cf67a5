package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAuditPage filters, pages and downloads the audit log.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	viewer := s.join(t, owner, "acme", "viewer")
	for range 51 {
		a := owner.post(t, "/o/acme/settings/keys", "name", "ci\u202e", "scopes", "reviews:read")
		require.Equal(t, http.StatusCreated, a.status, a.body)
	}

	a := owner.get(t, "/o/acme/audit")
	require.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, 50, strings.Count(a.body, `<tr id="evt_`))
	assert.Contains(t, a.body, "created an API key")
	assert.Contains(t, a.body, ">Olga Owner</a>", "names stand for identifiers")
	assert.NotContains(t, a.body, "\u202e")
	key := a.found(t, `href="/o/acme/settings/keys#(key_\w+)"`)
	assert.Contains(t, owner.get(t, "/o/acme/settings/keys").body, `id="`+key+`"`)
	older := owner.get(t, a.found(t, `href="(/o/acme/audit\?page=[^"]*)" rel="next"`))
	assert.Contains(t, older.body, "invited somebody")
	assert.Contains(t, older.body, ">Newest</a>")

	one := owner.get(t, "/o/acme/audit?action=member.add&since=2000-01-01&until=2999-01-01")
	assert.Equal(t, 2, strings.Count(one.body, `<tr id="evt_`))
	actor := one.found(t, `<a href="/o/acme/audit\?action=member.add&amp;actor=([^"&]*)`)
	assert.Regexp(t, `^user%3Ausr_`, actor)
	assert.Contains(t, owner.get(t, "/o/acme/audit?until=2000-01-01").body, "Nothing like that.")
	bad := owner.get(t, "/o/acme/audit?since=never")
	assert.Equal(t, http.StatusBadRequest, bad.status)
	assert.Contains(t, bad.body, "is not a day such as 2026-11-20")

	file := owner.get(t, "/o/acme/audit/events.jsonl?action=key.create")
	assert.Equal(t, `attachment; filename="audit-acme.jsonl"`, file.header.Get("Content-Disposition"))
	rows := strings.Split(strings.TrimSuffix(file.body, "\n"), "\n")
	require.Len(t, rows, 51)
	for _, row := range rows {
		var event map[string]any
		require.NoError(t, json.Unmarshal([]byte(row), &event))
		assert.Equal(t, "key.create", event["action"])
	}

	for _, path := range []string{"/o/acme/audit", "/o/acme/audit/events.jsonl"} {
		refused := viewer.get(t, path)
		assert.Equal(t, http.StatusForbidden, refused.status)
		assert.Contains(t, refused.body, "This needs the role admin; yours is viewer.")
	}
}

// TestNamesAndAccount has a member rename himself, whom a viewer then knows by name.
func TestNamesAndAccount(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	member, viewer := s.join(t, owner, "acme", "member"), s.join(t, owner, "acme", "viewer")

	a := member.post(t, "/account/name", "name", "a\x01b")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, `role="alert"`)
	a = member.sent(t, "/account/name", "name", "Mia Member")
	assert.Contains(t, a.body, "Your name is changed.")
	assert.Contains(t, a.body, `value="Mia Member"`)
	assert.Contains(t, owner.get(t, "/o/acme/audit").body, "changed their name")

	a = viewer.get(t, "/o/acme/reviews")
	assert.Contains(t, a.body, ">By Mia Member</option>", "to choose whose reviews are listed")
	assert.NotContains(t, a.body, "member@example.com")
}

// TestSSOPage shows owners how single sign-on is configured, and nobody else.
func TestSSOPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	admin := s.join(t, owner, "acme", "admin")
	const page = "/o/acme/settings/sso"
	a := owner.get(t, page)
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "No identity provider")
	assert.Equal(t, http.StatusNotFound, owner.get(t, page+"/try").status)
	for _, path := range []string{page, page + "/try"} {
		a = admin.get(t, path)
		assert.Equal(t, http.StatusForbidden, a.status)
		assert.Contains(t, a.body, "This needs the role owner; yours is admin.")
	}
	assert.NotContains(t, a.body, `href="`+page+`"`)
}

// TestTriedSSO has an owner try single sign-on, and load the answer again.
func TestTriedSSO(t *testing.T) {
	t.Parallel()
	var issuer string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"issuer": %q, "authorization_endpoint": %q, "token_endpoint": %q, "jwks_uri": %q}`,
			issuer, issuer+"/authorize", issuer+"/token", issuer+"/keys")
	}))
	t.Cleanup(provider.Close)
	issuer = provider.URL
	s := startServer(t, newHosts(t), serverOptions{
		config: "public_url: http://127.0.0.1:1\nsign_in: {oidc: {name: Acme ID, issuer: " + issuer + ", client_id: prwarden}}\n",
	})
	owner := s.setUp(t, "acme")
	const page = "/o/acme/settings/sso"
	a := owner.get(t, page+"/try")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	to, err := url.Parse(a.header.Get("Location"))
	require.NoError(t, err)
	callback := "/auth/oidc/callback?error=access_denied&state=" + url.QueryEscape(to.Query().Get("state"))
	a = owner.get(t, callback)
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "What the provider said")
	assert.Equal(t, callback, owner.post(t, "/theme", "theme", "dark").header.Get("Location"))
	a = owner.get(t, callback)
	assert.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, page, a.header.Get("Location"))
	assert.Equal(t, http.StatusUnauthorized, s.browser(t).get(t, callback).status, "another browser tried nothing")
}
