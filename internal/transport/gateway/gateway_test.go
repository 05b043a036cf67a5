package gateway_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/transport/transporttest"
)

const ruleBody = `{"id":"no-print","type":"regex","pattern":"x","message":"m","severity":"warning"}`

// start starts a transport over reviews that exist and a key with all scopes.
func start(t *testing.T) (*transporttest.Bundle, string) {
	t.Helper()
	b := transporttest.Start(t, transporttest.Options{})
	b.Reviews.CreateFunc = func(string, review.CreateInput) (review.Accepted, error) {
		return review.Accepted{ReviewID: "rev_1", EstimatedMS: 4200}, nil
	}
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Queued, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop", CreatedAt: transporttest.Epoch}, nil
	}
	b.Reviews.ListFunc = func(string, review.ListInput) ([]review.Review, string, error) { return nil, "", nil }
	b.Reviews.CancelFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Canceled, CreatedAt: transporttest.Epoch, CompletedAt: transporttest.Epoch}, nil
	}
	_, token := b.Key(t)
	return b, transporttest.Bearer(token)
}

func TestSuccess(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	require.Equal(t, 201, b.Do(t, "POST", "/v1/rules", ruleBody, auth).Status)
	tests := map[string]struct {
		method, path, body string
		status             int
		want               string // JSON; "" for an empty body
	}{
		"create review": {"POST", "/v1/reviews", `{"repo":"acme/shop","pr_number":7}`, 202, `{"review_id":"rev_1","status":"queued","estimated_ms":4200}`},
		"get review": {"GET", "/v1/reviews/rev_1", "", 200, `{"review_id":"rev_1","status":"queued","pr_number":7,"repo":"acme/shop","findings":[],
			"summary":{"critical":0,"high":0,"medium":0,"warning":0,"low":0,"info":0},"ruleset":"acme/shop","created_at":"2026-11-20T09:30:00Z","skipped":[],"truncated":false}`},
		"list reviews":  {"GET", "/v1/reviews", "", 200, `{"reviews":[],"next_page_token":""}`},
		"list, filters": {"GET", "/v1/reviews?repo=acme%2Fshop&pr_number=7&status=in_progress&page_size=200&page_token=x", "", 200, `{"reviews":[],"next_page_token":""}`},
		"cancel": {"POST", "/v1/reviews/rev_1:cancel", "", 200, `{"review_id":"rev_1","status":"canceled","pr_number":0,"repo":"","findings":[],"completed_at":"2026-11-20T09:30:00Z",
			"summary":{"critical":0,"high":0,"medium":0,"warning":0,"low":0,"info":0},"ruleset":"","created_at":"2026-11-20T09:30:00Z","skipped":[],"truncated":false}`},
		"rulesets": {"GET", "/v1/rules", "", 200, `{"rulesets":[{"id":"ruleset_default","name":"default","rule_count":120,"scope":"org"},
			{"id":"ruleset_acme/shop","name":"acme/shop","rule_count":0,"scope":"repo"}]}`},
		"rules of a ruleset": {"GET", "/v1/rulesets/default/rules", "", 200, `{"rules":[]}`},
		"get rule": {"GET", "/v1/rules/no-print", "", 200, `{"id":"no-print","type":"regex","pattern":"x","message":"m","severity":"warning","scope":"org",
			"multiline":false,"redact":false,"references":[],"created_at":"2026-11-20T09:30:00Z"}`},
		"test rule": {"POST", "/v1/rules:test", `{"pattern":"x","text":"axb"}`, 200, `{"hits":[{"line":1,"column":2,"end_line":1,"end_column":5}],"truncated":true}`},
		"open API":  {"GET", "/openapi.json", "", 200, `{"openapi":"3.0.0"}`},
		"alive":     {"GET", "/healthz", "", 200, `{"status":"ok"}`},
		"ready":     {"GET", "/readyz", "", 200, `{"status":"ready"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.Do(t, tc.method, tc.path, tc.body, auth)
			assert.Equal(t, tc.status, a.Status, a.Body)
			assert.JSONEq(t, tc.want, a.Body)
			assert.Equal(t, "application/json", a.Header.Get("Content-Type"))
		})
	}
}

func TestDeleteAnswersNothing(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	for _, path := range []string{"/v1/rules/security/no-eval", "/v1/rules/security%2Fno-eval"} {
		create := strings.Replace(ruleBody, "no-print", "security/no-eval", 1)
		require.Equal(t, 201, b.Do(t, "POST", "/v1/rules", create, auth).Status)
		a := b.Do(t, "DELETE", path, "", auth)
		assert.Equal(t, 204, a.Status)
		assert.Empty(t, a.Body)
		assert.Empty(t, a.Header.Get("Content-Type"))
		assert.NotEmpty(t, a.Header.Get("X-RateLimit-Remaining"))
		a = b.Do(t, "DELETE", path, "", auth)
		assert.Equal(t, 404, a.Status)
		assert.Equal(t, errs.ReasonRuleNotFound, a.Reason())
	}
}

func TestKeysOverREST(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	a := b.Do(t, "POST", "/v1/keys", `{"name":"ci","scopes":["rules:read"],"expires_at":"2999-01-01T00:00:00Z"}`, auth)
	require.Equal(t, 201, a.Status, a.Body)
	token, _ := a.JSON["token"].(string)
	assert.True(t, admission.WellFormed(token))
	assert.Equal(t, "2999-01-01T00:00:00Z", a.JSON["expires_at"])
	list := b.Do(t, "GET", "/v1/keys", "", auth)
	assert.Equal(t, 200, list.Status)
	assert.NotContains(t, list.Body, "token")
	assert.Contains(t, list.Body, a.JSON["key_id"])

	theirs := transporttest.Bearer(token)
	assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", theirs).Status)
	forbidden := b.Do(t, "GET", "/v1/keys", "", theirs)
	assert.Equal(t, 403, forbidden.Status)
	assert.Equal(t, errs.ReasonScopeMissing, forbidden.Reason())
	assert.Equal(t, 403, b.Do(t, "POST", "/v1/reviews", `{"nonsense`, theirs).Status, "a scope is missing before a body is wrong")

	keyID, _ := a.JSON["key_id"].(string)
	assert.Equal(t, 204, b.Do(t, "DELETE", "/v1/keys/"+keyID, "", auth).Status)
	revoked := b.Do(t, "GET", "/v1/rules", "", theirs)
	assert.Equal(t, 401, revoked.Status, "revoked at once")
	assert.Equal(t, errs.ReasonKeyRevoked, revoked.Reason())
	assert.Equal(t, 404, b.Do(t, "DELETE", "/v1/keys/"+keyID, "", auth).Status)
	assert.NotContains(t, b.Logs.String(), token)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	big := `{"pattern":"x","text":"` + strings.Repeat("x", 1<<20) + `"}`
	tests := map[string]struct {
		method, path, body string
		headers            []string
		status             int
		reason             string
		fields             []string
	}{
		"unknown route":           {"GET", "/v1/nothing", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"root":                    {"GET", "/", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"trailing slash":          {"GET", "/v1/reviews/", "", nil, 404, "REVIEW_NOT_FOUND", nil},
		"double slash":            {"GET", "/v1//rules", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"dots":                    {"GET", "/v1/x/../rules", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"verb without id":         {"POST", "/v1/reviews/:cancel", "", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"unknown verb":            {"POST", "/v1/reviews/rev_1:explode", "", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"method":                  {"PUT", "/v1/rules", "{}", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"odd method":              {"FROB", "/v1/rules", "", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"method of a document":    {"POST", "/openapi.json", "", nil, 405, "METHOD_NOT_ALLOWED", nil},
		"HEAD of a stream":        {"HEAD", "/v1/reviews/rev_1:watch", "", nil, 405, "", nil},
		"method override":         {"POST", "/v1/rules/no-print", "", []string{"X-HTTP-Method-Override: DELETE"}, 405, "METHOD_NOT_ALLOWED", nil},
		"form as GET":             {"POST", "/v1/keys/key_1", "a=b", []string{"Content-Type: application/x-www-form-urlencoded"}, 405, "METHOD_NOT_ALLOWED", nil},
		"id of wrong shape":       {"GET", "/v1/reviews/nonsense", "", nil, 404, "REVIEW_NOT_FOUND", nil},
		"id that is not UTF-8":    {"GET", "/v1/rules/%ff", "", nil, 404, "RULE_NOT_FOUND", nil},
		"id with NUL":             {"GET", "/v1/rules/a%00b", "", nil, 404, "RULE_NOT_FOUND", nil},
		"empty rule id":           {"GET", "/v1/rules/", "", nil, 404, "RULE_NOT_FOUND", nil},
		"slash in a review id":    {"GET", "/v1/reviews/a%2Fb", "", nil, 404, "ROUTE_NOT_FOUND", nil},
		"cancel nonsense":         {"POST", "/v1/reviews/x:cancel", "", nil, 404, "REVIEW_NOT_FOUND", nil},
		"watch nonsense":          {"GET", "/v1/reviews/x:watch", "", nil, 404, "REVIEW_NOT_FOUND", nil},
		"no content type":         {"POST", "/v1/rules", ruleBody, []string{"Content-Type: "}, 415, "UNSUPPORTED_MEDIA_TYPE", nil},
		"other content type":      {"POST", "/v1/rules", ruleBody, []string{"Content-Type: text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE", nil},
		"other charset":           {"POST", "/v1/rules", ruleBody, []string{"Content-Type: application/json; charset=latin1"}, 415, "UNSUPPORTED_MEDIA_TYPE", nil},
		"compressed":              {"POST", "/v1/rules", ruleBody, []string{"Content-Encoding: gzip"}, 415, "UNSUPPORTED_MEDIA_TYPE", nil},
		"too large":               {"POST", "/v1/rules:test", big, nil, 413, "BODY_TOO_LARGE", nil},
		"malformed":               {"POST", "/v1/rules", "{", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"trailing":                {"POST", "/v1/rules", ruleBody + "x", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"no body":                 {"POST", "/v1/reviews", "", nil, 400, "INVALID_ARGUMENT", []string{"repo", "pr_number"}},
		"unknown field":           {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1,"x":1}`, nil, 400, "INVALID_ARGUMENT", []string{"x"}},
		"string for a number":     {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":"1"}`, nil, 400, "INVALID_ARGUMENT", []string{"pr_number"}},
		"constraint":              {"POST", "/v1/reviews", `{"repo":"a","pr_number":0}`, nil, 400, "INVALID_ARGUMENT", []string{"repo", "pr_number"}},
		"rule constraint":         {"POST", "/v1/rules", ruleBody[:len(ruleBody)-1] + `,"paths":{"include":[""]}}`, nil, 400, "INVALID_ARGUMENT", []string{"paths.include[0]"}},
		"bound field":             {"POST", "/v1/reviews/rev_1:cancel", `{"review_id":"rev_2"}`, nil, 400, "INVALID_ARGUMENT", []string{"review_id"}},
		"body of a GET":           {"GET", "/v1/rules", "{}", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"body of a DELETE":        {"DELETE", "/v1/rules/x", "{}", nil, 400, "INVALID_ARGUMENT", []string{"body"}},
		"unknown parameter":       {"GET", "/v1/reviews?branch=x", "", nil, 400, "INVALID_ARGUMENT", []string{"branch"}},
		"camelCase parameter":     {"GET", "/v1/reviews?prNumber=1", "", nil, 400, "INVALID_ARGUMENT", []string{"prNumber"}},
		"repeated parameter":      {"GET", "/v1/reviews?repo=a/b&repo=a/b", "", nil, 400, "INVALID_ARGUMENT", []string{"repo"}},
		"empty parameter":         {"GET", "/v1/reviews?repo=", "", nil, 400, "INVALID_ARGUMENT", []string{"repo"}},
		"parameter without value": {"GET", "/v1/reviews?page_token", "", nil, 400, "INVALID_ARGUMENT", []string{"page_token"}},
		"number":                  {"GET", "/v1/reviews?pr_number=0x10", "", nil, 400, "INVALID_ARGUMENT", []string{"pr_number"}},
		"large number":            {"GET", "/v1/reviews?pr_number=2147483648", "", nil, 400, "INVALID_ARGUMENT", []string{"pr_number"}},
		"out of range":            {"GET", "/v1/reviews?page_size=201&pr_number=0", "", nil, 400, "INVALID_ARGUMENT", []string{"page_size", "pr_number"}},
		"enum number":             {"GET", "/v1/reviews?status=1", "", nil, 400, "INVALID_ARGUMENT", []string{"status"}},
		"unspecified":             {"GET", "/v1/reviews?status=unspecified", "", nil, 400, "INVALID_ARGUMENT", []string{"status"}},
		"parameter, not UTF-8":    {"GET", "/v1/reviews?page_token=%ff", "", nil, 400, "INVALID_ARGUMENT", []string{"page_token"}},
		"bad escape":              {"GET", "/v1/reviews?repo=%zz", "", nil, 400, "INVALID_ARGUMENT", []string{"query"}},
		"semicolon":               {"GET", "/v1/reviews?repo=a/b;x=y", "", nil, 400, "INVALID_ARGUMENT", []string{"query"}},
		"parameter of a GET":      {"GET", "/v1/rules?x=1", "", nil, 400, "INVALID_ARGUMENT", []string{"x"}},
		"bound parameter":         {"GET", "/v1/rules/x?id=y", "", nil, 400, "INVALID_ARGUMENT", []string{"id"}},
		"parameter of a POST":     {"POST", "/v1/reviews?repo=a/b", `{"repo":"a/b","pr_number":1}`, nil, 400, "INVALID_ARGUMENT", []string{"repo"}},
		"parameter of a DELETE":   {"DELETE", "/v1/rules/x?force=1", "", nil, 400, "INVALID_ARGUMENT", []string{"force"}},
		"idempotency key":         {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: a b"}, 400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"idempotency key, bytes":  {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: é"}, 400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"idempotency key, empty":  {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: "}, 400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"idempotency key, long":   {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: " + strings.Repeat("x", 256)}, 400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"idempotency key, twice":  {"POST", "/v1/reviews", `{"repo":"a/b","pr_number":1}`, []string{"Idempotency-Key: a", "Idempotency-Key: b"}, 400, "INVALID_ARGUMENT", []string{"Idempotency-Key"}},
		"no key":                  {"GET", "/v1/rules", "", []string{"Authorization: "}, 401, "KEY_INVALID", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.Do(t, tc.method, tc.path, tc.body, append([]string{auth}, tc.headers...)...)
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

// assertCommonHeaders checks what every response but those for health bears.
func assertCommonHeaders(t *testing.T, a transporttest.Answer) {
	t.Helper()
	for _, h := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		values := a.Header.Values(h)
		if assert.Len(t, values, 1, h) {
			_, err := strconv.Atoi(values[0])
			assert.NoError(t, err, h)
		}
	}
	assert.Len(t, a.Header.Values("X-Request-Id"), 1)
	assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	for h := range a.Header {
		assert.False(t, strings.HasPrefix(h, "Grpc-"), "%s leaks", h)
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	for path, want := range map[string]string{
		"/v1/reviews":              "GET, HEAD, POST, OPTIONS",
		"/v1/reviews/rev_1":        "GET, HEAD, OPTIONS",
		"/v1/reviews/rev_1:watch":  "GET, OPTIONS",
		"/v1/reviews/rev_1:cancel": "GET, HEAD, POST, OPTIONS", // GET takes it for an identifier
		"/v1/rules":                "GET, HEAD, POST, OPTIONS",
		"/v1/rules/a/b":            "DELETE, GET, HEAD, OPTIONS",
		"/v1/keys/key_1":           "DELETE, OPTIONS",
		"/healthz":                 "GET, HEAD",
	} {
		a := b.Do(t, "PATCH", path, "", auth)
		assert.Equal(t, 405, a.Status, path)
		assert.Equal(t, want, a.Header.Get("Allow"), path)
		if path == "/healthz" {
			continue
		}
		o := b.Do(t, "OPTIONS", path, "", auth)
		assert.Equal(t, 204, o.Status, path)
		assert.Equal(t, a.Header.Get("Allow"), o.Header.Get("Allow"), path)
		assert.Empty(t, o.Body)
		assertCommonHeaders(t, o)
	}
	assert.Equal(t, 404, b.Do(t, "OPTIONS", "/v1/nothing", "", auth).Status)
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	a := b.Do(t, "HEAD", "/v1/reviews/rev_1", "", auth)
	assert.Equal(t, 200, a.Status)
	assert.Empty(t, a.Body)
	assert.Equal(t, "application/json", a.Header.Get("Content-Type"))
	assertCommonHeaders(t, a)
}

func TestSlashesInPaths(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	tests := map[string]string{
		"/v1/rules/security/no-eval":          "security/no-eval",
		"/v1/rules/security%2Fno-eval":        "security/no-eval",
		"/v1/rules/security%2fno-eval":        "security/no-eval",
		"/v1/rules/security%252Fno-eval":      "security%2Fno-eval",
		"/v1/rules/a/b/c":                     "a/b/c",
		"/v1/rules/a:b":                       "a:b",
		"/v1/rules/%20":                       " ",
		"/v1/rulesets/acme/shop/rules":        "acme/shop",
		"/v1/rulesets/acme%2Fshop/rules":      "acme/shop",
		"/v1/rulesets/acme%252Fshop/rules":    "acme%2Fshop",
		"/v1/rulesets/acme/rules/rules":       "acme/rules",
		"/v1/rulesets/default/rules":          "default",
		"/v1/rules/x//y":                      "x//y",
		"/v1/rules/../../etc":                 "../../etc",
		"/v1/rules/%2e%2e%2f":                 "../",
		"/v1/rules/plus+is+no+space":          "plus+is+no+space",
		"/v1/rules/" + strings.Repeat("x", 9): strings.Repeat("x", 9),
	}
	for path, want := range tests {
		a := sendRaw(t, b, path, auth)
		assert.Contains(t, []int{200, 404}, a.Status, path)
		require.NotEmpty(t, b.Rules.Asked, path)
		assert.Equal(t, want, b.Rules.Asked[len(b.Rules.Asked)-1], path)
	}
}

// sendRaw sends a path as it is: clients clean what they parse.
func sendRaw(t *testing.T, b *transporttest.Bundle, path, auth string) transporttest.Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL, nil)
	require.NoError(t, err)
	req.URL.Opaque = path
	name, value, _ := strings.Cut(auth, ": ")
	req.Header.Set(name, value)
	return transporttest.Send(t, req)
}

func TestHeadersCrossByNameOnly(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	var got review.CreateInput
	b.Reviews.CreateFunc = func(_ string, in review.CreateInput) (review.Accepted, error) {
		got = in
		return review.Accepted{ReviewID: "rev_1"}, nil
	}
	body := `{"repo":"a/b","pr_number":1,"ruleset":"custom"}`
	a := b.Do(t, "POST", "/v1/reviews", body, auth, "Idempotency-Key: k-1", "Grpc-Timeout: 1n", "X-Request-Id: abc",
		"Grpc-Metadata-Idempotency-Key: other", "TE: trailers", "Accept: text/html", "Content-Type: application/json; charset=UTF-8")
	require.Equal(t, 202, a.Status, a.Body)
	assert.Equal(t, review.CreateInput{Repo: "a/b", PRNumber: 1, Ruleset: "custom", IdempotencyKey: "k-1"}, got)
	assert.Equal(t, "abc", a.Header.Get("X-Request-Id"))
	assertCommonHeaders(t, a)

	lines := b.Logs.Lines("request")
	require.Len(t, lines, 1, "a line for each request")
	assert.Equal(t, "abc", lines[0]["request_id"])
	assert.Equal(t, "/v1/reviews", lines[0]["route"])
	assert.InDelta(t, 202, lines[0]["status"], 0)
	assert.Equal(t, "acme", lines[0]["organization"])
	calls := b.Logs.Lines("call")
	require.Len(t, calls, 1)
	assert.Equal(t, "abc", calls[0]["request_id"], "the same identifier inside")
	assert.Equal(t, lines[0]["key_id"], calls[0]["key_id"])
	assert.Equal(t, lines[0]["peer"], calls[0]["peer"])

	b.Do(t, "POST", "/v1/reviews", body, auth, "Grpc-Metadata-Idempotency-Key: other")
	assert.Empty(t, got.IdempotencyKey)
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	fill := func(n int) string {
		head, tail := `{"pattern":"x","text":"`, `"}`
		text := min(n-len(head)-len(tail), 524288)
		body := head + strings.Repeat("x", text) + tail
		return body + strings.Repeat(" ", n-len(body))
	}
	assert.Equal(t, 200, b.Do(t, "POST", "/v1/rules:test", fill(1<<20), auth).Status, "exactly 1 MiB")
	assert.Equal(t, 413, b.Do(t, "POST", "/v1/rules:test", fill(1<<20+1), auth).Status)
	for name, length := range map[string]int64{"chunked": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL+"/v1/rules:test", struct{ *strings.Reader }{strings.NewReader(fill(1<<20 + 1))})
			require.NoError(t, err)
			req.ContentLength = length
			n, v, _ := strings.Cut(auth, ": ")
			req.Header.Set(n, v)
			req.Header.Set("Content-Type", "application/json")
			a := transporttest.Send(t, req)
			assert.Equal(t, 413, a.Status)
			assert.Equal(t, errs.ReasonBodyTooLarge, a.Reason())
			assertCommonHeaders(t, a)
		})
	}
	long := b.Do(t, "POST", "/v1/rules:test", `{"pattern":"x","text":"`+strings.Repeat("x", 524289)+`"}`, auth)
	assert.Equal(t, 400, long.Status)
	assert.Equal(t, map[string]string{"text": "must have at most 524288 bytes; it has 524289"}, long.Violations())
}

func TestBodyThatEndsEarly(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.URL, "http://"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	_, err = fmt.Fprintf(conn, "POST /v1/reviews HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"repo\":", auth)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { assert.NoError(t, resp.Body.Close()) }()
	assert.Equal(t, 400, resp.StatusCode)
	assert.NotEmpty(t, resp.Header.Get("X-RateLimit-Remaining"))
}

func TestErrorsOfTheDomain(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
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
		a := b.Do(t, "GET", "/v1/reviews/rev_1", "", auth)
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
	a := b.Do(t, "GET", "/v1/reviews/rev_1", "", auth)
	assert.Equal(t, 500, a.Status)
	assert.Equal(t, errs.ReasonInternal, a.Reason())
	assertCommonHeaders(t, a)
}

func TestGoldenErrors(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	tests := map[string]struct {
		method, path, body string
		want               string
	}{
		"two fields": {"POST", "/v1/reviews", `{"repo":1}`, `{"code":3,
			"message":"repo: must be a string, not a number (and 1 more, see details)",
			"details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_ARGUMENT","domain":"prwarden"},
				{"@type":"type.googleapis.com/google.rpc.BadRequest","field_violations":[
					{"field":"repo","description":"must be a string, not a number"},
					{"field":"pr_number","description":"is required: an integer from -2147483648 to 2147483647, written as a number"}]}]}`},
		"unknown type": {"POST", "/v1/rules", strings.Replace(ruleBody, "regex", "ast", 1), `{"code":3,
			"message":"type: must be ` + "`regex`" + `, not \"ast\"",
			"details":[
				{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_ARGUMENT","domain":"prwarden"},
				{"@type":"type.googleapis.com/google.rpc.BadRequest","field_violations":[{"field":"type","description":"must be ` + "`regex`" + `, not \"ast\""}]}]}`},
		"route": {"GET", "/v2", "", `{"code":5,"message":"There is nothing at this path; GET /openapi.json lists what there is.",
			"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"ROUTE_NOT_FOUND","domain":"prwarden"}]}`},
		"method": {"DELETE", "/v1/reviews", "", `{"code":12,"message":"This path takes GET, HEAD, POST, OPTIONS only.",
			"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"METHOD_NOT_ALLOWED","domain":"prwarden"}]}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.JSONEq(t, tc.want, b.Do(t, tc.method, tc.path, tc.body, auth).Body)
		})
	}
	_, reader := b.Key(t, admission.RulesRead)
	assert.JSONEq(t, `{"code":7,"message":"This needs a key with the scope rules:write; yours has rules:read.",
		"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SCOPE_MISSING","domain":"prwarden","metadata":{"scope":"rules:write"}}]}`,
		b.Do(t, "POST", "/v1/rules", ruleBody, transporttest.Bearer(reader)).Body)
	assert.JSONEq(t, `{"code":16,"message":"This needs an API key. Send it in the header `+"`Authorization: Bearer <API key>`"+`.",
		"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"KEY_MISSING","domain":"prwarden"}]}`,
		b.Do(t, "GET", "/v1/rules", "").Body)
}

func TestEveryRequestIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := transporttest.Start(t, transporttest.Options{Limit: 20})
	_, token := b.Key(t)
	auth := transporttest.Bearer(token)
	requests := []struct{ method, path, body string }{
		{"GET", "/v1/rules", ""}, {"GET", "/v1/nothing", ""}, {"PUT", "/v1/rules", ""}, {"POST", "/v1/rules", "{"},
		{"OPTIONS", "/v1/rules", ""}, {"HEAD", "/v1/rules", ""}, {"GET", "/openapi.json", ""}, {"GET", "/v1/rules/x", ""},
		{"GET", "/v1/reviews/x:watch", ""}, {"DELETE", "/v1/rules/x", ""}, {"GET", "/v1/reviews?x=1", ""},
	}
	left := 20
	for _, r := range requests {
		left--
		a := b.Do(t, r.method, r.path, r.body, auth)
		assert.Equal(t, strconv.Itoa(left), a.Header.Get("X-RateLimit-Remaining"), "%s %s", r.method, r.path)
		assert.Equal(t, "20", a.Header.Get("X-RateLimit-Limit"))
	}
	for range left {
		require.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", auth).Status)
	}
	for _, r := range requests {
		a := b.Do(t, r.method, r.path, r.body, auth)
		assert.Equal(t, 429, a.Status, "%s %s", r.method, r.path)
		wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
		require.NoError(t, err)
		assert.InDelta(t, 55, wait, 6)
		assertCommonHeaders(t, a)
	}
	for range 30 {
		health := b.Do(t, "GET", "/healthz", "")
		assert.Equal(t, 200, health.Status)
		assert.Empty(t, health.Header.Get("X-RateLimit-Limit"))
	}
}

func TestRequestsWithoutAKeyCountAgainstTheAddress(t *testing.T) {
	t.Parallel()
	b := transporttest.Start(t, transporttest.Options{Limit: 2, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	from := func(addr, path string) transporttest.Answer {
		return b.Do(t, "GET", path, "", "X-Forwarded-For: "+addr)
	}
	assert.Equal(t, 401, from("192.0.2.1", "/v1/rules").Status)
	assert.Equal(t, 200, from("192.0.2.1", "/openapi.json").Status, "needs no key")
	assert.Equal(t, 429, from("192.0.2.1", "/v1/rules").Status)
	assert.Equal(t, 429, from("192.0.2.1", "/openapi.json").Status, "but is counted")
	assert.Equal(t, 401, from("192.0.2.2", "/v1/nothing").Status, "and strangers learn no routes")
	_, token := b.Key(t)
	assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", "X-Forwarded-For: 192.0.2.1", transporttest.Bearer(token)).Status)
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	b, _ := start(t)
	b.SetReady(errors.New("secret"))
	a := b.Do(t, "GET", "/readyz", "")
	assert.Equal(t, 503, a.Status)
	assert.NotContains(t, a.Body, "secret")
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.Equal(t, 200, b.Do(t, "GET", "/healthz", "").Status)
}

func TestKeysAway(t *testing.T) {
	t.Parallel()
	b, _ := start(t)
	b.SetKeysDown(errs.New(errs.Unavailable, errs.ReasonUnavailable, "The database is away."))
	a := b.Do(t, "GET", "/v1/rules", "", transporttest.Bearer(admission.NewToken()))
	assert.Equal(t, 503, a.Status)
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assertCommonHeaders(t, a)
}

func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	finding := review.Finding{RuleID: "a/b", Severity: rule.High, File: "x", Line: 1, Message: strings.Repeat("m", 800), Snippet: strings.Repeat("s", 500)}
	many := make([]review.Finding, review.MaxFindings)
	for i := range many {
		many[i] = finding
	}
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) { return review.Review{ID: id, Findings: many}, nil }
	a := b.Do(t, "GET", "/v1/reviews/rev_1", "", auth)
	require.Equal(t, 200, a.Status)
	assert.Greater(t, len(a.Body), 13<<20)
	var out struct {
		Findings []json.RawMessage `json:"findings"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.Body), &out))
	assert.Len(t, out.Findings, review.MaxFindings)
}
