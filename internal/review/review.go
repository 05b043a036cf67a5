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

// Review is one scan of a pull request. Its JSON is that of the REST API, but for
// the verdict.
type Review struct {
	ID           string            `json:"review_id,omitempty"`
	Organization string            `json:"-"`
	Status       Status            `json:"status"`
	PRNumber     int32             `json:"pr_number,omitempty"`
	Repo         string            `json:"repo,omitempty"`    // `owner/name`
	Ruleset      string            `json:"ruleset,omitempty"` // as it was asked for, else the repository's
	HeadSHA      string            `json:"head_sha,omitempty"`
	BaseSHA      string            `json:"base_sha,omitempty"`
	CreatedAt    time.Time         `json:"created_at,omitzero"`
	StartedAt    time.Time         `json:"started_at,omitzero"`   // of the last attempt
	CompletedAt  time.Time         `json:"completed_at,omitzero"` // when the final state was reached
	Findings     []finding.Finding `json:"findings"`              // ordered by file, line, rule
	Suppressed   []finding.Finding `json:"suppressed"`            // by comments; likewise ordered, in no Summary
	Fixed        []finding.Finding `json:"fixed"`                 // of the review PreviousID, that are gone
	Summary      finding.Summary   `json:"summary"`
	Failure      *Failure          `json:"error,omitempty"` // only when failed
	Skips        []finding.Skip    `json:"skipped"`
	Truncated    bool              `json:"truncated"` // more findings or skips than are stored
	RulesDigest  string            `json:"rules_digest,omitempty"`
	Attempt      int               `json:"-"` // rises with every claim
	Progress     Progress          `json:"-"`
	Commits      finding.Commits   `json:"-"` // what was asked for
	FailOn       rule.Severity     `json:"-"` // the least severity that fails

	// PreviousID is the review that State and Fixed compare with; empty for none.
	PreviousID string `json:"previous_review_id,omitempty"`
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
	Code    string `json:"code"`    // a word for programs, listed in docs/api.md
	Message string `json:"message"` // a sentence for people
}

// CodeWorkerLost is the failure code of a review whose workers were lost too
// often. Those of a scan come from the scanner.
const CodeWorkerLost = "worker_lost"

// CodeLeaseLost is why an attempt ended without a word: its lease ran out, or
// its review was canceled. No review has it.
const CodeLeaseLost = "lease_lost"

// DefaultFailOn is the threshold of reviews whose request names none.
const DefaultFailOn = rule.High
