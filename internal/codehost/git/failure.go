package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/prwarden/prwarden/internal/scan"
)

// gitError is a git command that did not end well.
type gitError struct {
	verb    word
	network bool
	code    int
	signal  syscall.Signal
	stderr  string // its last part, without secrets
}

// Error is for the log.
func (e *gitError) Error() string {
	how := fmt.Sprintf("exit status %d", e.code)
	if e.signal != 0 {
		how = e.signal.String()
	}
	return fmt.Sprintf("git %s: %s: %s", e.verb, how, e.stderr)
}

// verdict is what git's words mean. git has one exit status for everything, so
// its words (with LC_ALL=C) are all there is; they are tested against the
// installed git.
type verdict struct {
	remote  bool     // it is about commands that talk to a remote only
	words   []string // any of these, in lower case
	code    string
	message string
	lasting bool
}

const (
	tooMuch     = "git hit its limits of memory, file size or time with this repository."
	unreachable = "The code host can't be reached or did not answer as a git server in time."
)

// verdicts are in order: the first that matches counts.
func verdicts() []verdict {
	return []verdict{
		{false, []string{"no space left on device", "out of diskspace", "disk quota exceeded"},
			scan.CodeCacheFull, "The scanner's cache disk is full.", false},
		{false, []string{
			"out of memory", "cannot allocate memory", "file too large", "died of signal 25", "died of signal 24",
			"mmap failed", "exceeds maximum allowed size",
		}, scan.CodeRepositoryTooLarge, tooMuch, true},
		{true, []string{
			"possible repository corruption on the remote", "bad object", "unresolved delta", "inflate returned",
			"pack is corrupted", "pack has bad object", "pack signature mismatch", "bad pack header", "died of signal 11",
			"did not send all necessary objects", "mismatched algorithms", "bad tree", "is corrupt", "invalid object",
			"not our ref",
		}, scan.CodeRepositoryInvalid, damagedRepository, true},
		{true, []string{
			"authentication failed", "could not read username", "could not read password", "error: 401", "error: 403",
			"permission denied", "access denied",
		}, scan.CodeAccessDenied, "The code host refused access: the repository is private or does not exist. " +
			"Check the token of its connection, or of the organization's host, and what it may read.", true},
		{true, []string{"error: 301", "error: 302", "error: 307", "error: 308", "from redirection"},
			scan.CodeRepositoryNotFound, "The repository has moved: the code host answered with a redirect, which is not " +
				"followed. Use its present name.", true},
		{true, []string{
			"does not appear to be a git repository", "error: 404", "error: 410", "' not found", "/info/refs not found",
			"no such file or directory",
		}, scan.CodeRepositoryNotFound, "The code host has no such repository, or does not show it without access.", true},
		{true, []string{"unadvertised object"}, scan.CodeHostMisconfigured,
			"The code host gives out no objects by their names. It has to speak version 2 of git's protocol, " +
				"or to allow it with uploadpack.allowAnySHA1InWant.", true},
		{true, []string{
			"could not resolve", "failed to connect", "couldn't connect", "connection refused", "connection reset",
			"timed out", "too slow", "error: 429", "error: 5", "early eof", "rpc failed", "hung up",
			"unexpected disconnect", "not valid: is this a git repository", "bad line length", "expected flush",
		}, scan.CodeHostUnreachable, unreachable, false},
		// The child of git that unpacks was killed, and nobody says by what.
		{true, []string{"invalid index-pack output"}, scan.CodeRepositoryTooLarge, tooMuch, true},
	}
}

// errDamaged is for objects that are missing or not what they should be.
var errDamaged = errors.New("git: damaged objects")

const damagedRepository = "The repository's objects are damaged, hostile or of a kind that git here does not know."

// says tells whether git said one of the words, which are in lower case.
func (e *gitError) says(words ...string) bool {
	text := strings.ToLower(e.stderr)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// judge says what a command that failed means.
func (e *gitError) judge() *scan.Failure {
	switch {
	case limitSignal(e.signal):
		return lasting(scan.CodeRepositoryTooLarge, tooMuch)
	case e.signal == syscall.SIGKILL: // not by us: then the scan has ended
		return passing(scan.CodeScanFailed, "git was killed on the scanner's machine, which may lack memory.", e)
	}

	for _, v := range verdicts() {
		if (e.network || !v.remote) && e.says(v.words...) {
			return &scan.Failure{Code: v.code, Message: v.message, Lasting: v.lasting}
		}
	}
	if e.verb == "init" { // which reads nothing of the repository
		return passing(scan.CodeScanFailed, "The scanner can't write to its cache.", e)
	}
	return nil
}

// fail says what err means to whoever started the scan. The copy in the cache is
// condemned when the cause may be in it. When this scan fetched it, the cause is
// the repository's own, and the copy serves other scans, unless a fetch failed.
func (s *Store) fail(ctx context.Context, err error, c *cached) *scan.Failure {
	failure, damaged := judge(ctx, err)
	var failed *gitError
	said := errors.As(err, &failed)
	switch {
	case !damaged || c == nil:
	case !c.fresh:
		c.condemn()
		failure = passing(scan.CodeScanFailed,
			"The scanner's copy of the repository was damaged and is fetched again by the next scan.", err)
	case said && failed.network:
		c.condemn()
	}

	// git has many words for a write that failed, and none at all for some: with
	// hardly any room, what looks like the repository's fault is the disk's.
	free, freeErr := freeSpace(s.dir)
	switch failure.Code {
	case scan.CodeRepositoryInvalid, scan.CodeRepositoryTooLarge, scan.CodeScanFailed:
		if freeErr == nil && free < s.git.limits.Room && ctx.Err() == nil {
			failure = passing(scan.CodeCacheFull, verdicts()[0].message, err)
		}
	}
	if failure.Code != scan.CodeCacheFull {
		return failure
	}

	// Words that git repeats can be a server's, so they alone remove nothing.
	if !said || freeErr == nil && free < s.git.limits.FileSize {
		s.shrink(func(size int64) int64 { return size / 2 })
	} else if failed.network {
		failure = passing(scan.CodeHostUnreachable, unreachable, err)
	}
	return failure
}

// judge says what err means, and whether objects that are damaged may be its cause.
func judge(ctx context.Context, err error) (failure *scan.Failure, damaged bool) {
	var failed *gitError
	if errors.As(err, &failure) {
		return failure, false
	}

	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		failure = lasting(scan.CodeScanTimeout, "The scan took longer than it may.")
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		failure = passing(scan.CodeScanFailed, "The scan was canceled.", err)
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT): // met by ourselves
		failure = passing(scan.CodeCacheFull, verdicts()[0].message, err)
	case errors.As(err, &failed):
		failure = failed.judge()
		if failure == nil && failed.network { // a fetch reads what is in the cache, too
			failure, damaged = passing(scan.CodeHostUnreachable, unreachable, err), true
		}
	case !errors.Is(err, errDamaged):
		failure = passing(scan.CodeScanFailed, "The scanner could not read the repository.", err)
	}

	if failure == nil {
		failure = lasting(scan.CodeRepositoryInvalid, damagedRepository)
	}

	failure.Err = err
	return failure, damaged || failure.Code == scan.CodeRepositoryInvalid
}

// lasting is a failure that trying again does not change, and passing another.
func lasting(code, format string, args ...any) *scan.Failure {
	return &scan.Failure{Code: code, Message: fmt.Sprintf(format, args...), Lasting: true}
}

func passing(code, message string, cause error) *scan.Failure {
	return &scan.Failure{Code: code, Message: message, Err: cause}
}

func tooLarge(format string, args ...any) *scan.Failure {
	return lasting(scan.CodePullRequestTooLarge, format, args...)
}

func noCommit(oid string) *scan.Failure {
	return lasting(scan.CodeCommitNotFound, "The repository has no commit %s, or its server does not give it out: "+
		"then no branch and not the pull request leads to it.", oid)
}

func baseUnknown(format string, args ...any) *scan.Failure {
	return lasting(scan.CodeBaseUnknown, format, args...)
}
