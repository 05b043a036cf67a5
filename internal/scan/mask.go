package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// masker hides in lines what rules with redact match, whichever rule a line is
// shown for, and whether or not it was added.
type masker struct {
	views []view
	lines match.Lines
	file  string
	out   *FileResult // hears of rules that were stopped

	read    bool
	blind   bool         // a multiline rule could not say: everything is hidden
	regions []match.Span // of the whole file, that multiline rules match, as join has them
	kept    map[int]*maskedLine
	err     error // ctx's: then everything is hidden
}

// keptLines is how many lines a masker keeps: those that it is asked for are near
// to each other.
const keptLines = 512

// line returns line n.
func (m *masker) line(ctx context.Context, n int) *maskedLine {
	if l, ok := m.kept[n]; ok {
		return l
	}

	if !m.read {
		m.read = true
		m.regions, m.blind = m.secrets(ctx, m.lines.Text(), true)
	}
	if m.kept == nil || len(m.kept) >= keptLines {
		m.kept = map[int]*maskedLine{}
	}
	text := m.lines.Line(n)
	m.kept[n] = newMaskedLine(text, m.spans(ctx, text, m.lines.Start(n)))

	return m.kept[n]
}

// hides says whether any of some lines has a part that must not be shown.
func (m *masker) hides(ctx context.Context, first, last int) bool {
	for n := first; n <= last; n++ {
		if len(m.line(ctx, n).hidden) > 0 {
			return true
		}
	}

	return false
}

// spans returns what is to be hidden of a line, which begins at an offset.
func (m *masker) spans(ctx context.Context, line []byte, start int) []match.Span {
	spans, blind := m.secrets(ctx, line, false)
	if blind || m.blind {
		return []match.Span{{Start: 0, End: len(line)}}
	}

	end := start + len(line)
	first, _ := slices.BinarySearchFunc(m.regions, start,
		func(r match.Span, at int) int { return cmp.Compare(r.End, at+1) })
	for _, r := range m.regions[first:] {
		if r.Start >= end {
			break
		}
		spans = append(spans, match.Span{Start: max(r.Start, start) - start, End: min(r.End, end) - start})
	}

	return spans
}

// secrets returns what rules with redact match in a text, a file or a line. blind
// says that one of them was stopped before it could say.
func (m *masker) secrets(ctx context.Context, text []byte, multiline bool) (spans []match.Span, blind bool) {
	for _, v := range m.views {
		for _, r := range v.masking.Candidates(text, multiline) {
			if !v.rules[r].Redact {
				continue
			}
			found, ok, err := v.masking.Spans(ctx, text, len(m.lines.Text()), r)
			if err != nil {
				m.err = err
				return nil, true
			}

			spans = join(append(spans, found...)) // at once, so that many rules don't add up
			blind = blind || !ok
			if !ok && v.masks == v.hits { // else the rule does not take part, and a skip would say nothing
				m.out.stopped(m.file, v.rules, []int{r})
			}
		}
	}

	return spans, blind
}

const (
	// MaxSnippet is the length of a snippet, in bytes.
	MaxSnippet = 500

	// snippetLead is how many bytes of a long line a snippet shows before the
	// match.
	snippetLead = 100

	// mask is what stands for a text that must not be shown, of whatever length. The
	// columns of a finding do tell that one's: editors and SARIF mark it by them.
	mask = "****"
)

// maskedLine is a line of which some parts must not be shown.
type maskedLine struct {
	text   []byte
	hidden []match.Span // ascending, apart from each other
	normal string       // see identity; empty when nobody has asked yet
}

const (
	// longLine is the length of a line, in bytes, over which the whole of it is no
	// good for people, and too long to be shown or compared for each finding.
	longLine = 16 << 10
	// maxSearch bounds the search for hidden texts in a line: its length times their
	// number.
	maxSearch = 64 << 20
)

// newMaskedLine hides spans of a line, and every other occurrence in it of a
// text that is in one of them. Where that could take long, it hides the line.
func newMaskedLine(line []byte, spans []match.Span) *maskedLine {
	all := slices.Clone(spans)
	known := map[string]bool{"": true}
	for _, s := range spans {
		text := line[s.Start:s.End]
		if known[string(text)] {
			continue
		}
		if known[string(text)] = true; len(known)*len(line) > maxSearch {
			return &maskedLine{text: line, hidden: []match.Span{{Start: 0, End: len(line)}}}
		}

		for from := 0; ; {
			i := bytes.Index(line[from:], text)
			if i < 0 {
				break
			}
			all = append(all, match.Span{Start: from + i, End: from + i + len(text)})
			from += i + len(text)
		}
	}

	return &maskedLine{text: line, hidden: join(all)}
}

// join returns spans in order, those that overlap or touch made one.
func join(spans []match.Span) []match.Span {
	slices.SortFunc(spans, func(a, b match.Span) int { return cmp.Compare(a.Start, b.Start) })

	var out []match.Span
	for _, s := range spans {
		if k := len(out) - 1; k >= 0 && s.Start <= out[k].End {
			out[k].End = max(out[k].End, s.End)
		} else if s.End > s.Start {
			out = append(out, s)
		}
	}

	return out
}

// show returns the part of the line from one offset to another, with a mask
// for each part that is hidden.
func (l *maskedLine) show(from, to int) []byte {
	if len(l.hidden) == 0 {
		return l.text[from:to]
	}

	var out []byte
	for _, s := range l.hidden {
		if s.End <= from || s.Start >= to {
			continue
		}
		out = append(out, l.text[from:max(from, s.Start)]...)
		out = append(out, mask...)
		from = s.End
	}

	return append(out, l.text[min(from, to):to]...)
}

// identity is the line as fingerprints see it, of a long one what is around a match
// at an offset. A comment that suppresses what is found there makes no other finding
// of it.
func (l *maskedLine) identity(at int) string {
	if len(l.text) > longLine {
		return normalise(l.show(max(0, at-snippetLead), min(at+MaxSnippet, len(l.text))))
	}
	if l.normal == "" {
		l.normal = normalise(withoutDirective(l.show(0, len(l.text))))
	}

	return l.normal
}

// snippet is the line as people see it: at most MaxSnippet bytes of it around
// offset at, the start of the match, cut between characters.
func (l *maskedLine) snippet(at int) string {
	from := 0
	if len(l.text) > MaxSnippet || len(printable(l.show(0, at), MaxSnippet)) > MaxSnippet-snippetLead {
		from = max(0, at-snippetLead)
		for k := 0; k < utf8.UTFMax && from > 0 && !utf8.RuneStart(l.text[from]); k++ {
			from--
		}
	}

	to := min(from+longLine, len(l.text)) // masks may be for long texts

	return printable(l.show(from, to), MaxSnippet)
}

// printable is text with U+FFFD for what is not UTF-8 and for disruptive characters,
// as many of its characters as fit limit bytes.
func printable(text []byte, limit int) string {
	var out strings.Builder
	out.Grow(min(len(text), limit))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if rule.IsDisruptive(r) {
			r = utf8.RuneError
		}
		if out.Len()+utf8.RuneLen(r) > limit {
			break
		}
		out.WriteRune(r)
	}

	return out.String()
}

// withoutDirective returns a line without the comment that is beside something else
// on it, so that what the comment suppresses is recognised as what it was without.
// Space that was between them may stay. One with a mistake suppresses nothing and
// may be code, so it stays.
func withoutDirective(line []byte) []byte {
	d, ok := parseDirective(line)
	if !ok || d.alone || d.mistake != "" {
		return line
	}

	before, after := bytes.TrimRight(line[:d.start], " \t"), bytes.TrimLeft(line[d.end:], " \t")
	for _, p := range pairs {
		opened, isOpen := bytes.CutSuffix(before, []byte(p[0]))
		closed, isClosed := bytes.CutPrefix(after, []byte(p[1]))
		if isOpen && isClosed {
			return slices.Concat(opened, closed)
		}
	}
	for _, opener := range []string{"//", "--", "#", ";", "%", "!"} { // of comments that end with their line
		if bytes.HasSuffix(before, []byte(opener)) {
			before = bytes.TrimRight(before, opener) // all of `;;` and `///`
			break
		}
	}

	return slices.Concat(before, after)
}
