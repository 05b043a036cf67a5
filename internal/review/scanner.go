package review

import (
	"context"
	"fmt"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// Scanner scans one pull request.
type Scanner interface {
	// Scan returns what it found, or a *ScanError. It may wait for a free slot
	// first, for as long as it takes; the scan itself has a time limit. It reports
	// progress when the scan begins and from time to time after that, and stops
	// soon after ctx is done.
	Scan(ctx context.Context, j Job, progress func(Progress)) (finding.Result, error)

	// Await returns when a scan could begin as far as is known, and when ctx is
	// done.
	Await(ctx context.Context)

	// Available reports whether a scanner can be reached, though it may be busy.
	Available() bool
}

// Job is what a scanner is to do: a claimed review, and how its organization has
// it scanned.
type Job struct {
	Claim
	Source Source
	Rules  rule.Set

	Policy      policy.Policy // of the organization
	MaxFindings int           // and likewise skips, to return; the rest is only counted
}

// ScanError is why a scan could not be done.
type ScanError struct {
	Failure
	Lasting   bool          // trying again is pointless
	Uncounted bool          // nothing was tried, or the scanner handed it back: not the review's fault
	After     time.Duration // of an uncounted one, when to try again; 0 for soon
	Err       error         // the cause, for the log only
}

// Error returns the failure and its cause; it is for the log.
func (e *ScanError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}

	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *ScanError) Unwrap() error { return e.Err }
