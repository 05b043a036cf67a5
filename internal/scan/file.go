package scan

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/match"
)

// fileResult is what was found in one file.
type fileResult struct {
	findings []Finding // the first ones, by line and rule id
	counts   Summary   // of all
	skips    []Skip    // by line and rule id
	err      error     // only when the context ended
}

// view is a file as one group of rules looks at it.
type view struct {
	group
	hitting *match.File
	masking *match.File
}

// located is a hit and the group that has it.
type located struct {
	match.Hit
	by int
}

// scanFile matches the rules of a plan on one file that has content, and
// returns at most limit findings.
func scanFile(ctx context.Context, p *plan, f *File, limit int) fileResult {
	if IsBinary(f.Content) {
		return fileResult{skips: []Skip{{Path: f.Path, Reason: SkipBinary}}}
	}
	lines := match.SplitLines(f.Content)
	out := fileResult{counts: Summary{}}
	views := make([]view, len(p.groups))
	var hits []located
	for i, g := range p.groups {
		v := view{group: g, hitting: g.hits.File(f.Path)}
		if v.masking = v.hitting; g.masks != g.hits {
			v.masking = g.masks.File(f.Path)
		}
		views[i] = v
		matched := Begin(ctx, PhaseMatch)
		found, err := v.hitting.Match(ctx, lines, f.Added, limit)
		matched()
		if err != nil {
			return fileResult{err: err}
		}
		for r, n := range found.Counts {
			out.counts[g.rules[r].Severity] += n
		}
		for _, h := range found.Hits {
			hits = append(hits, located{h, i})
		}
		out.stopped(f.Path, g.rules, found.Stopped)
		if i == 0 { // the same for every group
			for _, n := range found.LongLines {
				out.skips = append(out.skips, Skip{Path: f.Path, Line: n, Reason: SkipLineTooLong})
			}
		}
	}
	ruleOf := func(h located) rule.Rule { return views[h.by].rules[h.Rule] }
	slices.SortStableFunc(hits, func(a, b located) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(ruleOf(a).FullID(), ruleOf(b).FullID()))
	})
	hits = hits[:min(len(hits), limit)]

	defer Begin(ctx, PhaseMask)()
	masker := &masker{views: views, lines: lines}
	prints := fingerprinter{}
	for _, h := range hits {
		line, err := masker.line(ctx, h.Line, &out, f.Path)
		if err != nil {
			return fileResult{err: err}
		}
		r := ruleOf(h)
		out.findings = append(out.findings, Finding{
			RuleID:      r.FullID(),
			Severity:    r.Severity,
			Path:        f.Path,
			Line:        h.Line,
			EndLine:     h.EndLine,
			Column:      h.Column,
			Message:     r.Message,
			Snippet:     line.snippet(h.Column - 1),
			Fingerprint: prints.next(identity{ruleID: r.FullID(), path: f.Path, text: masker.identity}),
		})
	}
	slices.SortStableFunc(out.skips, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})
	return out
}

func (r *fileResult) stopped(path string, rules []rule.Rule, stopped []int) {
	for _, i := range stopped {
		r.skips = append(r.skips, Skip{Path: path, RuleID: rules[i].FullID(), Reason: SkipRuleTimeout})
	}
}

// masker hides in lines what rules with redact match, whichever rule a line is
// shown for, and whether or not it was added.
type masker struct {
	views   []view
	lines   match.Lines
	read    bool
	blind   bool         // a multiline rule could not say: everything is hidden
	regions []match.Span // of the whole file, that multiline rules match, as join has them

	last     int // number of the line in current
	current  maskedLine
	identity string // of the line in current
}

// line returns line n. Hits come by line, so the last one is kept.
func (m *masker) line(ctx context.Context, n int, out *fileResult, path string) (maskedLine, error) {
	if n == m.last {
		return m.current, nil
	}
	if !m.read {
		m.read = true
		for _, v := range m.views {
			spans, blind, err := v.secret(ctx, m.lines.Text(), true, out, path)
			if err != nil {
				return maskedLine{}, err
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
		more, unknown, err := v.secret(ctx, text, false, out, path)
		if err != nil {
			return maskedLine{}, err
		}
		spans = append(spans, more...)
		blind = blind || unknown
	}
	if blind {
		spans = []match.Span{{Start: 0, End: len(text)}}
	}
	m.last, m.current = n, newMaskedLine(text, spans)
	m.identity = m.current.identity()
	return m.current, nil
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
