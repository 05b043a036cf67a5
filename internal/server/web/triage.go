package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// decisionWords are what can be decided, with the key for it.
var decisionWords = []struct{ value, label, done, key string }{
	{"accepted", "Accept", "Accepted", "a"},
	{"false_positive", "False positive", "Set as false positive", "f"},
	{"wont_fix", "Won't fix", "Set as won't fix", "w"},
}

// decisionLives are how long a decision may hold, in days.
var decisionLives = []choice{
	{"30", "for 30 days"}, {"90", "for 90 days"}, {"365", "for 1 year"}, {"", "without an end"},
}

// decisionForm is a decision about findings that is being made.
type decisionForm struct {
	Fingerprints []string
	Decision     string
	Reason       string
	Days, Until  string
	PullRequest  bool // it is for this pull request, not for all of the repository
	Bulk         bool // it is about what was selected
	All          bool // or about all that a filter matches
	Back         string
	Problem      string

	Part string // of the page that the answer replaces; "" for the finding and the head
}

// words are the label and the sentence of the decision.
func (f decisionForm) words() (label, done string) {
	for _, w := range decisionWords {
		if w.value == f.Decision {
			return w.label, w.done
		}
	}

	return "Reopen", "Reopened"
}

// id is that of the element in whose place the form is shown.
func (f decisionForm) id() string {
	if f.Bulk {
		return "bulk"
	}

	return "d" + f.Fingerprints[0]
}

// end is the last day on which the decision holds; "" for none.
func (h *Handler) end(f decisionForm) string {
	if f.Until != "" {
		return f.Until
	}
	days, err := strconv.Atoi(f.Days)
	if err != nil || days < 1 {
		return ""
	}

	return h.Now().UTC().AddDate(0, 0, days).Format("2006-01-02")
}

// maxDecided is about how many findings a form decides at most, as a call does.
const maxDecided = 500

// decisionOf is what a form decides.
func decisionOf(v *visit) decisionForm {
	in := v.r.PostForm
	fingerprints := slices.Clone(in["f"])
	slices.Sort(fingerprints)
	f := decisionForm{
		Fingerprints: slices.Compact(fingerprints), Decision: in.Get("decision"), Reason: in.Get("reason"),
		Days: in.Get("days"), Until: in.Get("until"), PullRequest: in.Get("scope") == "pull_request",
		Bulk: in.Has("bulk"), All: in.Has("fixed"), Back: ownPath(in.Get("back")),
	}
	if f.Back == "/" {
		f.Back = returnTo(v.r)
	}

	return f
}

// triageFindings decides about findings of a review. Without a reason it asks for
// one.
func (h *Handler) triageFindings(v *visit) error {
	if err := v.caller.Require(auth.FindingsTriage); err != nil {
		return err
	}
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	f := decisionOf(v)
	decision := prwardenv1.Decision_Kind(prwardenv1.Decision_Kind_value[f.Decision])
	if len(f.Fingerprints) == 0 || len(f.Fingerprints) > maxDecided || decision == 0 {
		return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument,
			"Select 1 to %d findings, and what you decide about them.", maxDecided)
	}
	if !v.r.PostForm.Has("reason") && decision != prwardenv1.Decision_open {
		f.Days = decisionLives[0].value
		return h.showDecision(v, http.StatusOK, f)
	}

	got, err := h.calls.reviews.GetReview(v.ctx(), &prwardenv1.GetReviewRequest{ReviewId: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	req := &prwardenv1.SetTriageRequest{
		Repo: got.GetReview().GetRepo(), Fingerprints: f.Fingerprints, Decision: &decision,
	}
	if f.PullRequest {
		req.PrNumber = &got.GetReview().PrNumber
	}
	if decision != prwardenv1.Decision_open {
		req.Reason, req.Until = f.Reason, given(h.end(f))
	}
	made, err := h.calls.triage.SetTriage(v.ctx(), req)
	if err != nil {
		p := problemOf(v.ctx(), err)
		if decision == prwardenv1.Decision_open || p.Code >= http.StatusInternalServerError {
			return err
		}
		f.Problem = p.Text
		return h.showDecision(v, p.Code, f)
	}

	_, done := f.words()
	h.leaveFlash(v, flash{
		Text: done + ": " + plural(int(made.GetChanged()), "finding", "findings") + ".", Undo: made.GetChangeId(),
	})
	h.redirect(v, f.backAt())

	return nil
}

func (h *Handler) showDecision(v *visit, code int, f decisionForm) error {
	label, _ := f.words()

	return h.showStatus(v, code, page{Title: label, Section: "reviews"}, decisionBody(v, v.r.URL.Path, f))
}

// backAt is the address to go on at, with the finding that the decision is about.
func (f decisionForm) backAt() string {
	back, err := url.Parse(f.Back)
	if err != nil || f.Bulk {
		return f.Back
	}
	q := back.Query()
	q.Set("at", f.Fingerprints[0])
	back.RawQuery, back.Fragment = q.Encode(), "x"+f.Fingerprints[0]

	return back.String()
}

// undoTriage puts back what a decision replaced.
func (h *Handler) undoTriage(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	changed, err := h.undo(v.ctx(), strings.Fields(v.r.PostForm.Get("change")))
	if err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "Undone: " + plural(changed, "decision", "decisions") + "."})
	h.redirect(v, returnTo(v.r))

	return nil
}
