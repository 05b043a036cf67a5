package githubfake

import (
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// maxBody is how long a comment can be: danger/danger#424, suzuki-shunsuke/github-comment#124.
const maxBody = 65_536

func (f *Fake) comment(c *comment) object {
	return object{"id": c.id, "node_id": c.node(), "body": c.body, "user": f.user(c.author)}
}

// tooLong refuses a body.
func tooLong(text string) *answer {
	if utf8.RuneCountInString(text) <= maxBody {
		return nil
	}

	a := invalid("IssueComment", "body", "body is too long (maximum is 65536 characters)")
	return &a
}

func (f *Fake) listComments(*http.Request) answer {
	list := []object{}
	for _, c := range f.comments {
		if c.path == "" {
			list = append(list, f.comment(c))
		}
	}

	return ok(list)
}

func (f *Fake) createComment(q *http.Request) answer {
	in := body[struct{ Body string }](q)
	if refused := tooLong(in.Body); refused != nil {
		return *refused
	}

	return answer{status: http.StatusCreated, body: f.comment(f.add(hosttest.Account, "", 0, in.Body))}
}

// byID is a comment of a kind; nil for none.
func (f *Fake) byID(id string, onLine bool) *comment {
	return f.find(func(c *comment) bool { return fmt.Sprint(c.id) == id && (c.path != "") == onLine })
}

func (f *Fake) editComment(onLine bool) handler {
	return func(q *http.Request) answer {
		c := f.byID(q.PathValue("id"), onLine)
		if c == nil {
			return notFound()
		}

		in := body[struct{ Body string }](q)
		if refused := tooLong(in.Body); refused != nil {
			return *refused
		}

		c.body = in.Body
		return ok(f.comment(c))
	}
}

func (f *Fake) deleteComment(onLine bool) handler {
	return func(q *http.Request) answer {
		c := f.byID(q.PathValue("id"), onLine)
		if c == nil {
			return notFound()
		}

		f.comments = slices.DeleteFunc(f.comments, func(other *comment) bool { return other == c })
		return answer{status: http.StatusNoContent}
	}
}

// react adds a reaction. Doc: 201, and 200 when the account has reacted so before.
func (f *Fake) react(onLine bool) handler {
	return func(q *http.Request) answer {
		c := f.byID(q.PathValue("id"), onLine)
		if c == nil {
			return notFound()
		}

		in := body[struct{ Content string }](q)
		a := answer{status: http.StatusOK, body: object{"id": 1, "content": in.Content}}
		if !slices.Contains(c.reactions, in.Content) {
			c.reactions = append(c.reactions, in.Content)
			a.status = http.StatusCreated
		}
		return a
	}
}

// createReview adds comments on lines, all or none of them. One line that isn't in the
// diff refuses all: The-PR-Agent/pr-agent#592, QwenLM/qwen-code#6711. So does a review
// that was not sent: max-sixty/tend#1171.
func (f *Fake) createReview(q *http.Request) answer {
	in := body[struct {
		CommitID string `json:"commit_id"`
		Event    string
		Comments []struct {
			Path, Body, Side string
			Line             int
		}
	}](q)
	refuse := func(message string) answer {
		return failure(http.StatusUnprocessableEntity, "Unprocessable Entity", message)
	}

	if f.pendingID != 0 {
		return refuse("User can only have one pending review per pull request")
	}

	if in.CommitID != "" && !f.commits[in.CommitID] {
		return noCommit(in.CommitID)
	}

	for _, c := range in.Comments {
		switch {
		case c.Path != hosttest.Path:
			return refuse("Pull request review thread path is invalid and Pull request review thread " +
				"diff hunk can't be blank") // villesau/ai-codereviewer#34
		case c.Line < 1 || c.Line > hosttest.Lines || c.Side != "RIGHT":
			return refuse("Pull request review thread line must be part of the diff and Pull request review " +
				"thread diff hunk can't be blank") // danobi/prr#11
		case utf8.RuneCountInString(c.Body) > maxBody:
			return *tooLong(c.Body)
		}
	}

	for _, c := range in.Comments {
		f.add(hosttest.Account, c.Path, c.Line, c.Body).pending = in.Event == "" // doc: left blank, it is PENDING
	}

	id := f.id()
	state := "COMMENTED"
	if in.Event == "" {
		f.pendingID, state = id, "PENDING"
	}

	return ok(object{"id": id, "state": state, "user": f.user(hosttest.Account)})
}

// deleteReview deletes one that was not sent. Doc: others can't be deleted.
func (f *Fake) deleteReview(q *http.Request) answer {
	if f.pendingID == 0 || q.PathValue("id") != fmt.Sprint(f.pendingID) {
		return notFound()
	}

	f.pendingID = 0
	f.comments = slices.DeleteFunc(f.comments, func(c *comment) bool { return c.pending })
	return ok(object{"state": "PENDING"})
}
