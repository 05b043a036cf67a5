package web

import (
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/prwarden/prwarden/internal/auth"
)

// entry is a line of the menu.
type entry struct {
	section, label, icon, path string
	key                        string     // the key after g that leads there; "" for none
	scope                      auth.Scope // that the person needs
	settings                   bool
}

// allEntries are the lines of the menu, in order.
var allEntries = []entry{
	{section: "reviews", label: "Reviews", icon: "reviews", path: "/reviews", key: "r", scope: auth.ReviewsRead},
	{section: "findings", label: "Findings", icon: "findings", path: "/findings", key: "f", scope: auth.ReviewsRead},
	{
		section: "repositories", label: "Repositories", icon: "repos", path: "/repositories", key: "p",
		scope: auth.ReviewsRead,
	},
	{section: "rules", label: "Rules", icon: "rules", path: "/rules", key: "u", scope: auth.RulesRead},
	{section: "trends", label: "Trends", icon: "trends", path: "/trends", key: "t", scope: auth.ReviewsRead},
	{
		section: "keys", label: "API Keys", icon: "keys", path: "/settings/keys", key: "k", scope: auth.KeysAdmin,
		settings: true,
	},
	{
		section: "members", label: "Members", icon: "members", path: "/settings/members", scope: auth.MembersAdmin,
		settings: true,
	},
	{
		section: "sso", label: "Single sign-on", icon: "shield", path: "/settings/sso", scope: auth.OrganizationAdmin,
		settings: true,
	},
	{
		section: "policy", label: "Policy", icon: "policy", path: "/settings/policy", scope: auth.PolicyRead,
		settings: true,
	},
	{
		section: "connections", label: "Connections", icon: "hosts", path: "/settings/connections",
		scope: auth.HostsRead, settings: true,
	},
	{
		section: "webhooks", label: "Webhooks", icon: "webhooks", path: "/settings/webhooks",
		scope: auth.WebhooksRead, settings: true,
	},
	{section: "audit", label: "Audit log", icon: "audit", path: "/audit", scope: auth.AuditRead, settings: true},
}

// entries returns the lines that the person may use.
func entries(v *visit, settings bool) (out []entry) {
	for _, e := range allEntries {
		if e.settings == settings && v.has(e.scope) {
			out = append(out, e)
		}
	}

	return out
}

// shortcut is a key, or several, and what it does.
type shortcut struct {
	keys []string
	does string
}

var shortcuts = []shortcut{
	{[]string{"j", "k"}, "next, previous finding"},
	{[]string{"n"}, "next new finding"},
	{[]string{"a"}, "accept the risk"},
	{[]string{"f"}, "false positive"},
	{[]string{"w"}, "won't fix"},
	{[]string{"x"}, "select for a bulk decision"},
	{[]string{"u"}, "undo what was just decided"},
	{[]string{"o"}, "unfold or fold the file"},
	{[]string{"/"}, "search"},
	{[]string{"g"}, "then r, f, p, u, t, k: go to reviews, findings, repositories, rules, trends, API keys"},
	{[]string{"Ctrl", "K"}, "go to a page, repository, review or rule"},
	{[]string{"?"}, "this list"},
}

// themeAttribute is the theme that somebody has chosen.
func themeAttribute(theme string) templ.Attributes {
	if theme == "" {
		return nil
	}

	return templ.Attributes{"data-theme": theme}
}

func otherTheme(theme string) string {
	if theme == "dark" {
		return "light"
	}

	return "dark"
}

// current marks the link of the page that is shown.
func current(is bool) templ.Attributes {
	if !is {
		return nil
	}

	return templ.Attributes{"aria-current": "page"}
}

// initials are the first letters of at most two words.
func initials(name string) (out string) {
	for _, word := range strings.Fields(name) {
		if r, _ := utf8.DecodeRuneInString(word); utf8.RuneCountInString(out) < 2 {
			out += string(r)
		}
	}

	return strings.ToUpper(out)
}
