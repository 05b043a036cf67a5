package rest_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	big := `{"pattern":"x","text":"` + strings.Repeat("x", 1<<20) + `"}`
	tests := map[string]struct {
		method, path, body string
		headers            []string
		status             int
		reason             string
		fields             []string
	}{
		"unknown route":        {"GET", "/v1/nothing", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"root":                 {"GET", "/", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"double slash":         {"GET", "/v1//rules", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"verb without id":      {"POST", "/v1/reviews/:cancel", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"unknown verb":         {"POST", "/v1/reviews/rev_1:explode", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"method":               {"PUT", "/v1/rules", "{}", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"method of a document": {"POST", "/openapi.json", "", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"GET of a verb":        {"GET", "/v1/reviews/rev_1:cancel", "", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"HEAD of a verb":       {"HEAD", "/v1/reviews/rev_1:cancel", "", nil, 405, "", nil},
		"GET with a colon":     {"GET", "/v1/rules/a:b", "", nil, 404, "RULE_NOT_FOUND", nil},
		"HEAD of a stream":     {"HEAD", "/v1/reviews/rev_1:watch", "", nil, 405, "", nil},
		"method override": {"POST", "/v1/rules/no-print", "", []string{"X-HTTP-Method-Override: DELETE"}, 405,
			"METHOD_NOT_ALLOWED", nil},
		"form as GET": {"POST", "/v1/keys/key_1", "a=b",
			[]string{"Content-Type: application/x-www-form-urlencoded"}, 405, "METHOD_NOT_ALLOWED", nil},
		"id that is not UTF-8": {"GET", "/v1/rules/%ff", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"id with NUL":          {"GET", "/v1/rules/a%00b", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"empty rule id":        {"GET", "/v1/rules/", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"slash in a review id": {"GET", "/v1/reviews/a%2Fb", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"no content type": {"POST", "/v1/rules", ruleBody, []string{"Content-Type: "}, 415, "UNSUPPORTED_MEDIA_TYPE",
			nil},
		"other content type": {"POST", "/v1/rules", ruleBody, []string{"Content-Type: text/plain"}, 415,
			"UNSUPPORTED_MEDIA_TYPE", nil},
		"other charset": {"POST", "/v1/rules", ruleBody, []string{"Content-Type: application/json; charset=latin1"},
			415, "UNSUPPORTED_MEDIA_TYPE", nil},
		"compressed": {"POST", "/v1/rules", ruleBody, []string{"Content-Encoding: gzip"}, 415,
			"UNSUPPORTED_MEDIA_TYPE", nil},
		"too large": {"POST", "/v1/rules:test", big, nil, 413, "BODY_TOO_LARGE", nil},
		"malformed": {"POST", "/v1/rules", "{", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"trailing":  {"POST", "/v1/rules", ruleBody + "x", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"no body":   {"POST", "/v1/reviews", "", nil, 400, "INVALID_ARGUMENT", []string{"repo", "pr_number"}},
		"unknown field": {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1,"x":1}`, nil, 400, "INVALID_ARGUMENT",
			[]string{"x"}},
		"constraint": {"POST", "/v1/reviews", `{"repo":"a","pr_number":0}`, nil, 400, "INVALID_ARGUMENT",
			[]string{"repo", "pr_number"}},
		"constraint of a stream": {"POST", "/v1/rules:batch", `{"version":-1,"rules":[],"etag":"\u0000"}`, nil, 400,
			"INVALID_ARGUMENT", []string{"version", "etag"}},
		"rule constraint": {"POST", "/v1/rules", ruleBody[:len(ruleBody)-1] + `,"paths":{"include":[""]}}`, nil, 400,
			"INVALID_ARGUMENT", []string{"paths.include[0]"}},
		"body of a GET":       {"GET", "/v1/rules", "{}", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"body of a DELETE":    {"DELETE", "/v1/rules/x", "{}", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"unknown parameter":   {"GET", "/v1/reviews?branch=x", "", nil, 400, "INVALID_ARGUMENT", []string{"branch"}},
		"camelCase parameter": {"GET", "/v1/reviews?prNumber=1", "", nil, 400, "INVALID_ARGUMENT", []string{"prNumber"}},
		"repeated parameter": {"GET", "/v1/reviews?repo=a/b&repo=a/b", "", nil, 400, "INVALID_ARGUMENT",
			[]string{"repo"}},
		"empty parameter": {"GET", "/v1/reviews?repo=", "", nil, 400, "INVALID_ARGUMENT", []string{"repo"}},
		"number": {"GET", "/v1/reviews?pr_number=0x10", "", nil, 400, "INVALID_ARGUMENT",
			[]string{"pr_number"}},
		"out of range": {"GET", "/v1/reviews?page_size=201&pr_number=0", "", nil, 400, "INVALID_ARGUMENT",
			[]string{"page_size", "pr_number"}},
		"no number in the path": {"GET", "/v1/pull-requests/x?repo=a/b", "", nil, 400, "INVALID_ARGUMENT",
			[]string{"pr_number"}},
		"enum number": {"GET", "/v1/reviews?status=1", "", nil, 400, "INVALID_ARGUMENT", []string{"status"}},
		"unspecified": {"GET", "/v1/reviews?status=unspecified", "", nil, 400, "INVALID_ARGUMENT",
			[]string{"status"}},
		"parameter, not UTF-8": {"GET", "/v1/reviews?page_token=%ff", "", nil, 400, "INVALID_ARGUMENT",
			[]string{"page_token"}},
		"bad escape":      {"GET", "/v1/reviews?repo=%zz", "", nil, 400, "INVALID_ARGUMENT", []string{"query"}},
		"semicolon":       {"GET", "/v1/reviews?repo=a/b;x=y", "", nil, 400, "INVALID_ARGUMENT", []string{"query"}},
		"bound parameter": {"GET", "/v1/rules/x?id=y", "", nil, 400, "INVALID_ARGUMENT", []string{"id"}},
		"parameter of a POST": {"POST", "/v1/reviews?repo=a/b", `{"repo":"a/b","pr_number":1}`, nil, 400,
			"INVALID_ARGUMENT", []string{"repo"}},
		"parameter of a DELETE": {"DELETE", "/v1/rules/x?force=1", "", nil, 400, "INVALID_ARGUMENT", []string{"force"}},
		"idempotency key, bytes": {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: é"},
			400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"idempotency key, empty": {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: "}, 400,
			"INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"idempotency key, twice": {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`,
			[]string{"Idempotency-Key: a", "Idempotency-Key: b"}, 400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"no key": {"GET", "/v1/rules", "", []string{"Authorization: "}, 401, "KEY_INVALID", nil},
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.Do(t, tc.method, tc.path, tc.body, append([]string{header}, tc.headers...)...)
			assert.Equal(t, tc.status, a.Status, a.Body)
			if tc.method != "HEAD" {
				assert.Equal(t, tc.reason, a.Reason(), a.Body)
				assert.NotEmpty(t, a.JSON["message"])
			}
			var fields []string
			for f, text := range a.Violations() {
				fields = append(fields, f)
				assert.NotEmpty(t, text)
			}
			assert.ElementsMatch(t, tc.fields, fields, a.Body)
			assertCommonHeaders(t, a)
			assert.Equal(t, tc.status == 405, a.Header.Get("Allow") != "")
			assert.Equal(t, tc.status == 401, a.Header.Get("WWW-Authenticate") == "Bearer")
		})
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	for path, want := range map[string]string{
		"/v1/reviews":              "GET, HEAD, POST, OPTIONS",
		"/v1/reviews/rev_1":        "GET, HEAD, OPTIONS",
		"/v1/reviews/rev_1:watch":  "GET, OPTIONS",
		"/v1/reviews/rev_1:cancel": "POST, OPTIONS", // no identifier looks like this
		"/v1/rules":                "GET, HEAD, POST, OPTIONS",
		"/v1/rules/a/b":            "DELETE, GET, HEAD, PATCH, OPTIONS",
		"/v1/rules/a/b:history":    "GET, HEAD, OPTIONS",
		"/v1/keys/key_1":           "DELETE, OPTIONS",
		"/healthz":                 "GET, HEAD",
	} {
		a := b.Do(t, "PUT", path, "", header)
		assert.Equal(t, 405, a.Status, path)
		assert.Equal(t, want, a.Header.Get("Allow"), path)
		if path == "/healthz" {
			continue
		}

		o := b.Do(t, "OPTIONS", path, "", header)
		assert.Equal(t, 204, o.Status, path)
		assert.Equal(t, a.Header.Get("Allow"), o.Header.Get("Allow"), path)
		assert.Empty(t, o.Body)
		assertCommonHeaders(t, o)
	}

	assert.Equal(t, 404, b.Do(t, "OPTIONS", "/v1/nothing", "", header).Status)
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	fill := func(n int) string {
		head, tail := `{"pattern":"x","text":"`, `"}`
		text := min(n-len(head)-len(tail), 524288)
		body := head + strings.Repeat("x", text) + tail
		return body + strings.Repeat(" ", n-len(body))
	}

	assert.Equal(t, 200, b.Do(t, "POST", "/v1/rules:test", fill(1<<20), header).Status, "exactly 1 MiB")
	assert.Equal(t, 413, b.Do(t, "POST", "/v1/rules:test", fill(1<<20+1), header).Status)

	chunked, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL+"/v1/rules:test",
		struct{ io.Reader }{strings.NewReader(fill(1<<20 + 1))})
	require.NoError(t, err)
	name, value, _ := strings.Cut(header, ": ")
	chunked.Header.Set(name, value)
	chunked.Header.Set("Content-Type", "application/json")
	a := b.Send(t, chunked)
	assert.Equal(t, 413, a.Status)
	assert.Equal(t, errs.ReasonBodyTooLarge, a.Reason())
	assertCommonHeaders(t, a)

	long := b.Do(t, "POST", "/v1/rules:test", `{"pattern":"x","text":"`+strings.Repeat("x", 524289)+`"}`, header)
	assert.Equal(t, 400, long.Status)
	assert.Equal(t, map[string]string{"text": "must be at most 524288 bytes"}, long.Violations())
}

func TestErrorsOfTheDomain(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	var fail error
	b.Reviews.GetFunc = func(string, string) (review.Review, error) { return review.Review{}, fail }
	wait := errs.New(errs.Unavailable, errs.ReasonQueueFull, "Too many reviews wait.")
	wait.RetryAfter = 1500 * time.Millisecond
	tests := []struct {
		err    error
		status int
		retry  string
	}{
		{errs.New(errs.PermissionDenied, errs.ReasonRepositoryNotAllowed, "x"), 403, ""},
		{errs.New(errs.AlreadyExists, errs.ReasonRuleExists, "x"), 409, ""},
		{errs.New(errs.Aborted, errs.ReasonIdempotencyConflict, "x"), 409, ""},
		{errs.New(errs.FailedPrecondition, errs.ReasonReviewFinished, "x"), 409, ""},
		{wait, 503, "2"},
		{errs.New(errs.Unavailable, errs.ReasonUnavailable, "x"), 503, "5"},
		{errors.New("pq: secret"), 500, ""},
	}

	for _, tc := range tests {
		fail = tc.err
		a := b.Do(t, "GET", "/v1/reviews/rev_1", "", header)
		assert.Equal(t, tc.status, a.Status)
		assert.Equal(t, tc.retry, a.Header.Get("Retry-After"))
		assert.NotContains(t, a.Body, "secret")
		assertCommonHeaders(t, a)
		if reason := errs.ReasonOf(tc.err); reason != "" {
			assert.Equal(t, reason, a.Reason())
		}
	}

	assert.Len(t, b.Logs.Lines("unexpected error"), 1, "logged once, with the cause")
	assert.Contains(t, b.Logs.String(), "pq: secret")

	b.Reviews.GetFunc = func(string, string) (review.Review, error) { panic("secret") }
	a := b.Do(t, "GET", "/v1/reviews/rev_1", "", header)
	assert.Equal(t, 500, a.Status)
	assert.Equal(t, errs.ReasonInternal, a.Reason())
	assertCommonHeaders(t, a)
}

// The example in the documentation is what the server answers.
func TestDocumentedError(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	doc, err := os.ReadFile("../../../docs/api.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(doc), "\n## Errors\n")
	require.True(t, ok)
	_, rest, _ = strings.Cut(rest, " This one is of `")
	body, rest, _ := strings.Cut(rest, "`")
	_, rest, _ = strings.Cut(rest, "```json\n")
	want, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	assert.JSONEq(t, want, b.Do(t, "POST", "/v1/reviews", body, header).Body)
}
