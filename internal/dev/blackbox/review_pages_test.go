package blackbox_test

import (
	"bufio"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoScans has a pull request scanned twice, and returns the second review.
func twoScans(t *testing.T, c *client, h *hosts) string {
	t.Helper()
	r := h.create(t, "acme/shop", files{"cart.js": "a()\nb()\n", "notes.md": "# Notes\n"})
	base := strings.Repeat("c()\n", 30)
	r.pull(1, files{
		"cart.js": "a()\neval(x)\n" + base + "// prwarden:ignore security/no-eval -- our own text until " + nextMonth() + "\neval(y)\n",
		"db.py":   "import os\n\nos.system(f\"ls {x}\")\n",
		"key.js":  "const key = 'ghp_x7Kq2LmN9pRsT4vWyZ1aBcD3eFgH5iJ1a9G0'\n",
	})
	c.scan(t, "acme/shop", 1)
	r.pull(1, files{
		"cart.js":              "a()\neval(x)\n" + base + "// prwarden:ignore security/no-eval -- our own text until " + nextMonth() + "\neval(y)\n",
		"key.js":               "const key = 'ghp_x7Kq2LmN9pRsT4vWyZ1aBcD3eFgH5iJ1a9G0'\n",
		"<img src=x>\u202e.js": "eval(\"</td><script>alert(1)</script>\" + x)\n",
	})

	return c.scan(t, "acme/shop", 1)["review_id"].(string)
}

// The list shows reviews with what was found, and is searched and divided.
func TestReviewsPage(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	a := owner.get(t, "/o/acme/reviews")
	assert.Contains(t, a.body, "No review yet")
	assert.Contains(t, a.body, "prwarden review OWNER/REPOSITORY NUMBER --server "+s.base)

	c := s.client(s.key(t, "acme"))
	id := twoScans(t, c, h)
	h.create(t, "acme/api", files{"a.js": "a()\n"}).pull(7, files{"a.js": "a()\nb()\n"})
	c.scan(t, "acme/api", 7)
	c.scan(t, "acme/api", 8)

	a = owner.get(t, "/o/acme/reviews")
	assert.Equal(t, http.StatusOK, a.status)
	for _, want := range []string{
		`href="/o/acme/reviews/` + id + `"`, "Failed checks <span class=\"n\">2</span>", "Passed <span class=\"n\">1</span>",
		"Not scanned <span class=\"n\">1</span>", "acme/api has no pull request 8", "+1 new", "−1 fixed", "No open findings",
	} {
		assert.Contains(t, a.body, want)
	}
	assert.Equal(t, 4, strings.Count(a.body, `class="row"`))
	assert.Equal(t, 2, strings.Count(owner.get(t, "/o/acme/reviews?q=shop").body, `class="row"`))
	assert.Equal(t, 1, strings.Count(owner.get(t, "/o/acme/reviews?status=pass").body, `class="row"`))
	assert.Contains(t, owner.get(t, "/o/acme/reviews?q=nothing").body, "Nothing matches")

	a = owner.post(t, "/o/acme/reviews/new", "repo", "acme/api", "number", "x")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, "whole number")
	a = owner.post(t, "/o/acme/reviews/new", "repo", "not a repository", "number", "7")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, `role="alert"`)
	a = owner.post(t, "/o/acme/reviews/new", "repo", "acme/api", "number", "7")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	created := c.wait(t, strings.TrimPrefix(a.header.Get("Location"), "/o/acme/reviews/"))
	assert.Contains(t, created["created_by"], "user:")

	viewer := s.join(t, owner, "acme", "viewer")
	assert.NotContains(t, viewer.get(t, "/o/acme/reviews").body, "New review")
	a = viewer.get(t, "/o/acme/reviews/new")
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Contains(t, a.body, "needs the role member")
	assert.Equal(t, http.StatusNotFound, owner.get(t, "/o/other/reviews").status)
}

// A review shows its findings on the diff, divided by state, and hides what rules mask.
func TestReviewPage(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme"))
	id := twoScans(t, c, h)
	page := "/o/acme/reviews/" + id

	a := owner.get(t, page)
	assert.Equal(t, http.StatusOK, a.status)
	for _, want := range []string{
		"Fails at high", `Open <span class="n">3</span>`, `New <span class="n">1</span>`, `Existing <span class="n">2</span>`,
		`Fixed <span class="n">1</span>`, `Suppressed <span class="n">1</span>`, `Decided <span class="n">0</span>`,
		`Not looked at <span class="n">0</span>`, "••••••••", "&lt;/td&gt;&lt;script&gt;", "prwarden:ignore security/no-eval -- reason",
		"a guess: the default branch", `<td class="code">a()`,
	} {
		assert.Contains(t, a.body, want)
	}
	for _, never := range []string{"ghp_x7Kq2", "<script>alert", "<img src=x>", "\u202e", "style=\""} {
		assert.NotContains(t, a.body, never)
	}
	assert.Equal(t, 3, strings.Count(a.body, "<article"))
	assert.Equal(t, 1, strings.Count(owner.get(t, page+"?state=new").body, "<article"))
	assert.Contains(t, owner.get(t, page+"?state=fixed").body, `<i class="s">{</i></mark>x<i class="s">}</i>`)
	a = owner.get(t, page+"?state=suppressed")
	assert.Contains(t, a.body, "“our own text”, line 33")
	assert.Contains(t, a.body, "suppressed in code until "+nextMonth())
	assert.Contains(t, owner.get(t, page+"?state=skipped").body, "All was looked at")
	assert.Equal(t, 1, strings.Count(owner.get(t, page+"?file=key.js").body, "<article"))
	assert.Contains(t, owner.get(t, page+"?rule=security/nothing").body, "Nothing of this kind")

	a = owner.get(t, page+"/files/1?file=cart.js&part=1")
	assert.NotContains(t, a.body, "<html")
	assert.Equal(t, 1, strings.Count(a.body, "<article"))
	a = owner.get(t, page+"/files/1?file=cart.js&whole=1")
	assert.Contains(t, a.body, `<td class="ln">34</td>`)
	a = owner.get(t, page+"/files/1?file=cart.js&from=5&to=6&first=3")
	assert.Equal(t, 2, strings.Count(a.body, `<td class="code">`))
	assert.Contains(t, a.body, "from=3&amp;to=4&amp;first=3")

	a = owner.get(t, page+"/sarif")
	assert.Equal(t, c.do(t, "GET", "/v1/reviews/"+id+"/sarif", nil).body, a.body)
	assert.Contains(t, a.header.Get("Content-Disposition"), id+".sarif")
	assert.Equal(t, http.StatusConflict, owner.post(t, page+"/cancel").status, "it is complete")
	a = owner.post(t, page+"/again")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.NotEqual(t, page, a.header.Get("Location"))
	assert.Equal(t, http.StatusNotFound, owner.get(t, "/o/acme/reviews/rev_nothing").status)

	viewer := s.join(t, owner, "acme", "viewer").get(t, page).body
	assert.Contains(t, viewer, "needs the role member")
	assert.Contains(t, viewer, "eval</i>", "the line of a finding")
	assert.NotContains(t, viewer, `<td class="code">a()`, "another line")
	for _, never := range []string{"ghp_x7Kq2", "Scan again", `name="decision"`} {
		assert.NotContains(t, viewer, never)
	}
}

// Decisions are made with a reason, show at once, and are undone.
func TestDecisionsOnPage(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme"))
	id := twoScans(t, c, h)
	page := "/o/acme/reviews/" + id
	a := owner.get(t, page)
	fingerprint := a.found(t, `name="f" value="([0-9a-f]+)" form="bulk"[^>]*security/no-eval at line 2"`)

	a = owner.post(t, page+"/triage", "f", fingerprint, "decision", "accepted")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, `<form class="dec" id="d`+fingerprint+`"`)
	a = owner.post(t, page+"/triage", "f", fingerprint, "decision", "accepted", "reason", "ours", "days", "")
	assert.Equal(t, http.StatusForbidden, a.status, "the policy wants an end")
	assert.Contains(t, a.body, `role="alert"`)
	assert.Contains(t, a.body, `value="ours"`)
	a = owner.sent(t, page+"/triage", "f", fingerprint, "decision", "accepted", "reason", "it is <ours>", "days", "30")
	for _, want := range []string{
		"Accepted: 1 finding.", `Open <span class="n">2</span>`, `Decided <span class="n">1</span>`, "“it is &lt;ours&gt;”, Olga Owner",
		"Reopen",
	} {
		assert.Contains(t, a.body, want)
	}
	change := a.found(t, `name="change" value="(trg_\w+)"`)
	assert.NotContains(t, owner.get(t, page).body, "it is &lt;ours&gt;", "it is not open")
	assert.Contains(t, owner.get(t, page+"?state=decided").body, "it is &lt;ours&gt;")

	owner.at = page
	a = owner.sent(t, "/o/acme/undo", "change", change)
	assert.Contains(t, a.body, "Undone: 1 decision.")
	assert.Contains(t, a.body, `Open <span class="n">3</span>`)
	assert.Equal(t, http.StatusNotFound, owner.post(t, "/o/acme/undo", "change", change).status)

	all := []string{"decision", "false_positive", "reason", "tests", "days", "90", "bulk", "1", "scope", "pull_request"}
	secret := ""
	for _, x := range list(c.do(t, "GET", "/v1/reviews/"+id, nil).decode(t)["findings"]) {
		f := x.(map[string]any)
		if f["file"] == "key.js" {
			secret = f["fingerprint"].(string)
			continue
		}
		all = append(all, "f", f["fingerprint"].(string))
	}
	owner.at = page
	a = owner.post(t, page+"/triage", append(all, "f", secret)...)
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Contains(t, a.body, "finds secrets, which the organization allows nobody to set aside")
	a = owner.sent(t, page+"/triage", all...)
	assert.Contains(t, a.body, "Set as false positive: 2 findings.")
	assert.Contains(t, a.body, `Open <span class="n">1</span>`)
	a = owner.get(t, page+"?state=decided")
	assert.Equal(t, 2, strings.Count(a.body, "false positive here until "))
	a = owner.sent(t, page+"/triage", "f", fingerprint, "decision", "open", "scope", "pull_request")
	assert.Contains(t, a.body, "Reopened: 1 finding.")

	viewer := s.join(t, owner, "acme", "viewer")
	assert.Equal(t, http.StatusForbidden, viewer.post(t, page+"/triage", "f", fingerprint, "decision", "open").status)
}

// A page that waits for a review hears of its end, and of nothing when the session ends.
func TestReviewEvents(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	s := startServer(t, h, serverOptions{})
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme"))
	id := c.review(t, "acme/shop", 1)
	<-asked
	page := "/o/acme/reviews/" + id
	a := owner.get(t, page)
	assert.Contains(t, a.body, `data-events="`+page+`/events"`)
	assert.Contains(t, a.body, `http-equiv="refresh"`)
	assert.Contains(t, a.body, "Cancel")

	open := func() (*http.Response, *bufio.Scanner) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+page+"/events", nil)
		require.NoError(t, err)
		resp, err := owner.http.Do(r)
		require.NoError(t, err)
		require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))

		return resp, bufio.NewScanner(resp.Body)
	}
	resp, events := open()
	require.True(t, events.Scan())
	assert.Equal(t, "data: progress", events.Text())
	a = owner.sent(t, page+"/cancel")
	assert.Contains(t, a.body, "The review was canceled")
	var last string
	for events.Scan() {
		if text := events.Text(); text != "" {
			last = text
		}
	}
	assert.Equal(t, "data: end", last)
	require.NoError(t, resp.Body.Close())

	id = c.review(t, "acme/shop", 2)
	page = "/o/acme/reviews/" + id
	resp, events = open()
	defer resp.Body.Close()
	require.True(t, events.Scan())
	require.Equal(t, http.StatusSeeOther, owner.post(t, "/sign-out").status)
	for events.Scan() {
		assert.NotEqual(t, "data: end", events.Text())
	}
}

// The list is narrowed to a repository, who created a review, and when. What is newer
// than a list stands above it, and its rows stay.
func TestReviewsFilters(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme"))
	for _, name := range []string{"acme/shop", "acme/api"} {
		h.create(t, name, files{"a.js": "a()\n"}).pull(1, files{"a.js": "eval(x)\n"})
		c.scan(t, name, 1)
	}
	const page = "/o/acme/reviews"
	rows := func(a answer) int { return strings.Count(a.body, `class="row"`) }
	a := owner.get(t, page+"?repo=acme/api")
	assert.Equal(t, 1, rows(a))
	assert.Contains(t, a.body, `aria-label="Remove the filter: acme/api"`)
	assert.Contains(t, a.body, `All <span class="n">1</span>`)
	me := a.found(t, `<option value="(user:usr_\w+)">By me`)
	assert.Equal(t, 0, rows(owner.get(t, page+"?by="+me)), "a key created them")
	assert.Equal(t, 2, rows(owner.get(t, page+"?since=7")))
	assert.Equal(t, http.StatusBadRequest, owner.get(t, page+"?repo=nonsense").status)

	a = owner.get(t, page)
	from := a.found(t, `data-from="([^"]+)"`)
	assert.Equal(t, 2, rows(owner.get(t, from)))
	assert.NotContains(t, owner.get(t, from).body, "new review")
	events := a.found(t, `data-events="([^"]+)"`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+events, nil)
	require.NoError(t, err)
	stream, err := owner.http.Do(r)
	require.NoError(t, err)
	defer stream.Body.Close()
	require.Equal(t, http.StatusOK, stream.StatusCode)
	lines := bufio.NewScanner(stream.Body)
	require.True(t, lines.Scan())
	assert.Equal(t, "data: changed", lines.Text(), "something may have happened before")
	c.scan(t, "acme/shop", 1)
	for lines.Scan() && lines.Text() != "data: changed" {
		assert.NotContains(t, lines.Text(), "data:")
	}
	require.NoError(t, lines.Err())
	a = owner.get(t, from)
	assert.Contains(t, a.body, "1 new review<")
	assert.Len(t, regexp.MustCompile(`<a class="t" id="rev_\w+"`).FindAllString(a.body, -1), 2, "focus stays by it")
	assert.Equal(t, 2, rows(a))
	assert.Equal(t, 3, rows(owner.get(t, page)))
	assert.Equal(t, http.StatusBadRequest, owner.get(t, page+"/events").status, "it needs the time")
}

// The palette leads to pages, repositories, reviews and rules, by words.
func TestGoPage(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	viewer := s.join(t, owner, "acme", "viewer")
	c := s.client(s.key(t, "acme"))
	h.create(t, "acme/shop", files{"a.js": "a()\n"}).pull(1, files{"a.js": "eval(x)\n"})
	id := c.scan(t, "acme/shop", 1)["review_id"].(string)

	a := owner.get(t, "/o/acme/go")
	for _, path := range []string{"/o/acme/reviews", "/o/acme/settings/sso", "/account"} {
		assert.Contains(t, a.body, `<li><a href="`+path+`">`)
	}
	a = viewer.get(t, "/o/acme/go?q=acme/shop%231")
	assert.Contains(t, a.body, `<li><a href="/o/acme/reviews/`+id+`">`)
	assert.Contains(t, viewer.get(t, "/o/acme/go?q=shop").body, `<li><a href="/o/acme/repositories/acme/shop">`)
	a = viewer.get(t, "/o/acme/go?q=no-eval")
	assert.Contains(t, a.body, `<li><a href="/o/acme/rules/security/no-eval">`)
	assert.Contains(t, a.body, `data-query="no-eval"`, "Enter leads to what these words find")
	a = viewer.get(t, "/o/acme/go?q=s")
	assert.Contains(t, a.body, `<li><a href="/o/acme/reviews">`)
	assert.NotContains(t, a.body, `<li><a href="/o/acme/rules/`, "one letter is in almost every rule")
	assert.NotContains(t, viewer.get(t, "/o/acme/go").body, "/settings/sso", "no page that the role may not see")
	assert.Contains(t, viewer.get(t, "/o/acme/go?q=nothing+is+called+like+this+at+all").body, "Nothing matches.")
}
