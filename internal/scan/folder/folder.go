// Package folder scans the files of a folder as a review scans the files of a
// pull request that adds every line of them. It needs no git: what is on the
// disk is what counts.
//
//	walk ──▶ workers: read, match, format ──▶ output
//
// One goroutine walks the tree in the byte order of paths. Workers take the files
// in that order, each with one buffer, and turn what they find into text. The
// output writes it in the order of the files. So it is the same however many
// workers there are, it starts to come at once, and memory is bounded: it grows
// neither with the number of files nor with that of findings.
package folder

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// How many findings of one file are given; the rest is counted.
const (
	MaxFindings = 10_000
	MaxPlaces   = 100_000 // with Options.PlacesOnly
)

// The reasons of notices that a review does not have, beside those of finding.Skip.
const (
	SkipSpecial     = "special"           // a FIFO, a device or a socket, which is never opened
	SkipGone        = "gone"              // removed while the scan ran
	SkipTooManyHits = "too_many_findings" // over the most of a file; the rest is only counted
	Unreadable      = "unreadable"        // a file or a directory; Err says why
)

// Options say how to scan. Zero fields have the given defaults.
type Options struct {
	Jobs int // files that are matched at the same time; GOMAXPROCS
	// Budget is the time that each rule may match in one file; rule.Budget. In a
	// review that is for all files; a folder has no bound.
	Budget time.Duration
	// PlacesOnly gives more findings of a file, without what
	// scan.Request.PlacesOnly leaves out.
	PlacesOnly bool
	// Omit are paths of files, relative to the folder, that are left out and not
	// told: what is written about the scan.
	Omit []string
	// Format appends findings in the text that Out gets to dst, and returns it;
	// nil when there is no text.
	// The findings are of one file, in order, not always all of them: those of
	// a file with many come in several calls. It is called by several
	// goroutines.
	Format func(dst []byte, file string, findings []finding.Finding) []byte
	Out    io.Writer // each Write has findings of one file only
	// Found hears of what is in each file, in any order, from several goroutines.
	// nil when nobody listens.
	Found func(scan.FileResult)
	// Notice hears of what was not looked at, in the order of files, from one
	// goroutine at a time. nil when nobody listens.
	Notice func(Notice)
	// Progress hears a few times a second how many files are done, like Notice.
	Progress func(done int)
}

// Notice is something that was not looked at, or not as a whole.
type Notice struct {
	Path   string // relative to the folder, in bytes; "." is the folder itself
	Reason string // one of the constants here, or of scan's Skip…
	Line   int    // 0 when it is not about a line
	RuleID string // `category/name`; empty when it is not about a rule
	Bytes  int64  // that were not looked at; 0 when it is not about bytes
	Err    error  // with Unreadable
}

// Total is a number of things of some size.
type Total struct {
	Count int
	Bytes int64
}

// Summary is what a scan did in all.
type Summary struct {
	Scanned  Total           // files of which lines were looked at
	Findings finding.Summary // also of those that are not given
	// Suppressed is how many comments suppress, as far as they are given.
	Suppressed int
	Skipped    map[string]Total // by the reason of notices
}

// Scan scans the file or folder at root; a symbolic link there is followed. It
// writes findings in the order of file (bytes), line and rule id. It fails with
// ctx's error when that ends, with that of o.Out, and when root can't be looked
// at; a file that can't be read is a notice. The summary is always valid for
// what was done.
func Scan(ctx context.Context, root string, rules *Rules, o Options) (Summary, error) {
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Budget == 0 {
		o.Budget = rule.Budget
	}
	sum := Summary{Findings: finding.NewSummary(), Skipped: map[string]Total{}}
	// What is named by a link is wanted; from there on none is followed.
	path, err := filepath.EvalSymlinks(root)
	if err != nil {
		return sum, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return sum, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	files := make(chan item, 4*o.Jobs)
	results := make(chan *result, filesAhead)
	var running sync.WaitGroup
	running.Go(func() {
		defer close(files)
		defer close(results)
		w := walker{rules: rules, omit: o.Omit, files: files, results: results}
		w.walk(ctx, path, filepath.Base(root), info)
	})
	for range o.Jobs {
		running.Go(func() {
			worker, err := newWorker(rules, o)
			if err != nil {
				cancel(err)
				return
			}
			worker.run(ctx, files)
		})
	}

	out := output{o: o, sum: &sum}
	if err := out.write(ctx, results); err != nil {
		cancel(err)
	}
	running.Wait()

	return sum, context.Cause(ctx)
}
