package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// ruleForm is a rule as the form of the editor has it: lists as lines.
type ruleForm struct {
	ID, Pattern, Message, Severity, Mode, Repo           string
	Confidence, Type, Conditions                         string
	Languages, Skip, Include, Exclude, References, State string
	Match, NoMatch                                       []string
	Multiline, Redact                                    bool
	Fix                                                  string
	Removes                                              bool   // what it matched, in place of Fix
	Text                                                 string // to try the pattern on
	Etag                                                 string
}

// editorView is what the editor shows.
type editorView struct {
	ruleForm
	New     bool
	Problem problem // of saving or trying
	Test    ruleTest
	Trial   *prwardenv1.TryRulesResponse // nil when it was not asked for
}

func (e editorView) address(v *visit) string {
	if e.New {
		return v.here("/rules/new")
	}

	return v.here("/rules/" + fullID(e.ID) + "/edit")
}

// sample is what a new rule is tried on first.
const sample = "package main\n\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n"

func (h *Handler) newRulePage(v *visit) error {
	if err := v.caller.Require(auth.RulesWrite); err != nil {
		return err
	}
	e := editorView{New: true, ruleForm: ruleForm{
		Type: "regex", Severity: "warning", Confidence: "medium", Mode: "observe", State: "on", Text: sample,
	}}
	if from := v.r.URL.Query().Get("from"); from != "" {
		found, err := h.calls.rules.GetRule(v.ctx(), &prwardenv1.GetRuleRequest{Id: from})
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(fullID(found.GetRule().GetId()), "/")
		e.ruleForm = formOf(found.GetRule())
		e.ID, e.Mode, e.Etag = name+"-copy", "observe", ""
	}

	return h.showEditor(v, http.StatusOK, e)
}

func (h *Handler) editRulePage(v *visit) error {
	if err := v.caller.Require(auth.RulesWrite); err != nil {
		return err
	}
	found, err := h.calls.rules.GetRule(v.ctx(), &prwardenv1.GetRuleRequest{Id: ruleID(v)})
	if err != nil {
		return err
	}
	if found.GetRule().GetCreatedAt() == nil {
		return errs.New(errs.PermissionDenied, errs.ReasonDefaultRule,
			"%s is a default rule, which can't be changed. Copy it to a rule of your own, and switch it off.", ruleID(v))
	}

	return h.showEditor(v, http.StatusOK, editorView{ruleForm: formOf(found.GetRule())})
}

// maxCases is how many examples of a kind a rule has at most, as the API allows.
const maxCases = 50

// editRule does what a button of the editor says. Without one it only shows what the
// pattern matches, as the form asks while somebody types.
func (h *Handler) editRule(v *visit) error {
	if err := v.caller.Require(auth.RulesWrite); err != nil {
		return err
	}
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	for _, name := range []string{"match", "no_match"} {
		if n := len(v.r.PostForm[name]); n > maxCases {
			return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument,
				"A rule has at most %d examples of a kind; the form has %d.", maxCases, n)
		}
	}
	e := editorView{ruleForm: readRuleForm(v.r.PostForm), New: v.r.PathValue("name") == ""}
	if !e.New {
		e.ID = ruleID(v)
	}
	switch v.r.PostForm.Get("do") {
	case "save":
		return h.saveRule(v, e)
	case "try":
		r, err := e.rule()
		var tried *prwardenv1.TryRulesResponse
		if err == nil {
			tried, err = h.calls.rules.TryRules(v.ctx(), &prwardenv1.TryRulesRequest{
				Rules: []*prwardenv1.Rule{r}, Last: new(int32(50)),
			})
		}
		if err != nil {
			e.Problem = problemOf(v.ctx(), err).within("rules[0].")
			if !rejected(e.Problem) && e.Problem.Code != http.StatusServiceUnavailable {
				return err
			}
		}
		e.Trial = tried
	}
	code := http.StatusOK
	if e.Problem.Code != 0 {
		code = e.Problem.Code
	}

	return h.showEditor(v, code, e)
}

func (h *Handler) saveRule(v *visit, e editorView) error {
	text := "The rule " + fullID(e.ID) + " is saved. Reviews that begin now follow it."
	r, err := e.rule()
	switch {
	case err != nil:
	case e.New:
		_, err = h.calls.rules.CreateRule(v.ctx(), &prwardenv1.CreateRuleRequest{Rule: r})
	default:
		err = h.updateRule(v, e.ID, r, slices.Concat(detailFields(), []string{
			"type", "pattern", "message", "severity", "scope", "repo", "paths", "languages", "skip", "multiline",
			"redact", "cases", "references", "enabled", "mode", "confidence", "fix",
		})...)
	}
	if err == nil {
		h.leaveFlash(v, flash{Text: text})
		h.redirect(v, v.here("/rules/"+fullID(e.ID)))
		return nil
	}
	if e.Problem = problemOf(v.ctx(), err); !rejected(e.Problem) {
		return err
	}

	return h.showEditor(v, e.Problem.Code, e)
}

func (h *Handler) showEditor(v *visit, code int, e editorView) error {
	if err := h.testRule(v, &e); err != nil {
		return err
	}
	title := "New rule"
	if !e.New {
		title = "Edit " + fullID(e.ID)
	}

	return h.showStatus(v, code, page{Title: title, Section: "rules"}, editorBody(v, e))
}

// rule is what the form says, as calls take it.
func (f ruleForm) rule() (*prwardenv1.Rule, error) {
	r := &prwardenv1.Rule{
		Id: f.ID, Pattern: f.Pattern, Message: f.Message,
		Languages: splitAny(f.Languages), Skip: splitAny(f.Skip), References: splitAny(f.References),
		Multiline: f.Multiline, Redact: f.Redact, Enabled: new(f.State != "off"), Etag: f.Etag,
		Paths:    &prwardenv1.Rule_Paths{Include: eachLine(f.Include), Exclude: eachLine(f.Exclude)},
		Cases:    &prwardenv1.Rule_Cases{Match: f.Match, NoMatch: f.NoMatch},
		Severity: level(f.Severity), Mode: prwardenv1.Rule_enforce.Enum(), Scope: prwardenv1.Ruleset_org.Enum(),
	}
	if c := prwardenv1.Confidence_Level(prwardenv1.Confidence_Level_value[f.Confidence]); c != 0 {
		r.Confidence = &c
	}
	if f.Removes || f.Fix != "" {
		r.Fix = &f.Fix
	}
	if f.Mode == "observe" {
		r.Mode = prwardenv1.Rule_observe.Enum()
	}
	if f.Repo != "" {
		r.Scope, r.Repo = prwardenv1.Ruleset_repo.Enum(), &f.Repo
	}

	return f.typed(r)
}

// level is the severity that a word names; nil for another word.
func level(word string) *prwardenv1.Severity_Level {
	n, ok := prwardenv1.Severity_Level_value[word]
	if !ok || n == 0 {
		return nil
	}

	return prwardenv1.Severity_Level(n).Enum()
}

// confidences are those that a rule can have.
var confidences = []prwardenv1.Confidence_Level{
	prwardenv1.Confidence_high, prwardenv1.Confidence_medium, prwardenv1.Confidence_low,
}

// confidenceWords say what a confidence means.
func confidenceWords(c prwardenv1.Confidence_Level) string {
	switch c {
	case prwardenv1.Confidence_high:
		return "High: right in 9 of 10 findings"
	case prwardenv1.Confidence_low:
		return "Low: hidden unless the policy counts it"
	}
	return "Medium: right in 7 of 10 findings"
}

func formOf(r *prwardenv1.Rule) ruleForm {
	f := ruleForm{
		ID: r.GetId(), Pattern: r.GetPattern(), Message: r.GetMessage(), Severity: r.GetSeverity().String(),
		Confidence: r.GetConfidence().String(), Type: r.GetType().String(), Conditions: conditionText(r),
		Mode: r.GetMode().String(), Repo: r.GetRepo(), Languages: strings.Join(r.GetLanguages(), ", "),
		Skip:    strings.Join(r.GetSkip(), ", "),
		Include: strings.Join(r.GetPaths().GetInclude(), "\n"), Exclude: strings.Join(r.GetPaths().GetExclude(), "\n"),
		References: strings.Join(r.GetReferences(), "\n"), Match: r.GetCases().GetMatch(),
		NoMatch: r.GetCases().GetNoMatch(), Multiline: r.GetMultiline(), Redact: r.GetRedact(), State: "on",
		Etag: r.GetEtag(), Fix: r.GetFix(), Removes: r.Fix != nil && r.GetFix() == "",
	}
	f.Text = strings.Join(slices.Concat(f.Match, f.NoMatch), "\n")
	if !r.GetEnabled() {
		f.State = "off"
	}

	return f
}

// readRuleForm reads the form. Browsers end lines with two characters.
func readRuleForm(in url.Values) ruleForm {
	text := func(name string) string { return unixLines(in.Get(name)) }
	var cases [2][]string
	for i, name := range []string{"match", "no_match"} {
		for _, c := range in[name] {
			if c != "" {
				cases[i] = append(cases[i], unixLines(c))
			}
		}
	}

	return ruleForm{
		ID: strings.TrimSpace(in.Get("id")), Pattern: text("pattern"), Message: strings.TrimSpace(text("message")),
		Confidence: in.Get("confidence"), Type: in.Get("type"), Conditions: text("conditions"),
		Severity: in.Get("severity"), Mode: in.Get("mode"), Repo: strings.TrimSpace(in.Get("repo")),
		Languages: text("languages"), Skip: text("skip"), Include: text("include"), Exclude: text("exclude"),
		References: text("references"),
		Match:      cases[0], NoMatch: cases[1], Multiline: in.Get("multiline") != "", Redact: in.Get("redact") != "",
		State: in.Get("state"), Text: text("text"), Etag: in.Get("etag"), Fix: text("fix"), Removes: in.Get("removes") != "",
	}
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// eachLine are the lines that say something.
func eachLine(s string) (out []string) {
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}

	return out
}

// splitAny are the words between commas, blanks and ends of lines.
func splitAny(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(", \n\t", r) })
}
