// Package review is the life of a review: how it is created, waits, is
// scanned, ends, is read and watched. It says what it needs of a store, of a
// scanner and of the rules as interfaces, and knows none of those that there
// are.
package review

import (
	"crypto/rand"
	"strings"
	"time"

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
	StartedAt    time.Time // of the last attempt; zero before the first
	CompletedAt  time.Time // when the final state was reached; zero before
	Findings     []Finding // ordered by file, line, rule
	Summary      Summary
	Failure      *Failure // only when failed
	Skipped      []Skip
	Truncated    bool // more findings or skips than are stored
	RulesDigest  string
	Attempt      int // rises with every claim
	Progress     Progress
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

// Finding is one place where a rule fired.
type Finding struct {
	RuleID      string // `category/name`
	Severity    rule.Severity
	File        string // bytes, not always UTF-8
	Line        int    // from 1
	EndLine     int
	Column      int // in bytes, from 1
	Message     string
	Snippet     string
	Fingerprint string
}

// Skip is something that a scan did not look at.
type Skip struct {
	File   string // bytes
	Line   int    // 0 when not only a line
	RuleID string // empty when not only a rule
	Reason string // a word: binary, file_too_large, line_too_long, rule_timeout, submodule
}

// Summary counts findings by severity.
type Summary map[rule.Severity]int

// NewID returns a new review identifier: `rev_` and 128 random bits.
func NewID() string { return "rev_" + strings.ToLower(rand.Text()) }
