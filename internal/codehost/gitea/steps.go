package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prwarden/prwarden/internal/codehost"
)

// Do takes a step.
func (h *Host) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	switch s.Action {
	case codehost.SetCheck:
		return h.setStatus(ctx, p, s.Check)
	case codehost.AddComments:
		return h.addComments(ctx, p, s.Comments)
	case codehost.EditComment, codehost.EditSummary:
		return h.edit(ctx, p, s.Ref, s.Body)
	case codehost.CloseComment, codehost.ReopenComment:
		return h.resolve(ctx, p, s)
	case codehost.DeleteComment:
		return h.deleteComment(ctx, p, s)
	case codehost.AddSummary:
		path := fmt.Sprintf("%s/issues/%d/comments", repoPath(p.Repository), p.Number)
		return h.send(ctx, http.MethodPost, path, text{s.Body}, nil)
	case codehost.DiscardUnsent:
		return h.discard(ctx, p, s.Ref)
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("gitea has no place for %s", s.Action)}
}

// text is a comment's.
type text struct {
	Body string `json:"body"`
}

// commitStatus is one to write.
type commitStatus struct {
	Context     string `json:"context"`
	State       string `json:"state,omitempty"`
	Description string `json:"description,omitempty"`
	TargetURL   string `json:"target_url,omitempty"`
}

// setStatus writes a commit status. Gitea keeps all and shows the last of a context.
func (h *Host) setStatus(ctx context.Context, p codehost.PullRequest, c codehost.Check) error {
	err := h.send(ctx, http.MethodPost, repoPath(p.Repository)+"/statuses/"+c.SHA,
		commitStatus{statusContext, verdicts[c.Verdict], c.Title, c.URL}, nil)
	if isBroken(err) {
		return h.stale(ctx, p, c.SHA, err)
	}

	return err
}

// isBroken tells whether the host failed without saying for how long. Gitea answers 500
// to what it has not looked for, such as a commit or a line that is not there.
func isBroken(err error) bool {
	var e *codehost.Error
	return errors.As(err, &e) && e.Fault == codehost.Passing && e.After == 0
}

// stale is the error of a call that failed because a commit isn't the head any more, or
// otherwise the error that it was.
func (h *Host) stale(ctx context.Context, p codehost.PullRequest, sha string, err error) error {
	now, readErr := h.pull(ctx, p.Repository, p.Number)
	if readErr == nil && now.HeadSHA != sha {
		return &codehost.Error{Fault: codehost.Stale, Err: err}
	}

	return err
}

// addComments sends one review. Until all its comments are there it is an unsent one:
// if that was left behind by a call that broke, sending another would send it too.
func (h *Host) addComments(ctx context.Context, p codehost.PullRequest, comments []codehost.LineComment) error {
	if _, err := h.discardAll(ctx, p); err != nil {
		return err
	}

	type one struct {
		Path string `json:"path"`
		Body string `json:"body"`
		Line int    `json:"new_position"`
	}
	all := make([]one, len(comments))
	for i, c := range comments {
		all[i] = one{c.Path, c.Body, c.Line}
	}
	err := h.send(ctx, http.MethodPost, pullPath(p.Repository, p.Number)+"/reviews", map[string]any{
		"event": "COMMENT", "commit_id": p.HeadSHA, "comments": all,
	}, nil)
	if !isBroken(err) {
		return err
	}

	left, cleanErr := h.discardAll(ctx, p)
	if cleanErr != nil {
		return cleanErr
	}
	if err := h.stale(ctx, p, p.HeadSHA, err); codehost.FaultOf(err) == codehost.Stale || !left {
		return err
	}

	return &codehost.Error{Fault: codehost.BadLine, Err: err}
}

// discardAll removes reviews of ours that were not sent, and tells whether there were
// any. It fails when a person has begun one with our account.
func (h *Host) discardAll(ctx context.Context, p codehost.PullRequest) (bool, error) {
	me, err := h.me(ctx)
	if err != nil {
		return false, err
	}
	reviews, err := h.reviews(ctx, p)
	if err != nil {
		return false, err
	}

	found := false
	for _, r := range reviews {
		if r.State != pending || !by(r.User, me) {
			continue
		}
		ours, err := h.begun(ctx, p, r)
		if err != nil {
			return false, err
		}
		if !ours {
			return false, &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf(
				"%s has begun a review of this pull request in the browser; a comment would send it: give prwarden "+
					"an account of its own", me.Login)}
		}
		if err := h.discard(ctx, p, ref(r.ID)); err != nil {
			return false, err
		}
		found = true
	}

	return found, nil
}

// discard removes a review; one that is not there is fine.
func (h *Host) discard(ctx context.Context, p codehost.PullRequest, review codehost.Ref) error {
	path := fmt.Sprintf("%s/reviews/%s", pullPath(p.Repository, p.Number), review)
	return unlessGone(h.send(ctx, http.MethodDelete, path, nil, nil))
}

// unlessGone is the error of deleting something; none when it isn't there.
func unlessGone(err error) error {
	if err != nil && codehost.FaultOf(err) == codehost.Gone {
		return nil
	}

	return err
}

func commentPath(p codehost.PullRequest, c codehost.Ref) string {
	return fmt.Sprintf("%s/issues/comments/%s", repoPath(p.Repository), c)
}

func (h *Host) edit(ctx context.Context, p codehost.PullRequest, c codehost.Ref, body string) error {
	return h.send(ctx, http.MethodPatch, commentPath(p, c), text{body}, nil)
}

// resolve closes or reopens a comment. Forgejo can't, so there the text says it.
func (h *Host) resolve(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	forgejo, err := h.forgejo(ctx)
	if err != nil {
		return err
	}
	body, verb := s.Body, "unresolve"
	if s.Action == codehost.CloseComment {
		verb = "resolve"
		if forgejo {
			body += closedMark
		}
	}

	if err := h.edit(ctx, p, s.Ref, body); err != nil || forgejo {
		return err
	}

	path := fmt.Sprintf("%s/pulls/comments/%s/%s", repoPath(p.Repository), s.Ref, verb)
	return h.send(ctx, http.MethodPost, path, nil, nil)
}

// deleteComment deletes a comment; one that is not there is fine. Forgejo has another
// call for those on lines, which names their review.
func (h *Host) deleteComment(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	forgejo, err := h.forgejo(ctx)
	if err != nil {
		return err
	}
	if !forgejo || !s.OnLine {
		return unlessGone(h.send(ctx, http.MethodDelete, commentPath(p, s.Ref), nil, nil))
	}

	reviews, err := h.reviews(ctx, p)
	if err != nil {
		return err
	}
	for _, r := range reviews {
		all, err := h.inReview(ctx, p, r)
		if err != nil {
			return err
		}
		for _, c := range all {
			if ref(c.ID) == s.Ref {
				path := fmt.Sprintf("%s/reviews/%d/comments/%s", pullPath(p.Repository, p.Number), r.ID, s.Ref)
				return unlessGone(h.send(ctx, http.MethodDelete, path, nil, nil))
			}
		}
	}

	return nil
}

// Acknowledge adds a reaction, which is there once however often it is added.
func (h *Host) Acknowledge(
	ctx context.Context, p codehost.PullRequest, c codehost.Comment, r codehost.Reaction,
) error {
	return h.send(ctx, http.MethodPost, commentPath(p, codehost.Ref(c.ID))+"/reactions",
		map[string]string{"content": string(r)}, nil)
}
