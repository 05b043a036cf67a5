package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// policyView is what the page of the policy shows.
type policyView struct {
	Policy  *prwardenv1.Policy // as it is stored
	Names   map[string]string  // of who set it
	Text    string             // the document, as it was sent or is
	Etag    string             // of the policy that the document changes
	Problem problem
}

func (h *Handler) policyPage(v *visit) error {
	return h.showPolicy(v, http.StatusOK, policyView{})
}

func (h *Handler) showPolicy(v *visit, code int, p policyView) error {
	got, err := h.calls.policies.GetPolicy(v.ctx(), &prwardenv1.GetPolicyRequest{})
	if err != nil {
		return err
	}
	if p.Names, err = h.namesOf(v); err != nil {
		return err
	}
	p.Policy = got.GetPolicy()
	if p.Etag == "" {
		document := proto.CloneOf(p.Policy)
		document.Etag, document.UpdatedAt, document.UpdatedBy = "", nil, nil
		if p.Text, err = toYAML(document); err != nil {
			return err
		}
		p.Etag = p.Policy.GetEtag()
	}

	return h.showStatus(v, code, page{Title: "Policy", Section: "policy"}, policyBody(h, v, p))
}

func (h *Handler) setPolicy(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	if err := v.caller.Require(auth.PolicyWrite); err != nil {
		return err
	}
	p := policyView{Text: unixLines(v.r.PostForm.Get("document")), Etag: v.r.PostForm.Get("etag")}
	wanted := &prwardenv1.Policy{}
	err := fromYAML(p.Text, wanted)
	if err == nil {
		wanted.Etag = p.Etag
		_, err = h.calls.policies.SetPolicy(v.ctx(), &prwardenv1.SetPolicyRequest{Policy: wanted})
	}
	if err == nil {
		h.leaveFlash(v, flash{Text: "The policy is set. Reviews that begin now follow it."})
		h.redirect(v, v.here("/settings/policy"))
		return nil
	}
	if p.Problem = problemOf(v.ctx(), err).within("policy."); !rejected(p.Problem) {
		return err
	}

	return h.showPolicy(v, p.Problem.Code, p)
}

// policyWords say what a policy means, a sentence for each part of it.
func policyWords(p *prwardenv1.Policy) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if p.FailOn == nil {
		say("Each review says from which severity on it fails.")
	} else {
		say("A review fails from %s on; a request can only be stricter.", p.GetFailOn())
	}
	out = append(out, suppressionWords(p.GetSuppression()))
	if n := len(p.GetDisable()); n > 0 {
		say("%s off in all repositories: %s.", plural(n, "rule is", "rules are"), some(p.GetDisable()))
	}
	if ids := slices.Sorted(maps.Keys(p.GetOverride())); len(ids) > 0 {
		say("%s changed: %s.", plural(len(ids), "rule is", "rules are"), some(ids))
	}
	locked := slices.Clone(p.GetLocked().GetRules())
	for _, set := range p.GetLocked().GetRulesets() {
		locked = append(locked, "all "+set+" rules")
	}
	if len(locked) == 0 {
		say("No rule is locked: a repository's rules file can switch default rules off.")
	} else {
		say("No repository can switch these off: %s.", some(locked))
	}
	tolerated := make([]string, 0, len(p.GetSkips().GetTolerated()))
	for _, reason := range p.GetSkips().GetTolerated() {
		tolerated = append(tolerated, reason.String())
	}
	if len(tolerated) == 0 {
		say("A change passes only when all of it was looked at.")
	} else {
		say("A change passes although these were not looked at: %s.", some(tolerated))
	}

	if p.GetLowConfidence() == "count" {
		say("Findings of low confidence count as others.")
	} else {
		say("Findings of low confidence are hidden and fail nothing.")
	}

	return append(out, publishWords(p.GetPublish()))
}

func suppressionWords(s *prwardenv1.Policy_Suppression) string {
	if !s.GetAllowed() {
		return "Nobody may set a finding aside."
	}
	text := fmt.Sprintf("One person may set findings aside up to %s", s.GetUpTo())
	if s.GetSecrets() {
		text += ", secrets too"
	} else {
		text += ", but no secrets"
	}
	var needs []string
	if s.GetRequireReason() {
		needs = append(needs, "a reason")
	}
	if s.GetRequireEnd() {
		needs = append(needs, "an end")
	}
	if len(needs) > 0 {
		text += ", with " + strings.Join(needs, " and ")
	}
	if n := s.GetMaxDays(); n > 0 {
		text += fmt.Sprintf(" within %d days", n)
	}

	return text + "."
}

func publishWords(p *prwardenv1.Policy_Publish) string {
	var parts []string
	if p.GetCheck() {
		parts = append(parts, "a check")
	}
	if p.GetComments() == "new" && p.GetCommentsMax() > 0 {
		parts = append(parts, fmt.Sprintf("up to %s on lines for new findings from %s on",
			plural(int(p.GetCommentsMax()), "comment", "comments"), p.GetCommentsMin()))
	}
	if p.GetSummary() == "findings" {
		parts = append(parts, "a summary once there is a finding")
	}
	if len(parts) == 0 {
		return "Nothing is published in pull requests of connections."
	}
	text := "Pull requests of connections get " + strings.Join(parts, ", ") + "."
	if len(p.GetRepositories()) > 0 {
		text += " There are exceptions for some repositories."
	}

	return text
}

// some are the first of a list, and how many more there are.
func some(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}

	return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
}
