// Package publish brings what a review found into its pull request: it compares what
// should be there with what is there, and takes the steps between them. What is to be
// published is kept in the database with the reviews, so nothing is lost or done twice
// whatever ends in between.
package publish

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/review"
)

// PullRequest is a pull request of a connection, as its host had it when it was last
// read. Reviews are found by its organization, the repository's name and its number.
type PullRequest struct {
	codehost.PullRequest

	Organization string
	Connection   string    // con_…
	CreatedAt    time.Time // when prwarden first heard of it
	Publication  Publication
}

// Publication is how far publishing a pull request is.
type Publication struct {
	Pending     bool // there is something left to do
	PublishedAt time.Time
	Failures    int       // in a row
	FailingFrom time.Time // the first of these; zero without any
	Problem     string    // a sentence: what could not be published, and why; "" for all is well
}

// Key names a pull request.
type Key struct {
	Organization string
	Repo         string
	Number       int32
}

// Key returns what names the pull request.
func (p PullRequest) Key() Key {
	return Key{Organization: p.Organization, Repo: p.Repository.Name, Number: p.Number}
}

// ThreadState is what became of a comment on a line.
type ThreadState string

// The states of threads.
const (
	ThreadOpen      ThreadState = "open"
	ThreadFixed     ThreadState = "fixed"           // closed by us
	ThreadDismissed ThreadState = "dismissed"       // resolved by a person
	ThreadDeleted   ThreadState = "deleted_by_user" // not posted again in this pull request
	ThreadRefused   ThreadState = "refused"         // the host takes no comment on this line
)

// Thread is a comment on a line that was posted once, for one fingerprint.
type Thread struct {
	Fingerprint string
	Ref         codehost.Ref // of the comment; "" before it was observed
	Thread      codehost.Ref // see codehost.ObservedComment
	State       ThreadState
	RuleID      string // `category/name`; "" when the row was lost
	Path        string // likewise
	UpdatedAt   time.Time
}

// Sink is a place in a pull request of which there is one.
type Sink string

// The sinks.
const (
	CheckSink    Sink = "check"    // of the head that was last published
	OutdatedSink Sink = "outdated" // the check of an earlier head, while it says that a scan goes on
	SummarySink  Sink = "summary"  // the comment below
)

// Published is what a sink was last given.
type Published struct {
	Sink     Sink
	Ref      codehost.Ref // "" while it isn't known
	HeadSHA  string
	ReviewID string
	Verdict  codehost.Verdict // of the check
	Deleted  bool             // by a person: it is not made again in this pull request
}

// Known is what the store knows of what was published in a pull request.
type Known struct {
	Threads   []Thread
	Published []Published
}

// Sink returns what a sink was last given.
func (k Known) Sink(s Sink) (Published, bool) {
	for _, p := range k.Published {
		if p.Sink == s {
			return p, true
		}
	}

	return Published{}, false
}

// waiting are the checks that say on earlier heads that a scan goes on.
func (k Known) waiting(head string) (list []Published) {
	for _, s := range []Sink{OutdatedSink, CheckSink} {
		if old, ok := k.Sink(s); ok && old.Verdict == codehost.Pending && old.HeadSHA != head {
			list = append(list, old)
		}
	}

	return list
}

// Store keeps pull requests and what is published in them. Its times are those of the
// database's clock. Errors are as review.Store says, or ErrLeaseLost.
type Store interface {
	// UpsertPullRequest keeps what a host says of a pull request of an organization that
	// there is, unless what is kept is newer. It has it published again when it became a
	// draft or none any more, was closed or reopened, or came back to a head that was
	// scanned, and the other open ones of a head that it leaves or comes to.
	UpsertPullRequest(ctx context.Context, p PullRequest) error

	// GetPullRequest reads one; NotFound (PULL_REQUEST_NOT_FOUND).
	GetPullRequest(ctx context.Context, k Key) (PullRequest, error)

	// ListPullRequests returns those of an organization, the latest known first.
	ListPullRequests(ctx context.Context, org string, f Filter) ([]PullRequest, error)

	// Republish has a pull request published again, also one whose publication failed;
	// NotFound.
	Republish(ctx context.Context, k Key) (PullRequest, error)

	// Known reads what was published in a pull request, threads by their fingerprint.
	Known(ctx context.Context, k Key) (Known, error)

	// ReviewToPublish reads the newest review of a head that a connection made, with its
	// findings; nil for none.
	ReviewToPublish(ctx context.Context, k Key, head string) (*review.Review, error)

	// SameHead returns the other open pull requests of a repository that have a head, too,
	// with what the newest review says that a connection made of it, if that is of the base
	// that the pull request has.
	SameHead(ctx context.Context, k Key, head string) ([]Standing, error)

	Outbox
}

// Standing is how a pull request stands that has the same head as another.
type Standing struct {
	Number  int32
	Status  review.Status // "" before there is a review of its base
	Outcome finding.Outcome
}

// Outbox is what publishers need beside. A claim holds until its lease ran out and
// another publisher took the pull request. The lease must outlast any call that is
// made under it: only then may the next publisher trust what it observes.
type Outbox interface {
	// ClaimPublication takes a pull request that is to be published, of the connection
	// that was served least recently; nil for none. owner is of this claim alone.
	ClaimPublication(ctx context.Context, owner string, lease time.Duration) (*Claim, error)

	// Reserve prolongs the lease before a call, and takes a place among the calls of the
	// connection; ErrLeaseLost.
	Reserve(ctx context.Context, c Claim, r Reservation) (Reserved, error)

	// Record keeps what was published: threads by their fingerprint, and sinks;
	// ErrLeaseLost.
	Record(ctx context.Context, c Claim, k Known) error

	// EndPublication gives a claim back; ErrLeaseLost.
	EndPublication(ctx context.Context, c Claim, e End) error

	// HoldConnection lets nothing of a connection be claimed for some time.
	HoldConnection(ctx context.Context, org, connection string, d time.Duration) error
}

// Claim is a publisher's hold on a pull request.
type Claim struct {
	PullRequest
	Owner string
	Want  int64 // what is done when this publication is
}

// Reservation is what a publisher is about to do.
type Reservation struct {
	Lease    time.Duration // from the moment at which it may begin
	Writes   bool          // the call changes something: it counts
	Spacing  time.Duration // between such calls of the connection; 0 for none
	PerHour  int           // of such calls; 0 for no limit
	Patience time.Duration // the longest that the caller waits
}

// Writing is the reservation of a call that changes something, at the pace of a host.
func Writing(l codehost.Limits) Reservation {
	r := Reservation{Writes: true, PerHour: l.CallsPerHour}
	if l.CallsPerMinute > 0 {
		r.Spacing = time.Minute / time.Duration(l.CallsPerMinute)
	}

	return r
}

// Reserved says when a call may be made.
type Reserved struct {
	Wait time.Duration // until then; over the patience nothing is reserved
	Want int64         // as Claim has it, now
}

// End is how a publication ended.
type End struct {
	Done    bool          // all is as it was wanted when it was claimed
	Lease   time.Duration // a call may still take effect for so long: nobody may observe before
	After   time.Duration // not to be claimed again before
	Failed  bool          // counts as a failure; what is done ends the row of these
	Problem string        // see Publication
}

// ErrLeaseLost says that another publisher has taken the pull request. Whoever held it
// must stop at once.
var ErrLeaseLost = errors.New("publish: lease lost")

// Filter selects pull requests. Zero fields select all.
type Filter struct {
	Repo       string
	State      codehost.State
	Connection string
	Limit      int
	After      page.Cursor // the last one of the page before
}

// Place returns the place of a pull request in a list.
func (p PullRequest) Place() page.Cursor {
	return page.Cursor{At: p.CreatedAt, ID: fmt.Sprintf("%d.%s", p.Number, p.Repository.Name)}
}

// ParsePlace reads the repository and number of a Place.
func ParsePlace(id string) (repo string, number int32, err error) {
	digits, repo, ok := strings.Cut(id, ".")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil {
		return "", 0, errs.Invalid("page_token", "must be the next_page_token of a page with the same filters")
	}

	return repo, int32(n), nil
}
