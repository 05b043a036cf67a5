package blackbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/roletest"
)

// pageRoles are all pages of an organization, beneath /o/{org}: the weakest role that
// may open one, or send its form, and what it then answers. Words with a dollar are
// what acme has; nothing is deleted, because each role asks in turn.
var pageRoles = []struct {
	page, role string
	form       string
	status     int
}{
	{"GET /{$}", "viewer", "", 303},
	{"GET /go", "viewer", "?q=acme", 200},

	{"GET /reviews", "viewer", "", 200},
	{"GET /reviews/events", "viewer", "?seen=x", 400},
	{"GET /reviews/new", "member", "", 200},
	{"POST /reviews/new", "member", "repo=acme/none&number=1", 303},
	{"GET /reviews/{review}", "viewer", "", 200},
	{"GET /reviews/{review}/files/{n}", "viewer", "?file=a.js", 200},
	{"GET /reviews/{review}/events", "viewer", "", 200},
	{"GET /reviews/{review}/sarif", "viewer", "", 200},
	{"POST /reviews/{review}/cancel", "member", "", 409},
	{"POST /reviews/{review}/again", "member", "", 303},
	{"POST /reviews/{review}/triage", "member", "decision=open&f=$fingerprint", 303},
	{"POST /undo", "member", "change=trg_unknown", 404},

	{"GET /findings", "viewer", "", 200},
	{"POST /findings/triage", "member", "decision=open&f=$handle", 303},
	{"GET /repositories", "viewer", "", 200},
	{"GET /repositories/{repo...}", "viewer", "", 200},
	{"GET /trends", "viewer", "", 200},

	{"GET /rules", "viewer", "", 200},
	{"GET /rules/new", "admin", "", 200},
	{"POST /rules/new", "admin", "do=save", 400},
	{"GET /rules/{category}/{name}", "viewer", "", 200},
	{"POST /rules/{category}/{name}", "admin", "do=enable", 303},
	{"GET /rules/{category}/{name}/edit", "admin", "", 200},
	{"POST /rules/{category}/{name}/edit", "admin", "do=save", 400},
	{"GET /settings/policy", "viewer", "", 200},
	{"POST /settings/policy", "admin", "document=fail_on:+huge", 400},

	{"GET /settings/keys", "admin", "", 200},
	{"POST /settings/keys", "admin", "name=", 400},
	{"POST /settings/keys/revoke", "admin", "id=$key", 303},
	{"GET /settings/members", "admin", "", 200},
	{"POST /settings/members/role", "admin", "id=$user&role=member", 303},
	{"POST /settings/members/remove", "admin", "id=usr_unknown", 404},
	{"POST /settings/members/reset", "admin", "id=$user", 200},
	{"POST /settings/invitations", "admin", "email=x&role=viewer", 400},
	{"POST /settings/invitations/revoke", "admin", "id=inv_unknown", 303},
	{"GET /settings/sso", "owner", "", 200},
	{"GET /settings/sso/try", "owner", "", 404}, // there is no provider
	{"GET /audit", "admin", "", 200},
	{"GET /audit/events.jsonl", "admin", "", 200},

	{"GET /settings/connections", "member", "", 200},
	{"POST /settings/connections", "admin", "kind=gitea", 400},
	{"GET /settings/connections/new", "admin", "", 200},
	{"GET /settings/connections/{connection}", "member", "", 200},
	{"POST /settings/connections/{connection}", "admin", "name=A+B", 400},
	{"POST /settings/connections/{connection}/test", "member", "", 303},
	{"POST /settings/connections/{connection}/rotate", "admin", "token=other", 303},
	{"POST /settings/connections/{unknown}/delete", "admin", "", 404},
	{"GET /settings/connections/{connection}/repositories", "member", "", 503},
	{"GET /settings/connections/{connection}/pulls", "member", "", 200},
	{"POST /settings/connections/{connection}/pulls", "admin", "repo=acme/api&number=1", 303},

	{"GET /settings/webhooks", "admin", "", 200},
	{"POST /settings/webhooks", "admin", "name=", 400},
	{"GET /settings/webhooks/{webhook}", "admin", "", 200},
	{"POST /settings/webhooks/{webhook}", "admin", "name=", 400},
	{"POST /settings/webhooks/{webhook}/enabled", "admin", "enabled=true", 303},
	{"POST /settings/webhooks/{webhook}/rotate", "admin", "", 200},
	{"POST /settings/webhooks/{webhook}/test", "admin", "", 303},
	{"POST /settings/webhooks/{webhook}/redeliver", "admin", "message=$message", 303},
	{"POST /settings/webhooks/{unknown}/delete", "admin", "", 404},
}

// pagesThere are the routes of organizations that the source of the pages registers.
func pagesThere(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../../server/web/*.go")
	require.NoError(t, err)
	one := regexp.MustCompile(`const one = "([^"]+)"`)
	route := regexp.MustCompile(`h\.person\("((?:GET|POST) /o/\{org\}[^"]*)", `)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(source)
		if m := one.FindStringSubmatch(text); m != nil {
			text = strings.NewReplacer(`"+one+"`, m[1], `"+one,`, m[1]+`",`).Replace(text)
		}
		for _, m := range route.FindAllStringSubmatch(text, -1) {
			all = append(all, strings.Replace(m[1], "/o/{org}", "", 1))
		}
	}

	return all
}

// Each person may open the pages of his role, is told which role others need, and finds
// nothing of another organization.
func TestRolesOnPages(t *testing.T) {
	t.Parallel()
	written := make([]string, len(pageRoles))
	named := strings.NewReplacer("{review}", "{id}", "{connection}", "{id}", "{webhook}", "{id}", "{unknown}", "{id}")
	for i, p := range pageRoles {
		written[i] = named.Replace(p.page)
	}
	assert.ElementsMatch(t, pagesThere(t), written, "the table of pages")

	s, h := twoOrganizations(t)
	people := map[string]*browser{"owner": s.setUp(t, "acme")}
	for _, role := range []string{"viewer", "member", "admin"} {
		people[role] = s.join(t, people["owner"], "acme", role)
	}
	made := owned(t, s, h)
	made["handle"] = people["owner"].get(t, "/o/acme/findings?group=list&decision=false_positive").
		found(t, `name="f" value="([^"]+)"`)
	link := s.command(t, "users", "create", "--organization", "other", "--role", "owner", "--email", "other@example.com",
		"--public-url", "https://prwarden.example.com", "--database", s.database, "--config", s.config)
	stranger := s.browser(t)
	token := strings.TrimSpace(link[strings.Index(link, "token=")+len("token="):])
	require.Equal(t, http.StatusSeeOther, stranger.post(t, "/reset", "token", token, "password", password).status)

	made["unknown"], made["n"], made["repo..."], made["category"], made["name"] = "unknown", "0", "acme/api", "custom", made["rule"]
	ask := func(b *browser, page, form string) answer {
		t.Helper()
		method, path, _ := strings.Cut(page, " ")
		path = "/o/acme" + strings.ReplaceAll(path, "{$}", "")
		for name, value := range made {
			path = strings.ReplaceAll(path, "{"+name+"}", value)
			form = strings.ReplaceAll(form, "$"+name, value)
		}
		if method == http.MethodGet {
			return b.get(t, path+form)
		}
		b.at = "/o/acme/reviews"
		fields, err := url.ParseQuery(form)
		require.NoError(t, err)

		return b.do(t, method, path, fields)
	}
	allowed := func(role, needs string) bool {
		return roletest.Call{Role: needs}.Allowed(role)
	}

	for _, role := range roletest.Roles {
		for _, p := range pageRoles {
			a := ask(people[role.Name], p.page, p.form)
			what := fmt.Sprintf("%s by %s: %.2000s", p.page, role.Name, a.body)
			if allowed(role.Name, p.role) {
				assert.Equal(t, p.status, a.status, what)
				continue
			}
			assert.Equal(t, http.StatusForbidden, a.status, what)
			assert.Contains(t, a.body, "This needs the role "+p.role+"; yours is "+role.Name+".", what)
		}
	}
	for _, p := range pageRoles {
		a := ask(stranger, p.page, p.form)
		assert.Equal(t, http.StatusNotFound, a.status, p.page)
		for _, name := range []string{made["rule"], made["fingerprint"], made["review"], "canary"} {
			assert.NotContains(t, a.body, name, p.page)
		}
	}
}
