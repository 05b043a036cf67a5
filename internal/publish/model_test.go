package publish

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/codehost"
)

// model is a code host in memory that takes the steps of one pull request. What a host
// would refuse, or a publisher must not do, is kept in wrong.
type model struct {
	limits    codehost.Limits
	head      string
	checks    []modelCheck
	comments  []modelComment
	unsent    []codehost.Ref
	refs      int
	wrong     []string
	missing   int            // steps on what was not there
	posted    map[string]int // comments that were ever made, by fingerprint
	summaries int            // that were ever made
}

type modelCheck struct {
	codehost.Check
	annotations []codehost.Annotation
}

type modelComment struct {
	codehost.ObservedComment
	summary bool
	foreign bool
}

func (m *model) ref() codehost.Ref {
	m.refs++

	return codehost.Ref(fmt.Sprint(m.refs))
}

func (m *model) observe() (o codehost.Observed) {
	for _, c := range m.checks {
		if c.SHA == m.head {
			check := c.Check
			o.Check, o.Annotations = &check, len(c.annotations)
			if m.limits.AnnotationsPerCall == 0 {
				o.Check.ReviewID = "" // a status has no place for it
			}
			if m.limits.Summary == 0 {
				o.Check.Summary = ""
			}
		}
	}
	for _, c := range m.comments {
		switch {
		case c.foreign:
		case c.summary:
			o.Summaries = append(o.Summaries, c.ObservedComment)
		default:
			o.Comments = append(o.Comments, c.ObservedComment)
		}
	}
	o.Unsent = slices.Clone(m.unsent)

	return o
}

func (m *model) fail(format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

func (m *model) text(what, s string, limit int) {
	if limit > 0 && utf8.RuneCountInString(s) > limit {
		m.fail("%s has %d characters, more than %d", what, utf8.RuneCountInString(s), limit)
	}
}

// ours returns the comment of a step.
func (m *model) ours(s codehost.Step) (int, *modelComment) {
	i := slices.IndexFunc(m.comments, func(c modelComment) bool { return c.Ref == s.Ref })
	if i < 0 {
		m.missing++
		return -1, nil
	}
	if m.comments[i].foreign || m.comments[i].Thread != s.Thread || m.comments[i].summary == s.OnLine {
		m.fail("%s of %q, which is not ours", s.Action, s.Ref)
		return -1, nil
	}

	return i, &m.comments[i]
}

// do takes a step.
func (m *model) do(s codehost.Step) {
	m.text("a body", s.Body, m.limits.Body)
	switch s.Action {
	case codehost.SetCheck:
		m.setCheck(s.Check)
	case codehost.AddAnnotations:
		m.annotate(s)
	case codehost.AddComments:
		m.addComments(s.Comments)
	case codehost.AddSummary:
		m.summaries++
		m.comments = append(m.comments, modelComment{
			ObservedComment: codehost.ObservedComment{Ref: m.ref(), Body: s.Body}, summary: true,
		})
	case codehost.DiscardUnsent:
		i := slices.Index(m.unsent, s.Ref)
		if i < 0 {
			m.fail("%q is not unsent", s.Ref)
			return
		}
		m.unsent = slices.Delete(m.unsent, i, i+1)
	default:
		m.change(s)
	}
}

func (m *model) setCheck(c codehost.Check) {
	m.text("a title", c.Title, m.limits.Title)
	m.text("a summary", c.Summary, m.limits.Summary)
	if c.SHA == m.head && c.Verdict == codehost.Outdated {
		m.fail("the head is cancelled")
	}
	m.putCheck(c)
}

func (m *model) putCheck(c codehost.Check) {
	if c.Ref == "" {
		c.Ref = m.ref()
		m.checks = append(m.checks, modelCheck{Check: c})
		return
	}
	for i := range m.checks {
		if m.checks[i].Ref == c.Ref {
			m.checks[i].Check = c
			return
		}
	}
	m.fail("there is no check %q", c.Ref)
}

func (m *model) annotate(s codehost.Step) {
	i := slices.IndexFunc(m.checks, func(c modelCheck) bool { return c.Ref == s.Check.Ref })
	if i < 0 || m.checks[i].SHA != s.Check.SHA || s.Check.Verdict != codehost.Pending {
		m.fail("annotations to no open check")
		return
	}
	m.checks[i].annotations = append(m.checks[i].annotations, s.Annotations...)
	if n := len(s.Annotations); n == 0 || n > m.limits.AnnotationsPerCall {
		m.fail("%d annotations at once", n)
	}
	if n := len(m.checks[i].annotations); m.limits.Annotations > 0 && n > m.limits.Annotations {
		m.fail("%d annotations in all", n)
	}
}

func (m *model) addComments(comments []codehost.LineComment) {
	if n := len(comments); n == 0 || n > m.limits.CommentsPerCall {
		m.fail("%d comments at once", n)
	}
	if len(m.unsent) > 0 {
		m.fail("comments beside a review that was begun")
	}
	for _, c := range comments {
		m.text("a comment", c.Body, m.limits.Body)
		m.posted[c.Fingerprint]++
		m.comments = append(m.comments, modelComment{ObservedComment: codehost.ObservedComment{
			Ref: m.ref(), Thread: "t" + codehost.Ref(fmt.Sprint(m.refs)), Fingerprint: c.Fingerprint, Body: c.Body,
		}})
	}
}

// change changes a comment that is there.
func (m *model) change(s codehost.Step) {
	i, c := m.ours(s)
	if c == nil {
		return
	}
	switch s.Action {
	case codehost.EditComment, codehost.EditSummary:
		if c.summary != (s.Action == codehost.EditSummary) {
			m.fail("%s of another kind", s.Action)
		}
		c.Body = s.Body
	case codehost.CloseComment:
		c.Body, c.Closed, c.ClosedByUs = s.Body, true, true
	case codehost.ReopenComment:
		if !c.Closed {
			m.fail("what is open is reopened")
		}
		c.Body, c.Closed, c.ClosedByUs = s.Body, false, false
	case codehost.DeleteComment:
		if c.Replies > 0 {
			m.fail("a comment with a reply is deleted")
		}
		m.comments = slices.Delete(m.comments, i, i+1)
	default:
		m.fail("unknown step %q", s.Action)
	}
}
