package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// ruleRoutes are the pages about rules and the policy.
func (h *Handler) ruleRoutes() {
	h.person("GET /o/{org}/rules", h.rulesPage)
	h.person("GET /o/{org}/rules/new", h.newRulePage)
	h.person("POST /o/{org}/rules/new", h.editRule)
	h.person("GET /o/{org}/rules/{category}/{name}", h.rulePage)
	h.person("POST /o/{org}/rules/{category}/{name}", h.changeRule)
	h.person("GET /o/{org}/rules/{category}/{name}/edit", h.editRulePage)
	h.person("POST /o/{org}/rules/{category}/{name}/edit", h.editRule)
	h.person("GET /o/{org}/settings/policy", h.policyPage)
	h.person("POST /o/{org}/settings/policy", h.setPolicy)
}

// rulesOnPage is how many rules a page lists.
const rulesOnPage = 100

// ruleRow is a line of the list of rules.
type ruleRow struct {
	*prwardenv1.Rule
	ID       string // with its category
	Ruleset  string
	Off      bool // it is not matched, by itself or by the policy
	Severity string
	Stats    *prwardenv1.RuleStats // nil when it found nothing
}

func (r ruleRow) category() string { category, _, _ := strings.Cut(r.ID, "/"); return category }

// matches reports whether the rule has all of the words.
func (r ruleRow) matches(words []string) bool {
	text := strings.ToLower(r.ID + " " + r.GetMessage() + " " + strings.Join(r.GetLanguages(), " "))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// rulesView is what the list of rules shows.
type rulesView struct {
	Query, Ruleset, Category, Severity, Order string

	Rulesets   []*prwardenv1.Ruleset
	Categories []string
	Rows       []ruleRow
	Total      int // of the rows on all pages
	Page       int // from 1
}

func (r rulesView) pages() int { return (r.Total + rulesOnPage - 1) / rulesOnPage }

// address is that of the list with the same filters, at a page.
func (r rulesView) address(v *visit, page int) string {
	q := url.Values{}
	for name, value := range map[string]string{
		"q": r.Query, "ruleset": r.Ruleset, "category": r.Category, "severity": r.Severity, "order": r.Order,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}

	return v.here("/rules?" + q.Encode())
}

func (h *Handler) rulesPage(v *visit) error {
	q := v.r.URL.Query()
	view := rulesView{
		Query: q.Get("q"), Ruleset: q.Get("ruleset"), Category: q.Get("category"), Severity: q.Get("severity"),
		Order: q.Get("order"), Page: 1,
	}
	rulesets, err := h.calls.rules.ListRulesets(v.ctx(), &prwardenv1.ListRulesetsRequest{})
	if err != nil {
		return err
	}
	view.Rulesets = rulesets.GetRulesets()
	rows, err := h.ruleRows(v, view.Ruleset)
	if err != nil {
		return err
	}

	words := strings.Fields(strings.ToLower(view.Query))
	for _, r := range rows {
		if !slices.Contains(view.Categories, r.category()) {
			view.Categories = append(view.Categories, r.category())
		}
		if r.matches(words) && (view.Category == "" || r.category() == view.Category) &&
			(view.Severity == "" || r.Severity == view.Severity) {
			view.Rows = append(view.Rows, r)
		}
	}
	slices.Sort(view.Categories)
	if view.Order == "found" {
		slices.SortStableFunc(view.Rows, func(a, b ruleRow) int { return int(b.Stats.GetFound() - a.Stats.GetFound()) })
	}
	view.Total = len(view.Rows)
	if n, err := strconv.Atoi(q.Get("page")); err == nil {
		view.Page = min(max(n, 1), max(view.pages(), 1))
	}
	from := (view.Page - 1) * rulesOnPage
	view.Rows = view.Rows[from:min(from+rulesOnPage, view.Total)]

	return h.show(v, "Rules", "rules", rulesBody(v, view))
}

// ruleRows are the rules of a ruleset, or of the organization's and the default one.
func (h *Handler) ruleRows(v *visit, ruleset string) (rows []ruleRow, err error) {
	names := []string{ruleset}
	if ruleset == "" {
		names = []string{"custom", "default"}
	}
	policy, err := h.policyFor(v)
	if err != nil {
		return nil, err
	}
	stats, err := h.foundByRule(v)
	if err != nil {
		return nil, err
	}

	for _, name := range names {
		listed, err := h.calls.rules.ListRules(v.ctx(), &prwardenv1.ListRulesRequest{Name: name})
		if err != nil {
			return nil, err
		}
		for _, r := range listed.GetRules() {
			row := ruleRow{Rule: r, ID: fullID(r.GetId()), Ruleset: name, Severity: r.GetSeverity().String()}
			row.Off, row.Stats = !r.GetEnabled(), stats[row.ID]
			if name == "default" {
				row.underPolicy(policy)
			}
			rows = append(rows, row)
		}
	}

	return rows, nil
}

// underPolicy is what the organization's policy makes of a default rule.
func (r *ruleRow) underPolicy(p *prwardenv1.Policy) {
	r.Off = r.Off || slices.Contains(p.GetDisable(), r.ID)
	if o := p.GetOverride()[r.ID]; o != nil && o.Severity != nil {
		r.Severity = o.GetSeverity().String()
	}
}

// pageWords says which page it is.
func pageWords(page, pages int) string { return fmt.Sprintf("Page %d of %d", page, pages) }

// policyFor is the organization's policy, for those who may read it; nil for others.
func (h *Handler) policyFor(v *visit) (*prwardenv1.Policy, error) {
	if !v.has(auth.PolicyRead) {
		return nil, nil //nolint:nilnil // a message that is nil has no values
	}
	got, err := h.calls.policies.GetPolicy(v.ctx(), &prwardenv1.GetPolicyRequest{})

	return got.GetPolicy(), err
}

// foundByRule is what rules found in 30 days, for those who may read reviews.
func (h *Handler) foundByRule(v *visit) (map[string]*prwardenv1.RuleStats, error) {
	if !v.has(auth.ReviewsRead) {
		return map[string]*prwardenv1.RuleStats{}, nil
	}
	const all = 1000
	got, err := h.calls.stats.ListRuleStats(v.ctx(), &prwardenv1.ListRuleStatsRequest{PageSize: new(int32(all))})
	if err != nil {
		return nil, err
	}
	found := map[string]*prwardenv1.RuleStats{}
	for _, r := range got.GetRules() {
		found[r.GetRuleId()] = r
	}

	return found, nil
}

// fullID is the identifier of a rule with its category.
func fullID(id string) string {
	if strings.Contains(id, "/") {
		return id
	}

	return "custom/" + id
}

// ruleAddress is the page of a rule. Rules of a rules file are in a ruleset only.
func ruleAddress(v *visit, r ruleRow) string {
	at := v.here("/rules/" + r.ID)
	if r.Ruleset != "custom" && r.Ruleset != "default" && r.GetCreatedAt() == nil {
		at += "?ruleset=" + url.QueryEscape(r.Ruleset)
	}

	return at
}

// rejected reports whether a call refused what a form says, so that the form is shown
// again with the problem.
func rejected(p problem) bool {
	return p.Code == http.StatusBadRequest || p.Code == http.StatusConflict
}
