package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
)

// Do takes a step.
func (h *Host) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	path := mergeRequestPath(p.Repository, p.Number)
	switch s.Action {
	case codehost.SetCheck:
		return h.setStatus(ctx, p, s.Check)
	case codehost.AddComments:
		for _, c := range s.Comments {
			if err := h.addComment(ctx, p, c); err != nil {
				return err
			}
		}

		return nil
	case codehost.EditComment, codehost.EditSummary:
		return h.edit(ctx, p, s)
	case codehost.CloseComment, codehost.ReopenComment:
		if err := h.edit(ctx, p, s); err != nil {
			return err
		}
		return h.send(ctx, http.MethodPut, path+"/discussions/"+url.PathEscape(string(s.Thread)),
			map[string]bool{"resolved": s.Action == codehost.CloseComment})
	case codehost.DeleteComment:
		err := h.send(ctx, http.MethodDelete, notePath(p, s.Ref), nil)
		if err != nil && codehost.FaultOf(err) == codehost.Gone {
			return nil
		}

		return err
	case codehost.AddSummary:
		return h.send(ctx, http.MethodPost, path+"/notes", text{s.Body})
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("gitlab has no place for %s", s.Action)}
}

// text is a note's.
type text struct {
	Body string `json:"body"`
}

func notePath(p codehost.PullRequest, n codehost.Ref) string {
	return mergeRequestPath(p.Repository, p.Number) + "/notes/" + url.PathEscape(string(n))
}

func (h *Host) edit(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	return h.send(ctx, http.MethodPut, notePath(p, s.Ref), text{s.Body})
}

// newStatus is one to write.
type newStatus struct {
	State       string `json:"state"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	TargetURL   string `json:"target_url,omitempty"`
	Ref         string `json:"ref,omitempty"`
	PipelineID  int64  `json:"pipeline_id,omitempty"`
}

// setStatus writes a commit status. It belongs to a pipeline, and a merge request shows
// that of its own pipeline only: so it goes there, or into one that GitLab makes for the
// branch. That of a fork has no branch here, and its name may be that of one of ours.
// For a commit that is no head any more GitLab takes the pipeline that there is.
func (h *Host) setStatus(ctx context.Context, p codehost.PullRequest, c codehost.Check) error {
	m, err := h.mergeRequest(ctx, p.Repository, p.Number)
	if err != nil {
		return err
	}
	s := newStatus{State: states[c.Verdict], Name: statusName, Description: c.Title, TargetURL: c.URL}
	isHead := m.plain(p.Repository).HeadSHA == c.SHA
	switch {
	case !isHead:
	case m.shows(c.SHA):
		s.PipelineID = m.Pipeline.ID
	case m.isFork():
		s.Ref = fmt.Sprintf("refs/merge-requests/%d/head", p.Number)
	default:
		s.Ref = m.SourceBranch
	}

	err = h.send(ctx, http.MethodPost, projectPath(p.Repository)+"/statuses/"+url.PathEscape(c.SHA), s)
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "Cannot transition status"):
		if c.Verdict == codehost.Pending || c.Verdict == codehost.Outdated { // before 18.3: it is in that state
			return nil
		}
		return &codehost.Error{Fault: codehost.Passing, Err: err} // a verdict must get there
	case codehost.FaultOf(err) == codehost.Gone && !isHead:
		return &codehost.Error{Fault: codehost.Stale, Err: err}
	}

	return err
}

// position is where a comment stands. An added line has no old one; an unchanged line
// needs both (docs.gitlab.com/api/discussions).
type position struct {
	Type     string `json:"position_type"`
	BaseSHA  string `json:"base_sha"`
	StartSHA string `json:"start_sha"`
	HeadSHA  string `json:"head_sha"`
	OldPath  string `json:"old_path"`
	NewPath  string `json:"new_path"`
	NewLine  int    `json:"new_line"`
	OldLine  int    `json:"old_line,omitempty"`
}

// addComment begins a thread on a line.
func (h *Host) addComment(ctx context.Context, p codehost.PullRequest, c codehost.LineComment) error {
	path := mergeRequestPath(p.Repository, p.Number)
	err := h.send(ctx, http.MethodPost, path+"/discussions", struct {
		text
		Position position `json:"position"`
	}{text{c.Body}, position{
		Type: "text", BaseSHA: p.MergeBase, StartSHA: p.BaseSHA, HeadSHA: p.HeadSHA, OldPath: c.OldPath, NewPath: c.Path,
		NewLine: c.Line, OldLine: c.OldLine,
	}})
	if err == nil || codehost.FaultOf(err) != codehost.Invalid || !isPosition(err) {
		return err
	}

	m, readErr := h.mergeRequest(ctx, p.Repository, p.Number)
	if readErr == nil && m.plain(p.Repository).HeadSHA != p.HeadSHA {
		return &codehost.Error{Fault: codehost.Stale, Err: err}
	}

	return &codehost.Error{Fault: codehost.BadLine, Err: err}
}

// isPosition tells whether GitLab refuses where a comment is to stand. It says it by the
// names of the fields that it can't fill.
func isPosition(err error) bool {
	return strings.Contains(err.Error(), "line_code") || strings.Contains(err.Error(), "position")
}

// emoji are GitLab's names of reactions.
var emoji = map[codehost.Reaction]string{
	codehost.Seen: "eyes", codehost.Done: "thumbsup", codehost.Refused: "thumbsdown",
}

// Acknowledge adds a reaction. GitLab answers 404 when it is there already, and says so.
func (h *Host) Acknowledge(
	ctx context.Context, p codehost.PullRequest, c codehost.Comment, r codehost.Reaction,
) error {
	err := h.send(ctx, http.MethodPost, notePath(p, codehost.Ref(c.ID))+"/award_emoji",
		map[string]string{"name": emoji[r]})
	if err != nil && strings.Contains(err.Error(), "already been taken") {
		return nil
	}

	return err
}
