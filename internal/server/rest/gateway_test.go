package rest_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

const ruleBody = `{"id":"no-print","type":"regex","pattern":"frobnicate","message":"m","severity":"warning"}`

// start starts a transport over reviews that exist and a key with all scopes.
func start(t *testing.T) (*servertest.Bundle, string) {
	t.Helper()
	b := servertest.Start(t, servertest.Options{})
	b.Reviews.CreateFunc = func(string, review.CreateInput) (review.Accepted, error) {
		return review.Accepted{ReviewID: "rev_1", EstimatedMS: 4200, ScannerAvailable: true}, nil
	}

	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Queued, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop",
			CreatedAt: servertest.Epoch}, nil
	}

	b.Reviews.CancelFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Canceled, CreatedAt: servertest.Epoch, CompletedAt: servertest.Epoch}, nil
	}

	_, token := b.Key(t)
	return b, servertest.Bearer(token)
}

func TestSuccess(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	require.Equal(t, 201, b.Do(t, "POST", "/v1/rules", ruleBody, header).Status)
	tests := map[string]struct {
		method, path, body string
		status             int
		want               string // JSON; "" for an empty body
	}{
		"create review": {"POST", "/v1/reviews", `{"repo":"acme/shop","pr_number":7}`, 202,
			`{"review_id":"rev_1","status":"queued","estimated_ms":4200}`},
		"get review": {"GET", "/v1/reviews/rev_1", "", 200,
			`{"review_id":"rev_1","status":"queued","pr_number":7,"repo":"acme/shop","findings":[],
			"summary":{"critical":0,"high":0,"medium":0,"warning":0,"low":0,"info":0},"ruleset":"acme/shop",
			"created_at":"2026-11-20T09:30:00Z","skipped":[],"truncated":false,"priority":"normal","created_by":"",
			"suppressed":[],"fixed":[],"observed":[],"switched_off":[]}`},
		"list reviews": {"GET", "/v1/reviews", "", 200, `{"reviews":[],"next_page_token":""}`},
		"list, filters": {"GET", "/v1/reviews?repo=acme%2Fshop&pr_number=7&status=in_progress&page_size=200&page_token=x", "",
			200, `{"reviews":[],"next_page_token":""}`},
		"cancel": {"POST", "/v1/reviews/rev_1:cancel", "", 200,
			`{"review_id":"rev_1","status":"canceled","pr_number":0,"repo":"","findings":[],
			"completed_at":"2026-11-20T09:30:00Z",
			"summary":{"critical":0,"high":0,"medium":0,"warning":0,"low":0,"info":0},"ruleset":"",
			"created_at":"2026-11-20T09:30:00Z","skipped":[],"truncated":false,"priority":"normal","created_by":"",
			"suppressed":[],"fixed":[],"observed":[],"switched_off":[]}`},
		"rulesets": {"GET", "/v1/rules", "", 200,
			`{"rulesets":[{"id":"ruleset_default","name":"default","rule_count":120,"scope":"org"},
			{"id":"ruleset_acme/shop","name":"acme/shop","rule_count":0,"scope":"repo"}]}`},
		"rules of a ruleset": {"GET", "/v1/rulesets/default/rules", "", 200, `{"rules":[]}`},
		"get rule": {"GET", "/v1/rules/no-print", "", 200,
			`{"id":"no-print","type":"regex","pattern":"frobnicate","message":"m","severity":"warning","scope":"org",
			"multiline":false,"redact":false,"references":[],"created_at":"2026-11-20T09:30:00Z",
			"enabled":true,"mode":"enforce","etag":"e1","languages":[],"in":[],"skip":[],"allow":[],"stopwords":[],"supersedes":[],"confidence":"medium",
			"any":[],"all":[],"depth":"","where":{},"focus":"","sources":[],"sinks":[],"sanitizers":[],"words":{},
			"matching_cost":{"microseconds_per_mib":1,"weak":false},"feedback":{"since":"2026-10-22","until":"2026-11-20",
			"found":0,"decided":0,"false_positives":0}}`},
		"test rule": {"POST", "/v1/rules:test", `{"pattern":"frobnicate","text":"x"}`, 200,
			`{"hits":[{"line":1,"column":2,"end_line":1,"end_column":5}],"truncated":true,
			"matching_cost":{"microseconds_per_mib":1,"weak":false}}`},
		"open API": {"GET", "/openapi.json", "", 200, string(servertest.Document())},
		"alive":    {"GET", "/healthz", "", 200, `{"status":"ok"}`},
		"ready":    {"GET", "/readyz", "", 200, `{"status":"ready"}`},
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.Do(t, tc.method, tc.path, tc.body, header)
			assert.Equal(t, tc.status, a.Status, a.Body)
			assert.JSONEq(t, tc.want, a.Body)
			assert.Equal(t, "application/json", a.Header.Get("Content-Type"))
		})
	}
}

func TestSarif(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	queued := b.Do(t, "GET", "/v1/reviews/rev_1/sarif", "", header)
	assert.Equal(t, 409, queued.Status, queued.Body)
	assert.Equal(t, errs.ReasonReviewNotComplete, queued.Reason())
	assert.Equal(t, "application/json", queued.Header.Get("Content-Type"))

	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		return review.Review{
			ID: id, Status: review.Complete, Repo: "acme/shop", PRNumber: 7, Ruleset: "acme/shop", CreatedAt: servertest.Epoch,
			Findings: []finding.Finding{{RuleID: "custom/r", Severity: rule.High, File: "a.go", Line: 3, EndLine: 3,
				Message: "reported"}},
			Suppressed: []finding.Finding{{RuleID: "custom/r", Severity: rule.High, File: "b.go", Line: 4, EndLine: 4,
				Message: "hushed", Suppression: &finding.Suppression{Line: 4}}},
		}, nil
	}

	for query, results := range map[string]int{"": 2, "?suppressed=include": 2, "?suppressed=omit": 1} {
		a := b.Do(t, "GET", "/v1/reviews/rev_1/sarif"+query, "", header)
		require.Equal(t, 200, a.Status, a.Body)
		assert.Equal(t, "application/sarif+json", a.Header.Get("Content-Type"))
		assertCommonHeaders(t, a)
		var log struct {
			Version string
			Runs    []struct{ Results []any }
		}

		require.NoError(t, json.Unmarshal([]byte(a.Body), &log))
		assert.Equal(t, "2.1.0", log.Version)
		require.Len(t, log.Runs, 1)
		assert.Len(t, log.Runs[0].Results, results, query)
	}

	head := b.Do(t, "HEAD", "/v1/reviews/rev_1/sarif", "", header)
	assert.Equal(t, 200, head.Status)
	assert.Empty(t, head.Body)
	for _, query := range []string{"?suppressed=unspecified", "?suppressed=no", "?x=1",
		"?suppressed=omit&suppressed=omit"} {
		assert.Equal(t, 400, b.Do(t, "GET", "/v1/reviews/rev_1/sarif"+query, "", header).Status, query)
	}

	assert.Equal(t, 405, b.Do(t, "POST", "/v1/reviews/rev_1/sarif", "{}", header).Status)
}

func TestFindings(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	b.Reviews.FindFunc = func(_ string, in review.FindingsInput) ([]finding.Finding, string, error) {
		assert.Equal(t, review.FindingsInput{
			ReviewID: "rev_1", Kind: finding.KindSuppressed, MinSeverity: rule.Medium, RuleID: "custom/r", File: "a b.go",
			State: finding.StateExisting, PageSize: 1000, PageToken: "x",
		}, in)
		return []finding.Finding{{RuleID: "custom/r", Severity: rule.High, File: "a.go", Line: 3, State: finding.StateNew}},
			"next", nil
	}

	query := "kind=suppressed&min_severity=medium&rule_id=custom%2Fr&file=a%20b.go&state=existing" +
		"&page_size=1000&page_token=x"
	a := b.Do(t, "GET", "/v1/reviews/rev_1/findings?"+query, "", header)
	require.Equal(t, 200, a.Status, a.Body)
	assert.JSONEq(t, `{"findings":[{"rule_id":"custom/r","severity":"high","file":"a.go","line":3,"message":"",
		"end_line":0,"column":0,"snippet":"",
		"fingerprint":"","state":"new","end_column":0,"utf16_column":0,"utf16_end_column":0,"steps":[]}],
		"next_page_token":"next"}`, a.Body)
	for _, query := range []string{
		"kind=unspecified", "kind=all", "min_severity=0", "min_severity=unspecified", "rule_id=A", "rule_id=a/b/c", "file=",
		"state=gone",
		"page_size=0", "page_size=1001", "page_size=-1", "page_size=x", "severity=high",
	} {
		a := b.Do(t, "GET", "/v1/reviews/rev_1/findings?"+query, "", header)
		assert.Equal(t, 400, a.Status, query)
		name, _, _ := strings.Cut(query, "=")
		assert.Contains(t, a.Body, `"field":"`+name+`"`, query)
	}
}

// assertCommonHeaders checks what every response but those for health bears.
func assertCommonHeaders(t *testing.T, a servertest.Answer) {
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

func TestSlashesInPaths(t *testing.T) {
	t.Parallel()
	b, header := start(t)
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
		a := sendRaw(t, b, path, header)
		assert.Contains(t, []int{200, 404}, a.Status, path)
		require.NotEmpty(t, b.Rules.Asked, path)
		assert.Equal(t, want, b.Rules.Asked[len(b.Rules.Asked)-1], path)
	}
}

// sendRaw sends a path as it is: clients clean what they parse.
func sendRaw(t *testing.T, b *servertest.Bundle, path, header string) servertest.Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL, nil)
	require.NoError(t, err)
	req.URL.Opaque = path
	name, value, _ := strings.Cut(header, ": ")
	req.Header.Set(name, value)
	return b.Send(t, req)
}

func TestHeadersCrossByNameOnly(t *testing.T) {
	t.Parallel()
	b, header := start(t)
	var got review.CreateInput
	b.Reviews.CreateFunc = func(_ string, in review.CreateInput) (review.Accepted, error) {
		got = in
		return review.Accepted{ReviewID: "rev_1"}, nil
	}

	body := `{"repo":"a/b","pr_number":1,"ruleset":"custom"}`
	a := b.Do(t, "POST", "/v1/reviews", body, header, "Idempotency-Key: k-1", "Grpc-Timeout: abc", "X-Request-Id: abc",
		"Grpc-Metadata-Idempotency-Key: other", "TE: trailers", "Accept: text/html",
		"Content-Type: application/json; charset=UTF-8")
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
	assert.Empty(t, b.Logs.Lines("call"), "that is the line of calls from the network")

	b.Do(t, "POST", "/v1/reviews", body, header, "Grpc-Metadata-Idempotency-Key: other")
	assert.Empty(t, got.IdempotencyKey)
}

// A review says where the check of a connection shows it, but only when it is read.
func TestCheckOfAReview(t *testing.T) {
	t.Parallel()
	const page = "https://github.com/acme/shop/pull/7/checks"
	b := servertest.Start(t, servertest.Options{CheckPage: page})
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		return review.Review{ID: id, Status: review.Complete, CreatedAt: servertest.Epoch}, nil
	}
	b.Reviews.CancelFunc = b.Reviews.GetFunc
	_, token := b.Key(t)
	a := b.Do(t, "GET", "/v1/reviews/rev_1", "", servertest.Bearer(token))
	require.Equal(t, 200, a.Status)
	assert.Contains(t, a.Body, `"check_url":"`+page+`"`)
	a = b.Do(t, "POST", "/v1/reviews/rev_1:cancel", "", servertest.Bearer(token))
	assert.NotContains(t, a.Body, "check_url")
}
