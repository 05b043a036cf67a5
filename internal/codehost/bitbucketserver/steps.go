package bitbucketserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
)

// Do takes a step.
func (h *Host) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	yes, no := true, false
	switch s.Action {
	case codehost.SetCheck:
		return h.setCheck(ctx, p, s.Check)
	case codehost.AddAnnotations:
		return h.annotate(ctx, p, s)
	case codehost.AddComments:
		return h.addComments(ctx, p, s.Comments)
	case codehost.EditComment, codehost.EditSummary:
		return h.edit(ctx, p, s, nil)
	case codehost.CloseComment:
		return h.edit(ctx, p, s, &yes)
	case codehost.ReopenComment:
		return h.edit(ctx, p, s, &no)
	case codehost.DeleteComment:
		return h.deleteComment(ctx, p, s)
	case codehost.AddSummary:
		return h.post(ctx, p, newComment{Text: codehost.HideMarkers(s.Body)})
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("bitbucket has no place for %s", s.Action)}
}

// setCheck writes the report and then the build status. A new report takes the place of
// the old one with all its annotations.
func (h *Host) setCheck(ctx context.Context, p codehost.PullRequest, c codehost.Check) error {
	if c.Ref == "" {
		if err := unlessGone(h.send(ctx, http.MethodDelete, reportPath(p, c.SHA), nil)); err != nil {
			return err
		}
	}
	err := h.send(ctx, http.MethodPut, reportPath(p, c.SHA), report{
		Title: "prwarden", Details: c.Title, Reporter: "prwarden", Result: results[c.Verdict], Link: c.URL,
		Data: []field{{verdictField, "TEXT", string(c.Verdict)}, {reviewField, "TEXT", c.ReviewID}},
	})
	if err == nil {
		err = h.send(ctx, http.MethodPost, commitPath("api", p, c.SHA)+"/builds", build{
			Key: buildKey, State: verdicts[c.Verdict], Name: "prwarden", Description: c.Title, URL: cmp.Or(c.URL, p.URL),
		})
	}

	return h.orStale(ctx, p, c.SHA, err)
}

// orStale is the error of a call that failed because a commit isn't the head any more, or
// otherwise the error that it was.
func (h *Host) orStale(ctx context.Context, p codehost.PullRequest, sha string, err error) error {
	if err == nil || codehost.FaultOf(err) != codehost.Gone {
		return err
	}
	now, readErr := h.pull(ctx, p.Repository, p.Number)
	if readErr == nil && now.HeadSHA != sha {
		return &codehost.Error{Fault: codehost.Stale, Err: err}
	}

	return err
}

const maxMessage = 2000 // of an annotation, in characters

var severities = map[string]string{"critical": "HIGH", "high": "HIGH", "medium": "MEDIUM", "warning": "MEDIUM"}

// annotate adds annotations. Bitbucket doesn't look for doubles; whoever plans counts them.
func (h *Host) annotate(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	all := make([]annotation, len(s.Annotations))
	for i, a := range s.Annotations {
		message := []rune(a.RuleID + ": " + a.Message)
		all[i] = annotation{
			ID: a.Fingerprint, Type: "VULNERABILITY", Message: string(message[:min(len(message), maxMessage)]),
			Severity: cmp.Or(severities[a.Severity], "LOW"), Path: a.Path, Line: a.Line,
		}
	}
	err := h.send(ctx, http.MethodPost, reportPath(p, s.Check.SHA)+"/annotations", map[string]any{"annotations": all})

	return h.orStale(ctx, p, s.Check.SHA, err)
}

// newComment is one to write.
type newComment struct {
	Text   string  `json:"text"`
	Anchor *anchor `json:"anchor,omitempty"`
}

// anchor is a line of the new side, in the pull request's whole change.
type anchor struct {
	Path     string `json:"path"`
	SrcPath  string `json:"srcPath,omitempty"`
	Line     int    `json:"line"`
	LineType string `json:"lineType"`
	FileType string `json:"fileType"`
}

func (h *Host) post(ctx context.Context, p codehost.PullRequest, c newComment) error {
	return h.send(ctx, http.MethodPost, pullPath("api", p.Repository, p.Number)+"/comments", c)
}

// addComments adds comments on lines of the head. They don't name the commit, so the head
// is looked at before.
func (h *Host) addComments(ctx context.Context, p codehost.PullRequest, comments []codehost.LineComment) error {
	now, err := h.pull(ctx, p.Repository, p.Number)
	if err != nil {
		return err
	}
	if now.HeadSHA != p.HeadSHA {
		return &codehost.Error{Fault: codehost.Stale, Err: errors.New("the pull request has another head")}
	}
	for _, c := range comments {
		at := &anchor{Path: c.Path, Line: c.Line, LineType: "ADDED", FileType: "TO"}
		if c.OldPath != c.Path {
			at.SrcPath = c.OldPath
		}
		if c.OldLine > 0 {
			at.LineType = "CONTEXT"
		}
		err := h.post(ctx, p, newComment{codehost.HideMarkers(c.Body), at})
		if err != nil && codehost.FaultOf(err) == codehost.Invalid { // nothing else in it can be wrong
			return &codehost.Error{Fault: codehost.BadLine, Err: err}
		}
		if err != nil {
			return err
		}
	}

	return nil
}

func commentPath(api string, p codehost.PullRequest, c codehost.Ref) string {
	return fmt.Sprintf("%s/comments/%s", pullPath(api, p.Repository, p.Number), c)
}

// tries is how often a comment is changed that somebody else changes at the same time.
const tries = 3

// versioned makes a change that needs the comment's version, and looks again when that was
// another one meanwhile.
func (h *Host) versioned(
	ctx context.Context, p codehost.PullRequest, c codehost.Ref, change func(comment) error,
) error {
	var err error
	for range tries {
		var now comment
		if err := h.get(ctx, commentPath("api", p, c), nil, &now); err != nil {
			return err
		}
		if err = change(now); err == nil || codehost.FaultOf(err) != codehost.Passing { // 409 is passing
			return err
		}
		var after comment
		if h.get(ctx, commentPath("api", p, c), nil, &after) != nil || after.Version == now.Version {
			return err
		}
	}

	return err
}

// edit changes a comment, and closes or reopens its thread in the same call.
func (h *Host) edit(ctx context.Context, p codehost.PullRequest, s codehost.Step, resolved *bool) error {
	return h.versioned(ctx, p, s.Ref, func(now comment) error {
		in := struct {
			Text     string `json:"text"`
			Version  int    `json:"version"`
			Resolved *bool  `json:"threadResolved,omitempty"`
		}{codehost.HideMarkers(s.Body), now.Version, resolved}

		return h.send(ctx, http.MethodPut, commentPath("api", p, s.Ref), in)
	})
}

func (h *Host) deleteComment(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	return unlessGone(h.versioned(ctx, p, s.Ref, func(now comment) error {
		return h.call(ctx, hosthttp.Call{
			Method: http.MethodDelete, Path: commentPath("api", p, s.Ref),
			Query: url.Values{"version": {strconv.Itoa(now.Version)}},
		})
	}))
}

// unlessGone is the error of deleting something; none when it isn't there.
func unlessGone(err error) error {
	if err != nil && codehost.FaultOf(err) == codehost.Gone {
		return nil
	}

	return err
}

var emoticons = map[codehost.Reaction]string{
	codehost.Seen: "eyes", codehost.Done: "thumbsup", codehost.Refused: "thumbsdown",
}

// Acknowledge adds a reaction, which is there once however often it is added.
func (h *Host) Acknowledge(
	ctx context.Context, p codehost.PullRequest, c codehost.Comment, r codehost.Reaction,
) error {
	path := commentPath("comment-likes", p, codehost.Ref(c.ID)) + "/reactions/" + emoticons[r]
	return h.send(ctx, http.MethodPut, path, nil)
}
