package blackbox_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRulesPage has somebody look for a default rule, read it and switch it off.
func TestRulesPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	viewer := s.join(t, owner, "acme", "viewer")
	const page = "/o/acme/rules"

	a := owner.get(t, page)
	require.Equal(t, http.StatusOK, a.status)
	count := a.found(t, `<option value="default">default, (\d+) rules</option>`)
	assert.Contains(t, a.body, count+" rules. Found", "all of them are listed")
	assert.Contains(t, a.body, "Page 1 of ")
	a = owner.get(t, page+"?q=parse+eval&severity=high&category=security")
	assert.Contains(t, a.body, "/o/acme/rules/security/no-eval")
	assert.NotContains(t, a.body, "/o/acme/rules/correctness/")
	assert.Contains(t, owner.get(t, page+"?q=nothing-has-this").body, "Nothing matches")
	assert.Contains(t, owner.get(t, page+"?ruleset=custom").body, "No rule of your own yet")
	assert.Equal(t, http.StatusNotFound, owner.get(t, page+"?ruleset=acme/none").status)
	assert.Equal(t, http.StatusNotFound, owner.get(t, page+"/security/none").status)

	const rule = page + "/security/no-eval"
	a = owner.get(t, rule)
	assert.Contains(t, a.body, "window.eval(code)", "a case")
	assert.Contains(t, a.body, `href="https://cwe.mitre.org/data/definitions/95.html"`)
	assert.NotContains(t, viewer.get(t, rule).body, `value="policy-off"`)
	etag := a.found(t, `name="etag" value="(\w+)"`)
	assert.Equal(t, http.StatusForbidden, viewer.post(t, rule, "do", "policy-off", "etag", etag).status)
	assert.Contains(t, owner.sent(t, rule, "do", "policy-off", "etag", etag).body, "switches it off in all repositories")
	a = owner.sent(t, rule, "do", "policy-on", "etag", etag)
	assert.Contains(t, a.body, "toast bad", "the policy is another one by now")
	etag = a.found(t, `name="etag" value="(\w+)"`)
	assert.Contains(t, owner.sent(t, rule, "do", "policy-on", "etag", etag).body, "It is on.")
	assert.Equal(t, http.StatusForbidden, owner.get(t, rule+"/edit").status)
	assert.Contains(t, viewer.get(t, page+"/new").body, "This needs the role")
}

// ruleForm is the form of the editor.
func ruleForm(do string, more ...string) []string {
	return append([]string{
		"do", do, "id", "no-todo", "pattern", "TODO", "message", "Do it now.", "severity", "low", "mode", "observe",
		"text", "a TODO\r\nb\r\n", "match", "// TODO later", "match", "", "no_match", "done\r\nreally", "include", "**/*.go\r\n",
	}, more...)
}

// TestRuleEditor has somebody write a rule, try it, save and change it.
func TestRuleEditor(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	owner := s.setUp(t, "acme")
	viewer := s.join(t, owner, "acme", "viewer")
	c := s.client(s.key(t, "acme"))
	h.create(t, "acme/api", files{"a.go": "x\n"}).pull(1, files{"a.go": "x\n// TODO <b>\n"})
	require.Equal(t, "complete", c.scan(t, "acme/api", 1)["status"])
	const page = "/o/acme/rules/new"

	a := owner.get(t, page)
	assert.Contains(t, a.body, `value="observe" checked`, "the suggested start")
	a = owner.post(t, page, ruleForm("")...)
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, `a <mark class="m-low">TODO</mark>`)
	assert.Contains(t, a.body, "1 match")
	assert.Contains(t, a.body, "mode: observe", "the rules file")
	a = owner.post(t, page, "pattern", "(", "text", "x")
	assert.Contains(t, a.body, "missing closing )")

	a = owner.post(t, page, ruleForm("try")...)
	assert.Contains(t, a.body, "It finds 1 place in 1 of 1 pull request.")
	assert.Contains(t, a.body, "TODO &lt;b&gt;")
	a = owner.post(t, page, ruleForm("try", "no_match", "a TODO")...)
	require.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, "cases.no_match[1]: the rule matches this text")
	a = owner.post(t, page, ruleForm("save", "references", "nowhere")...)
	require.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.body, `role="alert"`)
	assert.Equal(t, http.StatusForbidden, viewer.post(t, page, ruleForm("save")...).status)

	a = owner.sent(t, page, ruleForm("save")...)
	assert.Contains(t, a.body, "The rule custom/no-todo is saved")
	made := c.do(t, "GET", "/v1/rules/no-todo", nil).decode(t)
	assert.Equal(t, "observe", made["mode"])
	assert.Equal(t, []any{"done\nreally"}, made["cases"].(map[string]any)["no_match"])
	assert.Equal(t, []any{"**/*.go"}, made["paths"].(map[string]any)["include"])
	assert.Equal(t, http.StatusConflict, owner.post(t, page, ruleForm("save")...).status, "the name is taken")

	const rule = "/o/acme/rules/custom/no-todo"
	old := made["etag"].(string)
	assert.Contains(t, owner.sent(t, rule, "do", "enforce", "etag", old).body, "counts in verdicts")
	a = owner.post(t, rule+"/edit", ruleForm("save", "etag", old)...)
	assert.Equal(t, http.StatusConflict, a.status, "somebody else changed it")
	etag := owner.get(t, rule+"/edit").found(t, `name="etag" value="(\w+)"`)
	a = owner.sent(t, rule+"/edit", append(ruleForm("save", "etag", etag, "state", "off"), "redact", "1")...)
	assert.Contains(t, a.body, "it is not matched")
	changed := c.do(t, "GET", "/v1/rules/no-todo", nil).decode(t)
	assert.Equal(t, false, changed["enabled"])
	assert.Equal(t, true, changed["redact"])
	assert.Contains(t, a.body, "by Olga Owner")

	assert.Contains(t, owner.get(t, rule+"?delete=1").body, "Delete for good")
	assert.Contains(t, owner.sent(t, rule, "do", "delete").body, "No rule of your own yet")
	assert.Equal(t, 404, c.do(t, "GET", "/v1/rules/no-todo", nil).status)
	assert.Equal(t, http.StatusBadRequest, owner.post(t, rule, "do", "dance").status)
	assert.NotContains(t, viewer.get(t, "/o/acme/rules?"+url.Values{"ruleset": {"custom"}}.Encode()).body, "New rule")
}

// TestRuleOfFilePage leads from a finding to a rule that only a repository's rules file
// has.
func TestRuleOfFilePage(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	owner := s.setUp(t, "acme")
	c := s.client(s.key(t, "acme"))
	h.create(t, "acme/api", files{".prwarden/rules.yml": `
version: 1
rules:
  - {id: from-file, type: regex, pattern: zzz9, message: "No <b>.", severity: low}
`}).pull(1, files{"a": "zzz9\n"})
	require.Equal(t, "complete", c.scan(t, "acme/api", 1)["status"])

	a := owner.get(t, "/o/acme/findings?group=list")
	a = owner.get(t, a.found(t, `class="rid" href="([^"]+)"`))
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "No &lt;b&gt;.")
	assert.NotContains(t, a.body, "/edit", "it can only be changed in its file")
	assert.Equal(t, http.StatusNotFound, owner.get(t, "/o/acme/rules/custom/from-file").status)
	assert.Equal(t, http.StatusNotFound, owner.get(t, "/o/acme/rules/custom/other?ruleset=acme/api").status)
	assert.Contains(t, owner.get(t, "/o/acme/rules?ruleset=acme/api").body, "from-file?ruleset=acme%2Fapi")
}
