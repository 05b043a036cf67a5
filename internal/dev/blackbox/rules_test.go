package blackbox_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ruleset returns the ruleset with that name, or nil.
func (c *client) ruleset(t *testing.T, name string) map[string]any {
	t.Helper()
	a := c.do(t, "GET", "/v1/rules", nil)
	require.Equal(t, 200, a.status, a.body)
	for _, r := range list(a.decode(t)["rulesets"]) {
		if r := r.(map[string]any); r["name"] == name {
			return r
		}
	}

	return nil
}

func TestRulesets(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	a := c.do(t, "GET", "/v1/rules", nil)
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, []string{"rulesets"}, keys(a.decode(t)))
	byDefault := c.ruleset(t, "default")
	assert.Equal(t, "ruleset_default", byDefault["id"])
	assert.Equal(t, "org", byDefault["scope"])
	assert.GreaterOrEqual(t, byDefault["rule_count"], 120.0)
	assert.Equal(
		t, map[string]any{"id": "ruleset_custom", "name": "custom", "rule_count": 0.0, "scope": "org"},
		c.ruleset(t, "custom"),
	)

	listed := c.do(t, "GET", "/v1/rulesets/default/rules", nil)
	require.Equal(t, 200, listed.status)
	assert.Len(t, list(listed.decode(t)["rules"]), int(byDefault["rule_count"].(float64)))

	// A repository's ruleset counts its rules from the API and those of its
	// rules file as the last complete review's base has it.
	h.create(t, "acme/api", files{".prwarden/rules.yml": `
version: 1
rules:
  - {id: from-file, type: regex, pattern: zzz9, message: No., severity: low}
`}).pull(1, files{"a": "zzz9\nyyy9"})
	addRule(t, c, todoRule)
	addRule(t, c, map[string]any{
		"id": "own", "type": "regex", "pattern": "yyy9", "message": "No.", "severity": "high", "scope": "repo",
		"repo": "acme/api",
	})

	assert.InDelta(t, 1, c.ruleset(t, "custom")["rule_count"], 0, "the rule with scope repo is not the organization's")
	assert.Equal(
		t, map[string]any{"id": "ruleset_acme/api", "name": "acme/api", "rule_count": 1.0, "scope": "repo"},
		c.ruleset(t, "acme/api"),
	)
	m := c.scan(t, "acme/api", 1)
	assert.Len(t, m["findings"], 2, "%v", m)
	assert.InDelta(t, 2, c.ruleset(t, "acme/api")["rule_count"], 0)

	for _, path := range []string{
		"/v1/rulesets/acme/api/rules", "/v1/rulesets/acme%2Fapi/rules", "/v1/rulesets/acme%2fapi/rules",
	} {
		a := c.do(t, "GET", path, nil)
		require.Equal(t, 200, a.status, a.body)
		rules := list(a.decode(t)["rules"])
		require.Len(t, rules, 2, path)
		assert.Equal(t, "from-file", rules[0].(map[string]any)["id"])
		assert.Equal(t, "own", rules[1].(map[string]any)["id"])
	}

	for _, path := range []string{
		"/v1/rulesets/acme/none/rules", "/v1/rulesets/none/rules", "/v1/rulesets/acme%252Fapi/rules",
	} {
		a := c.do(t, "GET", path, nil)
		assert.Equal(t, 404, a.status, path)
		assert.Equal(t, "RULESET_NOT_FOUND", a.reason(t), path)
	}
}

// rule is a rule as it is read, without what people decided about its findings.
func (c *client) rule(t *testing.T, path string) map[string]any {
	t.Helper()
	a := c.do(t, "GET", path, nil)
	require.Equal(t, 200, a.status, path+": "+a.body)
	m := a.decode(t)
	assert.Contains(t, m, "feedback")
	delete(m, "feedback")

	return m
}

func TestRuleLifeCycle(t *testing.T) {
	t.Parallel()
	_, c, _ := setup(t)
	full := map[string]any{
		"id": "style/no-print", "type": "regex", "pattern": `fmt\.Print(ln|f)?\(`, "message": "Use the logger.",
		"severity": "warning", "scope": "org", "multiline": false, "redact": false,
		"languages": []any{}, "in": []any{}, "any": []any{}, "all": []any{}, "depth": "", "where": map[string]any{}, "focus": "", "words": map[string]any{},
		"sources": []any{}, "sinks": []any{}, "sanitizers": []any{},
		"skip": []any{"generated"}, "allow": []any{}, "stopwords": []any{}, "supersedes": []any{}, "confidence": "medium", "enabled": true, "mode": "enforce",
		"paths":      map[string]any{"include": []any{"**/*.go"}, "exclude": []any{"cmd/**"}},
		"cases":      map[string]any{"match": []any{`fmt.Println("x")`}, "no_match": []any{`log.Print("x")`}},
		"references": []any{"https://pkg.go.dev/log/slog"},
	}

	a := c.do(t, "POST", "/v1/rules", full)
	require.Equal(t, 201, a.status, a.body)
	stored := a.decode(t)
	assert.Regexp(t, utc, stored["created_at"])
	assert.Contains(t, stored, "matching_cost")
	same := maps.Clone(stored)
	for _, output := range []string{
		"created_at", "created_by", "updated_at", "updated_by", "etag", "matching_cost",
	} {
		delete(same, output)
	}
	assert.Equal(t, full, same, "answered as it was sent")

	for _, path := range []string{"/v1/rules/style/no-print", "/v1/rules/style%2Fno-print", "/v1/rules/style%2fno-print"} {
		assert.Equal(t, stored, c.rule(t, path), path)
	}

	twice := c.do(t, "POST", "/v1/rules", full)
	assert.Equal(t, 409, twice.status)
	assert.Equal(t, "RULE_EXISTS", twice.reason(t))

	gone := c.do(t, "DELETE", "/v1/rules/style%2Fno-print", nil)
	assert.Equal(t, 204, gone.status)
	assert.Empty(t, gone.body)
	for _, method := range []string{"GET", "DELETE"} {
		a := c.do(t, method, "/v1/rules/style/no-print", nil)
		assert.Equal(t, 404, a.status)
		assert.Equal(t, "RULE_NOT_FOUND", a.reason(t))
	}

	// A rule without a category has category custom, under both names.
	addRule(t, c, todoRule)
	assert.Equal(t, 409, c.do(t, "POST", "/v1/rules", with2(todoRule, "id", "custom/no-frobnicate")).status)
	assert.Equal(
		t, "no-frobnicate", c.do(t, "GET", "/v1/rules/custom/no-frobnicate", nil).decode(t)["id"], "as it was sent",
	)
	assert.Equal(t, 204, c.do(t, "DELETE", "/v1/rules/custom/no-frobnicate", nil).status)
	assert.Equal(t, 404, c.do(t, "GET", "/v1/rules/no-frobnicate", nil).status)

	// What is not given has its default.
	addRule(t, c, todoRule)
	got := c.do(t, "GET", "/v1/rules/no-frobnicate", nil).decode(t)
	assert.Equal(t, "org", got["scope"])
}

func with2(rule map[string]any, name string, value any) map[string]any {
	rule = maps.Clone(rule)
	if rule[name] = value; value == nil {
		delete(rule, name)
	}
	return rule
}

func TestDefaultRules(t *testing.T) {
	t.Parallel()
	_, c, _ := setup(t)
	rules := list(c.do(t, "GET", "/v1/rulesets/default/rules", nil).decode(t)["rules"])
	require.NotEmpty(t, rules)
	id := rules[0].(map[string]any)["id"].(string)
	alone := c.rule(t, "/v1/rules/"+id)
	delete(alone, "matching_cost") // not in lists
	assert.Equal(t, rules[0], alone)

	for _, path := range []string{"/v1/rules/" + id, "/v1/rules/" + strings.ReplaceAll(id, "/", "%2F")} {
		a := c.do(t, "DELETE", path, nil)
		assert.Equal(t, 403, a.status)
		assert.Equal(t, "DEFAULT_RULE", a.reason(t))
		message := a.decode(t)["message"].(string)
		assert.Contains(t, message, "disable: ["+id+"]")
		assert.Contains(t, message, ".prwarden/rules.yml")
	}

	taken := c.do(t, "POST", "/v1/rules", with2(todoRule, "id", id))
	assert.Equal(t, 409, taken.status)
	assert.Equal(t, "RULE_EXISTS", taken.reason(t))
}

func TestRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	_, c, _ := setup(t)
	for name, bad := range map[string]struct {
		rule  map[string]any
		field string
		says  string
	}{
		"unknown type":       {with2(todoRule, "type", "ast"), "type", "regex"},
		"unknown severity":   {with2(todoRule, "severity", "fatal"), "severity", "critical"},
		"id in meta":         {with2(todoRule, "id", "meta/x"), "id", "meta"},
		"pattern too costly": {with2(todoRule, "pattern", "(?:[a-z]{40}[0-9]{40}){30}x"), "pattern", ""},
		"lookahead":          {with2(todoRule, "pattern", "a(?=b)"), "pattern", "look"},
		"fails its match":    {with2(todoRule, "cases", map[string]any{"match": []any{"adjust()"}}), "cases.match[0]", ""},
		"unknown field":      {with2(todoRule, "sevrity", "high"), "sevrity", ""},
		"unknown deep field": {with2(todoRule, "paths", map[string]any{"inclde": []any{"x"}}), "inclde", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.do(t, "POST", "/v1/rules", bad.rule)
			require.Equal(t, 400, a.status, a.body)
			require.Contains(t, a.fields(t), bad.field, a.body)
			assert.Contains(t, strings.ToLower(a.fields(t)[bad.field]), strings.ToLower(bad.says))
			assert.InDelta(t, 3, a.decode(t)["code"], 0)
		})
	}

	all := c.do(t, "POST", "/v1/rules", map[string]any{
		"id": "X", "type": "regex", "pattern": "(", "message": "", "severity": "low",
	})

	assert.Len(t, all.fields(t), 3, "every mistake at once: "+all.body)
}

func TestTryARule(t *testing.T) {
	t.Parallel()
	_, c, _ := setup(t)
	a := c.do(t, "POST", "/v1/rules:test", map[string]any{"pattern": `b+`, "text": "abba\n\nxxb b\r\nnone"})
	require.Equal(t, 200, a.status, a.body)
	hit := func(line, column, endLine, endColumn float64) map[string]any {
		return map[string]any{"line": line, "column": column, "end_line": endLine, "end_column": endColumn}
	}
	assert.Equal(
		t,
		map[string]any{
			"hits": []any{hit(1, 2, 1, 4), hit(3, 3, 3, 4)}, "truncated": false,
			"matching_cost": a.decode(t)["matching_cost"],
		},
		a.decode(t),
	)

	a = c.do(t, "POST", "/v1/rules:test", map[string]any{"pattern": "a", "text": strings.Repeat("a\n", 1500)})
	assert.Len(t, a.decode(t)["hits"], 1000)
	assert.Equal(t, true, a.decode(t)["truncated"])

	a = c.do(t, "POST", "/v1/rules:test", map[string]any{"text": "a"})
	assert.Contains(t, a.fields(t), "pattern")
	assert.Equal(t, 0.0, c.ruleset(t, "custom")["rule_count"], "nothing is stored")
}

func TestRulesFile(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	const path = ".prwarden/rules.yml"
	const good = `version: 1
disable: [secrets/private-key, secrets/no-such-rule]
exclude: ["vendor/**"]
rules:
  - id: no-zap
    type: regex
    pattern: 'zap\('
    message: Do not zap.
    severity: medium
    paths: {include: ["**/*.txt"]}
`
	summary := func(m map[string]any) []string {
		var all []string
		for _, f := range list(m["findings"]) {
			f := f.(map[string]any)
			all = append(all, fmt.Sprintf("%s %s %s:%v", f["severity"], f["rule_id"], f["file"], f["line"]))
		}
		return all
	}

	scan := func(t *testing.T, name string, base, change files) map[string]any {
		t.Helper()
		h.create(t, name, base).pull(1, change)
		m := c.scan(t, name, 1)
		require.Equal(t, "complete", m["status"], "%v", m)
		return m
	}

	t.Run("rules of the base apply", func(t *testing.T) {
		t.Parallel()
		m := scan(t, "acme/base", files{path: good}, files{"a.txt": "zap(1)", "b.go": "zap(1)", "vendor/a.txt": "zap(1)"})
		got := summary(m)
		require.Len(t, got, 2, "%v", got)
		assert.Contains(t, got[0], "meta/", "an unknown id under disable is reported")
		assert.Contains(t, got[0], path+":2")
		assert.Equal(t, "medium custom/no-zap a.txt:1", got[1])
	})

	t.Run("a pull request can't switch off its own checks", func(t *testing.T) {
		t.Parallel()
		m := scan(t, "acme/off", files{path: good}, files{"a.txt": "zap(1)", path: "version: 1\nexclude: ['**']\n"})
		assert.Contains(t, summary(m), "medium custom/no-zap a.txt:1")
		assert.Contains(t, strings.Join(summary(m), "\n"), "info meta/rules-file-changed "+path)
	})

	t.Run("a broken one at the base", func(t *testing.T) {
		t.Parallel()
		addRule(t, c, with2(todoRule, "id", "still"))
		m := scan(t, "acme/broken", files{path: "version: 1\nrulez: []\n"}, files{"a.txt": "frobnicate(1)"})
		assert.Equal(t, []string{"high meta/rules-file-invalid " + path + ":2", "warning custom/still a.txt:1"}, summary(m))
	})

	t.Run("a broken one at the head", func(t *testing.T) {
		t.Parallel()
		m := scan(t, "acme/breaking", files{path: good}, files{path: "version: 1\nrules:\n  - id: x\n"})
		assert.Contains(t, strings.Join(summary(m), "\n"), "high meta/rules-file-invalid "+path+":3")
	})

	t.Run("rulesets narrow", func(t *testing.T) {
		t.Parallel()
		addRule(t, c, with2(with2(todoRule, "id", "own"), "pattern", "snafu"))
		key := "-----BEGIN RSA PRIVATE" + " KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEA", 4)
		h.create(t, "acme/narrow", files{
			path: "version: 1\nrules:\n  - {id: zap, type: regex, pattern: zap, message: m, severity: low}\n",
		}).
			pull(1, files{"a.txt": "zap\nsnafu\n" + key + "\n"})
		count := func(ruleset any) int {
			body := map[string]any{"repo": "acme/narrow", "pr_number": 1}
			if ruleset != nil {
				body["ruleset"] = ruleset
			}
			a := c.do(t, "POST", "/v1/reviews", body)
			require.Equal(t, 202, a.status, a.body)
			m := c.wait(t, a.decode(t)["review_id"].(string))
			require.Equal(t, "complete", m["status"], "%v", m)
			return len(list(m["findings"]))
		}

		assert.Equal(t, 3, count(nil))
		assert.Equal(t, 3, count("acme/narrow"))
		assert.Equal(t, 1, count("default"))
		assert.Equal(t, 1, count("custom"))
	})
}

func TestRulesArePushed(t *testing.T) {
	t.Parallel()
	s, c, h := setup(t)
	h.create(t, "acme/api", files{"README.md": "x"}).pull(1, files{"a": "zzz1\nzzz300 yyy"})
	dir := t.TempDir()
	write := func(name string, n int, pattern string) string {
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")
		for i := range n {
			fmt.Fprintf(&b, "- {id: r%d, type: regex, pattern: '%s%d\\b', message: No., severity: low, "+
				"cases: {match: ['%s%d']}}\n", i, pattern, i, pattern, i)
		}
		b.WriteString("- {id: own, type: regex, pattern: yyy, message: No., severity: low, scope: repo, repo: acme/api}\n")
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
		return path
	}
	run := func(status int, args ...string) (stdout string) {
		t.Helper()
		stdout, stderr, got := s.prwarden(t, c, append([]string{"rules"}, args...)...)
		require.Equal(t, status, got, "%s%s", stdout, stderr)
		return stdout
	}

	first := write("first.yml", 400, "zzz")
	assert.Contains(t, run(0, "push", first, "--dry-run"), "401 to create, 0 to change, 0 to delete, 0 unchanged.")
	assert.InDelta(t, 0, c.ruleset(t, "custom")["rule_count"], 0)
	run(0, "push", first)
	assert.InDelta(t, 400, c.ruleset(t, "custom")["rule_count"], 0)
	assert.Len(t, c.scan(t, "acme/api", 1)["findings"], 3)
	second := write("second.yml", 200, "zzx")
	assert.Contains(t, run(0, "push", second),
		"~ custom/r7\n    cases.match: [\"zzz7\"] -> [\"zzx7\"]\n    pattern: zzz7\\b -> zzx7\\b\n")
	run(0, "push", second, "--prune")
	assert.InDelta(t, 200, c.ruleset(t, "custom")["rule_count"], 0)
	history := run(0, "history", "r300")
	assert.Regexp(t, `(?m)\A\S+ \S+  delete  key:key_\w+\n\S+ \S+  create  key:key_\w+\n\z`, history)

	broken := filepath.Join(dir, "broken.yml")
	require.NoError(t, os.WriteFile(broken, []byte("version: 1\nrules: [{id: x}]\n"), 0o600))
	run(1, "push", broken)
	a := c.do(t, "POST", "/v1/rules:batch", map[string]any{"rules": []any{map[string]any{"id": "x"}}})
	assert.Equal(t, 400, a.status, a.body)
	assert.Contains(t, a.fields(t), "rules[0].pattern")
	a = c.do(t, "POST", "/v1/rules:batch", map[string]any{"rules": []any{}, "prune": true, "etag": "1"})
	assert.Equal(t, "ETAG_MISMATCH", a.reason(t))
	assert.Equal(t, 200, c.do(t, "POST", "/v1/rules:batch", nil).status, "an empty document changes nothing")
	assert.Equal(t, 404, c.do(t, "GET", "/v1/rules/never:history", nil).status)
}

func TestARuleIsChanged(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	h.create(t, "acme/api", files{"README.md": "x"}).pull(1, files{"a": "zzz9\nyyy9"})
	const path = "/v1/rules/no-zzz"
	addRule(t, c, map[string]any{
		"id": "no-zzz", "type": "regex", "pattern": "zzz9", "message": "No.", "severity": "low",
		"paths": map[string]any{"include": []string{"a", "b"}, "exclude": []string{"b"}},
	})
	read := c.do(t, "GET", path, nil).decode(t)
	assert.Equal(t, true, read["enabled"])
	assert.Regexp(t, "^key:key_", read["created_by"])

	send := func(status int, query string, body map[string]any) answer {
		a := c.do(t, "PATCH", path+query, body)
		require.Equal(t, status, a.status, a.body)
		return a
	}
	patch := func(status int, query string, body map[string]any) map[string]any {
		return send(status, query, body).decode(t)
	}
	after := patch(200, "", map[string]any{"severity": "high", "paths": map[string]any{"exclude": nil}, "etag": read["etag"]})
	assert.Equal(t, "high", after["severity"])
	assert.Equal(t, map[string]any{"include": []any{"a", "b"}, "exclude": []any{}}, after["paths"])
	assert.Equal(t, "zzz9", after["pattern"])
	assert.Equal(t, read["created_at"], after["created_at"])
	assert.NotEqual(t, read["etag"], after["etag"])
	stale := map[string]any{"severity": "low", "etag": read["etag"]}
	assert.Equal(t, "ETAG_MISMATCH", send(409, "", stale).reason(t))
	assert.Len(t, c.scan(t, "acme/api", 1)["findings"], 1)

	assert.Equal(t, after, patch(200, "", map[string]any{"severity": "high"}), "nothing changed")
	patch(400, "", map[string]any{"id": "other", "severity": "low"})
	patch(400, "", map[string]any{"pattern": "("})
	patch(400, "?update_mask=patern", map[string]any{"pattern": "yyy9"})
	patch(400, "", map[string]any{})
	after = patch(200, "?update_mask=paths,pattern", map[string]any{"pattern": "yyy9", "message": "not named"})
	assert.Equal(t, "No.", after["message"])
	assert.NotContains(t, after, "paths")
	patch(400, "", map[string]any{"mode": "watch"})
	after = patch(200, "", map[string]any{"mode": "observe"})
	assert.Equal(t, "observe", after["mode"])
	r := c.scan(t, "acme/api", 1)
	assert.Empty(t, r["findings"])
	require.Len(t, r["observed"], 1)
	assert.Equal(t, "pass", r["verdict"].(map[string]any)["outcome"])
	listed := c.do(t, "GET", "/v1/reviews/"+r["review_id"].(string)+"/findings?kind=observed", nil).decode(t)
	assert.Equal(t, r["observed"], listed["findings"])
	patch(200, "", map[string]any{"enabled": false})
	assert.Empty(t, c.scan(t, "acme/api", 1)["findings"])

	a := c.do(t, "PATCH", "/v1/rules/secrets/private-key", map[string]any{"severity": "low"})
	assert.Equal(t, 403, a.status, a.body)
	assert.Equal(t, "DEFAULT_RULE", a.reason(t))
	assert.Equal(t, 404, c.do(t, "PATCH", "/v1/rules/none", map[string]any{"severity": "low"}).status)
}
