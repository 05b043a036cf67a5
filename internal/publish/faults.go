package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// unread says what becomes of a publication of which something could not be read.
func (u *publication) unread(ctx context.Context, err error) error {
	switch fault := codehost.FaultOf(err); fault {
	case codehost.Limited:
		return u.limited(err)
	case codehost.Revoked:
		return u.refusedCredential(err)
	case codehost.Stale:
		if u.once(fault) {
			return errAgain
		}
	case codehost.Moved: // it is looked up by its identifier then
		if u.once(fault) {
			return errAgain
		}
		return done("The repository was moved, and its new place is not known.", err)
	case codehost.Gone:
		return done("The pull request or its repository is not there any more, or hidden from the connection.", err)
	case codehost.Forbidden:
		return done(u.report("reading the pull request", err), err)
	case codehost.Invalid:
		return done("The code host refused to show the pull request: "+reason(err), err)
	}
	if ctx.Err() != nil {
		return u.failed(0, "The code host did not answer in time.", err)
	}

	return u.failed(after(err), "The code host could not be read: "+reason(err), err)
}

// refused says what becomes of a publication of which a step failed: nil to go on.
func (u *publication) refused(ctx, writing context.Context, s codehost.Step, err error) error {
	fault := codehost.FaultOf(err)
	var known *codehost.Error
	if !errors.As(err, &known) && writing.Err() != nil {
		fault = codehost.Unknown
	}
	switch fault {
	case codehost.Limited:
		return u.limited(err)
	case codehost.Revoked:
		return u.refusedCredential(err)
	case codehost.Moved, codehost.Stale:
		if fault == codehost.Stale && s.Check.Verdict == codehost.Outdated { // another head is why it is set
			return u.invalid(ctx, s, err)
		}
		if u.once(fault) {
			return errAgain
		}
		return u.failed(0, "The repository or the head of the pull request keeps changing.", err)
	case codehost.Gone:
		return u.gone(ctx, s, err)
	case codehost.Forbidden:
		u.off[sinkOf(s)] = true
		u.problem(u.report(sinkOf(s), err))
		return nil
	case codehost.BadLine, codehost.Invalid:
		return u.invalid(ctx, s, err)
	case codehost.Unknown:
		stop := u.failed(0, "The code host did not answer, so what it did is looked at later.", err)
		stop.Lease = u.p.o.Margin
		return stop
	}
	if u.claim.Publication.Failures >= doubtfulAfter {
		switch {
		case s.Action == codehost.AddComments && len(s.Comments) == 1:
			return u.doubtful(ctx, s, err)
		case s.Check.Verdict == codehost.Outdated:
			return u.invalid(ctx, s, err)
		}
	}

	return u.hostFailed(err)
}

// hostFailed ends a publication for a fault of the host that passes. It may have failed on the way
// back only.
func (u *publication) hostFailed(err error) *stopped {
	stop := u.failed(after(err), "The code host failed: "+reason(err), err)
	stop.Lease = u.p.o.Margin

	return stop
}

// doubtful notes that a comment failed in a call of its own, and goes on with the others. One that
// fails often while the host takes something else is given up.
func (u *publication) doubtful(ctx context.Context, s codehost.Step, err error) error {
	fingerprint := s.Comments[0].Fingerprint
	if u.doubted[fingerprint]++; u.worked && u.doubted[fingerprint] >= refusedAfter {
		return u.invalid(ctx, s, err)
	}
	u.doubt = err

	return nil
}

// decideDoubt ends a round in which comments failed. What the host has of them is read again
// first: it may have failed on the way back only. A host that takes nothing is down.
func (u *publication) decideDoubt() error {
	err := u.doubt
	u.doubt = nil
	switch {
	case err == nil:
		return nil
	case u.worked:
		return errAgain
	}

	return u.hostFailed(err)
}

// once tells whether a fault comes for the first time.
func (u *publication) once(f codehost.Fault) bool {
	first := !u.unsure[f]
	u.unsure[f] = true

	return first
}

func (u *publication) problem(text string) {
	if !slices.Contains(u.problems, text) {
		u.problems = append(u.problems, text)
	}
}

// after is when the host says to try again; 0 when it doesn't.
func after(err error) time.Duration {
	var e *codehost.Error
	if errors.As(err, &e) {
		return min(e.After, maxBackoff)
	}

	return 0
}

// reason is what a host said, which has no secret.
func reason(err error) string {
	var e *codehost.Error
	if errors.As(err, &e) && e.Err != nil {
		return cut(plain(e.Err.Error()), maxProblem/2) + "."
	}

	return "no answer."
}

// limited holds all publications of the connection.
func (u *publication) limited(err error) error {
	var e *codehost.Error
	wait := min(limitedFor<<min(u.claim.Publication.Failures, 20), time.Hour)
	if errors.As(err, &e) && e.After > 0 {
		wait = min(e.After, 2*time.Hour)
	}
	ctx, cancel := u.p.stored(u.p.calling)
	defer cancel()
	if err := u.p.store.HoldConnection(ctx, u.claim.Organization, u.claim.Connection, wait); err != nil {
		return err
	}

	return u.failed(wait, "The code host asks for fewer calls.", err)
}

// refusedCredential tries once more, with a credential that is made anew where the host
// has such, and says then that the connection is broken.
func (u *publication) refusedCredential(err error) error {
	if !u.revoked {
		u.revoked = true
		return errAgain
	}
	ctx, cancel := u.p.stored(u.p.calling)
	defer cancel()
	const why = "The code host refuses the credential. Give the connection a new one."
	if err := u.p.hosts.Report(ctx, u.conn.Refused(err)); err != nil {
		return err
	}

	return u.failed(brokenFor, why, err)
}

// report tells the connection what it lacks, and says it.
func (u *publication) report(what string, err error) string {
	var e *codehost.Error
	scope := "a permission"
	if errors.As(err, &e) && e.Scope != "" {
		scope = e.Scope
	}
	told := u.conn
	text := fmt.Sprintf("For %s the connection lacks %s.", what, cut(plain(scope), maxProblem/2))
	told.Reason = text
	ctx, cancel := u.p.stored(u.p.calling)
	defer cancel()
	if err := u.p.hosts.Report(ctx, told); err != nil {
		u.log.Warn("a connection could not be told what it lacks", "error", err)
	}

	return text
}

// gone says what becomes of a step whose object is not there: a person deleted a
// comment, which the next look will show, too.
func (u *publication) gone(ctx context.Context, s codehost.Step, err error) error {
	var changed Known
	switch s.Action {
	case codehost.SetCheck:
		if s.Check.Verdict == codehost.Outdated {
			return u.invalid(ctx, s, err)
		}
	case codehost.EditComment, codehost.CloseComment, codehost.ReopenComment:
		for _, t := range u.known.Threads {
			if t.Ref == s.Ref {
				t.State = ThreadDeleted
				changed.Threads = append(changed.Threads, t)
			}
		}

		return u.record(ctx, changed)
	case codehost.DeleteComment, codehost.DiscardUnsent:
		return nil
	}
	if u.once(codehost.Gone) {
		return errAgain
	}

	return done("The code host doesn't know the commit or the pull request any more: "+reason(err), err)
}

// invalid says what becomes of a step that the host refuses for good. Of several
// comments one may be the reason, which is found by halves; it is not posted then, and
// the summary has the finding.
func (u *publication) invalid(ctx context.Context, s codehost.Step, err error) error {
	if s.Check.Verdict == codehost.Outdated { // nobody waits for the check of an old commit
		return u.record(ctx, u.known.taken(u.want, s))
	}
	if s.Action != codehost.AddComments {
		u.problem(fmt.Sprintf("The code host refused %s: %s", sinkOf(s), reason(err)))
		return nil
	}
	if len(s.Comments) == 1 {
		return u.record(ctx, Known{Threads: []Thread{{
			Fingerprint: s.Comments[0].Fingerprint, State: ThreadRefused, Path: s.Comments[0].Path,
			RuleID: u.want.ruleOf(s.Comments[0].Fingerprint),
		}}})
	}
	middle := len(s.Comments) / 2
	for _, half := range [][]codehost.LineComment{s.Comments[:middle], s.Comments[middle:]} {
		if err := u.take(ctx, codehost.Step{Action: codehost.AddComments, Comments: half}); err != nil {
			return err
		}
	}

	return nil
}
