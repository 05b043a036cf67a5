package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
)

// Times after which a publication is tried again.
const (
	maxBackoff    = 10 * time.Minute
	limitedFor    = time.Minute      // when the host doesn't say, doubling
	brokenFor     = 10 * time.Minute // while a connection doesn't work
	doubtfulAfter = 3                // failures after which each comment has a call of its own
	refusedAfter  = 4                // such calls that failed, after which a comment is given up
	maxRounds     = 10
)

// publication is one attempt to publish one pull request.
type publication struct {
	p     *Publisher
	claim Claim
	log   *slog.Logger

	conn     connection.Connection
	host     codehost.Host
	settings policy.Publish
	now      codehost.PullRequest // as the host has it
	review   *review.Review
	want     Desired
	known    Known

	steps    int
	revoked  bool // the credential was refused once
	unsure   map[codehost.Fault]bool
	doubted  map[string]int  // how often a comment failed in a call of its own
	worked   bool            // the host took a step
	doubt    error           // the last failure of a comment in this round
	off      map[string]bool // sinks that can't be written
	problems []string
}

// errAgain says that what was read may not be so any more: it is to be read again.
var errAgain = errors.New("publish: read again")

// stopped ends a publication with a certain end.
type stopped struct {
	End
	err error
}

// Error returns the problem and its cause, for the log.
func (s *stopped) Error() string { return fmt.Sprintf("%s: %v", s.Problem, s.err) }

// Unwrap returns the cause.
func (s *stopped) Unwrap() error { return s.err }

// publish publishes and says how that ended.
func (u *publication) publish(ctx context.Context) (End, error) {
	u.unsure, u.doubted = map[codehost.Fault]bool{}, map[string]int{}
	for range maxRounds {
		err := u.round(ctx)
		var s *stopped
		switch {
		case err == nil:
			return End{Done: true, Problem: strings.Join(u.problems, " ")}, nil
		case errors.Is(err, errAgain):
			continue
		case errors.Is(err, ErrLeaseLost):
			return End{}, err
		case errors.As(err, &s):
			return s.End, s.err
		}

		return u.failed(0, "The database could not be reached.", err).End, err
	}

	return End{}, nil // it is claimed again at once
}

// failed ends a publication that is tried again.
func (u *publication) failed(after time.Duration, problem string, err error) *stopped {
	if after == 0 {
		after = min(u.p.o.Backoff<<min(u.claim.Publication.Failures, 20), maxBackoff)
		after -= rand.N(after/5 + 1)
	}

	return &stopped{End: End{Failed: true, After: after, Problem: problem}, err: err}
}

// done ends a publication that there is no use in trying again.
func done(problem string, err error) *stopped {
	return &stopped{End: End{Done: true, Problem: problem}, err: err}
}

// round reads everything, and takes the steps to what should be.
func (u *publication) round(ctx context.Context) error {
	if u.p.stopping.Err() != nil {
		return &stopped{}
	}
	want, until, err := u.reserve(ctx, Reservation{}, u.p.o.Read)
	if err != nil {
		return err
	}
	u.claim.Want = want // all that is read from here on is newer

	if err := u.open(ctx); err != nil {
		return err
	}
	reading, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if u.now, err = u.host.PullRequest(reading, u.claim.Repository, u.claim.Number); err != nil {
		return u.unread(reading, err)
	}
	if err := u.desired(ctx); err != nil || u.review == nil {
		return err
	}
	have, err := u.host.Observe(reading, u.now)
	if err != nil {
		return u.unread(reading, err)
	}
	cancel()
	if err := u.recall(ctx, have); err != nil {
		return err
	}

	limits := u.host.Limits()
	if u.claim.Publication.Failures >= doubtfulAfter {
		limits.CommentsPerCall = 1
	}
	steps := Plan(u.want, have, u.known, limits)
	for i, s := range steps {
		if s.Action == codehost.DeleteComment {
			u.log.Warn("a comment was posted twice: the double is deleted", "comment", string(s.Ref))
		}
		if err := u.take(ctx, s); err != nil {
			return err
		}
		if makesCheck(s) && i < len(steps)-1 { // the steps after it need to know which
			return errAgain
		}
	}

	return u.decideDoubt()
}

// open opens the connection.
func (u *publication) open(ctx context.Context) (err error) {
	limited, cancel := u.p.stored(ctx)
	defer cancel()
	u.conn, u.host, err = u.p.hosts.Open(limited, u.claim.Connection)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return done("The connection was deleted.", err)
	case err != nil:
		return u.failed(brokenFor, "The connection can't be opened.", err)
	case u.conn.State != connection.Active:
		return u.failed(brokenFor, fmt.Sprintf("The connection %s is %s.", u.conn.Name, u.conn.State), nil)
	}

	return nil
}

// desired reads the newest review of the head, and what should be published of it.
func (u *publication) desired(ctx context.Context) (err error) {
	limited, cancel := u.p.stored(ctx)
	defer cancel()
	if u.review, err = u.p.store.ReviewToPublish(limited, u.claim.Key(), u.now.HeadSHA); err != nil {
		return err
	}
	by := policy.Default()
	if u.p.o.Policies != nil {
		if by, err = u.p.o.Policies.Policy(limited, u.claim.Organization); err != nil {
			return err
		}
	}
	u.settings = by.Publish.In(u.claim.Repository.Name)
	shown := u.claim.PullRequest
	shown.PullRequest = u.now
	u.want = Want(shown, u.review, u.settings, u.p.o.Links, u.host.Limits())
	if u.want.Check.Verdict != codehost.Success {
		return nil
	}
	others, err := u.p.store.SameHead(limited, u.claim.Key(), u.now.HeadSHA)
	u.want.Check = amid(u.want.Check, others)

	return err
}

// recall reads what is known, and brings it together with what is there.
func (u *publication) recall(ctx context.Context, have codehost.Observed) error {
	limited, cancel := u.p.stored(ctx)
	defer cancel()
	before, err := u.p.store.Known(limited, u.claim.Key())
	if err != nil {
		return err
	}
	u.known = Reconcile(before, have)
	if err := u.record(ctx, u.known.since(before)); err != nil {
		return err
	}

	// A check belongs to its commit. Where that is the head of another pull request, which
	// is published for itself, it is not out of date.
	for _, old := range u.known.waiting(u.now.HeadSHA) {
		others, err := u.p.store.SameHead(limited, u.claim.Key(), old.HeadSHA)
		if err != nil {
			return err
		}
		if len(others) > 0 {
			old.Verdict = codehost.Outdated
			u.known.set(old)
		}
	}

	return nil
}

func (u *publication) record(ctx context.Context, k Known) error {
	if len(k.Threads)+len(k.Published) == 0 {
		return nil
	}
	limited, cancel := u.p.stored(ctx)
	defer cancel()
	u.known = u.known.with(k)

	return u.p.store.Record(limited, u.claim, k)
}

// reserve prolongs the lease for what takes some time, and waits for the connection's next
// place. It answers what is wanted by then, and when the time is over: that counts from
// before the lease does, so the lease outlasts it however long the answer took.
func (u *publication) reserve(
	ctx context.Context, r Reservation, takes time.Duration,
) (want int64, until time.Time, err error) {
	until = time.Now().Add(takes)
	r.Lease, r.Patience = takes+u.p.o.Margin, u.p.o.Patience
	limited, cancel := u.p.stored(ctx)
	defer cancel()
	got, err := u.p.store.Reserve(limited, u.claim, r)
	if err != nil {
		return 0, until, err
	}
	if got.Wait > r.Patience {
		return 0, until, &stopped{End: End{After: got.Wait}}
	}
	if got.Wait > 0 {
		timer := time.NewTimer(got.Wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-u.p.stopping.Done():
			return 0, until, &stopped{}
		}
	}

	return got.Want, until.Add(got.Wait), nil
}

// take takes one step, unless something newer is to be published.
func (u *publication) take(ctx context.Context, s codehost.Step) error {
	if u.off[sinkOf(s)] {
		return nil
	}
	if u.p.stopping.Err() != nil {
		return &stopped{}
	}
	want, until, err := u.reserve(ctx, Writing(u.host.Limits()), u.p.o.Write)
	if err != nil {
		return err
	}
	if want != u.claim.Want || !time.Now().Before(until) {
		return errAgain
	}
	if err := u.record(ctx, u.known.about(u.want, s)); err != nil {
		return err
	}

	writing, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	u.steps++
	err = u.host.Do(writing, u.now, s)
	if err == nil {
		u.worked = true
		return u.record(ctx, u.known.taken(u.want, s))
	}
	u.log.Info("a step of a publication failed", "step", string(s.Action), "error", err)

	return u.refused(ctx, writing, s, err)
}

// sinkOf names what a step writes to, where one may be forbidden and others not.
func sinkOf(s codehost.Step) string {
	switch s.Action {
	case codehost.SetCheck, codehost.AddAnnotations:
		return "the check"
	case codehost.AddSummary, codehost.EditSummary:
		return "the summary"
	case codehost.DeleteComment:
		if !s.OnLine {
			return "the summary"
		}
	}

	return "comments"
}
