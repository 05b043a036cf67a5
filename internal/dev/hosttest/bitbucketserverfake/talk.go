package bitbucketserverfake

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// showComment has the answers in it ([rest], comments).
func (f *Fake) showComment(c *comment) object {
	answers := []object{}
	for _, a := range f.comments {
		if a.parent == c.id {
			answers = append(answers, f.showComment(a))
		}
	}
	out := object{
		"id": c.id, "version": c.version, "text": c.body, "author": showUser(c.author), "comments": answers,
		"state": "OPEN", "severity": "NORMAL", "threadResolved": c.resolver != "",
	}
	if c.resolver != "" {
		out["threadResolver"] = showUser(c.resolver)
	}

	return out
}

// getActivities has the newest first, and others than comments. A comment that was edited
// is there twice, and an answer in its comment only ([rest], activities; in part an
// assumption).
func (f *Fake) getActivities(q *http.Request) answer {
	if f.pull(q.PathValue("n")) == nil {
		return notFound()
	}
	all := []object{{"id": 1, "action": "OPENED", "user": showUser(hosttest.Stranger)}}
	for _, c := range f.comments {
		if c.parent != 0 {
			continue
		}
		one := object{"id": c.id, "action": "COMMENTED", "commentAction": "ADDED", "comment": f.showComment(c)}
		if c.path != "" {
			one["commentAnchor"] = object{"path": c.path, "line": c.line, "lineType": "ADDED", "fileType": "TO"}
		}
		all = append(all, one)
		if c.version > 0 {
			all = append(all, one)
		}
	}
	slices.Reverse(all)

	return list(q, all, func(o object) object { return o })
}

// postComment refuses a line that is not there, and texts that are empty or have more than
// 32,768 characters: assumptions.
func (f *Fake) postComment(q *http.Request) answer {
	var in struct {
		Text   string `json:"text"`
		Anchor *struct {
			Path     string `json:"path"`
			Line     int    `json:"line"`
			LineType string `json:"lineType"`
			FileType string `json:"fileType"`
		} `json:"anchor"`
	}
	switch {
	case !body(q, &in), in.Text == "", len([]rune(in.Text)) > 32_768:
		return problem(http.StatusBadRequest, "The comment is not valid.")
	case f.pull(q.PathValue("n")) == nil:
		return notFound()
	case in.Anchor != nil && (in.Anchor.Path == "" || in.Anchor.Line < 1 || in.Anchor.Line > hosttest.Lines ||
		in.Anchor.LineType != "ADDED" || in.Anchor.FileType != "TO"):
		return problem(http.StatusBadRequest, "The anchor is not valid.")
	}
	c := &comment{author: hosttest.Account, body: in.Text}
	if in.Anchor != nil {
		c.path, c.line = in.Anchor.Path, in.Anchor.Line
	}
	f.add(c)

	return answer{http.StatusCreated, f.showComment(c)}
}

func (f *Fake) getComment(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	if c == nil {
		return notFound()
	}
	shown := f.showComment(c)
	if f.changes > 0 { // right after it was read
		f.changes--
		c.version++
	}

	return answer{http.StatusOK, shown}
}

// putComment wants the version that there is, and changes texts of our account only
// ([rest], comments). A thread says who resolved it.
func (f *Fake) putComment(q *http.Request) answer {
	var in struct {
		Text     *string `json:"text"`
		Version  int     `json:"version"`
		Resolved *bool   `json:"threadResolved"`
	}
	c := f.comment(q.PathValue("id"))
	switch {
	case c == nil:
		return notFound()
	case !body(q, &in):
		return problem(http.StatusBadRequest, "The comment is not valid.")
	case in.Version != c.version:
		return problem(http.StatusConflict, "You are attempting to modify a comment based on out-of-date information.")
	case in.Text != nil && c.author != hosttest.Account:
		return problem(http.StatusUnauthorized, "You are not permitted to access this resource")
	}
	if in.Text != nil {
		c.body = *in.Text
	}
	if in.Resolved != nil {
		c.resolver = map[bool]string{true: hosttest.Account}[*in.Resolved]
	}
	c.version++

	return answer{http.StatusOK, f.showComment(c)}
}

// deleteComment wants the version that there is, and no answers ([rest], comments).
func (f *Fake) deleteComment(q *http.Request) answer {
	c := f.comment(q.PathValue("id"))
	switch {
	case c == nil:
		return notFound()
	case q.URL.Query().Get("version") != strconv.Itoa(c.version),
		slices.ContainsFunc(f.comments, func(a *comment) bool { return a.parent == c.id }):
		return problem(http.StatusConflict, "The comment has answers, or another version.")
	}
	f.remove(q.PathValue("id"))

	return answer{http.StatusNoContent, nil}
}

// putReaction is content when the reaction is there already: an assumption.
func (f *Fake) putReaction(q *http.Request) answer {
	c, emoticon := f.comment(q.PathValue("id")), q.PathValue("emoticon")
	if c == nil || !slices.Contains([]string{"eyes", "thumbsup", "thumbsdown"}, emoticon) {
		return notFound()
	}
	if !slices.Contains(c.reactions, emoticon) {
		c.reactions = append(c.reactions, emoticon)
	}

	return answer{http.StatusOK, object{"emoticon": object{"shortcut": emoticon}}}
}
