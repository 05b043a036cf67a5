package scan

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

const (
	// MaxSize is how many bytes the findings of all lists and the skips of a scan take
	// in all, see finding.Finding.Size. So an answer that has all of them can be
	// held in memory, whatever their paths are made of.
	MaxSize = 32 << 20

	// filesAhead is how many files of a scan are read and not yet collected at the
	// same time, if there are not more workers: so many that one which takes long to
	// match doesn't keep git waiting.
	filesAhead = 32

	// bytesAhead is how many bytes of content these files have in all. Beside them one
	// more file may be read.
	bytesAhead = 32 << 20

	// manyFindings is how many findings of a file are so many that its matcher waits
	// until they are taken: each of them may take half a KiB.
	manyFindings = 1_000

	// maxReports is how many findings of each rule are listed about comments and rules
	// files: a pull request must not be able to bury its other findings.
	maxReports = 20

	// progressEvery is how often progress is told at most.
	progressEvery = 200 * time.Millisecond
)

// run matches the plan on the changed files and collects what is found. edited
// says whether the rules file is one of them.
func (s *Scanner) run(
	ctx context.Context, change Change, p *plan, c *collector, progress func(Progress),
) (edited bool, err error) {
	matchers := make([]matcher, s.options.Workers)
	for i := range matchers {
		worker := s.options.Background.Worker()
		matchers[i] = func(ctx context.Context, f *File) (r FileResult) {
			worker.Do(ctx, func() { r = scanFile(ctx, p, f, c.limit) })
			return r
		}
	}
	total, done, told := change.FileCount(), 0, time.Time{}

	err = pipeline(ctx, matchers, inOrder(change.Files), func(f *File, r FileResult) error {
		done++
		c.bytes += int64(len(f.Content))
		edited = edited || f.Path == rule.FilePath
		c.add(r)

		if now := time.Now(); now.Sub(told) >= progressEvery || done == total {
			told = now
			progress(Progress{Done: done, Total: total})
		}

		return nil
	})

	return edited, err
}

// inOrder says of each file whether it comes late in the scan. That depends on nothing
// but the files before it, so that a scan has the same result however many files are
// matched at the same time.
func inOrder(files func(context.Context) iter.Seq2[*File, error]) func(context.Context) iter.Seq2[*File, error] {
	return func(ctx context.Context) iter.Seq2[*File, error] {
		return func(yield func(*File, error) bool) {
			before := 0
			for f, err := range files(ctx) {
				if f != nil {
					f.late = before > rule.FullWork
					before += len(f.Content)
				}
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// matcher matches rules on a file. It is used by one goroutine at a time.
type matcher func(context.Context, *File) FileResult

// pipeline reads files, has each matcher match some of them, and gives take the
// results in the order of the files. It fails with the first error of these.
//
// The memory that it holds is bounded: files that are read ahead have filesAhead and
// bytesAhead, or are one that is larger, and no more than one for each matcher has over
// manyFindings. The oldest file always gets through, since files are begun in their
// order.
func pipeline(
	ctx context.Context, matchers []matcher, files func(context.Context) iter.Seq2[*File, error],
	take func(*File, FileResult) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	type job struct {
		file   *File
		result chan FileResult
		taken  chan struct{}
	}
	ahead, room := max(filesAhead, 2*len(matchers)), semaphore.NewWeighted(bytesAhead)
	sizeOf := func(f *File) int64 { return min(int64(len(f.Content)+f.removedSize()), bytesAhead) }
	ordered, jobs := make(chan job, ahead), make(chan job, ahead)

	var running sync.WaitGroup
	for _, match := range matchers {
		running.Go(func() {
			for j := range jobs {
				r := match(ctx, j.file)
				j.result <- r
				if len(r.Findings)+len(r.Suppressed)+len(r.Observed) > manyFindings {
					<-j.taken
				}
			}
		})
	}
	running.Go(func() {
		for j := range ordered {
			r := <-j.result
			if r.err == nil && ctx.Err() == nil {
				r.err = take(j.file, r)
			}
			if r.err != nil {
				cancel(r.err) // the first one counts
			}
			room.Release(sizeOf(j.file))
			close(j.taken)
		}
	})

	for f, err := range files(ctx) {
		if err != nil {
			cancel(err)
		}
		if ctx.Err() != nil {
			break
		}

		j := job{f, make(chan FileResult, 1), make(chan struct{})}
		waited := Begin(ctx, PhaseMatchWait)
		_ = room.Acquire(context.WithoutCancel(ctx), sizeOf(f)) // it is released in any case
		ordered <- j
		jobs <- j
		waited()
	}
	close(ordered)
	close(jobs)

	waited := Begin(ctx, PhaseMatchWait)
	running.Wait()
	waited()

	return context.Cause(ctx)
}

// ScanFiles matches the rules of a request on files that are in no change, some
// of them at the same time, and gives take what it finds in each, in their order
// and from one goroutine. r.MaxFindings are findings of each file. Of the target
// nothing counts. switched are the rules that a policy or the rules file switched off.
func (s *Scanner) ScanFiles(
	ctx context.Context, r Request, jobs int, files iter.Seq2[*File, error], take func(*File, FileResult) error,
) (switched []finding.SwitchedOff, err error) {
	p, err := s.plan(ctx, r, r.File)
	if err != nil {
		return nil, err
	}
	match := func(ctx context.Context, f *File) FileResult {
		return scanFile(ctx, p, f, r.MaxFindings).alone(ctx, f)
	}
	matchers := slices.Repeat([]matcher{match}, jobs)

	all := inOrder(func(context.Context) iter.Seq2[*File, error] { return files })

	return p.switched, pipeline(ctx, matchers, all, take)
}

// alone is the result of a file that has no others beside it: with what is found
// about its comments. A panic in one file must not end the scan of all others.
func (r FileResult) alone(ctx context.Context, f *File) FileResult {
	if r.err != nil && ctx.Err() == nil {
		f.Err = r.err
		return FileResult{Excluded: r.Excluded}
	}

	for _, f := range r.reports {
		r.Findings = append(r.Findings, f)
		r.Counts[f.Severity]++
	}
	slices.SortStableFunc(r.Findings, finding.InOrder)

	return r
}

// bySeverity is findings, in order, by their severity.
type bySeverity map[rule.Severity][]finding.Finding

// collector puts together what was found in the files of a scan. Of more than
// limit findings, or of more than fit size, it keeps the most severe, and the
// first of those: many small ones must not bury a large one.
type collector struct {
	limit           int
	size            int // of all that is kept in the end
	findings        bySeverity
	suppressed      bySeverity
	suppressedCount int // of all
	observed        bySeverity
	observedCount   int            // of all
	reports         map[string]int // findings about comments that suppress, by rule
	skips           []finding.Skip
	skipCounts      finding.SkipCounts // of all
	excluded        int                // files that the rules file excludes
	summary         finding.Summary
	lookedAt        finding.LookedAt // but for the rules
	bytes           int64            // of the files
}

func newCollector(limit, size int) *collector {
	return &collector{
		limit: limit, size: size,
		findings: bySeverity{}, suppressed: bySeverity{}, observed: bySeverity{}, reports: map[string]int{},
		summary: finding.NewSummary(), skipCounts: finding.SkipCounts{},
	}
}

// add adds what was found in a file.
func (c *collector) add(r FileResult) {
	c.keep(c.findings, r.Findings...)
	c.keep(c.suppressed, r.Suppressed...)
	c.suppressedCount += r.suppressedCount
	c.keep(c.observed, r.Observed...)
	c.observedCount += r.observedCount
	if r.Excluded {
		c.excluded++
	}
	for severity, n := range r.Counts {
		c.summary[severity] = min(c.summary[severity]+n, math.MaxInt32) // as the API counts
	}

	for _, f := range r.reports {
		c.summary[f.Severity]++
		if c.reports[f.RuleID]++; c.reports[f.RuleID] <= maxReports {
			c.keep(c.findings, f)
		}
	}

	for _, s := range r.Skips {
		c.skip(s)
	}
	if r.Lines > 0 {
		c.lookedAt.Files++
		r.CountKinds(&c.lookedAt)
		c.lookedAt.AddedLines = min(c.lookedAt.AddedLines+r.Lines, math.MaxInt32)
	}
}

// skip adds something that was not looked at.
func (c *collector) skip(s finding.Skip) {
	c.skipCounts[s.Kind()]++
	if len(c.skips) < c.limit {
		c.skips = append(c.skips, s)
	}
}

// keep adds findings to those that are kept.
func (c *collector) keep(all bySeverity, more ...finding.Finding) {
	for _, f := range more {
		if kept := all[f.Severity]; len(kept) < c.limit {
			all[f.Severity] = append(kept, f)
		}
	}
}

// result returns all that was collected, and findings about the rules file: there
// are few, and they are about all of the other findings.
func (c *collector) result(metas []finding.Finding) *finding.Result {
	for _, f := range metas {
		c.summary[f.Severity]++
	}
	total := 0
	for _, n := range c.summary {
		total += n
	}

	// Who makes many of one kind must not be able to hide another.
	r := &finding.Result{Summary: c.summary, SkipCounts: c.skipCounts, LookedAt: c.lookedAt, Bytes: c.bytes}
	slices.SortStableFunc(c.skips, func(a, b finding.Skip) int { return cmp.Compare(a.File, b.File) })
	suppressed, observed, skips := c.severest(nil, c.suppressed), c.severest(nil, c.observed), sizeOf(c.skips)
	others := skips + sizeOf(observed)
	r.Findings = fitting(c.severest(metas, c.findings), max(c.size/2, c.size-sizeOf(suppressed)-others))
	left := c.size - sizeOf(r.Findings)
	r.Suppressed = fitting(suppressed, max(c.size/4, left-others))
	left -= sizeOf(r.Suppressed)
	r.Skips = fitting(c.skips, max(c.size/8, left-sizeOf(observed)))
	r.Observed = fitting(observed, left-sizeOf(r.Skips))
	skipCount := 0
	for _, n := range c.skipCounts {
		skipCount += n
	}
	r.Truncated = total > len(r.Findings) || c.suppressedCount > len(r.Suppressed) ||
		c.observedCount > len(r.Observed) || skipCount > len(r.Skips)
	for _, list := range [][]finding.Finding{r.Findings, r.Suppressed, r.Observed} {
		slices.SortStableFunc(list, finding.InOrder)
	}

	return r
}

// severest adds findings to others, the most severe first and as many as are
// wanted.
func (c *collector) severest(all []finding.Finding, by bySeverity) []finding.Finding {
	for _, severity := range rule.Severities() {
		all = append(all, by[severity]...)
	}

	return all[:min(len(all), c.limit)]
}

type sized interface{ Size() int }

func sizeOf[T sized](all []T) (size int) {
	for _, one := range all {
		size += one.Size()
	}

	return size
}

// fitting returns those of all, from the first on, that fit into size.
func fitting[T sized](all []T, size int) []T {
	for i, one := range all {
		if size -= one.Size(); size < 0 {
			return all[:i] // what comes behind would be in front of what is left out
		}
	}

	return all
}
