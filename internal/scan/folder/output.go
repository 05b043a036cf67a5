package folder

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/rule"
)

const (
	// filesAhead is how many files may wait to be written: one that takes long
	// holds up the output of so many others, and then the walk.
	filesAhead = 256
	// chunkSize is about how much text, in bytes, of a file is written at a time.
	// Each file that waits has one chunk at most, and each worker one more.
	chunkSize = 16 << 10
	// progressEvery is how often progress is told at most.
	progressEvery = 200 * time.Millisecond
)

// result is what is found in one file. A worker fills it while the output reads
// it.
type result struct {
	// text is the findings, in chunks. When it is closed, the rest is known.
	text    chan []byte
	notices []Notice
	counts  counts
}

// counts is what a file adds to the summary.
type counts struct {
	scanned    Total
	findings   [rule.Info + 1]int // by severity
	suppressed int
}

// output writes what is found in files in the order of the files. It runs in one
// goroutine.
type output struct {
	o     Options
	sum   *Summary
	files int // that are done
	told  time.Time
}

// write writes the results as they come, until there are no more or ctx ends.
func (w *output) write(ctx context.Context, results <-chan *result) error {
	for r := range results {
		for open := true; open; {
			var text []byte
			select {
			case text, open = <-r.text:
			case <-ctx.Done():
				return nil
			}
			if len(text) > 0 {
				if _, err := w.o.Out.Write(text); err != nil {
					return err
				}
			}
		}
		w.add(r)
	}

	return nil
}

// add counts the result of a file that is done, and tells of it.
func (w *output) add(r *result) {
	for _, n := range r.notices {
		t := w.sum.Skipped[n.Reason]
		w.sum.Skipped[n.Reason] = Total{Count: t.Count + 1, Bytes: t.Bytes + n.Bytes}
		if w.o.Notice != nil {
			w.o.Notice(n)
		}
	}

	w.sum.Scanned.Count += r.counts.scanned.Count
	w.sum.Scanned.Bytes += r.counts.scanned.Bytes
	w.sum.Suppressed += r.counts.suppressed
	for _, s := range rule.Severities() {
		w.sum.Findings[s] += r.counts.findings[s]
	}

	w.files++
	if w.o.Progress != nil && time.Since(w.told) >= progressEvery {
		w.told = time.Now()
		w.o.Progress(w.files)
	}
}
