// Package scan is what a scan is: a pull request is opened at a Source, its
// rules are put together, the rules are matched on the lines that it adds, and
// the hits become findings. It knows neither git, nor storage, nor transport.
package scan

import (
	"context"
	"fmt"
	"iter"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/organization"
)

// Target names one pull request.
type Target struct {
	Organization string // whose cache is used
	Host         organization.Host
	Repo         string // `owner/name`
	Number       int32  // from 1
	Commits      finding.Commits
}

// Source opens pull requests. A code host is one.
type Source interface {
	// Open finds the pull request's head and base and makes their difference
	// readable. It fails with a *Failure.
	Open(ctx context.Context, t Target) (Change, error)
}

// Side is one of the commits of a change.
type Side int

// The sides. A change is what differs between MergeBase and Head.
const (
	Base      Side = iota // what the pull request is to be merged into
	Head                  // the pull request's head
	MergeBase             // what both have in common: where the pull request started
)

// Change is an opened pull request. It is not safe for concurrent use.
type Change interface {
	// HeadSHA and BaseSHA are the commits at the two ends, in hexadecimal.
	HeadSHA() string
	BaseSHA() string
	// ReadFile reads the whole file at path on one side. found is false when
	// there is none, or it is not a regular file. A file over limit bytes is
	// returned cut at limit+1 bytes.
	ReadFile(ctx context.Context, side Side, path string, limit int) (data []byte, found bool, err error)
	// FileCount is the number of files that Files yields.
	FileCount() int
	// Files yields each file that is changed and still there at head, in the
	// order of their paths, by bytes. What it yields is the receiver's to keep.
	// After an error it ends.
	Files(ctx context.Context) iter.Seq2[*File, error]
	// Close frees what Open took.
	Close() error
}

// File is a changed file as it is at head.
type File struct {
	Path      string      // bytes as git has them, not always UTF-8
	Submodule bool        // a commit of another repository; there is no content
	Size      int64       // of the content, in bytes
	Content   []byte      // nil when Size is over MaxFileSize or nothing was added
	Added     []LineRange // the added lines, ascending, not touching each other
	// Release, when not nil, gives Content back to be filled again. The
	// receiver may call it once, when nothing of Content is in use any more.
	Release func()
}

// LineRange is a run of lines, First to Last, counted from 1, both included.
type LineRange = match.LineRange

// MaxFileSize is the size, in bytes, over which a file is skipped.
const MaxFileSize = 1 << 20

// Failure is why a scan could not be done.
type Failure struct {
	Code    string // a word for programs, one of the Code constants
	Message string // a sentence for people, without secrets
	Lasting bool   // trying again is pointless
	Err     error  // the cause, for the log only
}

// The codes. docs/api.md explains each.
const (
	CodePullRequestNotFound = "pull_request_not_found"
	CodeRepositoryNotFound  = "repository_not_found" // or no access: hosts do not tell them apart
	CodeAccessDenied        = "access_denied"
	CodeBaseUnknown         = "base_unknown"
	CodeCommitNotFound      = "commit_not_found"
	CodeNoMergeBase         = "no_merge_base"
	CodePullRequestTooLarge = "pull_request_too_large"
	CodeRepositoryTooLarge  = "repository_too_large"
	CodeRepositoryInvalid   = "repository_invalid" // its objects are damaged or hostile
	CodeCacheFull           = "cache_full"         // the scanner's disk, so a passing fault
	CodeScanTimeout         = "scan_timeout"
	CodeHostUnreachable     = "host_unreachable"
	CodeHostMisconfigured   = "host_misconfigured" // the operator has to change the host of the organization
	CodeScanFailed          = "scan_failed"
)

// Error returns the message followed by the cause; it is for the log.
func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.Err)
	}
	return f.Code + ": " + f.Message
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }
