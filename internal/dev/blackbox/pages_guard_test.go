package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Pages are for sessions and the API is for keys; forms of other sites are refused, and
// a session that was ended is over.
func TestPagesAreGuarded(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	const page = "/o/acme/settings/keys"

	with := func(method, path, body string, headers ...string) answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := owner.http.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())

		return answer{status: resp.StatusCode, header: resp.Header}
	}

	a := owner.get(t, page)
	require.Equal(t, http.StatusOK, a.status)
	assert.Empty(t, a.header.Get("X-RateLimit-Limit"))
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	assert.NotContains(t, a.header.Get("Content-Security-Policy"), "unsafe")
	assert.NotContains(t, a.body, "style=", "no style in the page")

	const form = "name=stolen&scopes=reviews:read"
	for name, headers := range map[string][]string{
		"another site":   {"Sec-Fetch-Site", "cross-site"},
		"another origin": {"Origin", "https://evil.example"},
		"an API key":     {"Authorization", "Bearer " + s.key(t, "acme")},
	} {
		assert.Equal(t, http.StatusForbidden, with("POST", page, form, headers...).status, name)
	}
	assert.NotContains(t, owner.get(t, page).body, "stolen")
	assert.Equal(t, http.StatusUnauthorized, with("GET", "/v1/reviews", "").status, "a cookie is no key")
	assert.Equal(t, http.StatusNotFound, owner.get(t, "/o/other/reviews").status, "another organization")

	stranger := s.browser(t).get(t, page)
	assert.Equal(t, http.StatusSeeOther, stranger.status)
	assert.Equal(t, "/sign-in?next=%2Fo%2Facme%2Fsettings%2Fkeys", stranger.header.Get("Location"))
	second := s.browser(t)
	a = second.post(t, "/sign-in", "email", "owner@example.com", "password", password, "next", "https://evil.example")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/", a.header.Get("Location"), "it leads nowhere else")
	cookie := a.header.Get("Set-Cookie")
	assert.Contains(t, cookie, "HttpOnly")
	assert.Contains(t, cookie, "SameSite=Lax")
	assert.Equal(t, http.StatusSeeOther, owner.post(t, "/account/sessions", "id", "all").status)
	require.Eventually(t, func() bool {
		return second.get(t, page).status == http.StatusSeeOther
	}, 10*time.Second, tick)
}

// Nothing of the dashboard is there when it is switched off.
func TestNoDashboard(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{args: []string{"--dashboard=false"}})
	b := s.browser(t)
	for _, path := range []string{"/", "/sign-in", "/setup", "/o/acme/reviews", "/assets/app.css", "/account"} {
		a := b.get(t, path)
		assert.NotEqual(t, http.StatusOK, a.status, path)
		assert.NotContains(t, a.body, "<html", path)
	}
	assert.NotContains(t, s.logged(), "/setup?token=")
	assert.Equal(t, http.StatusOK, s.client(s.key(t, "acme")).do(t, "GET", "/v1/reviews", nil).status)
}
