package bitbucketfake

import (
	"net/http"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

func showComment(c *comment) object {
	out := object{
		"type": "pullrequest_comment", "id": c.id, "user": showUser(c.author), "deleted": c.deleted,
		"content": object{"type": "rendered", "raw": c.body, "markup": "markdown"},
	}
	if c.path != "" {
		out["inline"] = object{"path": c.path, "to": c.line, "from": nil}
	}
	if c.parent != 0 {
		out["parent"] = object{"id": c.parent}
	}
	if c.resolver != "" {
		out["resolution"] = object{"type": "comment_resolution", "user": showUser(c.resolver)}
	}

	return out
}

// getComments gives those on lines and below, answers and deleted ones, the oldest first
// ([rest], pullrequests).
func (f *Fake) getComments(q *http.Request) answer {
	if f.pull(q.PathValue("n")) == nil {
		return notFound()
	}

	return list(f, q, 100, f.comments, showComment)
}

type text struct {
	Content struct {
		Raw string `json:"raw"`
	} `json:"content"`
	Inline *struct {
		Path string `json:"path"`
		To   int    `json:"to"`
	} `json:"inline"`
	Parent *struct {
		ID int64 `json:"id"`
	} `json:"parent"`
}

// postComment refuses a line beyond the end of the file, and a text that is empty or has
// more than 32,768 characters: assumptions.
func (f *Fake) postComment(q *http.Request) answer {
	var in text
	switch {
	case !body(q, &in), in.Content.Raw == "", len([]rune(in.Content.Raw)) > 32_768:
		return problem(http.StatusBadRequest, "content: Bad request")
	case f.pull(q.PathValue("n")) == nil:
		return notFound()
	case in.Inline != nil && (in.Inline.To < 1 || in.Inline.To > hosttest.Lines):
		return problem(http.StatusBadRequest, "inline: Bad request")
	}
	c := &comment{author: hosttest.Account, body: in.Content.Raw}
	if in.Inline != nil {
		c.path, c.line = in.Inline.Path, in.Inline.To
	}
	if in.Parent != nil {
		c.parent = in.Parent.ID
	}
	f.add(c)

	return answer{http.StatusCreated, showComment(c)}
}

func (f *Fake) getComment(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	if c == nil {
		return notFound()
	}

	return answer{http.StatusOK, showComment(c)}
}

// putComment changes comments of our account only ([rest], pullrequests).
func (f *Fake) putComment(q *http.Request) answer {
	var in text
	c := f.comment(q.PathValue("id"))
	switch {
	case c == nil:
		return notFound()
	case c.author != hosttest.Account:
		return problem(http.StatusForbidden, "You can only edit your own comments.")
	case !body(q, &in) || in.Content.Raw == "":
		return problem(http.StatusBadRequest, "content: Bad request")
	}
	c.body = in.Content.Raw

	return answer{http.StatusOK, showComment(c)}
}

func (f *Fake) deleteComment(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	if c == nil {
		return notFound()
	}
	c.deleted, c.body = true, ""

	return answer{http.StatusNoContent, nil}
}

// resolve answers 409 when it is so already, and 403 for an answer ([rest], pullrequests).
func (f *Fake) resolve(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	switch {
	case c == nil:
		return notFound()
	case c.parent != 0:
		return problem(http.StatusForbidden, "The comment is not a top-level comment.")
	case c.resolver != "":
		return problem(http.StatusConflict, "The comment has already been resolved.")
	}
	c.resolver = hosttest.Account

	return answer{http.StatusOK, object{"type": "comment_resolution", "user": showUser(c.resolver)}}
}

// reopen answers 404 when it is so already ([rest], pullrequests).
func (f *Fake) reopen(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	if c == nil || c.resolver == "" {
		return notFound()
	}
	c.resolver = ""

	return answer{http.StatusNoContent, nil}
}
