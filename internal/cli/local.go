package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// unread returns how a scan ended that could not read so many files: that goes
// before a threshold, as not everything was looked at.
func unread(files int, err error) error {
	if files > 0 && (err == nil || errors.Is(err, ErrFound)) {
		return ErrSilent
	}
	return err
}

// looked says what was looked at, and how long it took.
func looked(files int, kind string, began time.Time) string {
	return fmt.Sprintf("%s in %.2f s", terminal.Count(files, kind), time.Since(began).Seconds())
}

// tolerated reports whether a reason of a skip is tolerated here. What is neither a
// file nor a folder is in no commit.
func (in ScanInput) tolerated(reason string) bool {
	return reason == finding.SkipSpecial || in.policy().Tolerates(reason)
}

// localReview is what a scan found, in the form of a review. Its verdict is what a
// server's would be for the same threshold; without one there is none.
func (in ScanInput) localReview(r finding.Result, failOn rule.Severity) review.Review {
	r.Judge(failOn, in.tolerated)
	out := review.Review{
		Status: review.Complete, HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest,
		Findings: r.Findings, Suppressed: r.Suppressed, Observed: r.Observed, Skips: r.Skips,
		Summary: r.Summary, Truncated: r.Truncated, BaseFoundBy: r.BaseFoundBy, LookedAt: r.LookedAt,
		Exclusions: r.Exclusions, SwitchedOff: r.SwitchedOff,
	}
	if failOn != 0 {
		out.Verdict = &r.Verdict
	}

	return out
}

// below are the paths, relative to a folder, of the files there that reports
// are written to. A scan leaves them out, or it would find its own findings.
func (o *outputs) below(root string) (paths []string) {
	root = resolved(root)
	for _, output := range o.list {
		if output.File == "" {
			continue
		}
		file := filepath.Join(resolved(filepath.Dir(output.File)), filepath.Base(output.File))
		if path, err := filepath.Rel(root, file); err == nil {
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	return paths
}

// resolved is a path from the root on, without symbolic links. What is not there
// stays as it is: then the scan says so.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}
