// Package review is the life of a review: how it is created, waits, is
// scanned, ends, is read and watched. It says what it needs of a store, of a
// scanner and of the rules as interfaces, and knows none of those that there
// are.
package review

import (
	"context"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/policy"
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

// Final reports whether a review in this state never changes again, but for its
// verdict: decisions about its findings change that.
func (s Status) Final() bool { return s == Complete || s == Failed || s == Canceled }

// Limits of a review.
const (
	MaxFindings    = 10_000         // findings, and likewise skips, stored for a review
	MaxQueued      = 10_000         // queued reviews of one organization
	MaxLost        = 10             // leases that may be lost
	MaxTraceParent = 55             // bytes of a W3C traceparent, version 00
	IdempotencyTTL = 24 * time.Hour // how long an idempotency key is kept
)

// Priority says which of an organization's waiting reviews go first.
type Priority string

// The priorities. All normal reviews of an organization go before its low ones.
const (
	Normal Priority = "normal"
	Low    Priority = "low"
)

// A scan is large when the last ones of its repository looked at LargeScan bytes
// or more, on average. It lets the others pass for LargeDelay, and then it is due.
const (
	LargeScan  = 32 << 20
	LargeDelay = time.Minute
)

// Review is one scan of a pull request. Its JSON is that of the REST API.
type Review struct {
	ID           string            `json:"review_id,omitempty"`
	Organization string            `json:"-"`
	Status       Status            `json:"status"`
	PRNumber     int32             `json:"pr_number,omitempty"`
	Repo         string            `json:"repo,omitempty"`    // `owner/name`
	Ruleset      string            `json:"ruleset,omitempty"` // as it was asked for, else the repository's
	HeadTitle    string            `json:"head_title,omitempty"`
	HeadAuthor   string            `json:"head_author,omitempty"`
	HeadSHA      string            `json:"head_sha,omitempty"`
	BaseSHA      string            `json:"base_sha,omitempty"`
	CreatedAt    time.Time         `json:"created_at,omitzero"`
	StartedAt    time.Time         `json:"started_at,omitzero"`   // of the last attempt
	CompletedAt  time.Time         `json:"completed_at,omitzero"` // when the final state was reached
	Findings     []finding.Finding `json:"findings"`              // ordered by file, line, rule
	Suppressed   []finding.Finding `json:"suppressed"`            // by comments; likewise ordered, in no Summary
	Fixed        []finding.Finding `json:"fixed"`                 // of the review PreviousID, that are gone
	Observed     []finding.Finding `json:"observed"`              // of finding.KindObserved, in no Summary
	Summary      finding.Summary   `json:"summary"`
	Failure      *Failure          `json:"error,omitempty"` // only when failed
	Skips        []finding.Skip    `json:"skipped"`
	Priority     Priority          `json:"priority,omitempty"`
	Truncated    bool              `json:"truncated"` // more findings or skips than are stored
	RulesDigest  string            `json:"rules_digest,omitempty"`
	Attempt      int               `json:"-"` // rises with every claim
	Progress     Progress          `json:"-"`
	Commits      finding.Commits   `json:"-"`                 // what was asked for
	FailOn       rule.Severity     `json:"-"`                 // the least severity that fails
	Verdict      *finding.Verdict  `json:"verdict,omitempty"` // only when complete

	// Open counts the findings of Summary that nobody has set aside, by which Verdict is
	// decided. The numbers of findings are of those that are stored. All are only there
	// when the review is complete.
	Open            finding.Summary `json:"open,omitempty"`
	NewTotal        int             `json:"new_total,omitempty"`
	FixedTotal      int             `json:"fixed_total,omitempty"`
	SuppressedTotal int             `json:"suppressed_total,omitempty"`

	BaseFoundBy finding.BaseFoundBy `json:"base_found_by,omitempty"` // only when complete
	LookedAt    finding.LookedAt    `json:"looked_at,omitzero"`      // likewise

	Exclusions  finding.Exclusions    `json:"exclusions,omitzero"` // of the rules file; zero for none
	SwitchedOff []finding.SwitchedOff `json:"switched_off"`        // rules, by id

	Publish rule.Publish `json:"-"` // what the base's rules file wants less of

	// CreatedBy is the actor, such as `key:key_01k9`.
	CreatedBy string `json:"created_by,omitempty"`

	// PreviousID is the review that State and Fixed compare with; empty for none.
	PreviousID string `json:"previous_review_id,omitempty"`

	// CheckURL is where a connection shows the findings in a check; "" for nowhere. It
	// is not stored.
	CheckURL string `json:"check_url,omitempty"`
}

// ByConnection is what CreatedBy begins with when a connection to a code host made the
// review. Only such reviews are published: who asks for one over the API may name other
// commits and thresholds, and must not decide the check of a pull request by that.
const ByConnection = "connection:"

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

// DefaultFailOn is the threshold of reviews whose request names none.
const DefaultFailOn = rule.High

// Store keeps reviews. All times are the store's own clock's, UTC, whole
// microseconds. Its errors are *errs.Error where a caller can do something
// about them (Unavailable while the database is away), ErrLeaseLost where the
// interface says so, and unexpected otherwise.
type Store interface {
	Reviews
	Queue
}

// Reviews is what the service needs. Every call is about one organization and
// sees nothing of any other.
type Reviews interface {
	// CreateReview stores a queued review, durably, and returns what was
	// accepted. With an idempotency key that the organization used before, and
	// that is not expired, nothing is stored: the same request gets the answer
	// of the first one, another request fails with Aborted
	// (IDEMPOTENCY_CONFLICT). It fails with Unavailable (QUEUE_FULL) when the
	// organization has maxQueued queued reviews.
	CreateReview(ctx context.Context, n NewReview, maxQueued int) (Accepted, error)

	// GetReview reads a review with its findings and skips; NotFound
	// (REVIEW_NOT_FOUND).
	GetReview(ctx context.Context, org, id string) (Review, error)

	// ListFindings returns findings of a review in their order, at most f.Limit
	// of them; NotFound, or FailedPrecondition (REVIEW_NOT_COMPLETE).
	ListFindings(ctx context.Context, org, id string, f FindingFilter) (FindingPage, error)

	// SearchFindings returns findings of the latest complete review of each pull
	// request, by repository, pull request and their order there.
	SearchFindings(ctx context.Context, org string, f Search) ([]Found, error)

	// CountFindings counts what SearchFindings returns without limit by a group, those
	// with most findings first, then by their keys; f.Skip are left out.
	CountFindings(ctx context.Context, org string, f Search, by Group) ([]FoundGroup, error)

	// ListRepositories returns repositories that have reviews, by their names.
	ListRepositories(ctx context.Context, org string, f RepositoryFilter) ([]Repository, error)

	// GetReviewState reads a review without findings and skips; NotFound.
	GetReviewState(ctx context.Context, org, id string) (Review, error)

	// ListReviews returns reviews newest first (by creation, then by
	// descending id), without findings and skips, at most f.Limit of them, and where
	// the next page goes on; the zero Cursor for the last. A page looks at MaxLookedAt
	// reviews at most, so it may be short, or empty.
	ListReviews(ctx context.Context, org string, f Filter) ([]Review, page.Cursor, error)

	// CountReviews counts reviews by their standing, each up to MaxCount. f has neither
	// status nor standing nor outcome. partial says that there are older reviews than
	// the MaxLookedAt that it looked at.
	CountReviews(ctx context.Context, org string, f Filter) (counts map[Standing]int, partial bool, err error)

	// CancelReview makes a queued or running review canceled and returns it;
	// NotFound, or FailedPrecondition (REVIEW_FINISHED) in a final state.
	CancelReview(ctx context.Context, org, id string) (Review, error)

	// Load says how long reviews of a repository have taken and how many
	// wait, for an estimate.
	Load(ctx context.Context, org, repo string) (Load, error)
}

// NewReview is a review to be created.
type NewReview struct {
	ID           string
	Organization string
	Repo         string
	PRNumber     int32
	Ruleset      string
	EstimatedMS  int32
	Idempotency  *Idempotency // nil without an idempotency key
	TraceParent  string       // W3C traceparent of the request, at most MaxTraceParent bytes; "" for none
	Commits      finding.Commits
	FailOn       rule.Severity // 0 for DefaultFailOn
	RequireBase  bool          // fail rather than guess the base
	Priority     Priority      // Normal when empty
	Large        bool          // see LargeScan
	CreatedBy    string        // the actor, as audit.Actor.String has it
}

// Idempotency makes a retried creation safe.
type Idempotency struct {
	Key         string // 1 to 255 visible ASCII characters
	RequestHash string // equal for equal requests
	TTL         time.Duration
}

// Accepted is the answer to a creation.
type Accepted struct {
	ReviewID    string
	EstimatedMS int32
	Replayed    bool // an earlier answer, given again

	ScannerAvailable bool // whether a scanner can be reached now
}

// Load is what an estimate is made of.
type Load struct {
	Ahead   int // those that are scanned before one that this organization creates now
	Running int // scans of all organizations that run, by all servers

	// Average is the moving average from claim to completion, of the repository,
	// else of the organization; 0 when nothing was measured.
	Average time.Duration
	Overall time.Duration // the same over all repositories of all organizations

	// Bytes is the moving average of what scans of the repository looked at; 0 when
	// nothing was measured.
	Bytes int64
}

// ErrLeaseLost says that a claim is not valid any more: its lease ran out and
// the review was put back, or it was canceled. Whoever holds the claim must
// stop; nothing was written.
var ErrLeaseLost = errors.New("review: lease lost")

// Queue is what the dispatcher needs. A claim is valid until the review was
// reaped, released, ended or canceled; the attempt number in it is the fence. A
// lease that ran out while nobody noticed does no harm.
type Queue interface {
	// Claim takes the next waiting review, of any organization, and makes it
	// in_progress; nil when none waits. It is fair: of the organizations with
	// waiting reviews the one with the fewest running goes first, then the one
	// that was served least recently, then the oldest review. An organization
	// whose next review is not due goes after all others. Of one organization,
	// normal reviews go first, then those that have been due longest.
	Claim(ctx context.Context, c Claiming) (*Claim, error)

	// Extend prolongs the leases of claims to the given time from now and
	// stores their progress. It returns the claims that are not valid any more,
	// of which nothing is stored. Nor is it of a claim whose review is being
	// changed at that moment.
	Extend(ctx context.Context, beats []Heartbeat, lease time.Duration) (lost []Claim, err error)

	// Finish makes the review complete, with everything in the outcome, which has
	// its verdict, in one transaction, and compares it with the review before: the latest complete
	// one of the same repository, pull request number and ruleset that was
	// created earlier. The State of a finding is Existing when that one
	// reported it, too; that of a suppressed or observed one also when it was
	// either there. Fixed is what that one reported and this one has in no list,
	// unless it was not looked at: the file was skipped, or the rule
	// in it, or the outcome is truncated. A rule that does not apply to the file
	// any more was. ErrLeaseLost.
	Finish(ctx context.Context, c Claim, o finding.Result) error

	// Fail makes the review failed; ErrLeaseLost.
	Fail(ctx context.Context, c Claim, f Failure) error

	// Retry puts the review back to queued after a passing fault, not to be
	// claimed before delay has passed, and counts the failure; ErrLeaseLost.
	Retry(ctx context.Context, c Claim, delay time.Duration) error

	// Release puts the review back to queued, not to be claimed before delay
	// has passed, and counts nothing; ErrLeaseLost.
	Release(ctx context.Context, c Claim, delay time.Duration) error

	// ReapExpired puts reviews whose lease ran out back to queued and counts
	// the loss; those lost maxLost times fail with worker_lost. It returns all
	// that it changed.
	ReapExpired(ctx context.Context, maxLost int) ([]Reaped, error)

	// Waiting returns the organizations that have queued reviews, those with
	// most of them first, for metrics.
	Waiting(ctx context.Context) ([]Waiting, error)
}

// Reaped is a review that was taken from a lost worker.
type Reaped struct {
	ReviewID string
	Status   Status // Queued, or Failed with CodeWorkerLost
}

// Claiming is who claims a review, and for how long.
type Claiming struct {
	Worker string
	Lease  time.Duration

	// Except is an organization of which no review is claimed, unless no other one
	// ever had a review scanned; "" for none.
	Except string
}

// Claim is a worker's hold on a review.
type Claim struct {
	ReviewID     string
	Organization string
	Repo         string
	PRNumber     int32
	Ruleset      string
	Commits      finding.Commits
	CreatedBy    string        // see Review
	FailOn       rule.Severity // the least severity that fails
	RequireBase  bool          // fail rather than guess the base
	Attempt      int           // from 1; the fence
	Failures     int           // passing faults before this attempt
	Lost         int           // lost leases before this attempt
	TraceParent  string        // see NewReview
	Waited       time.Duration // since the review was created
	Today        string        // day of the claim in UTC, `YYYY-MM-DD`, by which suppressions may have ended
}

// Waiting is what waits of one organization.
type Waiting struct {
	Organization string
	Queued       int           // reviews, those too that wait to be tried again
	Oldest       time.Duration // since the oldest of them was created
}

// Heartbeat says that a claim is worked on, and how far that is.
type Heartbeat struct {
	Claim    Claim
	Progress Progress
}

// RuleSource puts together the rules for a repository.
type RuleSource interface {
	// RulesFor returns the default rules, the organization's and those of the
	// repository that were created over the API.
	RulesFor(ctx context.Context, org, repo string) (rule.Set, error)
}

// PolicySource reads the policies of organizations.
type PolicySource interface {
	// Policy returns the policy of an organization, policy.Default when it has set none.
	Policy(ctx context.Context, org string) (policy.Policy, error)
}

// Organizations says what organizations may scan, and where that is.
type Organizations interface {
	// Allowed reports whether the organization may scan the repository.
	Allowed(org, repo string) bool
	// MaxQueued is the most reviews of the organization that may wait, at most
	// MaxQueued.
	MaxQueued(org string) int
}
