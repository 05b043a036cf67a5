package folder

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/rule"
)

const (
	// window is how many files may be on their way: one that takes long holds
	// up the output of so many others, and then the walk.
	window = 4096
	// maxParked bounds the text, in bytes, that waits for earlier files.
	maxParked = 8 << 20
)

// progressEvery is how often progress is told at most, and progressFiles after
// how many files the time is looked at.
const (
	progressEvery = 200 * time.Millisecond
	progressFiles = 16
)

// result is what is known of one file when it is done.
type result struct {
	text    []byte // not written yet
	notices []Notice
	counts  counts
}

// counts is what a file adds to the summary.
type counts struct {
	scanned    Total
	findings   [rule.Info + 1]int // by severity
	suppressed int
}

// order puts the results of files, which come in any order, into the order of
// the files. A file has its turn when all before it are done; whoever has the
// turn may write, and nobody else.
type order struct {
	out    io.Writer
	notice func(Notice)
	tell   func(done int) // nil when nobody listens
	told   time.Time
	files  int // that are done
	sum    *Summary
	fail   context.CancelCauseFunc

	mu      sync.Mutex
	changed sync.Cond // the turn, the parked bytes, or stopped
	turn    int       // number of the file that has the turn
	parked  [window]*result
	bytes   int // of parked
	stopped bool
}

func newOrder(o Options, sum *Summary, fail context.CancelCauseFunc) *order {
	r := &order{out: o.Out, notice: o.Notice, tell: o.Progress, sum: sum, fail: fail}
	if r.notice == nil {
		r.notice = func(Notice) {}
	}
	r.changed.L = &r.mu
	return r
}

// stop makes all that wait return.
func (o *order) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
	o.changed.Broadcast()
}

// admit waits until file number n may be begun, and says false when the scan
// is over.
func (o *order) admit(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n >= o.turn+window && !o.stopped {
		o.changed.Wait()
	}
	return !o.stopped
}

// wait waits until file number n has its turn, and says false when the scan is
// over.
func (o *order) wait(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n != o.turn && !o.stopped {
		o.changed.Wait()
	}
	return !o.stopped
}

// write writes text of the file that has the turn.
func (o *order) write(text []byte) {
	if len(text) == 0 {
		return
	}
	if _, err := o.out.Write(text); err != nil {
		o.fail(err)
	}
}

// done takes the result of file number n. It is kept for later when the file
// does not have its turn and there is room; the text is copied then.
func (o *order) done(n int, r result) {
	o.mu.Lock()
	for n != o.turn && o.bytes > 0 && o.bytes+len(r.text) > maxParked && !o.stopped {
		o.changed.Wait()
	}
	if o.stopped {
		o.mu.Unlock()
		return
	}
	if n != o.turn {
		r.text = append([]byte(nil), r.text...)
		o.parked[n%window] = &r
		o.bytes += len(r.text)
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	for next := &r; next != nil; next = o.pass() {
		o.finish(next)
	}
}

// pass gives the turn to the next file, and returns its result when it is
// parked; then the caller has the turn still.
func (o *order) pass() *result {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return nil
	}
	o.turn++
	next := o.parked[o.turn%window]
	if next != nil {
		o.parked[o.turn%window] = nil
		o.bytes -= len(next.text)
	}
	o.changed.Broadcast()
	return next
}

// finish writes and counts the result of the file that has the turn.
func (o *order) finish(r *result) {
	if o.files++; o.tell != nil && o.files%progressFiles == 0 && time.Since(o.told) >= progressEvery {
		o.told = time.Now()
		o.tell(o.files)
	}
	o.write(r.text)
	for _, n := range r.notices {
		t := o.sum.Skipped[n.Reason]
		o.sum.Skipped[n.Reason] = Total{Count: t.Count + 1, Bytes: t.Bytes + n.Bytes}
		o.notice(n)
	}
	o.sum.Scanned.Count += r.counts.scanned.Count
	o.sum.Scanned.Bytes += r.counts.scanned.Bytes
	o.sum.Suppressed += r.counts.suppressed
	for s, n := range r.counts.findings {
		if n > 0 {
			o.sum.Findings[rule.Severity(s)] += n
		}
	}
}
