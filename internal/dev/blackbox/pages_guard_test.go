package blackbox_test

import (
	"net/http"
	"net/url"
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

// Nobody chooses the session of another: signing in gives a new one, ends the one before,
// and takes none that was made up. Over https the cookie is for this host and https alone.
func TestSessionsAreNew(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	s.setUp(t, "acme")
	signIn := func(cookie string) string {
		t.Helper()
		form := "email=owner@example.com&password=" + url.QueryEscape(password)
		a := s.client("").do(t, "POST", "/sign-in", form, "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie)
		require.Equal(t, http.StatusSeeOther, a.status, a.body)

		return "prwarden=" + answer{body: a.header.Get("Set-Cookie")}.found(t, `^prwarden=(\w+);`)
	}
	works := func(cookie string) bool {
		t.Helper()
		return s.client("").do(t, "GET", "/account", nil, "Cookie", cookie).status == http.StatusOK
	}

	first := signIn("prwarden=made-up")
	assert.NotEqual(t, "prwarden=made-up", first)
	assert.False(t, works("prwarden=made-up"))
	assert.True(t, works(first))
	second := signIn(first)
	assert.NotEqual(t, first, second)
	assert.False(t, works(first), "it ended")
	assert.True(t, works(second))

	s = startServer(t, newHosts(t), serverOptions{args: []string{"--public-url", "https://prwarden.example.com"}})
	token := answer{body: s.logged()}.found(t, `/setup\?token=(\w+)`)
	a := s.browser(t).post(t, "/setup", "token", token, "email", "o@example.com", "name", "O", "password", password,
		"organization", "acme")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Regexp(t, `^__Host-prwarden=\w+; Path=/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$`, a.header.Get("Set-Cookie"))
	assert.Contains(t, a.header.Get("Strict-Transport-Security"), "max-age=")
}

// What strangers try on pages counts against their address, as keys do that are refused.
func TestStrangersOnPagesAreCounted(t *testing.T) {
	t.Parallel()
	const most = 60
	for name, path := range map[string]string{
		"a cookie": "/o/acme/reviews", "a cookie at sign-in": "/sign-in", "reset": "/reset?token=x", "invitation": "/invitation?token=x",
		"set-up": "/setup?token=x", "begin": "/sign-in/oidc", "callback": "/auth/oidc/callback?state=x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, newHosts(t), serverOptions{})
			owner := s.setUp(t, "acme")
			limited := 0
			for range most + 2 {
				a := s.client("").do(t, "GET", path, nil, "Cookie", "prwarden=made-up")
				if a.status == http.StatusTooManyRequests {
					limited++
					assert.NotEmpty(t, a.header.Get("Retry-After"))
				}
			}
			assert.Positive(t, limited)
			assert.Equal(t, http.StatusTooManyRequests, s.client("prw_refused").do(t, "GET", "/v1/reviews", nil).status)
			assert.Equal(t, http.StatusOK, owner.get(t, "/o/acme/reviews").status, "whoever has signed in goes on")
			assert.Equal(t, http.StatusOK, s.browser(t).get(t, "/sign-in").status)
		})
	}
}

// Nothing of the dashboard is there when it is switched off, whoever asks, and the API
// is as it was.
func TestNoDashboard(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{args: []string{"--dashboard=false"}})
	c := s.client(s.key(t, "acme"))
	paths := []string{
		"/", "/sign-in", "/sign-in/oidc", "/auth/oidc/callback", "/setup", "/reset?token=x", "/invitation", "/account",
		"/assets/app.css", "/favicon.ico", "/theme", "/sign-out", "/o/acme/",
	}
	for _, p := range pageRoles {
		paths = append(paths, "/o/acme"+p.page[strings.Index(p.page, " ")+1:])
	}
	for _, path := range paths {
		path = strings.NewReplacer("{$}", "", "{", "", "}", "").Replace(path)
		for _, method := range []string{"GET", "POST"} {
			for name, asks := range map[string]*client{"nobody": s.client(""), "a key": c} {
				a := asks.do(t, method, path, nil, "Cookie", "prwarden=x")
				assert.Equal(t, http.StatusNotFound, a.status, "%s %s by %s", method, path, name)
				assert.Equal(t, "ROUTE_NOT_FOUND", a.reason(t))
			}
		}
	}
	assert.NotContains(t, s.logged(), "/setup?token=")
	assert.Equal(t, http.StatusOK, c.do(t, "GET", "/v1/reviews", nil).status)
	assert.Equal(t, http.StatusUnauthorized, s.client("").do(t, "GET", "/v1/reviews", nil).status)
	assert.Equal(t, http.StatusOK, s.client("").do(t, "GET", "/docs", nil).status)
}

// Where source is switched off, none leaves but what findings show, by no way.
func TestNoSource(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{args: []string{"--dashboard-source=false"}})
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,rules:write,source:read"))
	h.create(t, "acme/api", files{"a.js": "line of before\n"}).pull(1, files{"a.js": "canary of before\ncanary added\neval(x)\n"})
	id := c.scan(t, "acme/api", 1)["review_id"].(string)
	page := "/o/acme/reviews/" + id

	answers := map[string]answer{
		"page": owner.get(t, page), "file": owner.get(t, page+"/files/0?file=a.js"),
		"whole": owner.get(t, page+"/files/0?file=a.js&whole=1"), "lines": owner.get(t, page+"/files/0?file=a.js&from=1&to=3"),
		"diff": c.do(t, "GET", "/v1/reviews/"+id+"/diff", nil), "sarif": c.do(t, "GET", "/v1/reviews/"+id+"/sarif", nil),
		"unfold": c.do(t, "GET", "/v1/reviews/"+id+"/diff?files=a.js&from=1&to=3", nil),
		"try": c.do(t, "POST", "/v1/rules:try", map[string]any{"rules": []any{map[string]any{
			"id": "all", "type": "regex", "pattern": ".+", "message": "m", "severity": "low",
		}}}),
	}
	for name, a := range answers {
		assert.Equal(t, http.StatusOK, a.status, "%s: %s", name, a.body)
		assert.NotContains(t, a.body, "canary", name)
	}
	assert.Contains(t, answers["page"].body, "has switched source off")
	assert.Contains(t, answers["lines"].body, "has switched source off")
	assert.Equal(t, "disabled", answers["diff"].decode(t)["availability"])
	assert.Equal(t, "disabled", answers["unfold"].decode(t)["availability"])
}
