package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// windows are how many days numbers can be of.
var windows = []int{30, 90, 365}

// ruleView is what the page of a rule shows.
type ruleView struct {
	ruleRow
	Policy  *prwardenv1.Policy
	Days    int // of the numbers
	Numbers *prwardenv1.RuleStats
	Repos   []*prwardenv1.RuleStats
	History []*prwardenv1.ListRuleHistoryResponse_Entry
	Names   map[string]string // of who changed it
	Delete  bool              // it is about to be deleted
}

// own reports whether the rule was made over the API, so that it can be changed there.
func (r ruleView) own() bool { return r.GetCreatedAt() != nil }

// byDefault reports whether the rule is one of the default ruleset.
func (r ruleView) byDefault() bool { return r.Ruleset == "default" }

// disabled reports whether the policy switches the rule off.
func (r ruleView) disabled() bool { return slices.Contains(r.Policy.GetDisable(), r.ID) }

// locked reports whether no repository can switch the rule off.
func (r ruleView) locked() bool {
	set := "custom"
	if r.byDefault() {
		set = "default"
	}
	rules := r.Policy.GetLocked().GetRules()

	return slices.Contains(r.Policy.GetLocked().GetRulesets(), set) || slices.Contains(rules, r.ID) ||
		slices.Contains(rules, r.category()+"/*")
}

// window is how many days the numbers of a page are of.
func window(v *visit) int {
	if n, err := strconv.Atoi(v.r.URL.Query().Get("days")); err == nil && slices.Contains(windows, n) {
		return n
	}

	return windows[0]
}

// firstDay is the first day of a window that ends today.
func (h *Handler) firstDay(days int) string {
	return h.Now().UTC().AddDate(0, 0, 1-days).Format(time.DateOnly)
}

func ruleID(v *visit) string { return v.r.PathValue("category") + "/" + v.r.PathValue("name") }

func (h *Handler) rulePage(v *visit) (err error) {
	view := ruleView{Days: window(v), Delete: v.r.URL.Query().Get("delete") != ""}
	if view.ruleRow, err = h.findRule(v, ruleID(v)); err != nil {
		return err
	}
	if view.Policy, err = h.policyFor(v); err != nil {
		return err
	}
	if view.byDefault() {
		view.underPolicy(view.Policy)
	}
	if err := h.ruleNumbers(v, &view); err != nil {
		return err
	}
	if view.own() {
		got, err := h.calls.rules.ListRuleHistory(v.ctx(), &prwardenv1.ListRuleHistoryRequest{Id: view.ID, PageSize: 20})
		if err != nil {
			return err
		}
		view.History = got.GetEntries()
		if view.Names, err = h.namesOf(v); err != nil {
			return err
		}
	}

	return h.show(v, view.ID, "rules", ruleBody(h, v, view))
}

// findRule reads a rule. One of a rules file is only in the ruleset of its repository,
// which the address names.
func (h *Handler) findRule(v *visit, id string) (row ruleRow, err error) {
	got, err := h.calls.rules.GetRule(v.ctx(), &prwardenv1.GetRuleRequest{Id: id})
	ruleset := v.r.URL.Query().Get("ruleset")
	if ruleset != "" && status.Code(err) == codes.NotFound {
		return h.findInRuleset(v, id, ruleset)
	}
	if err != nil {
		return ruleRow{}, err
	}
	ruleset = "default"
	if r := got.GetRule(); r.GetCreatedAt() != nil {
		ruleset = "custom"
		if r.GetRepo() != "" {
			ruleset = r.GetRepo()
		}
	}

	return rowOf(got.GetRule(), ruleset), nil
}

func (h *Handler) findInRuleset(v *visit, id, ruleset string) (ruleRow, error) {
	listed, err := h.calls.rules.ListRules(v.ctx(), &prwardenv1.ListRulesRequest{Name: ruleset})
	if err != nil {
		return ruleRow{}, err
	}
	for _, r := range listed.GetRules() {
		if fullID(r.GetId()) == id {
			return rowOf(r, ruleset), nil
		}
	}

	return ruleRow{}, errNoPage
}

func rowOf(r *prwardenv1.Rule, ruleset string) ruleRow {
	return ruleRow{
		Rule: r, ID: fullID(r.GetId()), Ruleset: ruleset, Off: !r.GetEnabled(), Severity: r.GetSeverity().String(),
	}
}

// ruleNumbers reads what the rule found, for those who may read reviews.
func (h *Handler) ruleNumbers(v *visit, view *ruleView) error {
	if !v.has(auth.ReviewsRead) {
		return nil
	}
	req := &prwardenv1.ListRuleStatsRequest{RuleId: &view.ID, Since: new(h.firstDay(view.Days))}
	sum, err := h.calls.stats.ListRuleStats(v.ctx(), req)
	if err != nil {
		return err
	}
	for _, r := range sum.GetRules() {
		view.Numbers = r
	}
	req.ByRepository, req.PageSize = true, new(int32(10))
	repos, err := h.calls.stats.ListRuleStats(v.ctx(), req)
	view.Repos = repos.GetRules()

	return err
}

// feedbackWords say how often people found the rule wrong; "" before they decided anything.
func feedbackWords(n *prwardenv1.RuleStats) string {
	decided := n.GetAccepted() + n.GetFalsePositive() + n.GetWontFix()
	if decided == 0 {
		return ""
	}

	return "People decided about " + plural(int(decided), "finding", "findings") + ", and found the rule wrong in " +
		strconv.Itoa(int(n.GetFalsePositive())) + "."
}

// changeRule does what a button on the page of a rule says.
func (h *Handler) changeRule(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	id, in := ruleID(v), v.r.PostForm
	next, text, err := v.here("/rules/"+id), "", error(nil)
	switch in.Get("do") {
	case "delete":
		_, err = h.calls.rules.DeleteRule(v.ctx(), &prwardenv1.DeleteRuleRequest{Id: id})
		next, text = v.here("/rules?ruleset=custom"), "The rule "+id+" is deleted."
	case "enable", "disable":
		on := in.Get("do") == "enable"
		err = h.updateRule(v, id, &prwardenv1.Rule{Enabled: &on, Etag: in.Get("etag")}, "enabled")
		text = "The rule is " + map[bool]string{true: "on", false: "off"}[on] + ". Reviews that begin now follow it."
	case "observe", "enforce":
		mode := prwardenv1.Rule_Mode(prwardenv1.Rule_Mode_value[in.Get("do")])
		err = h.updateRule(v, id, &prwardenv1.Rule{Mode: &mode, Etag: in.Get("etag")}, "mode")
		text = "The rule is in the mode " + in.Get("do") + ". Reviews that begin now follow it."
	case "policy-off", "policy-on":
		off := in.Get("do") == "policy-off"
		err = h.disableByPolicy(v, id, off, in.Get("etag"))
		text = "The policy leaves the rule on."
		if off {
			text = "The policy switches the rule off in all repositories."
		}
	default:
		return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "do: the form has no button %q.", in.Get("do"))
	}
	if err == nil {
		h.leaveFlash(v, flash{Text: text})
		h.redirect(v, next)
		return nil
	}
	p := problemOf(v.ctx(), err)
	if p.Code != http.StatusConflict {
		return err
	}
	h.leaveFlash(v, flash{Text: p.Text, Bad: true})
	h.redirect(v, v.here("/rules/"+id))

	return nil
}

func (h *Handler) updateRule(v *visit, id string, r *prwardenv1.Rule, fields ...string) error {
	_, err := h.calls.rules.UpdateRule(v.ctx(), &prwardenv1.UpdateRuleRequest{
		Id: id, Rule: r, UpdateMask: &fieldmaskpb.FieldMask{Paths: fields},
	})

	return err
}

// disableByPolicy switches a default rule off in all repositories, or on again.
func (h *Handler) disableByPolicy(v *visit, id string, off bool, etag string) error {
	got, err := h.calls.policies.GetPolicy(v.ctx(), &prwardenv1.GetPolicyRequest{})
	if err != nil {
		return err
	}
	p := got.GetPolicy()
	p.Etag = etag
	p.Disable = slices.DeleteFunc(p.Disable, func(d string) bool { return d == id })
	if off {
		p.Disable = append(p.Disable, id)
	}
	_, err = h.calls.policies.SetPolicy(v.ctx(), &prwardenv1.SetPolicyRequest{Policy: p})

	return err
}

// costWords say what matching a rule costs.
func costWords(c *prwardenv1.MatchingCost) string {
	return plural(int(c.GetMicrosecondsPerMib()), "µs", "µs") + " a MiB"
}

// fileWords say which files a rule looks at.
func fileWords(r *prwardenv1.Rule) string {
	but := ""
	if s := r.GetSkip(); len(s) > 0 {
		but = ", but not " + strings.Join(s, ", ") + " ones"
	}
	if len(r.GetLanguages())+len(r.GetPaths().GetInclude()) == 0 {
		return "All files" + but
	}
	var parts []string
	if l := r.GetLanguages(); len(l) > 0 {
		parts = append(parts, "Files in "+strings.Join(l, ", "))
	}
	if p := r.GetPaths().GetInclude(); len(p) > 0 {
		parts = append(parts, strings.Join(p, ", "))
	}

	return strings.Join(parts, " that match ") + but
}
