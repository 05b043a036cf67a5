package blackbox_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const okBody = `{"repo":"acme/api","pr_number":1}`

// Everything that is wrong with a request's body, and the field it is told of.
func TestWrongBodies(t *testing.T) {
	t.Parallel()
	_, c, _ := setup(t)
	for name, bad := range map[string]struct{ body, field string }{
		"empty object":      {"{}", "repo"},
		"no number":         {`{"repo":"acme/api"}`, "pr_number"},
		"too large":         {`{"repo":"acme/api","pr_number":2147483648}`, "pr_number"},
		"unknown":           {`{"repo":"acme/api","pr_number":1,"branch":"x"}`, "branch"},
		"twice":             {`{"repo":"acme/api","pr_number":1,"pr_number":2}`, "pr_number"},
		"another's ruleset": {`{"repo":"acme/api","pr_number":1,"ruleset":"acme/web"}`, "ruleset"},
		"dots":              {`{"repo":"../etc","pr_number":1}`, "repo"},
		"option":            {`{"repo":"acme/api --upload-pack=x","pr_number":1}`, "repo"},
		"long owner":        {`{"repo":"` + strings.Repeat("a", 101) + `/b","pr_number":1}`, "repo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.do(t, "POST", "/v1/reviews", bad.body)
			require.Equal(t, 400, a.status, a.body)
			assert.Contains(t, a.fields(t), bad.field, a.body)
			assert.Contains(t, a.decode(t)["message"], bad.field)
			assert.NotEmpty(t, a.header.Get("X-RateLimit-Remaining"))
		})
	}

	for name, body := range map[string]string{
		"not JSON": "repo=acme/api", "truncated": `{"repo":"acme/api"`, "trailing": okBody + "x", "two": okBody + okBody,
		"not UTF-8": "{\"repo\":\"acme/\xff\",\"pr_number\":1}", "deep": strings.Repeat("[", 100000),
	} {
		a := c.do(t, "POST", "/v1/reviews", body)
		assert.Equal(t, 400, a.status, name)
		assert.NotEmpty(t, a.decode(t)["message"], name)
	}

	assert.Empty(t, c.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"], "nothing was accepted")
	long, full := strings.Repeat("a", 100), okBody+strings.Repeat(" ", 1<<20-len(okBody))
	for _, body := range []string{
		`{"repo":"acme/api","prNumber":"1"}`, `{"repo":"acme/api","pr_number":1.0,"ruleset":null}`,
		`{"repo":"a/b","pr_number":2147483647}`, fmt.Sprintf(`{"repo":"%s/%s","pr_number":1}`, long, long),
		`{"repo":"A-1_.x/.github","pr_number":1,"ruleset":"A-1_.x/.github"}`, full,
	} {
		assert.Equal(t, 202, c.do(t, "POST", "/v1/reviews", body).status, "%.100s is at an edge", body)
	}
	over := c.do(t, "POST", "/v1/reviews", full+" ")
	assert.Equal(t, 413, over.status)
	assert.Equal(t, "BODY_TOO_LARGE", over.reason(t))
}

func TestHTTPErrors(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	big := strings.Repeat("x", 1<<20)
	for name, call := range map[string]struct {
		method, path string
		body         any
		headers      []string
		status       int
		reason       string
	}{
		"unknown route":  {"GET", "/v1/nothing", nil, nil, 404, "ROUTE_NOT_FOUND"},
		"dots":           {"GET", "/v1/x/../reviews", nil, nil, 404, "ROUTE_NOT_FOUND"},
		"method":         {"PUT", "/v1/reviews", okBody, nil, 405, "METHOD_NOT_ALLOWED"},
		"body too large": {"POST", "/v1/reviews", `{"repo":"` + big + `"}`, nil, 413, "BODY_TOO_LARGE"},
		"media type": {
			"POST", "/v1/reviews", okBody, []string{"Content-Type", "text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE",
		},
		"no key":       {"GET", "/v1/rules", nil, []string{"Authorization", ""}, 401, "KEY_MISSING"},
		"not a bearer": {"GET", "/v1/rules", nil, []string{"Authorization", "Basic eDp5"}, 401, ""},
		"mistyped key": {
			"GET", "/v1/rules", nil, []string{"Authorization", "Bearer prw_" + strings.Repeat("a", 36)}, 401, "KEY_INVALID",
		},
		"unknown review": {"GET", "/v1/reviews/rev_x", nil, nil, 404, "REVIEW_NOT_FOUND"},
		"unknown rule":   {"GET", "/v1/rules/no/such", nil, nil, 404, "RULE_NOT_FOUND"},
		"unknown query":  {"GET", "/v1/rules?x=1", nil, nil, 400, "INVALID_ARGUMENT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.do(t, call.method, call.path, call.body, call.headers...)
			require.Equal(t, call.status, a.status, a.body)
			assert.Contains(t, a.header.Get("Content-Type"), "application/json")
			for _, h := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
				assert.Regexp(t, `^\d+$`, a.header.Get(h), h)
			}
			m := a.decode(t)
			assert.ElementsMatch(t, []string{"code", "message", "details"}, keys(m))
			assert.NotEmpty(t, m["message"])
			if call.reason != "" {
				assert.Equal(t, call.reason, a.reason(t))
			}
			if call.status == 401 {
				assert.Equal(t, "Bearer", strings.Fields(a.header.Get("WWW-Authenticate"))[0])
			}
			if call.status == 405 {
				assert.NotEmpty(t, a.header.Get("Allow"))
			}
			for name := range a.header {
				assert.NotContains(t, strings.ToLower(name), "grpc")
			}
			assert.NotContains(t, a.body, s.dir)
		})
	}
}

func TestHealthAndDocuments(t *testing.T) {
	t.Parallel()
	s, keyed, _ := setup(t)
	c := s.client("")
	for _, path := range []string{"/healthz", "/readyz"} {
		a := c.do(t, "GET", path, nil)
		assert.Equal(t, 200, a.status, path)
		assert.Empty(t, a.header.Get("X-RateLimit-Limit"), "health is not counted")
	}

	a := c.do(t, "GET", "/openapi.json", nil)
	require.Equal(t, 200, a.status)
	assert.Contains(t, a.header.Get("Content-Type"), "application/json")
	assert.NotEmpty(t, a.header.Get("X-RateLimit-Remaining"))
	assert.Regexp(t, `^3\.0\.`, a.decode(t)["openapi"])

	docs := c.do(t, "GET", "/docs", nil)
	require.Equal(t, 200, docs.status)
	assert.Equal(t, "text/html; charset=utf-8", docs.header.Get("Content-Type"))
	assert.Regexp(t, `^default-src 'none'; style-src 'sha256-`, docs.header.Get("Content-Security-Policy"))
	assert.NotEmpty(t, docs.header.Get("X-RateLimit-Remaining"))
	assert.Contains(t, docs.body, `id="createReview"`)

	require.Equal(t, 200, keyed.do(t, "GET", "/v1/rules", nil).status)
	res, err := http.Get("http://" + s.ops + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	for _, name := range []string{"grpc_server_handled_total", "prwarden_reviews_queued", "go_goroutines"} {
		assert.Contains(t, string(text), "\n"+name)
	}
}
