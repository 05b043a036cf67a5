package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/sariftest"
)

// shown is `file:line state` of each finding.
func shown(findings any) []string {
	out := []string{}
	for _, f := range list(findings) {
		f := f.(map[string]any)
		out = append(out, fmt.Sprintf("%s:%v %v", f["file"], f["line"], f["state"]))
	}
	return out
}

// start creates a review of pull request 1 of acme/api and returns it when it
// has ended.
func (c *client) start(t *testing.T, more map[string]any) map[string]any {
	t.Helper()
	body := map[string]any{"repo": "acme/api", "pr_number": 1}
	for name, value := range more {
		body[name] = value
	}
	a := c.do(t, "POST", "/v1/reviews", body)
	require.Equal(t, 202, a.status, a.body)
	return c.wait(t, a.decode(t)["review_id"].(string))
}

// TestWhatChangedSinceTheReviewBefore scans a pull request, has its author work
// on it, and scans it again.
func TestWhatChangedSinceTheReviewBefore(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	r := h.create(t, "acme/api", files{"a.txt": "one\n"})
	addRule(t, c, todoRule)
	first := r.commit("refs/pull/1/head", r.sha("refs/heads/main"), files{
		"a.txt": "one\nfrobnicate(1)\nfrobnicate(2)\n", "b.txt": "frobnicate(3)\nfrobnicate(4)\n",
	})

	before := c.start(t, map[string]any{"fail_on": "warning"})
	assert.Equal(t, []string{"a.txt:2 new", "a.txt:3 new", "b.txt:1 new", "b.txt:2 new"}, shown(before["findings"]))
	assert.Equal(t, map[string]any{"outcome": "fail", "threshold": "warning", "not_looked_at": 0.0}, before["verdict"])
	assert.NotContains(t, before, "previous_review_id")
	assert.Equal(t, []any{}, before["fixed"])
	assert.Equal(t, []any{}, before["suppressed"])

	// One moves, one is fixed, one is accepted, one comes; one stays.
	r.commit("refs/pull/1/head", first, files{
		"a.txt": "one\ntwo\nfrobnicate(1)\n",
		"b.txt": "frobnicate(3) # prwarden:ignore custom/no-frobnicate -- measured until " +
			nextMonth() + "\nfrobnicate(4)\nfrobnicate(5)\n",
	})

	after := c.start(t, nil)
	assert.Equal(t, before["review_id"], after["previous_review_id"])
	assert.Equal(t, []string{"a.txt:3 existing", "b.txt:2 existing", "b.txt:3 new"}, shown(after["findings"]))
	assert.Equal(t, []string{"a.txt:3 fixed"}, shown(after["fixed"]))
	for query, want := range map[string][]string{
		"kind=fixed": {"a.txt:3 fixed"}, "state=fixed": {"a.txt:3 fixed"}, "kind=fixed&state=fixed": {"a.txt:3 fixed"},
		"kind=reported&state=fixed": {}, "state=existing": {"a.txt:3 existing", "b.txt:2 existing"},
	} {
		a := c.do(t, "GET", "/v1/reviews/"+after["review_id"].(string)+"/findings?"+query, nil)
		require.Equal(t, 200, a.status, a.body)
		assert.Equal(t, want, shown(a.decode(t)["findings"]), query)
	}

	assert.Equal(t, map[string]any{"outcome": "pass", "threshold": "high", "not_looked_at": 0.0}, after["verdict"])
	assert.InDelta(t, 3, after["summary"].(map[string]any)["warning"], 0, "without what is suppressed")
	require.Len(t, after["suppressed"], 1)
	accepted := list(after["suppressed"])[0].(map[string]any)
	assert.Equal(t, map[string]any{"reason": "measured", "until": nextMonth(), "line": 1.0}, accepted["suppression"])
	assert.Equal(t, "b.txt", accepted["file"])

	// Nothing changes, over gRPC.
	rpc, ctx := s.services(t).reviews, metadata.NewOutgoingContext(t.Context(), with(t, c.token))
	created, err := rpc.CreateReview(ctx, &prwardenv1.CreateReviewRequest{
		Repo: "acme/api", PrNumber: 1, FailOn: prwardenv1.Severity_critical.Enum(),
	})

	require.NoError(t, err)
	c.wait(t, created.GetReviewId())
	got, err := rpc.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: created.GetReviewId()})
	require.NoError(t, err)
	again := got.GetReview()
	assert.Equal(t, after["review_id"], again.GetPreviousReviewId())
	for _, f := range append(again.GetFindings(), again.GetSuppressed()...) {
		assert.Equal(t, prwardenv1.Finding_existing, f.GetState())
	}
	assert.Empty(t, again.GetFixed())
	assert.Equal(t, prwardenv1.Verdict_pass, again.GetVerdict().GetOutcome())
	assert.Equal(t, prwardenv1.Severity_critical, again.GetVerdict().GetThreshold())
}

// TestRulesThatLeaveFindingsFixThem scans one head by the rules of three bases.
func TestRulesThatLeaveFindingsFixThem(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	r := h.create(t, "acme/api", files{"a.txt": "one\n"}).pull(1, files{
		"a.txt": "one\nfrobnicate(1)\n", "q.js": "eval(x)\n",
	})

	addRule(t, c, todoRule)
	before := c.start(t, nil)
	assert.Equal(t, []string{"a.txt:2 new", "q.js:1 new"}, shown(before["findings"]))
	for _, step := range []struct {
		rules           string
		findings, fixed []string
	}{
		{"disable: [security/no-eval]", []string{"a.txt:2 existing"}, []string{"q.js:1 fixed"}},
		{"disable: [security/no-eval]\nexclude: [a.txt]", []string{}, []string{"a.txt:2 fixed"}},
	} {
		r.commit("refs/heads/main", r.sha("refs/heads/main"), files{
			".prwarden/rules.yml": "version: 1\n" + step.rules + "\n",
		})

		after := c.start(t, nil)
		assert.Equal(t, before["head_sha"], after["head_sha"])
		assert.Equal(t, step.findings, shown(after["findings"]))
		assert.Equal(t, step.fixed, shown(after["fixed"]))
		assert.NotEqual(t, before["rules_digest"], after["rules_digest"])
		before = after
	}
}

// TestFindingsOfALongPath asks for the findings in a file by the longest path
// that a scan takes, which gets three times as long in a URL.
func TestFindingsOfALongPath(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	path := strings.Repeat(strings.Repeat("ü", 127)+"/", 16) + strings.Repeat("ü", 7) + ".c"
	require.Len(t, path, 4096)
	h.create(t, "acme/api", files{"a.txt": "one\n"}).pull(1, files{"a.txt": "frobnicate(0)\n", path: "frobnicate(1)\n"})
	addRule(t, c, todoRule)
	m := c.start(t, nil)
	require.Len(t, m["findings"], 2)
	for name, want := range map[string]int{path: 200, strings.Repeat("x", 4096): 200, strings.Repeat("x", 4097): 400} {
		a := c.do(t, "GET", "/v1/reviews/"+m["review_id"].(string)+"/findings?file="+url.QueryEscape(name), nil)
		require.Equal(t, want, a.status, a.body)
		if name == path {
			assert.Equal(t, []string{path + ":1 new"}, shown(a.decode(t)["findings"]))
		}
	}
}

// nextMonth is a day on which a suppression may end.
func nextMonth() string { return time.Now().AddDate(0, 1, 0).UTC().Format(time.DateOnly) }

// TestReasonsThatAreRequired has comments that don't say why, or until when.
func TestReasonsThatAreRequired(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	const comment = "# prwarden:ignore custom/no-frobnicate"
	h.create(t, "acme/api", files{"a.txt": "one\n"}).pull(1, files{
		"a.txt": "one\nfrobnicate(1) " + comment + "\nfrobnicate(2) " + comment + " -- measured\nfrobnicate(3) " + comment +
			" -- measured until " + nextMonth() + "\n",
	})

	addRule(t, c, todoRule)
	m := c.start(t, nil)
	assert.Len(t, m["suppressed"], 1)
	reported := map[string]int{}
	for _, f := range list(m["findings"]) {
		reported[f.(map[string]any)["rule_id"].(string)]++
	}
	assert.Equal(t, map[string]int{"custom/no-frobnicate": 2, "meta/suppression-refused": 2}, reported)
}

// TestAnyCommits scans commits that no pull request has.
func TestAnyCommits(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	r := h.create(t, "acme/api", files{"a.txt": "one\n"})
	addRule(t, c, todoRule)
	base := r.sha("refs/heads/main")
	head := r.commit("refs/heads/merge-queue/7", base, files{"q.txt": "frobnicate(1)\n"})
	r.commit("refs/heads/main", base, files{"m.txt": "frobnicate(9)\n"})

	for name, more := range map[string]map[string]any{
		"base_sha": {"head_sha": head, "base_sha": base}, "base_ref": {"head_sha": head, "base_ref": "main"},
	} {
		m := c.start(t, more)
		assert.Equal(t, "complete", m["status"], "%s: %v", name, m["error"])
		assert.Equal(t, []string{"q.txt:1"}, []string{strings.Fields(shown(m["findings"])[0])[0]}, name)
		assert.Equal(t, head, m["head_sha"])
		if name == "base_ref" {
			assert.Equal(t, "main", m["base_ref"])
			assert.Equal(t, r.sha("refs/heads/main"), m["base_sha"])
		} else {
			assert.NotContains(t, m, "base_ref")
			assert.Equal(t, base, m["base_sha"])
		}
	}

	sha := strings.Repeat("a", 40)
	for body, field := range map[string]string{
		`"head_sha": "` + sha + `"`:                                    "head_sha",
		`"head_sha": "` + sha + `", "base_ref": "--upload-pack=touch"`: "base_ref",
		`"head_sha": "` + sha + `", "base_ref": ""`:                    "base_ref",
		`"fail_on": "unspecified"`:                                     "fail_on",
	} {
		a := c.do(t, "POST", "/v1/reviews", json.RawMessage(`{"repo": "acme/api", "pr_number": 1, `+body+`}`))
		assert.Equal(t, 400, a.status, body)
		assert.Contains(t, a.fields(t), field, body)
	}

	rpc, ctx := s.services(t).reviews, metadata.NewOutgoingContext(t.Context(), with(t, c.token))
	_, err := rpc.CreateReview(ctx, &prwardenv1.CreateReviewRequest{Repo: "acme/api", PrNumber: 1, HeadSha: &sha})
	assert.Equal(t, codes.InvalidArgument, status.Code(err))

	failed := c.start(t, map[string]any{"head_sha": sha, "base_ref": "main"})
	assert.Equal(t, "failed", failed["status"])
	assert.Equal(t, "commit_not_found", failed["error"].(map[string]any)["code"])
	assert.Equal(t, sha, failed["head_sha"])
	assert.NotContains(t, failed, "verdict")

	key := "merge-queue"
	queued := map[string]any{"repo": "acme/api", "pr_number": 1, "head_sha": head, "base_sha": base}
	one := c.do(t, "POST", "/v1/reviews", queued, "Idempotency-Key", key)
	require.Equal(t, 202, one.status)
	same := c.do(t, "POST", "/v1/reviews", queued, "Idempotency-Key", key)
	assert.Equal(t, one.body, same.body)
	delete(queued, "base_sha")
	queued["base_ref"] = "main"
	assert.Equal(t, "IDEMPOTENCY_CONFLICT", c.do(t, "POST", "/v1/reviews", queued, "Idempotency-Key", key).reason(t))
}

// TestFindingsInPagesAndAsSARIF reads one review in every way that there is.
func TestFindingsInPagesAndAsSARIF(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	var lines strings.Builder
	for i := range 250 {
		fmt.Fprintf(&lines, "frobnicate(%d)\n", i)
	}
	h.create(t, "acme/api", files{"a.txt": "one\n"}).pull(1, files{
		"many.txt": lines.String(), "z.txt": "frobnicate(0) # prwarden:ignore custom/no-frobnicate -- why until " + nextMonth() + "\n",
	})

	addRule(t, c, todoRule)
	waiting := c.do(t, "GET", "/v1/reviews/rev_none/sarif", nil)
	assert.Equal(t, 404, waiting.status)
	m := c.start(t, nil)
	id := m["review_id"].(string)

	var all []any
	pages := c.pages(t, "/v1/reviews/"+id+"/findings?page_size=100&min_severity=warning")
	for _, page := range pages {
		all = append(all, list(page["findings"])...)
	}
	assert.Len(t, pages, 3)
	token := url.QueryEscape(pages[0]["next_page_token"].(string))
	other := c.do(t, "GET", "/v1/reviews/"+id+"/findings?page_size=100&page_token="+token, nil)
	assert.Equal(t, 400, other.status, "a token belongs to its filters")
	assert.Contains(t, other.fields(t), "page_token")
	assert.Equal(t, m["findings"], any(all))
	hushed := c.do(t, "GET", "/v1/reviews/"+id+"/findings?kind=suppressed&file=z.txt&rule_id=no-frobnicate", nil).decode(t)
	assert.Equal(t, m["suppressed"], hushed["findings"])
	assert.Empty(t, list(c.do(t, "GET", "/v1/reviews/"+id+"/findings?kind=fixed", nil).decode(t)["findings"]))

	rpc, ctx := s.services(t).reviews, metadata.NewOutgoingContext(t.Context(), with(t, c.token))
	state := prwardenv1.Finding_new
	found, err := rpc.ListFindings(ctx, &prwardenv1.ListFindingsRequest{ReviewId: id, State: &state})
	require.NoError(t, err)
	assert.Len(t, found.GetFindings(), 100)
	body, err := rpc.GetSarif(ctx, &prwardenv1.GetSarifRequest{ReviewId: id})
	require.NoError(t, err)
	assert.Equal(t, "application/sarif+json", body.GetContentType())
	for path, results := range map[string]int{"/sarif": 251, "/sarif?suppressed=omit": 250} {
		a := c.do(t, "GET", "/v1/reviews/"+id+path, nil)
		require.Equal(t, 200, a.status, a.body)
		assert.Equal(t, "application/sarif+json", a.header.Get("Content-Type"))
		assert.NotEmpty(t, a.header.Get("X-RateLimit-Remaining"))
		log := sariftest.Valid(t, []byte(a.body))
		assert.Len(t, log.Runs[0].Results, results)
		if results == 251 {
			assert.Equal(t, a.body, string(body.GetData()), "the same over both protocols")
		}
	}

	readOnly := s.client(s.key(t, "acme", "--scopes", "reviews:write"))
	for _, path := range []string{"/findings", "/sarif"} {
		assert.Equal(t, "SCOPE_MISSING", readOnly.do(t, "GET", "/v1/reviews/"+id+path, nil).reason(t))
	}
	stranger := s.client(s.key(t, "acme"))
	assert.Equal(t, 200, stranger.do(t, "GET", "/v1/reviews/"+id+"/sarif", nil).status, "another key of the organization")
}
