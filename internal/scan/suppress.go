package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/syntax"
)

// comments are those of one file that suppress findings, by line.
type comments []comment

type comment struct {
	directive
	line    int
	reason  string // as it is written, so not to be shown
	expired bool
	used    uint32 // which of ids have suppressed a hit, or were refused to; a bit for each
	refusal string // why it may not suppress what it would; empty for nothing
}

// terms are what the policy is asked about.
func (c *comment) terms() finding.Suppression {
	return finding.Suppression{Reason: c.reason, Until: c.until, Line: c.line}
}

// readComments returns the comments of a file: also those on lines that were not
// added, where a match of several lines may start. On a long line nobody would see one,
// so it is a mistake there.
func readComments(lines match.Lines, tokens func() *syntax.Text, p *plan) (all comments) {
	at := indexMarker(lines.Text(), 0)
	if at < 0 {
		return nil
	}

	for at >= 0 {
		n, _ := lines.At(at)
		if d, ok := commentIn(tokens(), lines.Line(n), lines.Start(n)); ok {
			if len(lines.Line(n)) > longLine {
				d.mistake = "its line has more than 16 KiB, so that nobody would see it"
			}
			reason := string(lines.Line(n)[d.reasonStart:d.reasonEnd])
			expired := d.until != "" && d.until < p.today
			all = append(all, comment{directive: d, line: n, reason: reason, expired: expired})
		}

		if n == lines.Count() {
			break
		}
		at = indexMarker(lines.Text(), lines.Start(n+1))
	}

	return all
}

// commentIn reads the first comment in a line that starts at an offset: what is in a
// quoted text only speaks of the marker.
func commentIn(t *syntax.Text, line []byte, start int) (directive, bool) {
	for from := 0; ; {
		at := findMarkerFrom(line, from)
		switch {
		case at < 0:
			return directive{}, false
		case t.Class(start+at) == syntax.Comment:
			return directiveAt(line, at), true
		}
		from = at + len(marker)
	}
}

// indexMarker returns the offset of the first marker in a text at or behind from,
// or -1. It looks for the marker's rarest letter, which is twice as quick as
// bytes.Index; every file is searched.
func indexMarker(text []byte, from int) int {
	const letter = 2 // w
	for pos := from + letter; pos < len(text); pos++ {
		k := bytes.IndexByte(text[pos:], marker[letter])
		if k < 0 {
			break
		}
		pos += k
		if at := pos - letter; bytes.HasPrefix(text[at:], []byte(marker)) {
			return at
		}
	}

	return -1
}

// on returns the comment on a line that suppresses hits of a rule there, and which
// of its ids that is; nil for none.
func (c comments) on(line int, fullID string) (*comment, int) {
	i, found := slices.BinarySearchFunc(c, line, func(x comment, n int) int { return cmp.Compare(x.line, n) })
	if !found || c[i].mistake != "" || c[i].expired {
		return nil, 0
	}
	if at := slices.Index(c[i].ids, fullID); at >= 0 {
		return &c[i], at
	}

	return nil, 0
}

// accept returns what says of hits of rules, which have their index in the group,
// whether a comment suppresses them. A comment suppresses those on its own line,
// and those on the next line when it stands alone or the rule matches nothing
// beside it: what is written below a line with a comment is not accepted in
// passing. What the policy does not allow it does not suppress.
func (c comments) accept(g group, p *plan) func(i, line int, before func() bool) bool {
	return func(i, line int, before func() bool) bool {
		id := g.rules[i].FullID()
		by, at := c.on(line, id)
		if by == nil {
			if by, at = c.on(line-1, id); by == nil || !by.alone && before() {
				return false
			}
		}
		by.used |= 1 << at
		if err := p.maySuppress(g.policed(i), by.terms(), p.today); err != nil {
			by.refusal = cmp.Or(by.refusal, refusal(err))
			return false
		}

		return true
	}
}

// refusal is why a comment may not suppress, with how to write what it lacks.
func refusal(err error) string {
	switch {
	case errors.Is(err, policy.ErrNoReason):
		return err.Error() + "; write ` -- ` and the reason behind the ids"
	case errors.Is(err, policy.ErrNoEnd):
		return err.Error() + "; write ` until ` and a day as YYYY-MM-DD at its end"
	}

	return err.Error()
}

// unused says which ids of a comment are of no use; nothing when all are, or may
// be. A scan knows only of rules that looked at both lines.
func (s *fileScan) unused(ctx context.Context, x comment) string {
	next := x.line + 1
	isLast := x.line == s.lines.Count()
	looked := !s.excluded && (isLast || s.isAdded(next))

	var idle, unknown []string
	for i, id := range x.ids {
		at, known := s.plan.known()[id]
		switch {
		case x.used&(1<<i) != 0:
		case !known && !s.plan.otherRules:
			unknown = append(unknown, id)
		case looked && at && !s.isStopped(id):
			idle = append(idle, id)
		}
	}

	if len(unknown) > 0 && s.masker.hides(ctx, x.line, x.line) {
		unknown = []string{"an id"} // what is no id may be a secret
	}
	switch {
	case len(unknown) > 0:
		return "This `prwarden:ignore` names " + strings.Join(unknown, ", ") +
			", and there is no such rule: correct the id or remove it."
	case len(idle) > 0:
		return "This `prwarden:ignore` is not needed for " + strings.Join(idle, ", ") +
			": nothing is found here or on the next line. Remove it."
	}

	return ""
}
