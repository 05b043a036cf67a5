// Package codehost is what prwarden needs of a code host beside git: which pull
// requests there are, and a place in them for what was found. It has plain types and
// the interface Host; a folder for each host implements it, and git/ is the git side.
package codehost

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// Kind is the product that a code host runs.
type Kind string

// The kinds.
const (
	Git             Kind = "git"    // any git server; it has no Host
	GitHub          Kind = "github" // github.com and Enterprise Server
	GitLab          Kind = "gitlab"
	Gitea           Kind = "gitea"
	Forgejo         Kind = "forgejo"
	BitbucketCloud  Kind = "bitbucket"
	BitbucketServer Kind = "bitbucket_server" // Data Center
)

// Host is one code host, with the credentials of one connection. It keeps no state
// and retries nothing: the publisher does. No mutation follows a redirect. Errors that
// a caller can do something about are an *Error.
type Host interface {
	// Verify checks the signature of a delivery over its raw body by any of the
	// secrets, and answers the delivery's identifier. It fails with ErrSignature.
	Verify(h http.Header, body []byte, secrets [][]byte, now time.Time) (id string, err error)

	// Hints says what a delivery that was verified is about; none when it is not for
	// us. Nothing in a body is believed beyond that.
	Hints(h http.Header, body []byte) ([]Hint, error)

	// Access says what the connection's credentials may do.
	Access(ctx context.Context) (Access, error)

	// Repositories lists those that the credentials reach, at most limit.
	Repositories(ctx context.Context, limit int) ([]Repository, error)

	// PullRequest reads one; by the repository's ID when that is known.
	PullRequest(ctx context.Context, r Repository, number int32) (PullRequest, error)

	// OpenPullRequests lists the open ones that changed since a time, newest first.
	OpenPullRequests(ctx context.Context, r Repository, since time.Time) ([]PullRequest, error)

	// Observe reads what of ours is at a pull request and its head, also what a broken
	// call left behind. Only what our own account wrote counts.
	Observe(ctx context.Context, p PullRequest) (Observed, error)

	// Do takes one step. Without an answer it fails with Unknown: it may have happened.
	Do(ctx context.Context, p PullRequest, s Step) error

	// Credential is for git: to read one repository, as short-lived as the host has it.
	Credential(ctx context.Context, r Repository) (Credential, error)

	// MayCommand tells whether somebody may write to the repository now.
	MayCommand(ctx context.Context, r Repository, c Comment) (bool, error)

	// Acknowledge answers a command by a reaction.
	Acknowledge(ctx context.Context, p PullRequest, c Comment, r Reaction) error

	// Limits are those of the host.
	Limits() Limits
}

// Redeliverer is a Host that remembers deliveries which did not arrive.
type Redeliverer interface {
	// Redeliver has deliveries since a time made again that never arrived, and answers
	// how many. They arrive as others do.
	Redeliver(ctx context.Context, since time.Time) (int, error)
}

// Installable is a Host whose credentials work while an App is installed in an account.
type Installable interface {
	// Installed asks for the installation in the connection's account; Gone for none.
	Installed(ctx context.Context) (Installation, error)
}

// Installation is that of an App.
type Installation struct {
	ID        int64
	Suspended bool // by the account's owner: no call works
}

// Repository is a repository of a code host.
type Repository struct {
	ID      string // the host's own, which a renaming keeps; "" while it isn't known
	Name    string // `owner/name`, or with more levels
	Private bool
}

// State is whether a pull request is open.
type State string

// The states.
const (
	Open   State = "open"
	Closed State = "closed"
	Merged State = "merged"
)

// PullRequest is a pull request as the host has it now.
type PullRequest struct {
	Repository Repository
	Number     int32
	State      State
	Title      string
	Author     string // login
	AuthorID   string
	HeadSHA    string
	BaseSHA    string // head of the base branch, or where the head branched off; "" when the host doesn't say
	BaseRef    string // branch
	Draft      bool
	Fork       bool // the head is in another repository
	Labels     []string
	URL        string // of its page
	UpdatedAt  time.Time

	// MergeBase is where the head branched off, for hosts whose comments need it.
	MergeBase string
}

// Hint says what a delivery is about.
type Hint struct {
	Kind       HintKind
	Repository Repository
	Number     int32  // 0 when only HeadSHA is known
	HeadSHA    string // of HintRerun and HintMergeGroup; of HintPullRequest when the delivery says it, perhaps shortened
	BaseSHA    string // of HintMergeGroup
	Ref        string // of HintMergeGroup and HintMergeGroupGone, the queue's branch
	Comment    Comment
	Account    string // of HintInstallation, whose repositories it is about
	Name       string // of HintRepository, the new one
}

// HintKind is what happened.
type HintKind string

// The kinds of hints.
const (
	HintPullRequest    HintKind = "pull_request"     // opened, pushed to, reopened, ready, retargeted, closed
	HintRerun          HintKind = "rerun"            // somebody asks for the check again
	HintMergeGroup     HintKind = "merge_group"      // a queue wants commits checked
	HintMergeGroupGone HintKind = "merge_group_gone" // and no longer
	HintComment        HintKind = "comment"          // a comment was created
	HintRepository     HintKind = "repository"       // renamed or transferred
	HintInstallation   HintKind = "installation"     // made, suspended or removed
)

// Comment is one that somebody wrote in a pull request.
type Comment struct {
	ID       string
	Author   string // login
	AuthorID string
	Body     string
	OnLine   bool // in a review, not in the talk below
}

// Reaction answers a comment.
type Reaction string

// The reactions.
const (
	Seen    Reaction = "eyes"
	Done    Reaction = "+1"
	Refused Reaction = "-1"
)

// Access is what credentials may do.
type Access struct {
	Account string   // whose they are
	ID      string   // of that account: only its comments are ours
	Missing []string // permissions, in the host's words
	Checks  bool     // check runs can be written, not only statuses
}

// Credential reads one repository by git. It prints as nothing but that it is one.
type Credential struct {
	Username  string
	Token     string    // "" for none: the repository is public
	ExpiresAt time.Time // zero when it doesn't end
}

// String keeps the token out of logs.
func (c Credential) String() string {
	if c.Token == "" {
		return "none"
	}

	return "(hidden)"
}

// GoString keeps the token out of logs.
func (c Credential) GoString() string { return c.String() }

// LogValue keeps the token out of logs.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON keeps the token out of logs.
func (c Credential) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// Verdict is what the check, status or report of a head says.
type Verdict string

// The verdicts. Only Success lets a pull request pass.
const (
	Pending  Verdict = "pending"
	Success  Verdict = "success"
	Failure  Verdict = "failure"
	Broken   Verdict = "error"     // the review failed
	Outdated Verdict = "cancelled" // only on a commit that is no head any more
)

// Ref is the host's identifier of what we made; "" for none.
type Ref string

// Check is the check run, commit status or report of a commit.
type Check struct {
	Ref      Ref
	SHA      string
	ReviewID string // the review that it shows
	Verdict  Verdict
	Title    string
	Summary  string // Markdown; hosts without a place for it leave it out
	URL      string // of the review
}

// Annotation is a finding on a line of a check or report.
type Annotation struct {
	Fingerprint string
	Path        string
	Line        int
	EndLine     int
	Column      int // 0 unless it is all on one line
	EndColumn   int
	Severity    string // a severity word
	RuleID      string
	Message     string
}

// LineComment is one on a line of the new side.
type LineComment struct {
	Fingerprint string
	Path        string
	OldPath     string // at the base, also when it is the same
	Line        int
	OldLine     int // of an unchanged line; 0 of an added one
	Body        string
}

// Observed is what of ours is at a pull request.
type Observed struct {
	Check       *Check // of the head, the latest; nil for none
	Annotations int    // that it has
	Summaries   []ObservedComment
	Comments    []ObservedComment // on lines
	Unsent      []Ref             // reviews that were begun and never sent
}

// ObservedComment is a comment of ours.
type ObservedComment struct {
	Ref         Ref    // to edit or delete it
	Thread      Ref    // to resolve it; "" where Ref does
	Fingerprint string // "" of a summary
	Body        string
	Closed      bool // resolved or minimised
	ClosedByUs  bool // unknown counts as not
	Replies     int  // by others
}

// Action is what a step does.
type Action string

// The actions.
const (
	SetCheck       Action = "set_check"       // make or change Check
	AddAnnotations Action = "add_annotations" // to Check, at most Limits.AnnotationsPerCall
	AddComments    Action = "add_comments"    // as one review where the host has it, at most Limits.CommentsPerCall
	EditComment    Action = "edit_comment"    // Ref gets Body
	CloseComment   Action = "close_comment"   // Ref is minimised or resolved, and gets Body
	ReopenComment  Action = "reopen_comment"  // Ref is shown again, and gets Body
	DeleteComment  Action = "delete_comment"  // a double of ours
	AddSummary     Action = "add_summary"     // a comment with Body below the pull request
	EditSummary    Action = "edit_summary"    // Ref gets Body
	DiscardUnsent  Action = "discard_unsent"  // Ref, a review that was begun
)

// Step is one change, in one or a few calls that can be repeated.
type Step struct {
	Action      Action
	Check       Check
	Annotations []Annotation
	Comments    []LineComment
	Ref         Ref
	Thread      Ref
	OnLine      bool // Ref is a comment on a line
	Body        string
}

// Limits are what a host takes.
type Limits struct {
	AnnotationsPerCall int // 0: it has no annotations
	Annotations        int // in all
	CommentsPerCall    int
	Body               int // characters of a comment
	Title              int // characters of a check's title or a status's description
	Summary            int // characters of a check's summary; 0: it has no place for one
	CallsPerMinute     int // that write
	CallsPerHour       int

	Suggestions Suggestions // that people can apply
}

// Suggestions says how a comment on a line offers other lines.
type Suggestions int

// The ways. The zero value is none.
const (
	NoSuggestions    Suggestions = iota
	SuggestionOfLine             // in place of the line that the comment is on
	SuggestionOfMore             // also in place of lines behind it
)
