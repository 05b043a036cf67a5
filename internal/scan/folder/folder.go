// Package folder scans the files of a folder as a review scans the files of a
// pull request that adds every line of them. It needs no git: what is on the
// disk is what counts. The output is the same however many files are matched at
// the same time, it starts to come at once, and memory is bounded: it grows neither
// with the number of files nor with that of findings.
package folder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// How many findings of one file are given; the rest is counted.
const (
	MaxFindings = 10_000
	MaxPlaces   = 100_000 // with Options.PlacesOnly
)

// The reasons of notices that a review does not have, beside those of finding.Skip.
const (
	SkipSpecial     = finding.SkipSpecial // which is never opened
	SkipTooManyHits = "too_many_findings" // over the most of a file; the rest is only counted
	Unreadable      = "unreadable"        // a file or a directory; Err says why
)

// Options say how to scan. Zero fields have the given defaults.
type Options struct {
	Jobs int // files that are matched at the same time; GOMAXPROCS
	// MaxFileSize is the size, in bytes, over which a file is skipped; scan.MaxFileSize.
	MaxFileSize int64
	// PlacesOnly gives more findings of a file, without what
	// scan.Request.PlacesOnly leaves out.
	PlacesOnly bool
	// Omit are paths of files, relative to the folder, that are left out and not
	// told: what is written about the scan.
	Omit []string
	// Found hears of what is in each file, in the order of files; nil when nobody
	// listens. Its error ends the scan.
	Found func(scan.FileResult) error
	// Notice hears of what was not looked at, likewise.
	Notice func(Notice)
	// Progress hears a few times a second how many files are done.
	Progress func(done int)
}

// Notice is something that was not looked at, or not as a whole. File is relative
// to the folder, "." for the folder itself.
type Notice struct {
	finding.Skip       // Reason may also be one of the constants here
	Err          error // with Unreadable
}

// Summary is what a scan did in all.
type Summary struct {
	Scanned  int              // files of which lines were looked at
	Lines    int              // in them
	Kinds    finding.LookedAt // only the counts of kinds of files
	Findings finding.Summary  // also of those that are not given
	// Suppressed is how many comments suppress, as far as they are given.
	Suppressed int
	Observed   int            // findings of rules that are only observed, likewise
	Skipped    map[string]int // by the reason of notices
	Excluded   int            // files that the rules file excludes
	// SwitchedOff are the rules that a policy or the rules file switched off, by id.
	SwitchedOff []finding.SwitchedOff
}

// Scan scans the file or folder at root; a symbolic link there is followed. It
// gives findings in the order of file (bytes), line and rule id. It fails with ctx's
// error when that ends, with that of o.Found, and when root can't be looked at; a file
// that can't be read is a notice. The summary is always valid for what was done.
func Scan(ctx context.Context, root string, rules *Rules, o Options) (Summary, error) {
	sum := Summary{Findings: finding.NewSummary(), Skipped: map[string]int{}}
	// What is named by a link is wanted; from there on none is followed.
	path, err := filepath.EvalSymlinks(root)
	if err != nil {
		return sum, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return sum, err
	}

	request := rules.request
	request.PlacesOnly, request.MaxFindings = o.PlacesOnly, MaxFindings
	if o.PlacesOnly {
		request.MaxFindings = MaxPlaces
	}
	jobs := cmp.Or(o.Jobs, runtime.GOMAXPROCS(0))
	out := output{o: o, sum: &sum}
	sum.SwitchedOff, err = rules.scanner.ScanFiles(ctx, request, jobs, func(yield func(*scan.File, error) bool) {
		most := cmp.Or(o.MaxFileSize, scan.MaxFileSize)
		w := walker{rules: rules, omit: o.Omit, most: most, yield: func(f *scan.File) bool { return yield(f, nil) }}
		if info.IsDir() {
			w.root = path
			w.directory(path, "")
		} else {
			w.entry(path, filepath.Base(root), info.Mode())
		}
	}, out.take)

	return sum, err
}

// progressEvery is how often progress is told at most.
const progressEvery = 200 * time.Millisecond

// output counts and tells what is found in files.
type output struct {
	o     Options
	sum   *Summary
	files int // that are done
	told  time.Time
}

// take takes the result of one file.
func (w *output) take(f *scan.File, r scan.FileResult) error {
	if r.Excluded {
		w.sum.Excluded++
	}
	switch {
	case f.Err != nil:
		w.notice(failed(f.Path, f.Err))
	case r.Counts == nil: // no line was looked at
		for _, s := range r.Skips {
			w.notice(Notice{Skip: s})
		}
	default:
		if err := w.found(f.Path, r); err != nil {
			return err
		}
	}

	w.files++
	if w.o.Progress != nil && time.Since(w.told) >= progressEvery {
		w.told = time.Now()
		w.o.Progress(w.files)
	}

	return nil
}

// found takes the result of a file of which lines were looked at.
func (w *output) found(file string, r scan.FileResult) error {
	total := 0
	for severity, n := range r.Counts {
		w.sum.Findings[severity] += n
		total += n
	}
	isWhole := func(s finding.Skip) bool { return s.Line == 0 && s.RuleID == "" } // of the file
	if !slices.ContainsFunc(r.Skips, isWhole) {
		w.sum.Scanned++
	}
	w.sum.Lines += r.Lines
	r.CountKinds(&w.sum.Kinds)
	w.sum.Suppressed += len(r.Suppressed)
	w.sum.Observed += len(r.Observed)

	if w.o.Found != nil {
		if err := w.o.Found(r); err != nil {
			return err
		}
	}

	for _, s := range r.Skips {
		w.notice(Notice{Skip: s})
	}
	if total > len(r.Findings) {
		w.notice(Notice{Skip: finding.Skip{File: file, Reason: SkipTooManyHits}})
	}

	return nil
}

func (w *output) notice(n Notice) {
	w.sum.Skipped[n.Reason]++
	if w.o.Notice != nil {
		w.o.Notice(n)
	}
}

// failed says why a file or directory could not be read.
func failed(file string, err error) Notice {
	n := Notice{Skip: finding.Skip{File: file, Reason: Unreadable}, Err: err}
	var at *fs.PathError
	switch {
	case errors.Is(err, errSpecial):
		n.Reason, n.Err = SkipSpecial, nil
	case errors.As(err, &at):
		n.Err = at.Err
	}

	return n
}
