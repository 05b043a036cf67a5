package bitbucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
)

// Do takes a step.
func (h *Host) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	switch s.Action {
	case codehost.SetCheck:
		return h.setCheck(ctx, p, s.Check)
	case codehost.AddAnnotations:
		return h.annotate(ctx, p, s)
	case codehost.AddComments:
		return h.addComments(ctx, p, s.Comments)
	case codehost.EditComment, codehost.EditSummary:
		return h.edit(ctx, p, s.Ref, s.Body)
	case codehost.CloseComment:
		return h.resolve(ctx, p, s, http.MethodPost)
	case codehost.ReopenComment:
		return h.resolve(ctx, p, s, http.MethodDelete)
	case codehost.DeleteComment:
		return unlessGone(h.send(ctx, http.MethodDelete, commentPath(p, s.Ref), nil))
	case codehost.AddSummary:
		return h.post(ctx, p, content(s.Body))
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("bitbucket has no place for %s", s.Action)}
}

func hundred() url.Values { return url.Values{"pagelen": {"100"}} }

// setCheck writes the report and then the status, which is what lets a pull request pass.
// A new report takes the place of the old one with all its annotations.
func (h *Host) setCheck(ctx context.Context, p codehost.PullRequest, c codehost.Check) error {
	if c.Ref == "" {
		err := unlessGone(h.send(ctx, http.MethodDelete, reportPath(p, c.SHA), nil))
		if err != nil {
			return err
		}
	}
	err := h.send(ctx, http.MethodPut, reportPath(p, c.SHA), report{
		Title: "prwarden", Details: c.Title, Type: "SECURITY", Reporter: "prwarden", Result: results[c.Verdict], Link: c.URL,
		Data: []field{{verdictField, "TEXT", string(c.Verdict)}, {reviewField, "TEXT", c.ReviewID}},
	})
	if err == nil {
		address := c.URL
		if address == "" { // it must have one
			address = p.URL
		}
		err = h.send(ctx, http.MethodPost, commitPath(p, c.SHA)+"/statuses/build", status{
			Key: statusKey, State: verdicts[c.Verdict], Name: "prwarden", Description: c.Title, URL: address,
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
	if readErr == nil && !strings.HasPrefix(sha, now.Source.Commit.Hash) {
		return &codehost.Error{Fault: codehost.Stale, Err: err}
	}

	return err
}

const (
	maxSummary = 450  // of an annotation, in characters
	maxDetails = 2000 // likewise
)

var severities = map[string]string{"critical": "CRITICAL", "high": "HIGH", "medium": "MEDIUM", "warning": "MEDIUM"}

// annotate adds annotations. One that is there already is written over.
func (h *Host) annotate(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	all := make([]annotation, len(s.Annotations))
	for i, a := range s.Annotations {
		all[i] = annotation{
			ID: a.Fingerprint, Type: "VULNERABILITY", Summary: cut(a.Message, maxSummary), Details: cut(a.RuleID, maxDetails),
			Severity: "LOW", Path: a.Path, Line: a.Line,
		}
		if severity := severities[a.Severity]; severity != "" {
			all[i].Severity = severity
		}
	}
	err := h.send(ctx, http.MethodPost, reportPath(p, s.Check.SHA)+"/annotations", all)

	return h.orStale(ctx, p, s.Check.SHA, err)
}

// cut is the beginning of a text, at most n characters.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}

	return text
}

// newComment is one to write.
type newComment struct {
	Content struct {
		Raw string `json:"raw"`
	} `json:"content"`
	Inline *inline `json:"inline,omitempty"`
	Parent *parent `json:"parent,omitempty"`
}

type inline struct {
	Path string `json:"path"`
	To   int    `json:"to"` // on the new side
}

type parent struct {
	ID int64 `json:"id"`
}

func content(body string) newComment {
	var c newComment
	c.Content.Raw = codehost.HideMarkers(body)

	return c
}

// post adds a comment. If the connection names another account than that of its token,
// none of our comments would be known again, so the comment is taken back.
func (h *Host) post(ctx context.Context, p codehost.PullRequest, c newComment) error {
	path := pullPath(p.Repository, p.Number) + "/comments"
	if h.personal {
		return h.send(ctx, http.MethodPost, path, c)
	}
	me, err := h.me(ctx)
	if err != nil {
		return err
	}
	var made comment
	_, err = h.api.Do(ctx, hosthttp.Call{Method: http.MethodPost, Path: path, In: c, Out: &made})
	if err != nil || by(made.User, me) {
		return err
	}
	if err := unlessGone(h.send(ctx, http.MethodDelete, commentPath(p, ref(made.ID)), nil)); err != nil {
		return err
	}

	return &codehost.Error{Fault: codehost.Revoked, Err: fmt.Errorf("the token is not of the account %s", me.UUID)}
}

// addComments adds comments on lines of the head. They can't name the commit, so the head
// is looked at before.
func (h *Host) addComments(ctx context.Context, p codehost.PullRequest, comments []codehost.LineComment) error {
	now, err := h.pull(ctx, p.Repository, p.Number)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(p.HeadSHA, now.Source.Commit.Hash) {
		return &codehost.Error{Fault: codehost.Stale, Err: errors.New("the pull request has another head")}
	}
	for _, c := range comments {
		one := content(c.Body)
		one.Inline = &inline{Path: c.Path, To: c.Line}
		if err := h.post(ctx, p, one); err != nil {
			return badLine(err)
		}
	}

	return nil
}

// badLine is the error of a comment that was refused: the line is the only thing in it
// that can be wrong.
func badLine(err error) error {
	if codehost.FaultOf(err) == codehost.Invalid {
		return &codehost.Error{Fault: codehost.BadLine, Err: err}
	}

	return err
}

func commentPath(p codehost.PullRequest, c codehost.Ref) string {
	return fmt.Sprintf("%s/comments/%s", pullPath(p.Repository, p.Number), c)
}

func (h *Host) edit(ctx context.Context, p codehost.PullRequest, c codehost.Ref, body string) error {
	return h.send(ctx, http.MethodPut, commentPath(p, c), content(body))
}

// resolve changes a comment and closes or reopens its thread. Bitbucket refuses that when
// it is so already, which is fine.
func (h *Host) resolve(ctx context.Context, p codehost.PullRequest, s codehost.Step, method string) error {
	if err := h.edit(ctx, p, s.Ref, s.Body); err != nil {
		return err
	}
	err := h.send(ctx, method, commentPath(p, s.Ref)+"/resolve", nil)
	if err == nil {
		return nil
	}
	var now comment
	readErr := h.get(ctx, commentPath(p, s.Ref), nil, &now)
	if readErr == nil && (now.Resolution != nil) == (s.Action == codehost.CloseComment) {
		return nil
	}

	return err
}

// unlessGone is the error of deleting something; none when it isn't there.
func unlessGone(err error) error {
	if err != nil && codehost.FaultOf(err) == codehost.Gone {
		return nil
	}

	return err
}

// refusal answers a command that was refused.
const refusal = "prwarden could not do this command."

// Acknowledge answers only a command that was refused: Bitbucket Cloud has no reactions,
// an answer is a message to everybody in the talk, and what a command did can be seen.
func (h *Host) Acknowledge(
	ctx context.Context, p codehost.PullRequest, c codehost.Comment, r codehost.Reaction,
) error {
	if r != codehost.Refused {
		return nil
	}
	me, err := h.me(ctx)
	if err != nil {
		return err
	}
	all, err := h.comments(ctx, p)
	if err != nil {
		return err
	}
	answer := content(refusal)
	for _, one := range all {
		if string(ref(one.ID)) == c.ID {
			answer.Parent = &parent{one.ID}
		}
		if one.Parent != nil && string(ref(one.Parent.ID)) == c.ID && by(one.User, me) && one.Content.Raw == refusal {
			return nil
		}
	}
	if answer.Parent == nil { // deleted meanwhile
		return nil
	}

	return h.post(ctx, p, answer)
}
