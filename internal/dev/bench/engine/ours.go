package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
	"github.com/prwarden/prwarden/internal/match"
)

// kept is how many hits of a file a review keeps; all are counted.
const kept = 10_000

// ours is prwarden's engine on the path that a scan takes: lines are split, then
// all rules are matched, file by file, with one session for a run.
type ours struct {
	matcher *match.Matcher
	corpus  corpus.Corpus
	budget  time.Duration
	cores   int
}

func newOurs(rules []ruleset.Rule, c corpus.Corpus, o Options) (*ours, error) {
	list := make([]match.Rule, len(rules))
	for i, r := range rules {
		list[i] = match.Rule{Pattern: r.Pattern}
	}
	m, err := match.Compile(list)
	return &ours{matcher: m, corpus: c, budget: o.Budget, cores: o.Cores}, err
}

// scan matches all files. each gets the result of a file, from several
// goroutines at once when there are several cores.
func (o *ours) scan(limit int, each func(file int, lines match.Lines, r match.Result)) (Run, error) {
	session := o.matcher.NewSession(o.budget, nil)
	var next, pairs, skipped atomic.Int64
	var stopped sync.Map
	errs := make([]error, o.cores)
	var wait sync.WaitGroup
	start, cpu := time.Now(), processorTime()
	for worker := range o.cores {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(o.corpus.Files) {
					return
				}
				f := o.corpus.Files[i]
				lines := match.SplitLines(f.Text)
				all := []match.LineRange{{First: 1, Last: lines.Count()}}
				result, err := session.File(f.Path).Match(context.Background(), lines, all, limit)
				if err != nil {
					errs[worker] = err
					return
				}
				for _, n := range result.Counts {
					pairs.Add(int64(n))
				}
				skipped.Add(int64(len(result.LongLines)))
				for _, rule := range result.Stopped {
					stopped.Store(rule, true)
				}
				if each != nil {
					each(i, lines, result)
				}
			}
		})
	}
	wait.Wait()
	run := Run{NS: time.Since(start).Nanoseconds(), CPUNS: processorTime() - cpu, Bytes: o.corpus.Bytes(), Pairs: pairs.Load(), LongLines: skipped.Load()}
	stopped.Range(func(any, any) bool { run.Stopped++; return true })
	for _, err := range errs {
		if err != nil {
			return Run{}, fmt.Errorf("match: %w", err)
		}
	}
	return run, nil
}

// processorTime is what the process has used of all processors, in ns.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// heap is the live heap in bytes, after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
