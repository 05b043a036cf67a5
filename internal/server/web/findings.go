package web

import (
	"net/url"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// findingRoutes are the pages about findings of all pull requests, of repositories and
// over time.
func (h *Handler) findingRoutes() {
	h.person("GET /o/{org}/findings", h.findingsPage)
	h.person("POST /o/{org}/findings/triage", h.triageFound)
	h.person("GET /o/{org}/repositories", h.repositoriesPage)
	h.person("GET /o/{org}/repositories/{repo...}", h.repositoryPage)
	h.person("GET /o/{org}/trends", h.trendsPage)
}

// groupings are what findings can be counted by; the last lists them.
var groupings = []choice{{"rule", "By rule"}, {"file", "By file"}, {"repo", "By repository"}, {"list", "List"}}

// decisionFilters choose findings by what is decided about them.
var decisionFilters = []choice{
	{"", "Open"}, {"accepted", "Accepted"}, {"false_positive", "False positive"}, {"wont_fix", "Won't fix"},
}

// findingsFilter is what the address of the page says.
type findingsFilter struct {
	Group, Query, Severity, Decision, Rule, Repo, File, Page string
}

func findingsFilterOf(q url.Values) findingsFilter {
	f := findingsFilter{
		Group: q.Get("group"), Query: strings.TrimSpace(q.Get("q")), Severity: q.Get("severity"),
		Decision: q.Get("decision"), Rule: q.Get("rule"), Repo: q.Get("repo"), File: q.Get("file"), Page: q.Get("page"),
	}
	if f.Group == "" {
		f.Group = groupings[0].value
	}

	return f
}

// with is the address with one thing changed, on the first page.
func (f findingsFilter) with(v *visit, change func(*findingsFilter)) string {
	f.Page = ""
	change(&f)
	q := url.Values{}
	for name, value := range map[string]string{
		"group": f.Group, "q": f.Query, "severity": f.Severity, "decision": f.Decision, "rule": f.Rule,
		"repo": f.Repo, "file": f.File, "page": f.Page,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}

	return v.here("/findings?" + q.Encode())
}

// filtered reports whether the address asks for a part of the findings.
func (f findingsFilter) filtered() bool {
	return f.Query+f.Severity+f.Decision+f.Rule+f.Repo+f.File != ""
}

func (f findingsFilter) request() *prwardenv1.SearchFindingsRequest {
	req := &prwardenv1.SearchFindingsRequest{
		Query: given(f.Query), Repo: given(f.Repo), RuleId: given(f.Rule), File: given(f.File),
		MinSeverity: level(f.Severity), PageToken: given(f.Page),
	}
	if n := prwardenv1.Decision_Kind_value[f.Decision]; n != 0 {
		req.Decision = prwardenv1.Decision_Kind(n).Enum()
	}
	if n := prwardenv1.Grouping_Key_value[f.Group]; n != 0 {
		req.GroupBy = prwardenv1.Grouping_Key(n).Enum()
	}

	if req.GroupBy == nil {
		req.PageSize = new(int32(foundOnPage))
	}

	return req
}

// foundOnPage is how many findings a page lists.
const foundOnPage = 50

// findingsView is what the page shows.
type findingsView struct {
	Filter   findingsFilter
	Groups   []*prwardenv1.FindingGroup
	Findings []*prwardenv1.FoundFinding
	Summary  []counted         // nil but on the first page
	Names    map[string]string // of who decided
	Next     string
	Server   string
}

func (h *Handler) findingsPage(v *visit) error {
	view := findingsView{Filter: findingsFilterOf(v.r.URL.Query()), Server: h.origin(v.r)}
	got, err := h.calls.reviews.SearchFindings(v.ctx(), view.Filter.request())
	if err != nil {
		return err
	}
	view.Groups, view.Findings, view.Next = got.GetGroups(), got.GetFindings(), got.GetNextPageToken()
	if view.Filter.Decision != "" {
		if view.Names, err = h.namesOf(v); err != nil {
			return err
		}
	}
	if got.GetSummary() != nil {
		view.Summary = countsOf(got.GetSummary())
	}

	return h.show(v, "Findings", "findings", findingsBody(v, view))
}

// groupName is what the findings of a group have in common, and the address of them.
func groupName(v *visit, f findingsFilter, g *prwardenv1.FindingGroup) (name, detail, address string) {
	address = f.with(v, func(f *findingsFilter) {
		f.Group = "list"
		if g.RuleId != nil {
			f.Rule = g.GetRuleId()
		}
		if g.Repo != nil {
			f.Repo = g.GetRepo()
		}
		if g.File != nil {
			f.File = g.GetFile()
		}
	})
	switch {
	case g.RuleId != nil:
		return g.GetRuleId(), "", address
	case g.File != nil:
		return shown(g.GetFile()), shown(g.GetRepo()), address
	}

	return shown(g.GetRepo()), "", address
}

// mayDecideFound reports whether the person may decide about a finding.
func mayDecideFound(v *visit, x *prwardenv1.FoundFinding) bool {
	return v.has(auth.FindingsTriage) && x.GetFinding().GetSuppression() == nil
}

// foundAddress is the place of a finding in its review.
func foundAddress(v *visit, x *prwardenv1.FoundFinding) string {
	fingerprint := x.GetFinding().GetFingerprint()

	return v.here("/reviews/" + x.GetReviewId() + "?at=" + fingerprint + "#x" + fingerprint)
}
