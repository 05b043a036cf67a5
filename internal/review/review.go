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
	Suppressed   []Finding // by comments; likewise ordered, in no Summary
	Fixed        []Finding // of the review PreviousID, that are gone
	Summary      Summary
	Failure      *Failure // only when failed
	Skipped      []Skip
	Truncated    bool // more findings or skips than are stored
	RulesDigest  string
	Attempt      int // rises with every claim
	Progress     Progress
	Commits      Commits       // what was asked for
	FailOn       rule.Severity // the least severity that fails
	PreviousID   string        // the review that State and Fixed compare with; empty for none
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

// Finding is one place where a rule fired.
type Finding struct {
	RuleID      string // `category/name`
	Severity    rule.Severity
	File        string // bytes, not always UTF-8
	Line        int    // from 1
	EndLine     int
	Column      int // in bytes, from 1
	EndColumn   int // after the last byte, on EndLine
	Message     string
	Snippet     string
	Fingerprint string
	// Column and EndColumn in UTF-16 code units from 1.
	UTF16Column, UTF16EndColumn int
	LineHash                    string // SARIF's primaryLocationLineHash; empty for none
	Suppression                 *Suppression
	State                       State // of findings that are stored
}

// Suppression is a comment in the code that accepts a finding.
type Suppression struct {
	Reason string // empty for none
	Until  string // last day on which it holds, `YYYY-MM-DD`; empty for no end
	Line   int    // of the comment, from 1
}

// State compares a finding with the review before.
type State string

// The states.
const (
	New      State = "new"
	Existing State = "existing"
	Fixed    State = "fixed" // only the review before had it
)

// Commits are what to scan in place of a pull request's own head and base. The
// zero Commits are those of the pull request.
type Commits struct {
	Head    string // 40 hexadecimal digits
	Base    string // 40 hexadecimal digits; empty with BaseRef
	BaseRef string // a branch; empty with Base
}

// Skip is something that a scan did not look at.
type Skip struct {
	File   string // bytes
	Line   int    // 0 when not only a line
	RuleID string // empty when not only a rule
	Reason string // a word: binary, file_too_large, line_too_long, rule_timeout, submodule
}

// Kind is a list of a review's findings.
type Kind string

// The kinds.
const (
	KindReported   Kind = "reported"
	KindSuppressed Kind = "suppressed"
	KindFixed      Kind = "fixed"
)

// DefaultFailOn is the threshold of reviews whose request names none.
const DefaultFailOn = rule.High

// Shown is a text from a repository as the API shows it: bytes that are not
// UTF-8 as U+FFFD.
func Shown(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Summary counts findings by severity.
type Summary map[rule.Severity]int

// NewID returns a new review identifier: `rev_` and 128 random bits.
func NewID() string { return "rev_" + strings.ToLower(rand.Text()) }
