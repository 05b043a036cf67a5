package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/prwarden/prwarden/internal/codehost"
)

// Do takes one step.
func (h *Host) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	owner, name, err := split(p.Repository.Name)
	if err != nil {
		return err
	}

	switch s.Action {
	case codehost.SetCheck:
		return h.setCheck(ctx, owner, name, s.Check)
	case codehost.AddAnnotations:
		return h.annotate(ctx, owner, name, s.Check, s.Annotations)
	case codehost.AddComments:
		return h.comment(ctx, owner, name, p, s.Comments)
	case codehost.EditComment:
		return h.edit(ctx, owner, name, s.Ref, s.Body)
	case codehost.CloseComment:
		return h.closeComment(ctx, owner, name, s)
	case codehost.ReopenComment:
		return h.reopenComment(ctx, owner, name, s)
	case codehost.DeleteComment:
		return h.deleteComment(ctx, owner, name, s)
	case codehost.AddSummary:
		_, _, err = h.client.Issues.CreateComment(ctx, owner, name, int(p.Number), &api.IssueComment{Body: &s.Body})
		return h.fault(err, true)
	case codehost.EditSummary:
		id, _ := parts(s.Ref)
		_, _, err = h.client.Issues.EditComment(ctx, owner, name, id, &api.IssueComment{Body: &s.Body})
		return h.fault(err, true)
	case codehost.DiscardUnsent:
		_, _, err = h.client.PullRequests.DeletePendingReview(ctx, owner, name, int(p.Number), number(string(s.Ref)))
		return h.done(err)
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("github: %q is no step", s.Action)}
}

// done is the fault of a deletion: what isn't there any more was deleted.
func (h *Host) done(err error) error {
	if err = h.fault(err, true); gone(err) {
		return nil
	}

	return err
}

// setCheck makes or changes the check run, or the commit status of a token's owner.
func (h *Host) setCheck(ctx context.Context, owner, name string, c codehost.Check) error {
	if h.app == nil {
		return h.setStatus(ctx, owner, name, c)
	}

	if id := number(string(c.Ref)); id != 0 && c.Verdict != codehost.Pending {
		return h.updateRun(ctx, owner, name, id, c)
	}

	run, err := h.latestRun(ctx, owner, name, c.SHA)
	switch {
	case err != nil:
		return err
	case reusable(run, c):
		return h.updateRun(ctx, owner, name, run.GetID(), c)
	case run != nil && run.GetStatus() != completed: // or it would be in progress for ever
		_, _, err = h.client.Checks.UpdateCheckRun(ctx, owner, name, run.GetID(), api.UpdateCheckRunOptions{
			Name: CheckName, Status: api.Ptr(completed), Conclusion: api.Ptr("cancelled"),
		})
		if err != nil {
			return h.fault(err, true)
		}
	}

	status, conclusion := states(c.Verdict)
	_, _, err = h.client.Checks.CreateCheckRun(ctx, owner, name, api.CreateCheckRunOptions{
		Name: CheckName, HeadSHA: c.SHA, ExternalID: externalID(c), DetailsURL: optional(c.URL),
		Status: &status, Conclusion: optional(conclusion), Output: output(c, nil),
	})
	return h.fault(err, true)
}

// updateRun has a check run show a check.
func (h *Host) updateRun(ctx context.Context, owner, name string, id int64, c codehost.Check) error {
	status, conclusion := states(c.Verdict)
	_, _, err := h.client.Checks.UpdateCheckRun(ctx, owner, name, id, api.UpdateCheckRunOptions{
		Name: CheckName, ExternalID: externalID(c), DetailsURL: optional(c.URL),
		Status: &status, Conclusion: optional(conclusion), Output: output(c, nil),
	})
	return h.fault(err, true)
}

// externalID says of which review a check run is, and whether that failed.
func externalID(c codehost.Check) *string {
	id := c.ReviewID
	if c.Verdict == codehost.Broken {
		id += brokenMark
	}

	return &id
}

const completed = "completed"

// reusable tells whether the latest check run of a commit can be made to show a check.
// GitHub lets no completed one begin again, and no annotation be taken away. A check
// without a Ref has a run that shows nothing yet, which a call without an answer may
// have made.
func reusable(run *api.CheckRun, c codehost.Check) bool {
	if run == nil || run.GetStatus() == completed && c.Verdict == codehost.Pending {
		return false
	}

	review, _ := strings.CutSuffix(run.GetExternalID(), brokenMark)
	return run.GetOutput().GetAnnotationsCount() == 0 || c.Ref != "" && review == c.ReviewID
}

// states are those of a check run that says a verdict.
func states(v codehost.Verdict) (status, conclusion string) {
	switch v {
	case codehost.Pending:
		return "in_progress", ""
	case codehost.Success:
		return completed, "success"
	case codehost.Outdated:
		return completed, "cancelled"
	}

	return completed, "failure"
}

// output is what a check run shows. GitHub wants a title and a summary.
func output(c codehost.Check, annotations []*api.CheckRunAnnotation) *api.CheckRunOutput {
	o := &api.CheckRunOutput{Title: &c.Title, Summary: &c.Summary, Annotations: annotations}
	if c.Title == "" {
		o.Title = api.Ptr(CheckName)
	}

	if c.Summary == "" {
		o.Summary = o.Title
	}

	return o
}

// setStatus adds a commit status, which replaces the one before.
func (h *Host) setStatus(ctx context.Context, owner, name string, c codehost.Check) error {
	state := string(c.Verdict)
	if c.Verdict == codehost.Outdated {
		state = string(codehost.Broken)
	}

	_, _, err := h.client.Repositories.CreateStatus(ctx, owner, name, c.SHA, api.RepoStatus{
		State: &state, Context: api.Ptr(CheckName), Description: optional(c.Title), TargetURL: optional(c.URL),
	})
	return h.fault(err, true)
}

// annotate adds annotations to those that the check run has. Its verdict stays. A check
// without a Ref is looked for.
func (h *Host) annotate(
	ctx context.Context, owner, name string, c codehost.Check, add []codehost.Annotation,
) error {
	if h.app == nil {
		return &codehost.Error{
			Fault: codehost.Invalid, Err: errors.New("github: only an App can write annotations"),
		}
	}

	list := make([]*api.CheckRunAnnotation, 0, len(add))
	for _, a := range add {
		one := &api.CheckRunAnnotation{
			Path: &a.Path, StartLine: api.Ptr(max(a.Line, 1)), EndLine: api.Ptr(max(a.EndLine, a.Line, 1)),
			AnnotationLevel: api.Ptr(level(a.Severity)), Title: optional(a.RuleID), Message: &a.Message,
		}
		if a.Column > 0 && a.EndColumn > 0 && *one.EndLine == *one.StartLine {
			one.StartColumn, one.EndColumn = &a.Column, &a.EndColumn
		}
		list = append(list, one)
	}

	id := number(string(c.Ref))
	if id == 0 {
		run, err := h.latestRun(ctx, owner, name, c.SHA)
		if err != nil {
			return err
		}
		if run == nil || !strings.HasPrefix(run.GetExternalID(), c.ReviewID) {
			return &codehost.Error{Fault: codehost.Gone, Err: errors.New("github: the review has no check run")}
		}
		id = run.GetID()
	}

	_, _, err := h.client.Checks.UpdateCheckRun(ctx, owner, name, id, api.UpdateCheckRunOptions{
		Name: CheckName, Output: output(c, list),
	})
	return h.fault(err, true)
}

// level is how GitHub shows an annotation of a severity.
func level(severity string) string {
	switch severity {
	case "critical", "high":
		return "failure"
	case "medium", "warning":
		return "warning"
	}

	return "notice"
}

// comment adds comments on lines as one review, which notifies people once. One line
// that isn't in the diff makes GitHub refuse all, and it doesn't say which.
func (h *Host) comment(
	ctx context.Context, owner, name string, p codehost.PullRequest, add []codehost.LineComment,
) error {
	review := &api.PullRequestReviewRequest{CommitID: &p.HeadSHA, Event: api.Ptr("COMMENT")}
	for _, c := range add {
		review.Comments = append(review.Comments, &api.DraftReviewComment{
			Path: &c.Path, Line: &c.Line, Side: api.Ptr("RIGHT"), Body: &c.Body,
		})
	}

	_, _, err := h.client.PullRequests.CreateReview(ctx, owner, name, int(p.Number), review)
	if _, _, message := answer(err); strings.Contains(message, "pending review") {
		if err = h.discard(ctx, owner, name, p.Number); err != nil {
			return err
		}
		_, _, err = h.client.PullRequests.CreateReview(ctx, owner, name, int(p.Number), review)
	}

	status, _, _ := answer(err)
	err = h.fault(err, true)
	if status == http.StatusUnprocessableEntity && codehost.FaultOf(err) == codehost.Invalid {
		return &codehost.Error{Fault: codehost.BadLine, Err: err}
	}

	return err
}

// discard deletes the review of ours that was begun and never sent. GitHub takes no
// other while there is one.
func (h *Host) discard(ctx context.Context, owner, name string, n int32) error {
	me, err := h.self(ctx)
	if err != nil {
		return err
	}

	a, err := h.threads(ctx, owner, name, n, nil)
	if err != nil {
		return err
	}

	ours, others := h.unsent(a.Repository.PullRequest.Reviews.Nodes, me)
	if others {
		const needed = "an account that no person uses, because this one has begun a review and not sent it"
		return &codehost.Error{Fault: codehost.Forbidden, Scope: needed, Err: errors.New("github: there must be " + needed)}
	}

	for _, r := range ours {
		_, _, err := h.client.PullRequests.DeletePendingReview(ctx, owner, name, int(n), number(string(r)))
		if err = h.done(err); err != nil {
			return err
		}
	}

	return nil
}

// edit gives a comment on a line another body.
func (h *Host) edit(ctx context.Context, owner, name string, r codehost.Ref, body string) error {
	id, _ := parts(r)
	_, _, err := h.client.PullRequests.EditComment(ctx, owner, name, id, &api.PullRequestComment{Body: &body})
	return h.fault(err, true)
}

// closeComment edits a comment and then minimises it. When only the first happens, the
// comment is open, and is closed by the next observation.
func (h *Host) closeComment(ctx context.Context, owner, name string, s codehost.Step) error {
	if err := h.edit(ctx, owner, name, s.Ref, s.Body+closedMark); err != nil {
		return err
	}

	_, node := parts(s.Ref)
	if err := h.mutate(ctx, minimizeMutation, node); err != nil {
		return err
	}

	return h.resolve(ctx, resolveMutation, s.Thread)
}

// reopenComment shows a comment again and then edits it. When only the first happens,
// the comment is open with an old body, and the next observation edits it.
func (h *Host) reopenComment(ctx context.Context, owner, name string, s codehost.Step) error {
	if err := h.resolve(ctx, unresolveMutation, s.Thread); err != nil {
		return err
	}

	_, node := parts(s.Ref)
	if err := h.mutate(ctx, unminimizeMutation, node); err != nil {
		return err
	}

	return h.edit(ctx, owner, name, s.Ref, s.Body)
}

// resolve resolves a thread that we may resolve, or opens it again. When GitHub does not
// let us after all, the comment is minimised, which is enough.
func (h *Host) resolve(ctx context.Context, mutation string, thread codehost.Ref) error {
	if thread == "" {
		return nil
	}

	err := h.mutate(ctx, mutation, string(thread))
	if f := codehost.FaultOf(err); err != nil && (f == codehost.Forbidden || f == codehost.Invalid) {
		return nil
	}

	return err
}

// mutate makes one of the mutations of a node.
func (h *Host) mutate(ctx context.Context, mutation, node string) error {
	var ignored map[string]any
	return h.query(ctx, mutation, map[string]any{"id": node}, &ignored, true)
}

// deleteComment deletes a comment of ours.
func (h *Host) deleteComment(ctx context.Context, owner, name string, s codehost.Step) error {
	id, _ := parts(s.Ref)
	if s.OnLine {
		_, err := h.client.PullRequests.DeleteComment(ctx, owner, name, id)
		return h.done(err)
	}

	_, err := h.client.Issues.DeleteComment(ctx, owner, name, id)
	return h.done(err)
}

// optional is nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}
