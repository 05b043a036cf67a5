package scan

import (
	"context"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/report/linehash"
	"github.com/prwarden/prwarden/internal/rule"
)

// find makes findings of hits, which come by line.
func (s *fileScan) find(ctx context.Context, hits []located) error {
	var hashes map[int]string
	if !s.plan.bare {
		var err error
		if hashes, err = s.hashes(ctx, hits); err != nil {
			return err
		}
	}
	for _, h := range hits {
		r := s.rule(h)
		f, err := s.finding(ctx, r, h)
		if err != nil {
			return err
		}
		if !r.Redact {
			f.LineHash = hashes[h.Line]
		}
		if !h.apart {
			s.out.findings = append(s.out.findings, f)
			continue
		}
		if f.Suppression, err = s.suppression(ctx, h.Line, r.FullID()); err != nil {
			return err
		}
		s.out.suppressed = append(s.out.suppressed, f)
	}
	return nil
}

func (s *fileScan) finding(ctx context.Context, r rule.Rule, h located) (finding.Finding, error) {
	if s.plan.bare {
		return finding.Finding{
			RuleID: r.FullID(), Severity: r.Severity, File: s.file.Path, Message: r.Message,
			Line: h.Line, EndLine: h.EndLine, Column: h.Column, EndColumn: h.EndColumn,
		}, nil
	}
	line, err := s.masker.line(ctx, h.Line)
	if err != nil {
		return finding.Finding{}, err
	}
	return finding.Finding{
		RuleID:         r.FullID(),
		Severity:       r.Severity,
		File:           s.file.Path,
		Line:           h.Line,
		EndLine:        h.EndLine,
		Column:         h.Column,
		EndColumn:      h.EndColumn,
		UTF16Column:    s.utf16Column(h.Line, h.Column),
		UTF16EndColumn: s.utf16Column(h.EndLine, h.EndColumn),
		Message:        r.Message,
		Snippet:        line.snippet(h.Column - 1),
		Fingerprint:    s.prints.next(identity{ruleID: r.FullID(), path: s.file.Path, text: line.identity()}),
	}, nil
}

// utf16Column is a column in UTF-16 code units, from 1. A byte that is not part
// of a character in UTF-8 counts as U+FFFD, so as one.
func (s *fileScan) utf16Column(line, column int) int {
	start := s.lines.Start(line)
	units := 1
	for text := s.lines.Text()[start : start+column-1]; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if units++; r > 0xFFFF {
			units++
		}
	}
	return units
}

// hashes returns the line hashes for hits by line, without those that are made of
// text that must not be shown.
func (s *fileScan) hashes(ctx context.Context, hits []located) (map[int]string, error) {
	var lines []int
	for _, h := range hits {
		if !s.rule(h).Redact && (len(lines) == 0 || lines[len(lines)-1] != h.Line) {
			lines = append(lines, h.Line)
		}
	}
	found := linehash.Of(s.lines.Text(), lines)
	of := make([]match.LineRange, len(lines)) // the lines that they are made of
	for i, hash := range found {
		of[i] = match.LineRange{First: lines[i], Last: lines[i]}
		if hash.Start < hash.End { // where "\r" alone ends lines it may be of others
			from, _ := s.lines.At(hash.Start)
			to, _ := s.lines.At(hash.End - 1)
			of[i] = match.LineRange{First: min(lines[i], from), Last: max(lines[i], to)}
		}
	}
	if err := s.masker.survey(ctx, runs(of)); err != nil {
		return nil, err
	}
	hashes := make(map[int]string, len(lines))
	for i, hash := range found {
		hidden, err := s.masker.hides(ctx, of[i].First, of[i].Last)
		if err != nil {
			return nil, err
		}
		if !hidden {
			hashes[lines[i]] = hash.Text
		}
	}
	return hashes, nil
}

// maxRun is about how many lines a run has at most: one that must not be shown
// spares no work for the others of its run.
const maxRun = 64

// runs puts together ranges of lines, which ascend by their last lines.
func runs(ranges []match.LineRange) []match.LineRange {
	var runs []match.LineRange
	for _, r := range ranges {
		last := len(runs) - 1
		switch {
		case last < 0 || r.First > runs[last].Last+1:
			runs = append(runs, r)
		case r.Last <= runs[last].Last:
		case runs[last].Last-runs[last].First < maxRun:
			runs[last].Last = r.Last
		default:
			runs = append(runs, match.LineRange{First: runs[last].Last + 1, Last: r.Last})
		}
	}
	return runs
}

// suppression returns the comment that suppresses the hit of a rule on a line.
func (s *fileScan) suppression(ctx context.Context, line int, fullID string) (*finding.Suppression, error) {
	d, at := s.comments.Of(line, fullID)
	text, err := s.masker.line(ctx, at)
	if err != nil {
		return nil, err
	}
	return &finding.Suppression{
		Reason: printable(text.show(d.ReasonStart, d.ReasonEnd), MaxSnippet),
		Until:  d.Until,
		Line:   at,
	}, nil
}

// maxReports is how many findings there are about comments that suppress, of each
// rule: a pull request must not be able to bury its other findings. One more says
// how many there are beside them.
const maxReports = 20

// report makes findings of what there is to say about the comments that
// suppress, and counts them.
func (s *fileScan) report(ctx context.Context) error {
	shown := func(n int) bool {
		line, err := s.masker.line(ctx, n)
		return err == nil && len(line.hidden) == 0
	}
	for r := range s.comments.Reports(s.plan.use, shown) {
		id := string(r.Kind)
		if s.out.reportCounts == nil {
			s.out.reportCounts = map[string]int{}
		}
		if s.out.reportCounts[id]++; s.out.reportCounts[id] > maxReports+1 {
			continue
		}
		line, err := s.masker.line(ctx, r.Line)
		if err != nil {
			return err
		}
		s.out.reports = append(s.out.reports, finding.Finding{
			RuleID:         id,
			Severity:       r.Kind.Severity(),
			File:           s.file.Path,
			Line:           r.Line,
			EndLine:        r.Line,
			Column:         r.Start + 1,
			EndColumn:      r.End + 1,
			UTF16Column:    s.utf16Column(r.Line, r.Start+1),
			UTF16EndColumn: s.utf16Column(r.Line, r.End+1),
			Message:        r.Message,
			Snippet:        line.snippet(r.Start),
			Fingerprint:    s.prints.next(identity{ruleID: id, path: s.file.Path, text: line.identity()}),
		})
	}
	return nil
}
