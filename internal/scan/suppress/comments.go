package suppress

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// Options say by what comments are judged.
type Options struct {
	RequireReason bool   // one without a reason is malformed
	Today         string // `YYYY-MM-DD`; those until a day before have expired
}

// Comments are those of one file.
type Comments struct {
	list  []comment // by line
	lines match.Lines
	added []match.LineRange
}

type comment struct {
	Directive
	line    int
	expired bool
	used    uint32 // which of IDs have accepted a hit, a bit for each
}

// Read returns the comments of a file, nil when there are none: also those on
// lines that were not added, where a match of several lines may start. Like rules
// it does not look at lines over match.MaxLine. added is ascending and stays
// unchanged while the result is used. A file without the marker costs one search
// for it.
func Read(lines match.Lines, added []match.LineRange, o Options) *Comments {
	text := lines.Text()
	c := &Comments{lines: lines, added: added}
	for pos := 0; ; {
		at := indexMarker(text, pos)
		if at < 0 {
			break
		}
		n, _ := lines.At(at)
		if pos = len(text); n < lines.Count() {
			pos = lines.Start(n + 1)
		}
		if line := lines.Line(n); len(line) <= match.MaxLine {
			c.add(n, line, o)
		}
	}
	if len(c.list) == 0 {
		return nil
	}
	return c
}

// indexMarker returns the offset of the first marker in a text at or behind from,
// or -1. It looks for the marker's rarest letter, which is twice as quick as
// bytes.Index; every file is searched.
func indexMarker(text []byte, from int) int {
	const letter = 2 // w
	for pos := from + letter; pos < len(text); pos++ {
		k := bytes.IndexByte(text[pos:], Marker[letter])
		if k < 0 {
			break
		}
		pos += k
		if at := pos - letter; bytes.HasPrefix(text[at:], []byte(Marker)) {
			return at
		}
	}
	return -1
}

func (c *Comments) add(n int, line []byte, o Options) {
	d, ok := Parse(line)
	if !ok {
		return
	}
	if o.RequireReason && d.Mistake == "" && d.ReasonStart == d.ReasonEnd {
		d.Mistake = "it gives no reason, which is required here; write ` -- ` and the reason behind the ids"
	}
	c.list = append(c.list, comment{Directive: d, line: n, expired: d.Until != "" && d.Until < o.Today})
}

func (c *Comments) isAdded(line int) bool {
	i, _ := slices.BinarySearchFunc(c.added, line, func(r match.LineRange, n int) int { return cmp.Compare(r.Last, n) })
	return i < len(c.added) && c.added[i].First <= line
}

// on returns the comment on a line that accepts hits of a rule there, and which
// of its ids that is; nil for none.
func (c *Comments) on(line int, fullID string) (*comment, int) {
	i, found := slices.BinarySearchFunc(c.list, line, func(x comment, n int) int { return cmp.Compare(x.line, n) })
	if !found || c.list[i].Mistake != "" || c.list[i].expired {
		return nil, 0
	}
	at := slices.Index(c.list[i].IDs, fullID)
	if at < 0 {
		return nil, 0
	}
	return &c.list[i], at
}

// Accept returns what says of hits of rules, which have their index in the list,
// whether a comment accepts them. A comment accepts those on its own line, and
// those on the next line when it stands alone or the rule matches nothing beside
// it: what is written below a line with a comment is not accepted in passing.
// c may be nil.
func (c *Comments) Accept(rules []rule.Rule) match.Apart {
	if c == nil {
		return nil
	}
	return func(i, line int, before func() bool) bool {
		id := rules[i].FullID()
		by, at := c.on(line, id)
		if by == nil {
			if by, at = c.on(line-1, id); by == nil || !by.Alone && before() {
				return false
			}
		}
		by.used |= 1 << at
		return true
	}
}

// Of returns the comment, and its line, that accepts the hit of a rule on a line,
// of which Accept has said that it is accepted.
func (c *Comments) Of(line int, fullID string) (d Directive, at int) {
	by, _ := c.on(line, fullID)
	if by == nil {
		by, _ = c.on(line-1, fullID)
	}
	return by.Directive, by.line
}

// Kind is what there is to say about a comment. It is the id of the finding that
// says it.
type Kind string

// The kinds.
const (
	Malformed Kind = rule.CategoryMeta + "/suppression-malformed"
	Expired   Kind = rule.CategoryMeta + "/suppression-expired"
	Unused    Kind = rule.CategoryMeta + "/suppression-unused"
)

// Severity is that of a finding of the kind. What a comment does not accept is
// reported itself, so these are for the upkeep.
func (k Kind) Severity() rule.Severity {
	if k == Unused {
		return rule.Low
	}
	return rule.Warning
}

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Malformed, Expired, Unused} }

// Report is what there is to say about a comment.
type Report struct {
	Kind       Kind
	Line       int
	Start, End int // of the directive in the line, in bytes
	Message    string
}

// Use is what is known of a rule that a comment names, in one file.
type Use int

// The uses.
const (
	Unknown Use = iota // there is no such rule
	Idle               // it did not look at all added lines, or is no rule of this scan: the comment may be of use later
	Active             // it looked at all added lines
)

// Reports says, line by line, what is wrong with the comments on added lines:
// others are not the change's fault. It is asked after the hits of all rules were.
// shown says of a line whether all of it may be shown. c may be nil.
func (c *Comments) Reports(use func(fullID string) Use, shown func(line int) bool) iter.Seq[Report] {
	return func(yield func(Report) bool) {
		if c == nil {
			return
		}
		for i := range c.list {
			if r := c.about(&c.list[i], use, shown); r.Message != "" && !yield(r) {
				return
			}
		}
	}
}

// about is what there is to say about a comment; nothing when there is no
// message.
func (c *Comments) about(x *comment, use func(fullID string) Use, shown func(line int) bool) Report {
	if !c.isAdded(x.line) {
		return Report{}
	}
	r := Report{Line: x.line, Start: x.Start, End: x.End}
	switch {
	case x.Mistake != "":
		r.Kind, r.Message = Malformed, "This `prwarden:ignore` suppresses nothing: "+x.Mistake+"."
	case x.expired:
		r.Kind = Expired
		r.Message = "This `prwarden:ignore` suppresses nothing since " + x.Until +
			" is over: repair what it is about, or decide again and set another day."
	default:
		r.Kind, r.Message = Unused, c.unused(x, use, shown)
	}
	return r
}

// unused says which ids of a comment are of no use, or nothing.
func (c *Comments) unused(x *comment, use func(fullID string) Use, shown func(line int) bool) string {
	var idle, unknown []string
	for i, id := range x.IDs {
		if x.used&(1<<i) != 0 {
			continue
		}
		switch use(id) {
		case Unknown:
			unknown = append(unknown, id)
		case Active:
			if c.nextIsKnown(x.line) {
				idle = append(idle, id)
			}
		case Idle:
		}
	}
	var message []string
	switch {
	case len(unknown) == 0:
	case !shown(x.line): // what is no id may be a secret
		message = append(message, "This `prwarden:ignore` names an id that no rule has: correct it or remove it.")
	default:
		message = append(message, "This `prwarden:ignore` names "+strings.Join(unknown, ", ")+
			", and there is no such rule: correct the id or remove it.")
	}
	if len(idle) > 0 {
		message = append(message, "This `prwarden:ignore` is not needed for "+strings.Join(idle, ", ")+
			": nothing is found here or on the next line. Remove it.")
	}
	return strings.Join(message, " ")
}

// nextIsKnown says whether rules have looked at the line after a line, if there
// is one.
func (c *Comments) nextIsKnown(line int) bool {
	return line == c.lines.Count() || c.isAdded(line+1) && len(c.lines.Line(line+1)) <= match.MaxLine
}
