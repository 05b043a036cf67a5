package scan

import (
	"context"
	"slices"
	"sort"

	"github.com/prwarden/prwarden/internal/match"
)

// masker hides in lines what rules with redact match, whichever rule a line is
// shown for, and whether or not it was added.
type masker struct {
	views   []view
	lines   match.Lines
	path    string
	out     *fileResult // hears of rules that ran out of time
	read    bool
	blind   bool         // a multiline rule could not say: everything is hidden
	regions []match.Span // of the whole file, that multiline rules match, as join has them

	plain []match.LineRange // lines with nothing to hide, as far as survey found out
	kept  map[int]*keptLine // lines that were asked for, by number
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
	text := m.lines.Line(n)
	var spans []match.Span
	if !m.isPlain(n) {
		var err error
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

// readFile finds what multiline rules match.
func (m *masker) readFile(ctx context.Context) error {
	if m.read {
		return nil
	}
	m.read = true
	for _, v := range m.views {
		spans, blind, err := v.secret(ctx, m.lines.Text(), true, m.out, m.path)
		if err != nil {
			return err
		}
		m.regions = append(m.regions, spans...)
		m.blind = m.blind || blind
	}
	m.regions = join(m.regions)
	return nil
}

// spans returns what is to be hidden of a line, which begins at an offset.
func (m *masker) spans(ctx context.Context, line []byte, start int) (spans []match.Span, err error) {
	if err := m.readFile(ctx); err != nil {
		return nil, err
	}
	blind := m.blind
	for _, r := range m.regions[m.regionBehind(start):] {
		from, to := max(r.Start-start, 0), min(r.End-start, len(line))
		if from >= to {
			break
		}
		spans = append(spans, match.Span{Start: from, End: to})
	}
	for _, v := range m.views {
		more, unknown, err := v.secret(ctx, line, false, m.out, m.path)
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

// regionBehind is the index of the first region that ends behind an offset.
func (m *masker) regionBehind(offset int) int {
	return sort.Search(len(m.regions), func(i int) bool { return m.regions[i].End > offset })
}

// survey finds out which of some lines have nothing to hide, a run of them at a
// time, which takes a third of asking for each line. Runs ascend and are apart
// from each other.
func (m *masker) survey(ctx context.Context, runs []match.LineRange) error {
	if err := m.readFile(ctx); err != nil || m.blind {
		return err
	}
	for _, run := range runs {
		from, to := m.lines.Start(run.First), m.lines.Start(run.Last)+len(m.lines.Line(run.Last))
		if i := m.regionBehind(from); i < len(m.regions) && m.regions[i].Start < to {
			continue
		}
		// A rule that may match on one of the lines may match in all of the text.
		text := m.lines.Text()[from:to]
		if !slices.ContainsFunc(m.views, func(v view) bool { return len(v.redacting(text, false)) > 0 }) {
			m.plain = append(m.plain, run)
		}
	}
	return nil
}

// isPlain says whether survey found that a line has nothing to hide.
func (m *masker) isPlain(n int) bool {
	i := sort.Search(len(m.plain), func(i int) bool { return m.plain[i].Last >= n })
	return i < len(m.plain) && m.plain[i].First <= n
}

// hides says whether any of some lines has a part that must not be shown.
func (m *masker) hides(ctx context.Context, first, last int) (bool, error) {
	for n := first; n <= last; n++ {
		if m.isPlain(n) {
			continue
		}
		l, err := m.line(ctx, n)
		if err != nil || len(l.hidden) > 0 {
			return true, err
		}
	}
	return false, nil
}

// secret returns what the group's rules with redact match in a text, a file or
// a line. blind says that one of them had no time left to say.
func (v *view) secret(ctx context.Context, text []byte, multiline bool, out *fileResult, path string) (spans []match.Span, blind bool, err error) {
	for _, r := range v.redacting(text, multiline) {
		found, err := v.masks.Spans(ctx, text, []int{r})
		if err != nil {
			return nil, false, err
		}
		spans = join(append(spans, found.Spans...)) // at once, so that many rules don't add up
		blind = blind || len(found.Unknown) > 0
		if v.masks == v.hits { // else the rule does not take part, and a skip would say nothing
			out.stopped(path, v.rules, found.Stopped)
		}
	}
	return spans, blind, nil
}

// redacting returns those of the group's rules with redact that may match in a
// text.
func (v *view) redacting(text []byte, multiline bool) []int {
	return slices.DeleteFunc(v.masking.Candidates(text, multiline), func(i int) bool { return !v.rules[i].Redact })
}
