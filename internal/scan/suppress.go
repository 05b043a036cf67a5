package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// The rules of findings about comments that suppress.
const (
	commentMalformed = rule.CategoryMeta + "/suppression-malformed"
	commentExpired   = rule.CategoryMeta + "/suppression-expired"
	commentUnused    = rule.CategoryMeta + "/suppression-unused"
)

// comments are those of one file that suppress findings, by line.
type comments struct {
	list  []comment
	lines match.Lines
	added []match.LineRange
}

type comment struct {
	directive
	line    int
	expired bool
	used    uint32 // which of ids have suppressed a hit, a bit for each
}

// readComments returns the comments of a file: also those on lines that were not
// added, where a match of several lines may start. Like rules it does not look at
// lines over match.MaxLine.
func readComments(lines match.Lines, added []match.LineRange, p *plan) *comments {
	c := &comments{lines: lines, added: added}
	text := lines.Text()
	for at := indexMarker(text, 0); at >= 0; {
		n, _ := lines.At(at)
		if d, ok := parseDirective(lines.Line(n)); ok && len(lines.Line(n)) <= match.MaxLine {
			if p.requireReason && d.mistake == "" && d.reasonStart == d.reasonEnd {
				d.mistake = "it gives no reason, which is required here; write ` -- ` and the reason behind the ids"
			}
			c.list = append(c.list, comment{directive: d, line: n, expired: d.until != "" && d.until < p.today})
		}

		if n == lines.Count() {
			break
		}
		at = indexMarker(text, lines.Start(n+1))
	}

	return c
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

func (c *comments) isAdded(line int) bool {
	i, _ := slices.BinarySearchFunc(c.added, line, func(r match.LineRange, n int) int { return cmp.Compare(r.Last, n) })
	return i < len(c.added) && c.added[i].First <= line
}

// on returns the comment on a line that suppresses hits of a rule there, and which
// of its ids that is; nil for none.
func (c *comments) on(line int, fullID string) (*comment, int) {
	i, found := slices.BinarySearchFunc(c.list, line, func(x comment, n int) int { return cmp.Compare(x.line, n) })
	if !found || c.list[i].mistake != "" || c.list[i].expired {
		return nil, 0
	}
	if at := slices.Index(c.list[i].ids, fullID); at >= 0 {
		return &c.list[i], at
	}

	return nil, 0
}

// accept returns what says of hits of rules, which have their index in the list,
// whether a comment suppresses them. A comment suppresses those on its own line,
// and those on the next line when it stands alone or the rule matches nothing
// beside it: what is written below a line with a comment is not accepted in
// passing.
func (c *comments) accept(rules []rule.Rule) match.Apart {
	if len(c.list) == 0 {
		return nil
	}

	return func(i, line int, before func() bool) bool {
		id := rules[i].FullID()
		by, at := c.on(line, id)
		if by == nil {
			if by, at = c.on(line-1, id); by == nil || !by.alone && before() {
				return false
			}
		}
		by.used |= 1 << at

		return true
	}
}

// suppression returns the comment that suppresses the hit of a rule on a line.
func (s *fileScan) suppression(ctx context.Context, line int, fullID string) *finding.Suppression {
	by, _ := s.comments.on(line, fullID)
	if by == nil {
		by, _ = s.comments.on(line-1, fullID)
	}
	reason := s.masker.line(ctx, by.line).show(by.reasonStart, by.reasonEnd)

	return &finding.Suppression{Reason: printable(reason, MaxSnippet), Until: by.until, Line: by.line}
}

// report makes findings of what is wrong with the comments on added lines: others
// are not the change's fault. What a comment does not suppress is reported itself,
// so these are for the upkeep.
func (s *fileScan) report(ctx context.Context) {
	count := map[string]int{}
	for _, x := range s.comments.list {
		if !s.comments.isAdded(x.line) {
			continue
		}

		f := finding.Finding{
			Severity: rule.Warning, File: s.file.Path,
			Line: x.line, EndLine: x.line, Column: x.start + 1, EndColumn: x.end + 1,
		}
		switch {
		case x.mistake != "":
			f.RuleID, f.Message = commentMalformed, "This `prwarden:ignore` suppresses nothing: "+x.mistake+"."
		case x.expired:
			f.RuleID, f.Message = commentExpired, "This `prwarden:ignore` suppresses nothing since "+x.until+
				" is over: repair what it is about, or decide again and set another day."
		default:
			f.RuleID, f.Severity, f.Message = commentUnused, rule.Low, s.unused(ctx, x)
		}
		if f.Message == "" {
			continue
		}
		if count[f.RuleID]++; count[f.RuleID] > maxReports {
			s.out.Counts[f.Severity]++ // and isn't listed
			continue
		}

		s.describe(ctx, &f)
		s.out.reports = append(s.out.reports, f)
	}
}

// unused says which ids of a comment are of no use; nothing when all are, or may
// be. A scan knows only of rules that looked at both lines.
func (s *fileScan) unused(ctx context.Context, x comment) string {
	next := x.line + 1
	isLast := x.line == s.lines.Count()
	looked := isLast || s.comments.isAdded(next) && len(s.lines.Line(next)) <= match.MaxLine

	var idle, unknown []string
	for i, id := range x.ids {
		at, known := s.plan.places()[id]
		switch {
		case x.used&(1<<i) != 0:
		case !known && !s.plan.otherRules:
			unknown = append(unknown, id)
		case looked && at.session != nil && !at.session.Stopped(at.rule):
			idle = append(idle, id)
		}
	}

	var message []string
	if len(unknown) > 0 {
		names := strings.Join(unknown, ", ")
		if s.masker.hides(ctx, x.line, x.line) {
			names = "an id" // what is no id may be a secret
		}
		message = append(message, "This `prwarden:ignore` names "+names+
			", and there is no such rule: correct the id or remove it.")
	}
	if len(idle) > 0 {
		message = append(message, "This `prwarden:ignore` is not needed for "+strings.Join(idle, ", ")+
			": nothing is found here or on the next line. Remove it.")
	}

	return strings.Join(message, " ")
}
