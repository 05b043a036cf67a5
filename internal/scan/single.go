package scan

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Single matches rules on files one after the other that are in no change: each
// file is looked at as a scan looks at one that a pull request adds. It is not
// safe for concurrent use.
type Single struct {
	scanner *Scanner
	request Request
	plan    *plan
	used    time.Duration // by files so far in plan
}

// FileResult is what was found in one file.
type FileResult struct {
	Findings   []finding.Finding // the first ones, by line and rule id
	Counts     finding.Summary   // of all
	Suppressed []finding.Finding // the first ones, likewise
	Skips      []finding.Skip    // by line and rule id
}

// NewSingle prepares for files that r.File and r.Rules apply to; of the target
// nothing counts.
func (s *Scanner) NewSingle(r Request) (*Single, error) {
	r.Budget = cmp.Or(r.Budget, rule.Budget)
	single := &Single{scanner: s, request: r}

	return single, single.renew()
}

// renew gives the rules all of their time. In a change each has r.Budget for all
// files; here it is for each file. Making a plan costs as much as some small
// files, so one serves until slack is used up, which comes on top.
func (s *Single) renew() (err error) {
	s.used = 0
	r := s.request
	r.Budget += s.slack()
	s.plan, err = s.scanner.plan(r, r.File)

	return err
}

// slack is how long files may take with a plan before the last one.
func (s *Single) slack() time.Duration { return s.request.Budget / 20 }

// Scan looks at a file, and returns at most r.MaxFindings findings and as many
// that are suppressed. It fails with ctx's error.
func (s *Single) Scan(ctx context.Context, f *File) (FileResult, error) {
	if r, done := scanWithoutContent(s.plan, f); done {
		return FileResult{Skips: r.skips}, nil
	}

	began := time.Now()
	r := scanFile(ctx, s.plan, f, s.request.MaxFindings)
	if r.err != nil {
		return FileResult{}, r.err
	}

	stopped := slices.ContainsFunc(r.skips, func(s finding.Skip) bool { return s.Reason == finding.SkipRuleTimeout })
	if s.used += time.Since(began); s.used > s.slack() || stopped {
		if err := s.renew(); err != nil {
			return FileResult{}, err
		}
	}

	for _, f := range r.reports {
		r.findings = append(r.findings, f)
		r.counts[f.Severity]++
	}
	sortFindings(r.findings)

	return FileResult{Findings: r.findings, Counts: r.counts, Suppressed: r.suppressed, Skips: r.skips}, nil
}
