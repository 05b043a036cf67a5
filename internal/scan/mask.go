package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/scan/suppress"
)

// masker hides in lines what rules with redact match, whichever rule a line is
// shown for, and whether or not it was added.
type masker struct {
	views []view
	lines match.Lines
	file  string
	out   *fileResult // hears of rules that ran out of time

	read    bool
	blind   bool         // a multiline rule could not say: everything is hidden
	regions []match.Span // of the whole file, that multiline rules match, as join has them

	kept  map[int]*keptLine // lines that were asked for, by number
	plain map[int]bool      // blocks that were asked for: whether there is nothing to hide in them
}

// keptLine is a line that may be asked for again.
type keptLine struct {
	maskedLine
	normal string // see identity; empty when nobody has asked yet
}

// identity is the line as fingerprints see it.
func (l *keptLine) identity() string {
	if l.normal == "" {
		l.normal = l.maskedLine.identity()
	}

	return l.normal
}

// keptLines is how many lines a masker keeps: those that it is asked for are near
// to each other.
const keptLines = 512

// line returns line n.
func (m *masker) line(ctx context.Context, n int) (*keptLine, error) {
	if l, ok := m.kept[n]; ok {
		return l, nil
	}

	plain, err := m.isPlain(ctx, n)
	if err != nil {
		return nil, err
	}
	text := m.lines.Line(n)
	var spans []match.Span
	if !plain {
		if spans, err = m.spans(ctx, text, m.lines.Start(n)); err != nil {
			return nil, err
		}
	}

	if m.kept == nil || len(m.kept) >= keptLines {
		m.kept = map[int]*keptLine{}
	}
	l := &keptLine{maskedLine: newMaskedLine(text, spans)}
	m.kept[n] = l

	return l, nil
}

// hides says whether any of some lines has a part that must not be shown.
func (m *masker) hides(ctx context.Context, first, last int) (bool, error) {
	for n := first; n <= last; n++ {
		plain, err := m.isPlain(ctx, n)
		if err != nil {
			return true, err
		}
		if plain {
			continue
		}

		l, err := m.line(ctx, n)
		if err != nil || len(l.hidden) > 0 {
			return true, err
		}
	}

	return false, nil
}

// readFile finds what multiline rules match.
func (m *masker) readFile(ctx context.Context) error {
	if m.read {
		return nil
	}

	m.read = true
	for _, v := range m.views {
		spans, blind, err := m.secret(ctx, v, m.lines.Text(), true)
		if err != nil {
			return err
		}
		m.regions = append(m.regions, spans...)
		m.blind = m.blind || blind
	}
	m.regions = join(m.regions)

	return nil
}

// blockLines is how many lines are asked about at once. Asking for each line takes
// longer where findings are near to each other.
const blockLines = 16

// isPlain says whether nothing is to be hidden in the block of lines that has line
// n, as far as can be told without matching: a rule that may match on a line may
// match in a text that has the line.
func (m *masker) isPlain(ctx context.Context, n int) (bool, error) {
	if err := m.readFile(ctx); err != nil {
		return false, err
	}
	block := (n - 1) / blockLines
	if plain, ok := m.plain[block]; ok {
		return plain, nil
	}

	last := min((block+1)*blockLines, m.lines.Count())
	from, to := m.lines.Start(block*blockLines+1), m.lines.Start(last)+len(m.lines.Line(last))
	behind := m.regionsBehind(from)
	plain := !m.blind && (len(behind) == 0 || behind[0].Start >= to)
	for i := 0; plain && i < len(m.views); i++ {
		v := m.views[i]
		plain = !slices.ContainsFunc(v.masking.Candidates(m.lines.Text()[from:to], false), func(r int) bool {
			return v.rules[r].Redact
		})
	}

	if m.plain == nil {
		m.plain = map[int]bool{}
	}
	m.plain[block] = plain

	return plain, nil
}

// regionsBehind returns the regions that end behind an offset.
func (m *masker) regionsBehind(offset int) []match.Span {
	first := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].End > offset })
	return m.regions[first:]
}

// spans returns what is to be hidden of a line, which begins at an offset.
func (m *masker) spans(ctx context.Context, line []byte, start int) (spans []match.Span, err error) {
	for _, r := range m.regionsBehind(start) {
		from, to := max(r.Start-start, 0), min(r.End-start, len(line))
		if from >= to {
			break
		}
		spans = append(spans, match.Span{Start: from, End: to})
	}

	blind := m.blind
	for _, v := range m.views {
		more, unknown, err := m.secret(ctx, v, line, false)
		if err != nil {
			return nil, err
		}
		spans = append(spans, more...)
		blind = blind || unknown
	}
	if blind {
		return []match.Span{{Start: 0, End: len(line)}}, nil
	}

	return spans, nil
}

// secret returns what a group's rules with redact match in a text, a file or a
// line. blind says that one of them had no time left to say.
func (m *masker) secret(
	ctx context.Context, v view, text []byte, multiline bool,
) (spans []match.Span, blind bool, err error) {
	for _, r := range v.masking.Candidates(text, multiline) {
		if !v.rules[r].Redact {
			continue
		}
		found, err := v.masks.Spans(ctx, text, []int{r})
		if err != nil {
			return nil, false, err
		}

		spans = join(append(spans, found.Spans...)) // at once, so that many rules don't add up
		blind = blind || len(found.Unknown) > 0
		if v.masks == v.hits { // else the rule does not take part, and a skip would say nothing
			m.out.stopped(m.file, v.rules, found.Stopped)
		}
	}

	return spans, blind, nil
}

// MaxSnippet is the length of a snippet, in bytes.
const MaxSnippet = 500

// snippetLead is how many bytes of a long line a snippet shows before the
// match.
const snippetLead = 100

// mask is what stands for a text that must not be shown, of whatever length. The
// columns of a finding do tell that one's: editors and SARIF mark it by them.
const mask = "****"

// maskedLine is a line of which some parts must not be shown.
type maskedLine struct {
	text   []byte
	hidden []match.Span // ascending, apart from each other
}

// newMaskedLine hides spans of a line, and every other occurrence in it of a
// text that is in one of them. A line over match.MaxLine is hidden as a whole
// if any of it is: no finding needs to show more, and the search could be long.
func newMaskedLine(line []byte, spans []match.Span) maskedLine {
	if len(spans) > 0 && len(line) > match.MaxLine {
		spans = []match.Span{{Start: 0, End: len(line)}}
	}
	all := slices.Clone(spans)
	known := map[string]bool{}
	for _, s := range spans {
		text := line[s.Start:s.End]
		if known[string(text)] {
			continue
		}
		known[string(text)] = true
		for from := 0; ; {
			i := bytes.Index(line[from:], text)
			if i < 0 || len(text) == 0 {
				break
			}
			all = append(all, match.Span{Start: from + i, End: from + i + len(text)})
			from += i + len(text)
		}
	}
	return maskedLine{text: line, hidden: join(all)}
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
func (l maskedLine) show(from, to int) []byte {
	if len(l.hidden) == 0 {
		return l.text[from:to]
	}
	var out []byte
	for _, s := range l.hidden {
		if s.End <= from || s.Start >= to {
			continue
		}
		if s.Start > from {
			out = append(out, l.text[from:s.Start]...)
		}
		out = append(out, mask...)
		from = s.End
	}
	if from < to {
		out = append(out, l.text[from:to]...)
	}
	return out
}

// identity is the whole line as fingerprints see it: a comment that accepts what
// is found there makes no other finding of it.
func (l maskedLine) identity() string { return normalise(suppress.Bare(l.show(0, len(l.text)))) }

// snippet is the line as people see it: at most MaxSnippet bytes of it around
// offset at, the start of the match, cut between characters, with U+FFFD for
// what is not UTF-8 and for control characters other than tabs.
func (l maskedLine) snippet(at int) string {
	from := 0
	if len(l.text) > MaxSnippet || len(printable(l.show(0, at), MaxSnippet)) > MaxSnippet-snippetLead {
		from = max(0, at-snippetLead)
		for k := 0; k < utf8.UTFMax && from > 0 && !utf8.RuneStart(l.text[from]); k++ {
			from--
		}
	}
	return printable(l.show(from, l.enough(from)), MaxSnippet)
}

// printable is text with U+FFFD for what is not UTF-8, for control characters
// other than tabs, and for those that reorder text, as many of its characters as fit limit bytes.
func printable(text []byte, limit int) string {
	var out strings.Builder
	out.Grow(min(len(text), limit))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			r = utf8.RuneError
		}
		if out.Len()+utf8.RuneLen(r) > limit {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

// enough returns an offset up to which the line has MaxSnippet bytes to show
// from offset from on, or its end.
func (l maskedLine) enough(from int) int {
	end := from + MaxSnippet
	for _, s := range l.hidden {
		if s.End > from && s.Start < end {
			end += s.End - max(s.Start, from)
		}
	}
	return min(end, len(l.text))
}
