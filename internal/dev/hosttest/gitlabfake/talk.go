package gitlabfake

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// maxBody is how long a note can be (administration/instance_limits, size of comments).
const maxBody = 1_000_000

// showNote has no type below a merge request, unless it is in a thread (api/discussions).
func showNote(n *note) object {
	shown := object{
		"id": n.id, "type": nil, "body": n.body, "author": showUser(n.author), "system": n.system,
		"noteable_type": "MergeRequest", "resolvable": n.path != "",
	}
	if n.path != "" {
		shown["type"], shown["resolved"], shown["resolved_by"] = "DiffNote", n.resolver != "", nil
		shown["position"] = object{"position_type": "text", "new_path": n.path, "new_line": n.line}
		if n.resolver != "" {
			shown["resolved_by"] = showUser(n.resolver)
		}
	}

	return shown
}

// getDiscussions has all notes in their discussions, also those of GitLab itself.
func (f *Fake) getDiscussions(q *http.Request) answer {
	if f.request(q.PathValue("n")) == nil {
		return notFound("Merge Request")
	}
	var ids []string
	for _, n := range f.notes {
		if !slices.Contains(ids, n.discussion) {
			ids = append(ids, n.discussion)
		}
	}

	return list(q, ids, f.showDiscussion)
}

func (f *Fake) showDiscussion(id string) object {
	notes := []object{}
	single := true
	for _, n := range f.notes {
		if n.discussion == id {
			notes = append(notes, showNote(n))
			single = single && n.path == ""
		}
	}

	return object{"id": id, "individual_note": single && len(notes) == 1, "notes": notes}
}

// bad is what is wrong with the text of a note; the answer's status is 0 for nothing.
func (f *Fake) bad(q *http.Request, text string) answer {
	switch {
	case text == "":
		return missing("body")
	case f.request(q.PathValue("n")) == nil:
		return notFound("Merge Request")
	case utf8.RuneCountInString(text) > maxBody:
		return problem(http.StatusBadRequest,
			`Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}`)
	}

	return answer{}
}

// postDiscussion wants the commits of the merge request, and the place of a line in its
// diff: an added line without an old one (api/discussions, create a new thread in the
// merge request diff). The file of the fixture is added. Otherwise the note has no
// line_code (qiniu/reviewbot 539, gitbeaker 3433).
func (f *Fake) postDiscussion(q *http.Request) answer {
	var in struct {
		Body     string `json:"body"`
		Position struct {
			Type  string `json:"position_type"`
			Base  string `json:"base_sha"`
			Start string `json:"start_sha"`
			Head  string `json:"head_sha"`
			Path  string `json:"new_path"`
			Old   string `json:"old_path"`
			Line  int    `json:"new_line"`
			OldLn *int   `json:"old_line"`
		} `json:"position"`
	}
	if !body(q, &in) {
		return missing("body")
	}
	if a := f.bad(q, in.Body); a.status != 0 {
		return a
	}

	p := in.Position
	for name, value := range map[string]string{
		"base_sha": p.Base, "start_sha": p.Start, "head_sha": p.Head, "position_type": p.Type,
	} {
		if value == "" {
			return missing("position[" + name + "]")
		}
	}
	known := f.commits[p.Base] && f.commits[p.Start] && f.commits[p.Head]
	if !known || p.Type != "text" || p.Path != hosttest.Path || p.Old == "" || p.OldLn != nil || p.Line < 1 ||
		p.Line > hosttest.Lines {
		return problem(http.StatusBadRequest, `Bad request - Note {:line_code=>["can't be blank", "must be a valid line `+
			`code"]}`)
	}

	n := &note{author: hosttest.Account, body: in.Body, path: p.Path, line: p.Line}
	f.add(n)
	return plain(http.StatusCreated, f.showDiscussion(n.discussion))
}

// putDiscussion resolves all notes of a thread, and leaves as they are those that are
// resolved (lib/api/helpers/notes_helpers.rb, resolve_discussion;
// app/models/concerns/resolvable_note.rb).
func (f *Fake) putDiscussion(q *http.Request) answer {
	var in struct {
		Resolved *bool `json:"resolved"`
	}
	if !body(q, &in) || in.Resolved == nil {
		return missing("resolved")
	}
	found := false
	for _, n := range f.notes {
		if n.discussion != q.PathValue("discussion") || n.path == "" {
			continue
		}
		found = true
		switch {
		case !*in.Resolved:
			n.resolver = ""
		case n.resolver == "":
			n.resolver = hosttest.Account
		}
	}
	if !found {
		return notFound("Discussion")
	}

	return plain(http.StatusOK, f.showDiscussion(q.PathValue("discussion")))
}

type text struct {
	Body string `json:"body"`
}

func (f *Fake) postNote(q *http.Request) answer {
	var in text
	if !body(q, &in) {
		return missing("body")
	}
	if a := f.bad(q, in.Body); a.status != 0 {
		return a
	}
	n := &note{author: hosttest.Account, body: in.Body}
	f.add(n)

	return plain(http.StatusCreated, showNote(n))
}

// own is a note of the request that our account may change: its own only (user/permissions).
func (f *Fake) own(q *http.Request) (*note, answer) {
	n := f.note(q.PathValue("note"))
	switch {
	case n == nil:
		return nil, notFound("Note")
	case n.author != hosttest.Account:
		return nil, problem(http.StatusForbidden, "Forbidden")
	}

	return n, answer{}
}

// putNote changes those on lines, too (lib/api/notes.rb looks among all of the merge
// request).
func (f *Fake) putNote(q *http.Request) answer {
	var in text
	if !body(q, &in) {
		return missing("body")
	}
	if a := f.bad(q, in.Body); a.status != 0 {
		return a
	}
	n, a := f.own(q)
	if n == nil {
		return a
	}
	n.body = in.Body

	return plain(http.StatusOK, showNote(n))
}

func (f *Fake) deleteNote(q *http.Request) answer {
	n, a := f.own(q)
	if n == nil {
		return a
	}
	f.notes = slices.DeleteFunc(f.notes, func(one *note) bool { return one == n })

	return plain(http.StatusNoContent, nil)
}

// postEmoji answers 404 to one that is there already (lib/api/award_emoji.rb).
func (f *Fake) postEmoji(q *http.Request) answer {
	var in struct {
		Name string `json:"name"`
	}
	n := f.note(q.PathValue("note"))
	switch {
	case !body(q, &in) || in.Name == "":
		return missing("name")
	case n == nil:
		return notFound("Note")
	case strings.Trim(in.Name, "abcdefghijklmnopqrstuvwxyz_") != "": // no such emoji, as `+1` of other hosts
		return notFound("Award Emoji Name is not a valid emoji name")
	case slices.Contains(n.reactions, in.Name):
		return notFound("Award Emoji Name has already been taken")
	}
	n.reactions = append(n.reactions, in.Name)

	return plain(http.StatusCreated, object{"id": f.id(), "name": in.Name, "user": showUser(hosttest.Account)})
}
