package web

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// handle names a finding among those of all pull requests, in letters that an
// element's id may have.
func handle(x *prwardenv1.FoundFinding) string {
	return x.GetFinding().GetFingerprint() + "-" + number(x.GetPrNumber()) + "-" + hex.EncodeToString([]byte(x.GetRepo()))
}

// place is where a decision holds.
type place struct {
	repo string
	pr   int32 // 0 for all of the repository
}

// placesOf sorts findings by where a decision about them holds.
func placesOf(handles []string, pullRequest bool) (order []place, fingerprints map[place][]string, err error) {
	fingerprints, seen := map[place][]string{}, map[string]bool{}
	for _, text := range handles {
		parts := strings.Split(text, "-")
		if len(parts) != 3 {
			return nil, nil, badHandle(text)
		}
		pr, err1 := strconv.ParseInt(parts[1], 10, 32)
		repo, err2 := hex.DecodeString(parts[2])
		if err1 != nil || err2 != nil {
			return nil, nil, badHandle(text)
		}
		p := place{repo: string(repo)}
		if pullRequest {
			p.pr = int32(pr)
		}
		if fingerprints[p] == nil {
			order = append(order, p)
		}
		if once := parts[0] + " " + strconv.Itoa(int(p.pr)) + " " + p.repo; !seen[once] {
			seen[once] = true
			fingerprints[p] = append(fingerprints[p], parts[0])
		}
	}

	return order, fingerprints, nil
}

func badHandle(text string) error {
	return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "f: %q is not a finding of this page.", text)
}

// triageFound decides about findings of all pull requests. Without a reason it asks
// for one.
func (h *Handler) triageFound(v *visit) error {
	if err := v.caller.Require(auth.FindingsTriage); err != nil {
		return err
	}
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	f := decisionOf(v)
	if v.r.PostForm.Has("all") {
		if err := h.selectAll(v, &f); err != nil {
			return err
		}
	}
	decision := prwardenv1.Decision_Kind(prwardenv1.Decision_Kind_value[f.Decision])
	if len(f.Fingerprints) == 0 || len(f.Fingerprints) > maxDecided || decision == 0 {
		return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument,
			"Select 1 to %d findings, and what you decide about them.", maxDecided)
	}
	f.Part = "#results #" + f.id()
	if !v.r.PostForm.Has("reason") && decision != prwardenv1.Decision_open {
		f.Days = decisionLives[0].value
		return h.showFoundDecision(v, http.StatusOK, f)
	}
	req := &prwardenv1.SetTriageRequest{Decision: &decision}
	if decision != prwardenv1.Decision_open {
		req.Reason, req.Until = f.Reason, given(h.end(f))
	}
	changes, changed, places, err := h.decideFound(v, req, f)
	if err != nil {
		p := problemOf(v.ctx(), err)
		if decision == prwardenv1.Decision_open || p.Code >= http.StatusInternalServerError {
			return err
		}
		f.Problem = p.Text
		return h.showFoundDecision(v, p.Code, f)
	}

	_, done := f.words()
	text := done + ": " + plural(changed, "finding", "findings")
	if places > 1 {
		in := "repositories"
		if f.PullRequest {
			in = "pull requests"
		}
		text += fmt.Sprintf(" in %d %s", places, in)
	}
	h.leaveFlash(v, flash{Text: text + ".", Undo: strings.Join(changes, " ")})
	h.redirect(v, f.Back)

	return nil
}

// selectAll has a form decide about all that a filter matches, up to as many as a form
// may. They are named in the form, so that what is decided is what was there.
func (h *Handler) selectAll(v *visit, f *decisionForm) error {
	req := findingsFilterOf(v.r.PostForm).request()
	req.GroupBy, req.Decision, req.PageToken, req.PageSize = nil, nil, nil, new(int32(maxDecided))
	got, err := h.calls.reviews.SearchFindings(v.ctx(), req)
	if err != nil {
		return err
	}
	f.All, f.Bulk, f.Fingerprints = true, true, nil
	for _, x := range got.GetFindings() {
		f.Fingerprints = append(f.Fingerprints, handle(x))
	}

	return nil
}

// maxPlaces is in how many repositories, or pull requests, a form decides at most: the
// identifiers of so many changes fit into the cookie from which they are undone.
const maxPlaces = 80

// undoTime is how long it may take to undo a decision that was broken off.
const undoTime = 30 * time.Second

// decideFound makes a call for each repository, or pull request, and returns how many
// of those there are. When one fails, those before it are undone.
func (h *Handler) decideFound(
	v *visit, req *prwardenv1.SetTriageRequest, f decisionForm,
) (changes []string, changed, in int, err error) {
	places, fingerprints, err := placesOf(f.Fingerprints, f.PullRequest)
	if err != nil {
		return nil, 0, 0, err
	}
	if len(places) > maxPlaces {
		return nil, 0, 0, errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument,
			"f: these findings are in %d repositories or pull requests, of which one decision may have %d at most; "+
				"narrow what you select.", len(places), maxPlaces)
	}
	for _, p := range places {
		req.Repo, req.PrNumber, req.Fingerprints = p.repo, nil, fingerprints[p]
		if p.pr != 0 {
			req.PrNumber = &p.pr
		}
		made, err := h.calls.triage.SetTriage(v.ctx(), req)
		if err != nil {
			h.undoPart(v, changes)
			return nil, 0, 0, err
		}
		if made.ChangeId != nil {
			changes = append(changes, made.GetChangeId())
		}
		changed += int(made.GetChanged())
	}

	return changes, changed, len(places), nil
}

// undoPart undoes what was decided before a decision failed, also when the browser has
// gone meanwhile.
func (h *Handler) undoPart(v *visit, changes []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx()), undoTime)
	defer cancel()
	if _, err := h.undo(ctx, changes); err != nil {
		h.Log.Error("a part of a decision can't be undone", "request_id", rpc.RequestID(ctx), "error", err)
	}
}

// undo puts back what changes replaced, the last first.
func (h *Handler) undo(ctx context.Context, changes []string) (changed int, err error) {
	for i := range changes {
		id := changes[len(changes)-1-i]
		done, err := h.calls.triage.UndoTriage(ctx, &prwardenv1.UndoTriageRequest{ChangeId: id})
		if err != nil {
			return changed, err
		}
		changed += int(done.GetChanged())
	}

	return changed, nil
}

func (h *Handler) showFoundDecision(v *visit, code int, f decisionForm) error {
	label, _ := f.words()

	return h.showStatus(v, code, page{Title: label, Section: "findings"}, decisionBody(v, v.r.URL.Path, f))
}

// foundSwap is what the answer to a button about a finding replaces: the buttons, by
// a form, or the list when nothing more is asked.
func foundSwap(x *prwardenv1.FoundFinding) string {
	if x.GetFinding().GetTriage() != nil {
		return "#results"
	}

	return "#d" + handle(x)
}
