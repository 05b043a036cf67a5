package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOwnPath(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"":                                 "/",
		"/o/acme/reviews?q=a#b":            "/o/acme/reviews?q=a#b",
		"//evil.example":                   "/",
		"/\\evil.example":                  "/",
		"https://evil.example/":            "/",
		"javascript:alert(1)":              "/",
		"/ok\r\nSet-Cookie: a=b":           "/",
		"o/acme":                           "/",
		"/invitation?token=prw_1&x=%2F%2F": "/invitation?token=prw_1&x=%2F%2F",
	} {
		assert.Equal(t, want, ownPath(next), "%q", next)
	}
}

// Whoever signs in again comes back to a whole page.
func TestReturnTo(t *testing.T) {
	t.Parallel()
	const file, page = "http://example.com/o/acme/reviews/rev_1/files/2?file=a.js&part=1", "/o/acme/reviews/rev_1/files/2?file=a.js"
	assert.Equal(t, page, returnTo(httptest.NewRequest(http.MethodGet, file, nil)))
	assert.Equal(t, "/o/a?q=b&a=c", returnTo(httptest.NewRequest(http.MethodGet, "/o/a?q=b&a=c", nil)))
	r := httptest.NewRequest(http.MethodPost, "/o/acme/undo", nil)
	assert.Equal(t, "/", returnTo(r))
	r.Header.Set("Referer", file)
	assert.Equal(t, page, returnTo(r))
	r.Header.Set("Referer", "http://evil.example/o/acme")
	assert.Equal(t, "/", returnTo(r))
}

func TestLinesOf(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][2]int{
		"from=5&to=7": {5, 7}, "from=5": {5, 5}, "from=5&to=900": {5, 24}, "from=5&to=99999999999": {5, 24}, "from=9&to=3": {9, 9},
		"from=0": {}, "from=-1": {}, "from=x": {}, "from=2147483647": {}, "from=4294967297&to=4294967299": {},
	} {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		from, to, err := linesOf(q)
		assert.Equal(t, want, [2]int{from, to}, query)
		assert.Equal(t, want == [2]int{}, err != nil, query)
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	h := &Handler{}
	for _, path := range []string{"/", "/o/acme/reviews", "/sign-in", "/setup", "/assets/1/app.css", "/invitation"} {
		assert.True(t, h.Serves(path), path)
	}
	for _, path := range []string{"/v1/reviews", "/docs", "/openapi.json", "/setup/app", "/hooks/con_1", "/healthz", "/other"} {
		assert.False(t, h.Serves(path), path)
	}
}
