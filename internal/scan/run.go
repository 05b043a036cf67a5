package scan

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

func tooManyFiles(n int) *Failure {
	return &Failure{
		Code:    CodePullRequestTooLarge,
		Message: fmt.Sprintf("The pull request changes %d files; at most %d can be scanned.", n, MaxFiles),
		Lasting: true,
	}
}

// filesAhead is how many files of a scan are read and not yet collected at the
// same time, if there are not more workers: so many that one which takes long to
// match doesn't keep git waiting.
const filesAhead = 32

// job is a file to be matched, and where the result goes.
type job struct {
	file   *File
	result chan<- fileResult
}

// run reads the changed files, matches the plan on several at a time, and
// collects what is found in the order of the files. edited says whether the
// rules file is one of them.
//
// The memory that it holds is bounded by the number of files that are read ahead:
// each has at most MaxFileSize of content, and at most as many findings as are
// kept in all.
func (s *Scanner) run(
	ctx context.Context, change Change, p *plan, c *collector, progress func(Progress),
) (edited bool, err error) {
	ctx, end := startMatching(ctx, change.FileCount())
	defer func() { end(err) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	ahead := max(filesAhead, 2*s.options.Workers)
	ordered := make(chan chan fileResult, ahead)
	jobs := make(chan job, ahead)
	for range s.options.Workers {
		go func() {
			for j := range jobs {
				j.result <- scanFile(ctx, p, j.file, c.limit)
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

	edited, err = distribute(ctx, change, p, ordered, jobs)
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

// distribute reads the changed files and hands them to the workers.
func distribute(
	ctx context.Context, change Change, p *plan, ordered chan<- chan fileResult, jobs chan<- job,
) (edited bool, err error) {
	count := 0
	for f, err := range change.Files(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return edited, err
		}
		if count++; count > MaxFiles {
			return edited, tooManyFiles(count)
		}
		edited = edited || f.Path == rule.FilePath

		result := make(chan fileResult, 1)
		waited := Begin(ctx, PhaseMatchWait)
		ordered <- result
		waited()

		if r, done := scanWithoutContent(p, f); done {
			result <- r
		} else {
			jobs <- job{f, result}
		}
	}

	return edited, nil
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

// scanFile scans one file that has content. A panic is a failed scan: content that
// nobody has looked at yet must not end the process with all its other scans.
func scanFile(ctx context.Context, p *plan, f *File, limit int) (r fileResult) {
	defer func() {
		if p := recover(); p != nil {
			r = fileResult{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()

	return newFileScan(p, f, limit).scan(ctx)
}
