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

// verdict is what git's words about a remote mean. git has one exit status for
// everything, so its words (with LC_ALL=C) are all there is; they are tested
// against the installed git. What no line knows is a passing fault.
type verdict struct {
	words   []string // any of these, in lower case
	code    string
	message string
	lasting bool
}

func (v verdict) failure(err error) *scan.Failure {
	return &scan.Failure{Code: v.code, Message: v.message, Lasting: v.lasting, Err: err}
}

// full is for a disk that has no room: not the repository's fault.
func full() verdict {
	return verdict{
		[]string{"no space left on device", "out of diskspace", "disk quota exceeded"},
		scan.CodeCacheFull, "The scanner's cache disk is full.", false,
	}
}

// overLimits is for what our limits on git stopped.
func overLimits() verdict {
	return verdict{
		[]string{
			"out of memory", "cannot allocate memory", "file too large", "died of signal 25", "died of signal 24",
			"mmap failed", "exceeds maximum allowed size",
		},
		scan.CodeRepositoryTooLarge, "git hit its limits of memory, file size or time with this repository.", true,
	}
}

// remoteVerdicts are about remotes only, in order: the first that matches
// counts.
func remoteVerdicts() []verdict {
	return []verdict{
		{
			[]string{
				"possible repository corruption on the remote", "fsck error", "bad object", "unresolved delta",
				"inflate returned", "pack is corrupted", "pack has bad object", "pack signature mismatch",
				"bad pack header", "died of signal 11", "did not send all necessary objects",
				"mismatched algorithms", "bad tree", "is corrupt", "invalid object",
			},
			scan.CodeRepositoryInvalid,
			"The repository's objects are damaged, hostile or of a kind that git here does not know.", true,
		},
		{
			[]string{
				"authentication failed", "could not read username", "could not read password",
				"error: 401", "error: 403", "permission denied", "access denied",
			},
			scan.CodeAccessDenied,
			"The code host refused access: the repository is private or does not exist. " +
				"Check the host's token_env and what its token may read.", true,
		},
		{
			[]string{"error: 301", "error: 302", "error: 307", "error: 308", "from redirection"},
			scan.CodeRepositoryNotFound,
			"The repository has moved: the code host answered with a redirect, which is not followed. " +
				"Use its present name.", true,
		},
		{
			[]string{
				"does not appear to be a git repository", "error: 404", "error: 410", "' not found",
				"/info/refs not found", "no such file or directory",
			},
			scan.CodeRepositoryNotFound,
			"The code host has no such repository, or does not show it without access.", true,
		},
	}
}

// unreachable is for everything else about a remote.
const unreachable = "The code host can't be reached or did not answer as a git server in time."

// passing are the words of faults that are surely the remote's or the
// network's. Other words may come from a damaged cache.
func passing() []string {
	return []string{
		"could not resolve", "failed to connect", "couldn't connect", "connection refused", "connection reset",
		"timed out", "too slow", "error: 429", "error: 5", "early eof", "rpc failed", "hung up",
		"unexpected disconnect", "not valid: is this a git repository", "bad line length", "expected flush",
	}
}

var (
	// errUnclear marks a failed fetch whose words are not known.
	errUnclear = errors.New("git: unclear")
	// errDamaged is for objects that are missing or not what they should be.
	errDamaged = errors.New("git: damaged objects")
)

// asFailure says what err means to whom started the scan. fresh is whether the
// objects were fetched by this very scan, so that damage is the repository's
// own and not the cache's.
func asFailure(ctx context.Context, err error, fresh bool) *scan.Failure {
	var failure *scan.Failure
	var failed *gitError
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		message := "The scan took longer than it may."
		return &scan.Failure{Code: scan.CodeScanTimeout, Message: message, Lasting: true, Err: err}
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return &scan.Failure{Code: scan.CodeScanFailed, Message: "The scan was canceled.", Err: err}
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT): // met by ourselves
		return full().failure(err)
	case errors.As(err, &failed):
		return failed.failure(fresh)
	case errors.Is(err, errDamaged):
		return damaged(err, fresh)
	}
	return &scan.Failure{Code: scan.CodeScanFailed, Message: "The scanner could not read the repository.", Err: err}
}

// says tells whether git said one of the words, which are in lower case.
func (e *gitError) says(words ...string) bool {
	text := strings.ToLower(e.stderr)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// limited tells whether our limits on git stopped it.
func (e *gitError) limited() bool { return limitSignal(e.signal) || e.says(overLimits().words...) }

func (e *gitError) failure(fresh bool) *scan.Failure {
	switch {
	case limitSignal(e.signal):
		return overLimits().failure(e)
	case e.says(full().words...): // it goes before what follows from it
		return full().failure(e)
	case e.limited():
		return overLimits().failure(e)
	case e.network:
		return e.remoteFailure()
	case e.verb == "init": // which reads nothing of the repository
		return &scan.Failure{Code: scan.CodeScanFailed, Message: "The scanner can't write to its cache.", Err: e}
	}
	return damaged(e, fresh)
}

func (e *gitError) remoteFailure() *scan.Failure {
	for _, v := range remoteVerdicts() {
		if e.says(v.words...) {
			return v.failure(e)
		}
	}

	failure := &scan.Failure{Code: scan.CodeHostUnreachable, Message: unreachable, Err: e}
	if e.says(passing()...) {
		return failure
	}
	// The child of git that unpacks was killed, and nobody says by what.
	if e.says("invalid index-pack output") {
		return overLimits().failure(e)
	}
	failure.Err = fmt.Errorf("%w: %w", errUnclear, e)
	return failure
}

func damaged(err error, fresh bool) *scan.Failure {
	if fresh {
		return &scan.Failure{
			Code: scan.CodeRepositoryInvalid, Lasting: true, Err: err,
			Message: "The repository's objects are damaged or hostile.",
		}
	}
	return &scan.Failure{
		Code: scan.CodeScanFailed, Err: err,
		Message: "The scanner's copy of the repository was damaged and is fetched again by the next scan.",
	}
}

// suspectsCache tells whether a new fetch into an empty cache might help.
func suspectsCache(ctx context.Context, f *scan.Failure) bool {
	if ctx.Err() != nil {
		return false
	}
	var failed *gitError
	objects := errors.Is(f, errDamaged) || errors.As(f, &failed)
	return objects && (f.Code == scan.CodeRepositoryInvalid || f.Code == scan.CodeScanFailed) || errors.Is(f, errUnclear)
}
