package scan

import (
	"bytes"
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
	err             error             // only when the context ended, and of a panic
}

// stopped adds skips of rules that ran out of time.
func (r *fileResult) stopped(file string, rules []rule.Rule, stopped []int) {
	for _, i := range stopped {
		skip := finding.Skip{File: file, RuleID: rules[i].FullID(), Reason: finding.SkipRuleTimeout}
		r.skips = append(r.skips, skip)
	}
}

// view is a file as one group of rules looks at it.
type view struct {
	group
	hitting *match.File
	masking *match.File
}

// hit is a match of a rule of one of the groups.
type hit struct {
	match.Hit
	group      int
	suppressed bool // by a comment
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

func newFileScan(p *plan, f *File, limit int) *fileScan {
	return &fileScan{
		plan: p, file: f, limit: limit, views: make([]view, len(p.groups)),
		prints: fingerprinter{}, out: fileResult{counts: finding.Summary{}},
	}
}

// binaryProbe is how many bytes at the start of a file must be free of NUL for
// it to be text, as git has it.
const binaryProbe = 8000

// IsBinary says whether a file with this content is skipped as SkipBinary.
func IsBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryProbe)], 0) >= 0
}

// scan matches the rules and returns at most limit findings and as many suppressed
// ones.
func (s *fileScan) scan(ctx context.Context) fileResult {
	if IsBinary(s.file.Content) {
		return fileResult{skips: []finding.Skip{{File: s.file.Path, Reason: finding.SkipBinary}}}
	}

	s.lines = match.SplitLines(s.file.Content)
	hits, err := s.match(ctx)
	if err != nil {
		return fileResult{err: err}
	}

	defer Begin(ctx, PhaseMask)()
	s.masker = &masker{views: s.views, lines: s.lines, file: s.file.Path, out: &s.out}
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
func (s *fileScan) match(ctx context.Context) ([]hit, error) {
	defer Begin(ctx, PhaseMatch)()

	s.comments = suppress.Read(s.lines, s.file.Added, s.plan.comments)
	var hits, suppressed []hit
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
			hits = append(hits, hit{Hit: h, group: i})
		}
		for _, h := range found.Apart {
			suppressed = append(suppressed, hit{Hit: h, group: i, suppressed: true})
		}

		s.out.stopped(s.file.Path, g.rules, found.Stopped)
		if i == 0 { // the same for every group
			for _, n := range found.LongLines {
				skip := finding.Skip{File: s.file.Path, Line: n, Reason: finding.SkipLineTooLong}
				s.out.skips = append(s.out.skips, skip)
			}
		}
	}

	hits, suppressed = s.first(hits), s.first(suppressed)
	if len(suppressed) == 0 {
		return hits, nil
	}

	return s.sorted(append(hits, suppressed...)), nil
}

func (s *fileScan) rule(h hit) rule.Rule { return s.views[h.group].rules[h.Rule] }

// first sorts hits and keeps as many as may be found.
func (s *fileScan) first(hits []hit) []hit {
	hits = s.sorted(hits)
	return hits[:min(len(hits), s.limit)]
}

func (s *fileScan) sorted(hits []hit) []hit {
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(s.rule(a).FullID(), s.rule(b).FullID()))
	})

	return hits
}
