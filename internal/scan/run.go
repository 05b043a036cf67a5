package scan

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/suppress"
)

func tooManyFiles(n int) *Failure {
	return &Failure{
		Code:    CodePullRequestTooLarge,
		Message: fmt.Sprintf("The pull request changes %d files; at most %d can be scanned.", n, MaxFiles),
		Lasting: true,
	}
}

// filesOnTheirWay is how many files of a scan are read and not yet collected at
// the same time, if there are not more workers: so many that one which takes
// long to match doesn't keep git waiting.
const filesOnTheirWay = 32

// job is a file to be matched, and where the result goes.
type job struct {
	file   *File
	result chan<- fileResult
}

// run reads the changed files, matches the plan on several at a time, and
// collects what is found in the order of the files. edited says whether the
// rules file is one of them.
//
// The memory that it holds is bounded by the number of files on their way:
// each has at most MaxFileSize of content, and at most as many findings as are
// kept in all.
func (s *Scanner) run(ctx context.Context, change Change, p *plan, c *collector, progress func(Progress)) (edited bool, err error) {
	ctx, end := startMatching(ctx, change.FileCount())
	defer func() { end(err) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ahead := max(filesOnTheirWay, 2*s.options.Workers)
	ordered := make(chan chan fileResult, ahead)
	jobs := make(chan job, ahead)
	for range s.options.Workers {
		go func() {
			for j := range jobs {
				j.result <- contained(func() fileResult { return scanFile(ctx, p, j.file, c.limit) })
				if j.file.Release != nil {
					j.file.Release()
				}
			}
		}()
	}
	var collected sync.WaitGroup
	var failed error
	collected.Go(func() {
		failed = c.collect(ordered, change.FileCount(), progress)
		cancel() // of no effect unless it failed: then there is no sense in reading on
		for r := range ordered {
			<-r
		}
	})
	count := 0
	for f, err2 := range change.Files(ctx) {
		if err2 == nil {
			err2 = ctx.Err()
		}
		if err2 != nil {
			err = err2
			break
		}
		if count++; count > MaxFiles {
			err = tooManyFiles(count)
			break
		}
		edited = edited || f.Path == rule.FilePath
		result := make(chan fileResult, 1)
		waited := Begin(ctx, PhaseMatchWait)
		ordered <- result
		waited()
		if r, done := scanWithoutContent(p, f); done {
			result <- r
			continue
		}
		jobs <- job{f, result}
	}
	close(ordered)
	close(jobs)
	waited := Begin(ctx, PhaseMatchWait)
	collected.Wait()
	waited()
	if failed != nil {
		err = failed
	}
	return edited, err
}

// contained turns a panic into a failed scan: content that nobody has looked at
// yet must not end the process with all its other scans.
func contained(scan func() fileResult) (r fileResult) {
	defer func() {
		if p := recover(); p != nil {
			r = fileResult{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return scan()
}

// scanWithoutContent handles the files of which no line is looked at.
func scanWithoutContent(p *plan, f *File) (fileResult, bool) {
	skip := func(reason string) (fileResult, bool) {
		return fileResult{skips: []finding.Skip{{File: f.Path, Reason: reason}}}, true
	}
	switch {
	case p.exclude.Match(f.Path):
		return fileResult{}, true
	case f.Submodule:
		return skip(finding.SkipSubmodule)
	case f.Size > MaxFileSize:
		return skip(finding.SkipFileTooLarge)
	}
	return fileResult{}, len(f.Added) == 0
}

// collector puts together what was found in the files of a scan. Of more than
// limit findings, or of more than fit size, it keeps the most severe, and the
// first of those: many small ones must not bury a large one.
type collector struct {
	limit      int
	size       int                                 // of all that is kept in the end
	findings   map[rule.Severity][]finding.Finding // the first of each, in order
	suppressed map[rule.Severity][]finding.Finding // likewise
	reports    map[string][]finding.Finding        // about comments that suppress, by rule; maxReports and one
	reported   map[string]int                      // how many there are
	metas      []finding.Finding
	skips      []finding.Skip
	summary    finding.Summary
	truncated  bool
}

func newCollector(limit, size int) *collector {
	c := &collector{
		limit: limit, size: size, findings: map[rule.Severity][]finding.Finding{}, suppressed: map[rule.Severity][]finding.Finding{},
		reports: map[string][]finding.Finding{}, reported: map[string]int{}, summary: finding.NewSummary(),
	}

	return c
}

// collect takes the results of total files in their order and tells progress.
// It ends at the first that failed.
func (c *collector) collect(ordered <-chan chan fileResult, total int, progress func(Progress)) error {
	done, told := 0, time.Time{}
	for result := range ordered {
		r := <-result
		if r.err != nil {
			return r.err
		}
		c.keep(c.findings, r.findings)
		c.keep(c.suppressed, r.suppressed)
		c.truncated = c.truncated || r.suppressedCount > len(r.suppressed)
		c.report(r)
		for severity, n := range r.counts {
			c.summary[severity] = min(c.summary[severity]+n, math.MaxInt32) // as the API counts
		}
		room := c.limit - len(c.skips)
		c.truncated = c.truncated || len(r.skips) > room
		c.skips = append(c.skips, r.skips[:min(len(r.skips), room)]...)
		done++
		if now := time.Now(); now.Sub(told) >= progressEvery || done == total {
			told = now
			progress(Progress{Done: done, Total: total})
		}
	}
	return nil
}

// keep adds findings to those that are kept by severity.
func (c *collector) keep(by map[rule.Severity][]finding.Finding, more []finding.Finding) {
	for _, f := range more {
		if kept := by[f.Severity]; len(kept) < c.limit {
			by[f.Severity] = append(kept, f)
		}
	}
}

// report adds what there is to say about the comments of a file.
func (c *collector) report(r fileResult) {
	for _, f := range r.reports {
		if kept := c.reports[f.RuleID]; len(kept) <= maxReports {
			c.reports[f.RuleID] = append(kept, f)
		}
	}
	for id, n := range r.reportCounts {
		c.reported[id] += n
	}
}

// comments makes findings of all that there is to say about comments.
func (c *collector) comments() {
	for _, kind := range suppress.Kinds() {
		id := string(kind)
		list := c.reports[id]
		if len(list) > maxReports {
			last := &list[maxReports]
			last.Message = fmt.Sprintf("There are %d more of these, which are not listed one by one.", c.reported[id]-maxReports)
			last.Fingerprint = fingerprinter{}.next(identity{ruleID: id, path: last.File, text: "more"})
		}
		c.keep(c.findings, list)
		c.summary[kind.Severity()] += len(list)
	}
}

// meta adds a finding about the rules file.
func (c *collector) meta(f finding.Finding) {
	c.metas = append(c.metas, f)
	c.summary[f.Severity]++
}

// result returns all that was collected.
func (c *collector) result() *Result {
	c.comments()
	findings, _ := c.severest(slices.Clone(c.metas), c.findings) // of the metas there are few, and they are about all of the others
	suppressed, cut := c.severest(nil, c.suppressed)
	nFindings, nSuppressed, nSkips := fit(findings, suppressed, c.skips, c.size)
	sum := 0
	for _, n := range c.summary {
		sum += n
	}
	r := &Result{Result: finding.Result{
		Findings:   findings[:nFindings],
		Suppressed: suppressed[:nSuppressed],
		Skips:      c.skips[:nSkips],
		Summary:    c.summary,
		Truncated:  c.truncated || cut || sum > nFindings || len(suppressed) > nSuppressed || len(c.skips) > nSkips,
	}}

	inOrder(r.Findings)
	inOrder(r.Suppressed)
	return r
}

// severest adds findings to others, the most severe first and as many as are
// wanted. cut says that there were more.
func (c *collector) severest(all []finding.Finding, by map[rule.Severity][]finding.Finding) (_ []finding.Finding, cut bool) {
	for _, severity := range rule.Severities() {
		kept := by[severity]
		room := max(0, c.limit-len(all))
		cut = cut || len(kept) > room
		all = append(all, kept[:min(len(kept), room)]...)
	}
	return all[:min(len(all), c.limit)], cut
}
