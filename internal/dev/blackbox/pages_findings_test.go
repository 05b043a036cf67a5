package blackbox_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFindingsPage has somebody look through the findings of all pull requests, and
// decide about those of two repositories at once.
func TestFindingsPage(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	owner := s.setUp(t, "acme")
	viewer := s.join(t, owner, "acme", "viewer")
	const page, repositories = "/o/acme/findings", "/o/acme/repositories"
	assert.Contains(t, owner.get(t, page).body, "No open findings")
	assert.Contains(t, owner.get(t, repositories).body, "No repository yet")

	c := s.client(s.key(t, "acme"))
	for _, repo := range []string{"acme/api", "acme/shop"} {
		h.create(t, repo, files{"a.js": "x\n"}).pull(1, files{
			"a.js": "x\neval(one)\neval(two)\n", "b<i>.js": "eval(b)\n",
		})
		require.Equal(t, "complete", c.scan(t, repo, 1)["status"])
	}

	a := owner.get(t, page)
	assert.Contains(t, a.body, "security/no-eval")
	assert.Contains(t, a.body, `<b class="total">6</b>`)
	assert.Contains(t, a.body, "in 2 pull requests")
	assert.Contains(t, owner.get(t, page+"?group=file").body, "b&lt;i&gt;.js")
	assert.Equal(t, 2, strings.Count(owner.get(t, page+"?group=repo").body, `<b class="total">3</b>`))
	assert.Contains(t, owner.get(t, page+"?severity=critical").body, "Nothing matches")
	assert.Equal(t, http.StatusBadRequest, owner.get(t, page+"?repo=%2e").status)

	const listed = page + "?group=list&rule=security/no-eval"
	a = owner.get(t, listed)
	assert.NotContains(t, viewer.get(t, listed).body, `name="decision" value=`)
	handles := regexp.MustCompile(`class="sel" name="f" value="([^"]+)"`).FindAllStringSubmatch(a.body, -1)
	require.Len(t, handles, 6)
	fields := []string{"bulk", "1", "decision", "false_positive"}
	for _, f := range handles {
		fields = append(fields, "f", f[1])
	}
	assert.Equal(t, http.StatusForbidden, viewer.post(t, page+"/triage", fields...).status)
	a = owner.post(t, page+"/triage", fields...)
	assert.Contains(t, a.body, `name="reason"`, "it asks why")
	assert.Contains(t, a.body, `name="back" value="/o/acme/findings?group=list&amp;rule=security/no-eval"`)
	long := append([]string{"reason", "It is a test.", "until", "2999-01-01"}, fields...)
	a = owner.post(t, page+"/triage", long...)
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Contains(t, a.body, `role="alert"`, "the policy bounds the end")

	fields = append(fields, "reason", "It is a test.", "days", "30", "back", listed)
	a = owner.sent(t, page+"/triage", fields...)
	assert.Contains(t, a.body, "Set as false positive: 6 findings in 2 repositories.")
	assert.Contains(t, a.body, "Nothing matches")
	change := a.found(t, `name="change" value="([^"]+)"`)
	assert.Len(t, strings.Fields(change), 2, "one for each repository")
	a = owner.get(t, listed+"&decision=false_positive")
	assert.Contains(t, a.body, "“It is a test.”, Olga Owner")
	assert.Contains(t, owner.get(t, repositories).body, "No open findings")
	assert.Contains(t, owner.sent(t, "/o/acme/undo", "change", change).body, "Undone: 6 decisions.")
	assert.Contains(t, owner.get(t, page).body, `<b class="total">6</b>`)

	// In one pull request only, and taken back.
	one := []string{"f", handles[0][1], "back", listed}
	a = owner.sent(t, page+"/triage",
		append(one, "decision", "accepted", "reason", "Later.", "days", "30", "scope", "pull_request")...)
	assert.Contains(t, a.body, "Accepted: 1 finding.")
	a = owner.sent(t, page+"/triage", append(one, "decision", "open", "scope", "pull_request")...)
	assert.Contains(t, a.body, "Reopened: 1 finding.")
	assert.Equal(t, http.StatusBadRequest, owner.post(t, page+"/triage", "f", "x", "decision", "open").status)

	a = owner.get(t, repositories+"/acme/api")
	assert.Contains(t, a.body, "<h1>acme/api</h1>")
	assert.Contains(t, a.body, `<b class="total">3</b>`)
	assert.Contains(t, a.body, "/o/acme/reviews/rev_")
	assert.Equal(t, http.StatusNotFound, owner.get(t, repositories+"/acme/none").status)
	a = owner.get(t, repositories+"?q=shop")
	assert.Contains(t, a.body, "acme/shop")
	assert.NotContains(t, a.body, "acme/api")
}

// TestPolicyPage has somebody read and change the policy.
func TestPolicyPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	member := s.join(t, owner, "acme", "member")
	const page = "/o/acme/settings/policy"

	a := owner.get(t, page)
	assert.Contains(t, a.body, "This is the default policy")
	assert.Contains(t, a.body, "Each review says from which severity on it fails.")
	etag := a.found(t, `name="etag" value="(\w+)"`)
	assert.NotContains(t, member.get(t, page).body, "Set policy")
	assert.Equal(t, http.StatusForbidden, member.post(t, page, "etag", etag, "document", "").status)
	for document, want := range map[string]string{
		"fail_on: huge":  "fail_on",
		"fail_onn: high": "unknown field &#34;fail_onn&#34;",
		"disable: [a":    "The document can&#39;t be read",
		"disable: [security/none, security/none-more]": "<code>disable[1]</code>: security/none-more is not a rule",
	} {
		a = owner.post(t, page, "etag", etag, "document", document)
		assert.Equal(t, http.StatusBadRequest, a.status, document)
		assert.Contains(t, a.body, want)
		assert.Contains(t, a.body, "Start again")
	}

	document := "fail_on: medium\r\ndisable:\r\n  - security/no-eval\r\nlocked: {rules: [secrets/*]}\r\n" +
		"suppression: {allowed: false}\r\n"
	a = owner.sent(t, page, "etag", etag, "document", document)
	assert.Contains(t, a.body, "A review fails from medium on")
	assert.Contains(t, a.body, "1 rule is off in all repositories: security/no-eval.")
	assert.Contains(t, a.body, "Nobody may set a finding aside.")
	assert.Contains(t, a.body, "by Olga Owner")
	a = owner.post(t, page, "etag", etag, "document", "fail_on: low")
	assert.Equal(t, http.StatusConflict, a.status, "it is another one by now")
	assert.Contains(t, a.body, "fail_on: low", "what was typed is still there")
	assert.Contains(t, owner.get(t, "/o/acme/rules/security/no-eval").body, "The policy switches it off")
}

// TestTrendsPage has somebody see how findings came and went.
func TestTrendsPage(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	owner := s.setUp(t, "acme")
	const page = "/o/acme/trends"
	assert.Contains(t, owner.get(t, page).body, "Nothing to show yet")

	c := s.client(s.key(t, "acme"))
	repo := h.create(t, "acme/api", files{"a.js": "x\n"})
	repo.pull(1, files{"a.js": "x\neval(one)\neval(two)\n"})
	require.Equal(t, "complete", c.scan(t, "acme/api", 1)["status"])
	repo.pull(1, files{"a.js": "x\neval(two)\n"})
	require.Equal(t, "complete", c.scan(t, "acme/api", 1)["status"])

	number := func(a answer, what string) string {
		return a.found(t, `<div class="stat"><b>([^<]*)</b><span>`+what+`</span>`)
	}
	for _, days := range []string{"30", "90", "365", "7"} {
		a := owner.get(t, page+"?days="+days)
		require.Equal(t, http.StatusOK, a.status)
		assert.Equal(t, "2", number(a, "found"))
		assert.Equal(t, "1", number(a, "fixed"))
		assert.Equal(t, "50 %", number(a, "fixed of found"))
		assert.Contains(t, a.body, "2, of them 2 high</title>")
		assert.NotContains(t, a.body, "style=")
	}
	assert.Contains(t, owner.get(t, page).body, "Nobody set a finding aside")
	fingerprint := owner.get(t, "/o/acme/findings?group=list").found(t, `class="sel" name="f" value="([^"]+)"`)
	owner.sent(t, "/o/acme/findings/triage",
		"f", fingerprint, "decision", "false_positive", "reason", "It is a test.", "days", "30")
	a := owner.get(t, page)
	assert.Contains(t, a.body, `href="/o/acme/rules/security/no-eval?days=30"`)
	assert.Contains(t, a.body, "Nothing is open.")
	assert.Equal(t, "1", number(owner.get(t, "/o/acme/rules/security/no-eval"), "false positive"))
	assert.Equal(t, http.StatusBadRequest, owner.get(t, page+"?repo=%2e").status)
}

// TestDecideAboutAll decides about all that match, of more than one page and repository,
// and undoes that.
func TestDecideAboutAll(t *testing.T) {
	t.Parallel()
	s, _, h := setup(t)
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme"))
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "eval(x%d)\n", i)
	}
	for _, name := range []string{"acme/shop", "acme/api"} {
		h.create(t, name, files{"a.js": "a()\n"}).pull(1, files{"a.js": many.String()})
		c.scan(t, name, 1)
	}
	const page = "/o/acme/findings"
	open := func() int {
		return strings.Count(owner.get(t, page+"?group=list&rule=security/no-eval&repo=acme/api").body, "<article")
	}
	require.Equal(t, 50, open())

	owner.get(t, page+"?group=list&rule=security/no-eval")
	a := owner.post(t, page+"/triage", "all", "1", "rule", "security/no-eval", "decision", "accepted")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "<span data-count>500</span> selected")
	assert.Contains(t, a.body, `name="fixed" value="1"`)
	fields := []string{"bulk", "1", "decision", "accepted", "reason", "generated", "days", "30"}
	for _, m := range regexp.MustCompile(`name="f" value="([^"]+)"`).FindAllStringSubmatch(a.body, -1) {
		fields = append(fields, "f", m[1])
	}
	require.Len(t, fields, 8+2*500)
	endless := append([]string{"fixed", "1"}, fields[:6]...)
	endless = append(endless, fields[8:]...)
	a = owner.post(t, page+"/triage", endless...)
	require.Equal(t, http.StatusForbidden, a.status, "the policy bounds the end")
	assert.Contains(t, a.body, `role="alert"`)
	assert.Contains(t, a.body, " data-fixed ", "the form stays in sight")
	assert.Contains(t, a.body, `name="fixed"`)
	began := time.Now()
	sent := owner.post(t, page+"/triage", fields...)
	t.Log("500 decisions took", time.Since(began))
	require.Equal(t, http.StatusSeeOther, sent.status, sent.body)
	a = owner.get(t, sent.header.Get("Location"))
	assert.Contains(t, a.body, "Accepted: 500 findings in 2 repositories.")
	assert.Zero(t, open(), "all 300 of the first repository")
	undo := a.found(t, `name="change" value="([^"]+)"`)
	assert.Contains(t, owner.sent(t, "/o/acme/undo", "change", undo).body, "Undone: 500 decisions.")
	assert.Equal(t, 50, open())

	// More than can be undone together.
	fields = []string{"bulk", "1", "decision", "accepted", "reason", "Later.", "days", "30"}
	for i := range 81 {
		fields = append(fields, "f", fmt.Sprintf("%016d-1-%x", 1, fmt.Sprintf("acme/r%d", i)))
	}
	a = owner.post(t, page+"/triage", fields...)
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, "in 81 repositories or pull requests, of which one decision may have 80 at most")
}
