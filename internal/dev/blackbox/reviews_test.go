package blackbox_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// todoRule fires on nothing that the default ruleset knows, so that tests see
// exactly the findings that they planted.
var todoRule = map[string]any{
	"id": "no-frobnicate", "type": "regex", "pattern": `frobnicate\(`,
	"message": "Call adjust instead.", "severity": "warning",
}

// planted makes a repository of which pull request 1 adds three calls.
func planted(t *testing.T, h *hosts, name string) *repository {
	t.Helper()
	return h.create(t, name, files{"a.txt": "one\nfrobnicate(0)\n", "b.txt": "x\n"}).
		pull(1, files{
			"a.txt": "one\nfrobnicate(0)\nfrobnicate(1)\n",
			"c.txt": "\tfrobnicate(2) frobnicate(3)\r\nok\r\nfrobnicate(4)",
			"b.txt": remove,
		})
}

func setup(t *testing.T) (*server, *client, *hosts) {
	t.Helper()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	return s, s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,rules:read,rules:write,keys:admin")), h
}

func addRule(t *testing.T, c *client, rule map[string]any) {
	t.Helper()
	a := c.do(t, "POST", "/v1/rules", rule)
	require.Equal(t, 201, a.status, a.body)
}

var (
	reviewID = regexp.MustCompile(`^rev_[a-z0-9]+$`)
	utc      = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	hex64    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

func keys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

func TestReviewEndToEnd(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	r := planted(t, h, "acme/api")
	addRule(t, c, todoRule)

	a := c.do(t, "POST", "/v1/reviews", map[string]any{"repo": "acme/api", "pr_number": 1})
	require.Equal(t, 202, a.status, a.body)
	created := a.decode(t)
	assert.ElementsMatch(t, []string{"review_id", "status", "estimated_ms"}, keys(created), "these and only these")
	assert.Equal(t, "queued", created["status"])
	assert.Regexp(t, reviewID, created["review_id"])
	assert.IsType(t, float64(0), created["estimated_ms"])
	assert.Positive(t, created["estimated_ms"])

	m := c.wait(t, created["review_id"].(string))
	assert.ElementsMatch(t, []string{
		"review_id", "status", "pr_number", "repo", "completed_at", "findings", "summary", "ruleset", "head_sha",
		"base_sha", "created_at", "started_at", "skipped", "truncated", "rules_digest", "suppressed", "fixed", "verdict",
		"base_found_by", "looked_at", "switched_off", "priority", "created_by", "observed", "open", "new_total",
		"fixed_total", "suppressed_total", "head_title", "head_author",
	}, keys(m))
	assert.Equal(t, "complete", m["status"])
	assert.Equal(t, "acme/api", m["repo"])
	assert.Equal(t, "acme/api", m["ruleset"])
	assert.InDelta(t, 1, m["pr_number"], 0)
	assert.Equal(t, r.sha("refs/pull/1/head"), m["head_sha"])
	assert.Equal(t, r.sha("refs/heads/main"), m["base_sha"])
	assert.Regexp(t, hex64, m["rules_digest"])
	assert.Equal(t, false, m["truncated"])
	for _, at := range []string{"created_at", "started_at", "completed_at"} {
		assert.Regexp(t, utc, m[at], at)
	}
	assert.Equal(t, []any{}, m["skipped"])
	assert.Equal(t, map[string]any{
		"critical": 0.0, "high": 0.0, "medium": 0.0, "warning": 3.0, "low": 0.0, "info": 0.0,
	}, m["summary"])

	var got []map[string]any
	for _, f := range list(m["findings"]) {
		f := f.(map[string]any)
		for _, hash := range []string{"fingerprint", "line_hash"} {
			assert.NotEmpty(t, f[hash])
			delete(f, hash)
		}
		got = append(got, f)
	}

	finding := func(file, snippet string, line, column, endLine float64) map[string]any {
		return map[string]any{
			"rule_id": "custom/no-frobnicate", "severity": "warning", "file": file, "line": line, "column": column,
			"end_line": endLine, "message": "Call adjust instead.", "snippet": snippet, "state": "new",
			"confidence": "medium", "steps": []any{},
			"end_column": column + 11, "utf16_column": column, "utf16_end_column": column + 11,
		}
	}

	assert.Equal(t, []map[string]any{
		finding("a.txt", "frobnicate(1)", 3, 1, 3),
		finding("c.txt", "\tfrobnicate(2) frobnicate(3)", 1, 2, 1),
		finding("c.txt", "frobnicate(4)", 3, 1, 3),
	}, got)
}

func TestReviewsThatFail(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	h.create(t, "acme/api", files{"a": "1"}).pull(1, files{"a": "2"})
	r := h.create(t, "acme/odd", files{"a": "1"})
	r.commit("refs/pull/2/head", "", files{"z": "unrelated"})

	// Pull request 3 was fast-forwarded: its head is on the first-parent line.
	head := r.commit("refs/heads/main", r.sha("refs/heads/main"), files{"b": "2"})
	r.git("", "update-ref", "refs/pull/3/head", r.sha(head+"^"))

	for _, c2 := range []struct {
		repo   string
		number int
		code   string
	}{
		{"acme/api", 7, "pull_request_not_found"},
		{"acme/none", 1, "repository_not_found"},
		{"acme/odd", 2, "no_merge_base"},
		{"acme/odd", 3, "base_unknown"},
	} {
		t.Run(c2.code, func(t *testing.T) {
			t.Parallel()
			m := c.scan(t, c2.repo, c2.number)
			assert.Equal(t, "failed", m["status"])
			e := m["error"].(map[string]any)
			assert.Equal(t, c2.code, e["code"])
			assert.NotEmpty(t, e["message"])
			assert.NotContains(t, e["message"], h.dir, "paths of the server are nobody's business")
			assert.Regexp(t, utc, m["completed_at"])
			assert.Equal(t, []any{}, m["findings"])
		})
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	h.create(t, "acme/api", files{"a": "1"}).pull(1, files{"a": "2"})
	body := map[string]any{"repo": "acme/api", "pr_number": 1}

	first := c.do(t, "POST", "/v1/reviews", body, "Idempotency-Key", "job-1")
	require.Equal(t, 202, first.status, first.body)
	id := first.decode(t)["review_id"].(string)
	c.wait(t, id)
	again := c.do(t, "POST", "/v1/reviews", body, "Idempotency-Key", "job-1")
	assert.Equal(t, 202, again.status)
	assert.Equal(t, first.decode(t), again.decode(t), "the stored answer, unchanged, though the review is complete")

	other := c.do(t, "POST", "/v1/reviews", map[string]any{"repo": "acme/api", "pr_number": 2}, "Idempotency-Key", "job-1")
	assert.Equal(t, 409, other.status)
	assert.Equal(t, "IDEMPOTENCY_CONFLICT", other.reason(t))
	assert.InDelta(t, 10, other.decode(t)["code"], 0, "ABORTED")

	fresh := c.do(t, "POST", "/v1/reviews", body, "Idempotency-Key", "job-2")
	assert.NotEqual(t, id, fresh.decode(t)["review_id"])
	none := c.do(t, "POST", "/v1/reviews", body)
	assert.NotEqual(t, id, none.decode(t)["review_id"])

	longest := c.do(t, "POST", "/v1/reviews", body, "Idempotency-Key", strings.Repeat("k", 255))
	assert.Equal(t, 202, longest.status, longest.body)
	tooLong := c.do(t, "POST", "/v1/reviews", body, "Idempotency-Key", strings.Repeat("k", 256))
	assert.Equal(t, 400, tooLong.status)
	assert.Contains(t, strings.ToLower(tooLong.body), "idempotency-key")

	// Another key of the same organization shares it; that of another does not.
	same := s.client(s.key(t, "acme")).do(t, "POST", "/v1/reviews", body, "Idempotency-Key", "job-1")
	assert.Equal(t, id, same.decode(t)["review_id"])
}

// pages are all answers to a call whose answers have pages.
func (c *client) pages(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	for token := ""; ; {
		next := path
		if token != "" {
			next += "&page_token=" + url.QueryEscape(token)
		}
		a := c.do(t, "GET", next, nil)
		require.Equal(t, 200, a.status, a.body)
		m := a.decode(t)
		require.Contains(t, m, "next_page_token")
		all = append(all, m)
		if token = m["next_page_token"].(string); token == "" {
			return all
		}
	}
}

func TestListReviews(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	h.create(t, "acme/api", files{"a": "1"}).pull(1, files{"a": "2"}).pull(2, files{"a": "3"})
	h.create(t, "acme/web", files{"a": "1"}).pull(1, files{"a": "2"})
	var newestFirst []any
	for _, pr := range []struct {
		repo   string
		number int
	}{{"acme/api", 1}, {"acme/api", 2}, {"acme/web", 1}, {"acme/api", 1}, {"acme/api", 9}} {
		id := c.review(t, pr.repo, pr.number)
		c.wait(t, id)
		newestFirst = append([]any{id}, newestFirst...)
	}

	ids := func(query string) []any {
		a := c.do(t, "GET", "/v1/reviews"+query, nil)
		require.Equal(t, 200, a.status, a.body)
		ids := []any{}
		for _, r := range list(a.decode(t)["reviews"]) {
			assert.NotContains(t, r, "findings")
			ids = append(ids, r.(map[string]any)["review_id"])
		}
		return ids
	}

	assert.Equal(t, newestFirst, ids(""))
	assert.Equal(t, []any{newestFirst[2]}, ids("?repo=acme/web"))
	assert.Equal(t, []any{newestFirst[1], newestFirst[4]}, ids("?repo=acme/api&pr_number=1"))
	assert.Equal(t, []any{newestFirst[0]}, ids("?status=failed"))
	assert.Equal(t, []any{}, ids("?status=queued"))
	assert.Equal(t, []any{}, ids("?repo=acme/none"))
	assert.Equal(t, []any{newestFirst[2]}, ids("?query=WEB%231"))
	assert.Equal(t, []any{newestFirst[0]}, ids("?standing=not_scanned"))
	assert.Equal(t, newestFirst[1:], ids("?verdict=pass"))
	assert.Equal(t, []any{}, ids("?until=2020-01-01T00:00:00Z"))
	assert.Equal(t, 400, c.do(t, "GET", "/v1/reviews?query=a+b+c+d+e+f", nil).status)

	a := c.do(t, "GET", "/v1/reviews:count?query=acme", nil)
	assert.JSONEq(t, `{"all": 5, "failed": 0, "passed": 4, "incomplete": 0, "running": 0, "not_scanned": 1, "partial": false}`, a.body)
	r := c.do(t, "GET", "/v1/reviews/"+newestFirst[1].(string), nil).decode(t)
	assert.NotEmpty(t, r["head_title"], "the subject of the commit")
	assert.NotEmpty(t, r["head_author"])

	var paged []any
	for _, page := range c.pages(t, "/v1/reviews?page_size=2") {
		for _, r := range list(page["reviews"]) {
			paged = append(paged, r.(map[string]any)["review_id"])
		}
	}

	assert.Equal(t, newestFirst, paged)

	first := c.do(t, "GET", "/v1/reviews?page_size=1", nil).decode(t)["next_page_token"].(string)
	for query, field := range map[string]string{
		"?page_size=0": "page_size", "?page_size=201": "page_size", "?page_size=x": "page_size",
		"?page_size=1e1":  "page_size",
		"?page_token=zzz": "page_token", "?page_token=" + first + "&repo=acme/api": "page_token",
		"?repo=acme": "repo", "?pr_number=0": "pr_number", "?pr_number=-1": "pr_number", "?pr_number=2147483648": "pr_number",
		"?status=done": "status", "?status=1": "status", "?status=unspecified": "status", "?status=Queued": "status",
		"?state=queued": "state", "?pageSize=1": "pageSize", "?status=queued&status=failed": "status",
	} {
		a := c.do(t, "GET", "/v1/reviews"+query, nil)
		assert.Equal(t, 400, a.status, query)
		assert.Contains(t, a.fields(t), field, query+": "+a.body)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	h := newGatedHosts(t)
	h.create(t, "acme/api", files{"a": "1"}).pull(1, files{"a": "2"})
	s := startServer(t, h.hosts, serverOptions{args: []string{"--scan-workers", "1"}})
	c := s.client(s.key(t, "acme"))

	// While the one worker waits for the code host, the last one waits in the
	// queue.
	var ids []string
	for range 20 {
		ids = append(ids, c.review(t, "acme/api", 1))
	}
	last := ids[len(ids)-1]
	waiting := c.do(t, "GET", "/v1/reviews/"+last, nil).decode(t)
	assert.NotContains(t, waiting, "completed_at")
	assert.NotContains(t, waiting, "error")
	assert.Equal(t, []any{}, waiting["findings"])
	assert.Len(t, waiting["summary"], 6)
	a := c.do(t, "POST", "/v1/reviews/"+last+":cancel", nil)
	require.Equal(t, 200, a.status, a.body)
	m := a.decode(t)
	assert.Equal(t, "canceled", m["status"])
	assert.Equal(t, last, m["review_id"])
	assert.Regexp(t, utc, m["completed_at"])

	again := c.do(t, "POST", "/v1/reviews/"+last+":cancel", nil)
	assert.Equal(t, 409, again.status)
	assert.Equal(t, "REVIEW_FINISHED", again.reason(t))
	assert.InDelta(t, 9, again.decode(t)["code"], 0, "FAILED_PRECONDITION")

	h.open()
	for _, id := range ids[:len(ids)-1] {
		assert.Equal(t, "complete", c.wait(t, id)["status"])
	}
	assert.Equal(t, "canceled", c.wait(t, last)["status"], "it stays canceled")
	assert.Equal(t, 409, c.do(t, "POST", "/v1/reviews/"+ids[0]+":cancel", "{}").status)
	assert.Equal(t, 404, c.do(t, "POST", "/v1/reviews/rev_none:cancel", nil).status)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	planted(t, h, "acme/api")
	id := c.review(t, "acme/api", 1)

	completes(t, c.watch(t, id))

	again := c.do(t, "GET", "/v1/reviews/"+id+":watch", nil)
	assert.Equal(t, 200, again.status)
	assert.Equal(
		t, 1, strings.Count(strings.TrimSpace(again.body), "\n")+1, "a finished review is one message: "+again.body,
	)
	assert.Contains(t, again.body, `"summary":`)
	assert.NotEmpty(t, again.header.Get("X-RateLimit-Remaining"))
	assert.Equal(t, 404, c.do(t, "GET", "/v1/reviews/rev_none:watch", nil).status)
}

func TestOrganizationsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	h.create(t, "acme/api", files{"a": "1"}).pull(1, files{"a": "2"})
	h.create(t, "globex/api", files{"a": "1"}).pull(1, files{"a": "2"})
	s := startServer(t, h, serverOptions{organizations: []organization{{"acme", "acme/*"}, {"globex", "globex/*"}}})
	const all = "reviews:read,reviews:write,rules:read,rules:write,keys:admin"
	acme := s.client(s.key(t, "acme", "--scopes", all))
	globex := s.client(s.key(t, "globex", "--scopes", all))

	denied := acme.do(t, "POST", "/v1/reviews", map[string]any{"repo": "globex/api", "pr_number": 1})
	assert.Equal(t, 403, denied.status)
	assert.Equal(t, "REPOSITORY_NOT_ALLOWED", denied.reason(t))

	id := acme.review(t, "acme/api", 1)
	acme.wait(t, id)
	addRule(t, acme, todoRule)
	for _, call := range []struct{ method, path string }{
		{"GET", "/v1/reviews/" + id}, {"GET", "/v1/reviews/" + id + ":watch"}, {"POST", "/v1/reviews/" + id + ":cancel"},
		{"GET", "/v1/rules/no-frobnicate"}, {"DELETE", "/v1/rules/no-frobnicate"},
	} {
		theirs := globex.do(t, call.method, call.path, nil)
		unknown := globex.do(
			t, call.method, strings.NewReplacer(id, "rev_none", "no-frobnicate", "no-such").Replace(call.path), nil,
		)
		assert.Equal(t, 404, theirs.status, call.path)
		assert.Equal(t, unknown.reason(t), theirs.reason(t), "another's looks like none")
	}

	assert.Empty(t, globex.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])
	keysOf := func(c *client) int { return len(list(c.do(t, "GET", "/v1/keys", nil).decode(t)["keys"])) }
	assert.Equal(t, 1, keysOf(acme))
	assert.Equal(t, 1, keysOf(globex))
}
