package scan

import (
	"cmp"
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/suppress"
)

// fileResult is what was found in one file.
type fileResult struct {
	findings        []finding.Finding // the first ones, by line and rule id
	counts          finding.Summary   // of all
	suppressed      []finding.Finding // the first ones, likewise
	suppressedCount int               // all
	reports         []finding.Finding // about comments that suppress, by line; the first of each rule
	reportCounts    map[string]int    // of all, by rule
	skips           []finding.Skip    // by line and rule id
	err             error             // only when the context ended
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
	by    int
	apart bool // a comment suppresses it
}

// fileScan is the scan of one file that has content.
type fileScan struct {
	plan     *plan
	file     *File
	limit    int // of findings, and of suppressed ones
	lines    match.Lines
	comments *suppress.Comments // nil for none
	views    []view
	masker   *masker
	prints   fingerprinter
	out      fileResult
}

// scanFile matches the rules of a plan on one file that has content, and
// returns at most limit findings and as many suppressed ones.
func scanFile(ctx context.Context, p *plan, f *File, limit int) fileResult {
	if IsBinary(f.Content) {
		return fileResult{skips: []finding.Skip{{File: f.Path, Reason: finding.SkipBinary}}}
	}
	s := &fileScan{
		plan: p, file: f, limit: limit, lines: match.SplitLines(f.Content), views: make([]view, len(p.groups)),
		prints: fingerprinter{}, out: fileResult{counts: finding.Summary{}},
	}
	hits, err := s.match(ctx)
	if err != nil {
		return fileResult{err: err}
	}
	defer Begin(ctx, PhaseMask)()
	s.masker = &masker{views: s.views, lines: s.lines, path: f.Path, out: &s.out}
	if err := s.find(ctx, hits); err != nil {
		return fileResult{err: err}
	}
	if err := s.report(ctx); err != nil {
		return fileResult{err: err}
	}
	slices.SortStableFunc(s.out.skips, func(a, b finding.Skip) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})
	return s.out
}

// match returns the first hits and the first ones that comments suppress, by
// line and rule id.
func (s *fileScan) match(ctx context.Context) ([]located, error) {
	defer Begin(ctx, PhaseMatch)()
	if s.plan.comments != nil {
		s.comments = suppress.Read(s.lines, s.file.Added, *s.plan.comments)
	}
	var hits, apart []located
	for i, g := range s.plan.groups {
		v := view{group: g, hitting: g.hits.File(s.file.Path)}
		if v.masking = v.hitting; g.masks != g.hits {
			v.masking = g.masks.File(s.file.Path)
		}
		s.views[i] = v
		found, err := v.hitting.MatchApart(ctx, s.lines, s.file.Added, s.limit, s.comments.Accept(g.rules))
		if err != nil {
			return nil, err
		}
		for r, n := range found.Counts {
			s.out.counts[g.rules[r].Severity] += n
		}
		s.out.suppressedCount += found.ApartCount
		for _, h := range found.Hits {
			hits = append(hits, located{h, i, false})
		}
		for _, h := range found.Apart {
			apart = append(apart, located{h, i, true})
		}
		s.out.stopped(s.file.Path, g.rules, found.Stopped)
		if i == 0 { // the same for every group
			for _, n := range found.LongLines {
				s.out.skips = append(s.out.skips, finding.Skip{File: s.file.Path, Line: n, Reason: finding.SkipLineTooLong})
			}
		}
	}
	hits, apart = s.first(hits), s.first(apart)
	if len(apart) == 0 {
		return hits, nil
	}
	return s.sorted(append(hits, apart...)), nil
}

func (s *fileScan) rule(h located) rule.Rule { return s.views[h.by].rules[h.Rule] }

// first sorts hits and keeps as many as may be found.
func (s *fileScan) first(hits []located) []located {
	hits = s.sorted(hits)
	return hits[:min(len(hits), s.limit)]
}

func (s *fileScan) sorted(hits []located) []located {
	slices.SortStableFunc(hits, func(a, b located) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(s.rule(a).FullID(), s.rule(b).FullID()))
	})
	return hits
}

func (r *fileResult) stopped(path string, rules []rule.Rule, stopped []int) {
	for _, i := range stopped {
		r.skips = append(r.skips, finding.Skip{File: path, RuleID: rules[i].FullID(), Reason: finding.SkipRuleTimeout})
	}
}
