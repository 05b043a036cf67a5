package giteafake

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

func showComment(c *comment) object {
	return object{"id": c.id, "body": c.body, "user": showUser(c.author)}
}

// getComments gives all comments below the pull request at once, whatever page is asked
// for (routers/api/v1/repo/issue_comment.go, ListIssueComments).
func (f *Fake) getComments(*http.Request) answer {
	out := []object{}
	for _, c := range f.comments {
		if c.review == 0 {
			out = append(out, showComment(c))
		}
	}

	return answer{http.StatusOK, out, len(out)}
}

type text struct {
	Body string `json:"body"`
}

// postComment wants a text (modules/structs/issue_comment.go).
func (f *Fake) postComment(q *http.Request) answer {
	var in text
	switch {
	case !body(q, &in) || in.Body == "":
		return problem(http.StatusUnprocessableEntity, "[Body]: Required")
	case f.pull(q.PathValue("n")) == nil:
		return notFound()
	}
	c := &comment{author: hosttest.Account, body: in.Body}
	f.add(c)
	return plain(http.StatusCreated, showComment(c))
}

// patchComment changes those on lines, too (routers/api/v1/repo/issue_comment.go,
// editIssueComment).
func (f *Fake) patchComment(q *http.Request) answer {
	var in text
	c := f.comment(q.PathValue("id"))
	switch {
	case !body(q, &in) || in.Body == "":
		return problem(http.StatusUnprocessableEntity, "[Body]: Required")
	case c == nil:
		return notFound()
	}
	c.body = in.Body
	return plain(http.StatusOK, showComment(c))
}

// deleteComment deletes those on lines, too, from Gitea 1.26 on. Before, and in Forgejo,
// it answers 204 and does nothing (routers/api/v1/repo/issue_comment.go,
// deleteIssueComment, there and in 1.23).
func (f *Fake) deleteComment(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	if c == nil {
		return notFound()
	}
	if c.review == 0 || !f.Forgejo {
		f.remove(func(one *comment) bool { return one == c })
	}

	return plain(http.StatusNoContent, nil)
}

// deleteReviewComment is Forgejo's alone.
func (f *Fake) deleteReviewComment(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	if !f.Forgejo || c == nil || strconv.FormatInt(c.review, 10) != q.PathValue("review") {
		return notFound()
	}
	f.remove(func(one *comment) bool { return one == c })
	return plain(http.StatusNoContent, nil)
}

// postReaction answers 200 when it is there already
// (routers/api/v1/repo/issue_reaction.go, changeIssueCommentReaction).
func (f *Fake) postReaction(q *http.Request) answer {
	var in struct {
		Content string `json:"content"`
	}
	c := f.comment(q.PathValue("id"))
	switch {
	case !body(q, &in) || c == nil:
		return notFound()
	case slices.Contains(c.reactions, in.Content):
		return plain(http.StatusOK, object{"content": in.Content})
	}
	c.reactions = append(c.reactions, in.Content)
	return plain(http.StatusCreated, object{"content": in.Content})
}

// getReviews leaves out what others have not sent, though the total counts it
// (services/convert/pull_review.go, ToPullReviewList).
func (f *Fake) getReviews(q *http.Request) answer {
	if f.pull(q.PathValue("n")) == nil {
		return notFound()
	}
	out := []object{}
	for _, r := range page(q, f.reviews) {
		if r.sent || r.author == hosttest.Account {
			out = append(out, f.showReview(r))
		}
	}

	return answer{http.StatusOK, out, len(f.reviews)}
}

func (f *Fake) showReview(r *review) object {
	state, count := "PENDING", 0
	if r.sent {
		state = "COMMENT"
	}
	for _, c := range f.comments {
		if c.review == r.id {
			count++
		}
	}

	return object{"id": r.id, "user": showUser(r.author), "state": state, "commit_id": r.commit, "comments_count": count}
}

// getReviewComments gives all comments of a review at once, in no order, with the
// answers to them (services/convert/pull_review.go goes over a map).
func (f *Fake) getReviewComments(q *http.Request) answer {
	r := f.review(number(q.PathValue("review")))
	if r == nil || !r.sent && r.author != hosttest.Account {
		return notFound()
	}
	out := []object{}
	for i := len(f.comments) - 1; i >= 0; i-- {
		c := f.comments[i]
		if c.review != r.id {
			continue
		}
		one := showComment(c)
		one["path"], one["position"], one["original_position"] = c.path, c.line, 0
		one["pull_request_review_id"], one["resolver"] = r.id, nil
		if c.resolver != "" {
			one["resolver"] = showUser(c.resolver)
		}
		out = append(out, one)
	}

	return plain(http.StatusOK, out)
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// postReview makes an unsent review, or takes the one that the account has begun, adds
// the comments one by one, and sends it with all that is in it. When a comment fails, the
// unsent review stays (probed; routers/api/v1/repo/pull_review.go, CreatePullReview).
func (f *Fake) postReview(q *http.Request) answer {
	var in struct {
		Event    string `json:"event"`
		Body     string `json:"body"`
		CommitID string `json:"commit_id"`
		Comments []struct {
			Path string `json:"path"`
			Body string `json:"body"`
			Line int    `json:"new_position"`
		} `json:"comments"`
	}
	p := f.pull(q.PathValue("n"))
	switch {
	case !body(q, &in):
		return problem(http.StatusUnprocessableEntity, "bad JSON")
	case p == nil:
		return notFound()
	case in.Event != "COMMENT": // others aren't asked for
		return problem(http.StatusUnprocessableEntity, "review event requires a body")
	case strings.TrimSpace(in.Body) == "" && len(in.Comments) == 0:
		return problem(http.StatusUnprocessableEntity, "review event COMMENT requires a body or a comment")
	}
	if in.CommitID == "" {
		in.CommitID = p.head
	}

	r := f.unsent(hosttest.Account, in.CommitID)
	for _, c := range in.Comments {
		// The line is looked for at the commit of the review (services/pull/review.go,
		// createCodeComment): a commit that isn't known, and a line beyond the end, are
		// 500; another file, and an unchanged line, are accepted (probed).
		if !f.commits[r.commit] || c.Path == hosttest.Path && c.Line > hosttest.Lines {
			return broken()
		}
		f.add(&comment{author: hosttest.Account, body: c.Body, path: c.Path, line: c.Line, review: r.id})
	}
	r.sent = true

	return plain(http.StatusOK, f.showReview(r))
}

// deleteReview deletes the comments with it (models/issues/review.go, DeleteReview).
func (f *Fake) deleteReview(q *http.Request) answer {
	r := f.review(number(q.PathValue("review")))
	switch {
	case r == nil:
		return notFound()
	case r.author != hosttest.Account:
		return problem(http.StatusForbidden, "")
	}
	f.remove(func(c *comment) bool { return c.review == r.id })
	f.reviews = slices.DeleteFunc(f.reviews, func(one *review) bool { return one == r })
	return plain(http.StatusNoContent, nil)
}

// resolve answers 204 to the second time, too, and 404 when the comment is not there
// (probed). Forgejo has no such call.
func (f *Fake) resolve(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	switch {
	case f.Forgejo || c == nil:
		return notFound()
	case c.review == 0:
		return problem(http.StatusBadRequest, "comment is not a review comment")
	case strings.HasSuffix(q.URL.Path, "/unresolve"):
		c.resolver = ""
	case c.resolver == "":
		c.resolver = hosttest.Account
	}

	return plain(http.StatusNoContent, nil)
}
