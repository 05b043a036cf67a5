package scan

import (
	"context"
	"slices"
	"sort"

	"github.com/prwarden/prwarden/internal/scan/match"
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

	kept map[int]*keptLine // lines that were asked for, by number
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
	if !m.read {
		m.read = true
		for _, v := range m.views {
			spans, blind, err := v.secret(ctx, m.lines.Text(), true, m.out, m.path)
			if err != nil {
				return nil, err
			}
			m.regions = append(m.regions, spans...)
			m.blind = m.blind || blind
		}
		m.regions = join(m.regions)
	}
	text, start := m.lines.Line(n), m.lines.Start(n)
	blind := m.blind
	var spans []match.Span
	first := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].End > start })
	for _, r := range m.regions[first:] {
		from, to := max(r.Start-start, 0), min(r.End-start, len(text))
		if from >= to {
			break
		}
		spans = append(spans, match.Span{Start: from, End: to})
	}
	for _, v := range m.views {
		more, unknown, err := v.secret(ctx, text, false, m.out, m.path)
		if err != nil {
			return nil, err
		}
		spans = append(spans, more...)
		blind = blind || unknown
	}
	if blind {
		spans = []match.Span{{Start: 0, End: len(text)}}
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
	rules := slices.DeleteFunc(v.masking.Candidates(text, multiline), func(i int) bool { return !v.rules[i].Redact })
	if len(rules) == 0 {
		return nil, false, nil
	}
	for _, r := range rules {
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
