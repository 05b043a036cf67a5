// Package review is the life of a review: how it is created, waits, is
// scanned, ends, is read and watched. It says what it needs of a store, of a
// scanner and of the rules as interfaces, and knows none of those that there
// are.
package review

import (
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Status is the state of a review.
//
//	queued ──claim──▶ in_progress ──▶ complete | failed
//	   ▲                   │
//	   └── lost, retried, ─┘          queued | in_progress ──cancel──▶ canceled
//	       handed back
type Status string

// The states. Complete, Failed and Canceled are final.
const (
	Queued     Status = "queued"
	InProgress Status = "in_progress"
	Complete   Status = "complete"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// Final reports whether a review in this state never changes again.
func (s Status) Final() bool { return s == Complete || s == Failed || s == Canceled }

// Limits of a review.
const (
	MaxFindings    = 10_000         // findings, and likewise skips, stored for a review
	MaxQueued      = 10_000         // queued reviews of one organization
	MaxFailures    = 3              // scans that may end in a passing fault
	MaxLost        = 10             // leases that may be lost
	MaxTraceParent = 55             // bytes of a W3C traceparent, version 00
	IdempotencyTTL = 24 * time.Hour // how long an idempotency key is kept
)

// Review is one scan of a pull request.
type Review struct {
	ID           string
	Organization string
	Repo         string // `owner/name`
	PRNumber     int32
	Ruleset      string // as it was asked for, else the repository's
	Status       Status
	HeadSHA      string // empty until known
	BaseSHA      string
	CreatedAt    time.Time
	StartedAt    time.Time         // of the last attempt; zero before the first
	CompletedAt  time.Time         // when the final state was reached; zero before
	Findings     []finding.Finding // ordered by file, line, rule
	Suppressed   []finding.Finding // by comments; likewise ordered, in no Summary
	Fixed        []finding.Finding // of the review PreviousID, that are gone
	Summary      finding.Summary
	Failure      *Failure // only when failed
	Skips        []finding.Skip
	Truncated    bool // more findings or skips than are stored
	RulesDigest  string
	Attempt      int // rises with every claim
	Progress     Progress
	Commits      finding.Commits // what was asked for
	FailOn       rule.Severity   // the least severity that fails
	PreviousID   string          // the review that State and Fixed compare with; empty for none
}

// Passes reports whether no finding is as severe as FailOn.
func (r Review) Passes() bool {
	for s, n := range r.Summary {
		if n > 0 && s.AtLeast(r.FailOn) {
			return false
		}
	}

	return true
}

// Progress says how far the current attempt is.
type Progress struct {
	FilesDone  int
	FilesTotal int // 0 while not known
}

// Failure is why a review failed.
type Failure struct {
	Code    string // a word for programs, listed in docs/api.md
	Message string // a sentence for people
}

// CodeWorkerLost is the failure code of a review whose workers were lost too
// often. Those of a scan come from the scanner.
const CodeWorkerLost = "worker_lost"

// CodeLeaseLost is why an attempt ended without a word: its lease ran out, or
// its review was canceled. No review has it.
const CodeLeaseLost = "lease_lost"

// DefaultFailOn is the threshold of reviews whose request names none.
const DefaultFailOn = rule.High
