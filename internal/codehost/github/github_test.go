package github

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	api "github.com/google/go-github/v88/github"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ web, rest, base, graphql string }{
		{"", "", "https://api.github.com/", "https://api.github.com/graphql"},
		{"https://github.com", "", "https://api.github.com/", "https://api.github.com/graphql"},
		{"https://octo.ghe.com/", "", "https://api.octo.ghe.com/", "https://api.octo.ghe.com/graphql"},
		{"https://git.corp:8443/", "", "https://git.corp:8443/api/v3/", "https://git.corp:8443/api/graphql"},
		{"https://git.corp", "https://api.corp/", "https://api.corp/", "https://api.corp/graphql"},
		{"https://git.corp", "https://x/y/api/v3", "https://x/y/api/v3/", "https://x/y/api/graphql"},
	} {
		base, graphql, err := addresses(tt.web, tt.rest)
		require.NoError(t, err)
		assert.Equal(t, tt.base, base)
		assert.Equal(t, tt.graphql, graphql)
	}

	for _, bad := range []string{"github.com", "://", "/x"} {
		_, _, err := addresses(bad, "")
		require.Error(t, err, bad)
		_, _, err = addresses("", bad)
		require.Error(t, err, bad)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"nothing":  {},
		"both":     {Token: "t", AppID: 1, PrivateKey: "k"},
		"no key":   {AppID: 1, PrivateKey: "secret that is no PEM"},
		"no URL":   {URL: "x", Token: "t"},
		"bad path": {APIURL: "x", Token: "t"},
	} {
		_, err := New(o)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "secret", name)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	owner, name, err := split("acme/web.site_2-x")
	require.NoError(t, err)
	assert.Equal(t, []string{"acme", "web.site_2-x"}, []string{owner, name})
	for _, bad := range []string{"", "web", "a/b/c", "a/..", "../b", "./b", "a/b?x", "a/b#", "a/b%2f", "a b/c", "/b", "a/"} {
		_, _, err := split(bad)
		assert.Equal(t, codehost.Invalid, codehost.FaultOf(err), bad)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	reset := func(d time.Duration) string { return text(date.Add(d).Unix()) }
	for name, tt := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"nothing":          {nil, 0},
		"seconds":          {map[string]string{"Retry-After": "60"}, time.Minute},
		"too many seconds": {map[string]string{"Retry-After": "99999999999"}, 24 * time.Hour},
		"none":             {map[string]string{"Retry-After": "-1"}, 0},
		"a date":           {map[string]string{"Retry-After": "Sun, 01 Nov 2026 00:00:00 GMT"}, 0},
		"reset":            {map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(time.Hour)}, time.Hour},
		"reset long ago":   {map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset(-time.Hour)}, 0},
		"reset, some left": {map[string]string{"X-RateLimit-Remaining": "9", "X-RateLimit-Reset": reset(time.Hour)}, 0},
	} {
		h := http.Header{"Date": {date.Format(http.TimeFormat)}}
		for key, value := range tt.header {
			h.Set(key, value)
		}
		assert.Equal(t, tt.want, wait(http.StatusForbidden, h), name)
	}
}

// failed is the error of a call that was answered so.
func failed(status int, message string, header map[string]string) error {
	r := &http.Response{StatusCode: status, Header: http.Header{}}
	for key, value := range header {
		r.Header.Set(key, value)
	}

	return &api.ErrorResponse{Response: r, Message: message}
}

func TestFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status   int
		message  string
		header   map[string]string
		want     codehost.Fault // of a mutation
		readWant codehost.Fault // "" for the same
	}{
		"secondary limit":      {403, "You have exceeded a secondary rate limit.", nil, codehost.Limited, ""},
		"secondary, with time": {403, "x", map[string]string{"Retry-After": "60"}, codehost.Limited, ""},
		"primary limit":        {403, "x", map[string]string{"X-RateLimit-Remaining": "0"}, codehost.Limited, ""},
		"submitted too fast":   {422, "Validation Failed; was submitted too quickly", nil, codehost.Limited, ""},
		"permission":           {403, "Resource not accessible by integration", nil, codehost.Forbidden, ""},
		"bad credentials":      {401, "Bad credentials", nil, codehost.Revoked, ""},
		"not found":            {404, "Not Found", nil, codehost.Gone, ""},
		"blocked":              {451, "Repository access blocked", nil, codehost.Gone, ""},
		"no commit":            {422, "No commit found for SHA: abc", nil, codehost.Stale, ""},
		"validation":           {422, "Validation Failed", nil, codehost.Invalid, ""},
		"conflict":             {409, "x", nil, codehost.Passing, ""},
		"gateway":              {502, "", nil, codehost.Unknown, codehost.Passing},
		"gateway time-out":     {504, "", nil, codehost.Unknown, codehost.Passing},
		"own trouble":          {500, "", nil, codehost.Passing, ""},
		"bad request":          {400, "Problems parsing JSON", nil, codehost.Invalid, ""},
	} {
		err := (&Host{}).fault(failed(tt.status, tt.message, tt.header), true)
		assert.Equal(t, tt.want, codehost.FaultOf(err), name)
		err = (&Host{}).fault(failed(tt.status, tt.message, tt.header), false)
		if tt.readWant == "" {
			tt.readWant = tt.want
		}
		assert.Equal(t, tt.readWant, codehost.FaultOf(err), name)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	h := &Host{o: Options{Token: "t0ken", GitToken: "g1t"}}
	assert.Equal(t, "a *** b *** c d", h.words("a t0ken b g1t c\nd"))
	const proof = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmVk-X_9"
	assert.Equal(t, "Bearer *** is refused", h.words("Bearer "+proof+" is refused"), "the App's")
	assert.LessOrEqual(t, len([]rune(h.words(string(make([]rune, 9999))))), maxWords+1)
}

func TestManifest(t *testing.T) {
	t.Parallel()
	m := NewManifest("prwarden-acme", "https://w.example", "https://w.example/hooks/con_1", "https://w.example/back")
	b, err := json.Marshal(m)
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"name": "prwarden-acme", "url": "https://w.example", "public": false,
		"hook_attributes": {"url": "https://w.example/hooks/con_1", "active": true},
		"redirect_url": "https://w.example/back",
		"default_permissions": {"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write",
			"statuses": "write", "issues": "read", "merge_queues": "read"},
		"default_events": ["pull_request", "merge_group", "check_run", "check_suite", "issue_comment",
			"pull_request_review_comment", "repository"]
	}`, string(b))

	assert.Equal(t, "https://github.com/settings/apps/new?state=a%26b", ManifestURL("", "", "a&b"))
	assert.Equal(t, "https://git.corp/organizations/a%2Fb/settings/apps/new?state=s", ManifestURL("https://git.corp/", "a/b", "s"))
}
