package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
)

// PullRequests keeps what is known of pull requests; see publish.Store.
type PullRequests interface {
	GetPullRequest(ctx context.Context, k publish.Key) (publish.PullRequest, error)
	UpsertPullRequest(ctx context.Context, p publish.PullRequest) error
	ReviewToPublish(ctx context.Context, k publish.Key, head string) (*review.Review, error)

	// ForkScans counts the reviews that a connection had made, not longer ago than
	// within, of pull requests that somebody opened from forks.
	ForkScans(ctx context.Context, org, connection, authorID string, within time.Duration) (int, error)

	// NewestPullRequest is the number of the pull request of a connection's repository, by
	// its identifier, that was heard of last; 0 for none.
	NewestPullRequest(ctx context.Context, org, connection, repoID string) (int32, error)

	// ReserveCall takes a place among the calls of a connection, and returns how long it is
	// until then. Over the patience none is taken.
	ReserveCall(ctx context.Context, org, connection string, r publish.Reservation) (time.Duration, error)

	// RenameRepository gives the pull requests of a connection's repository, by its
	// identifier, its new name, and with them the connection's reviews and what was decided.
	// They are published again.
	RenameRepository(ctx context.Context, org, connection string, r codehost.Repository) error
}

// Commands does what people ask for in comments.
type Commands interface {
	// Handle does what a comment asks for, if it is a command of somebody who may give
	// it. A comment that was handled before does nothing.
	Handle(
		ctx context.Context, c connection.Connection, h codehost.Host, p codehost.PullRequest, by codehost.Comment,
	) error
}

// Scanning queues reviews; see Scans.
type Scanning interface {
	Queue(ctx context.Context, c connection.Connection, p codehost.PullRequest, again string) error
	QueueGroup(ctx context.Context, c connection.Connection, p codehost.PullRequest) error
	CancelGroup(ctx context.Context, c connection.Connection, p codehost.PullRequest) error
}

// Handler does what a delivery hints at. Whatever it does can be done again.
type Handler struct {
	Hosts        connection.Hosts
	PullRequests PullRequests
	Scans        Scanning
	Commands     Commands // nil when there are none

	// Policies say what is published, and Links where people find a review.
	Policies review.PolicySource
	Links    publish.Links
}

// ignored is why there is nothing to do about a hint.
type ignored string

// Error implements error.
func (i ignored) Error() string { return string(i) }

// Handle does what the hints of a delivery say. An error of the type ignored says why
// there was nothing to do about the last of them.
func (h *Handler) Handle(ctx context.Context, d Delivery) error {
	c, host, err := h.Hosts.Open(ctx, d.Connection)
	if err != nil {
		return err
	}

	var nothing error
	for _, hint := range d.Hints {
		err := h.hint(ctx, c, host, hint, d)
		if codehost.FaultOf(err) == codehost.Gone { // what the other hints are about may be there
			err = ignored(err.Error())
		}
		if _, ok := err.(ignored); !ok && err != nil { //nolint:errorlint // it is never wrapped
			return h.refused(ctx, c, d, err)
		}
		nothing = err
	}

	return nothing
}

// refused keeps that a host didn't accept a credential, and returns the error. The first
// time a token may just have run out.
func (h *Handler) refused(ctx context.Context, c connection.Connection, d Delivery, err error) error {
	if codehost.FaultOf(err) != codehost.Revoked || d.Attempt == 1 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()

	return errors.Join(err, h.Hosts.Report(ctx, c.Refused(err)))
}

// hint does what one hint says.
func (h *Handler) hint(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint, d Delivery,
) error {
	if hint.Kind == codehost.HintInstallation {
		return h.installation(ctx, c, host, hint)
	}
	if c.State != connection.Active {
		return &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("the connection is %s", c.State)}
	}

	switch hint.Kind {
	case codehost.HintPullRequest:
		if d.Attempt > headLooks {
			hint.HeadSHA = "" // it was a delivery of long ago
		}
		return h.pullRequest(ctx, c, host, hint, "")
	case codehost.HintRerun:
		return h.rerun(ctx, c, host, hint, d.ID)
	case codehost.HintComment:
		return h.comment(ctx, c, host, hint)
	case codehost.HintMergeGroup, codehost.HintMergeGroupGone:
		return h.mergeGroup(ctx, c, host, hint, d.Attempt == 1)
	case codehost.HintRepository:
		return h.renamed(ctx, c, host, hint)
	}

	return ignored(fmt.Sprintf("there is nothing to do about %q", hint.Kind))
}

// headLooks is how often a pull request is read whose head is not the one of the delivery:
// the API may lag behind a push. After that the API is believed, because the delivery may
// be an old one.
const headLooks = 4

// read reads a pull request and keeps what the host says of it. One that was opened again
// is kept as it was before: whoever had its head queued keeps that it is open.
func (h *Handler) read(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint,
) (p codehost.PullRequest, before codehost.State, err error) {
	p, err = host.PullRequest(ctx, hint.Repository, hint.Number)
	if err != nil {
		return p, "", err
	}
	if hint.Kind == codehost.HintPullRequest && !strings.HasPrefix(p.HeadSHA, hint.HeadSHA) {
		return p, "", waiting("the API of the host says another head than the delivery")
	}
	switch of, err := h.Hosts.For(ctx, c.Organization, p.Repository.Name); {
	case err != nil:
		return p, "", err
	case of != c.ID:
		return p, "", ignored("the connection is not for the repository " + p.Repository.Name)
	}
	kept := publish.PullRequest{PullRequest: p, Organization: c.Organization, Connection: c.ID}
	known, err := h.PullRequests.GetPullRequest(ctx, kept.Key())
	if errs.KindOf(err) == errs.NotFound && p.Repository.ID != "" {
		// It can be known by an earlier name: not each host tells of a new one.
		if err := h.PullRequests.RenameRepository(ctx, c.Organization, c.ID, p.Repository); err != nil {
			return p, "", err
		}
		known, err = h.PullRequests.GetPullRequest(ctx, kept.Key())
	}
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return p, "", err
	}

	if known.UpdatedAt.After(p.UpdatedAt) {
		return p, "", ignored("the host said something newer before")
	}

	if reopened(known.State, p) {
		kept.State = known.State
	}

	return p, known.State, h.PullRequests.UpsertPullRequest(ctx, kept)
}

// renamed asks the host for the name of a repository by reading a pull request that is
// known of it, because the name in a delivery may be an old one.
func (h *Handler) renamed(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint,
) (err error) {
	if hint.Repository.ID == "" {
		return ignored("the host doesn't say which repository was renamed")
	}
	hint.Repository.Name = cmp.Or(hint.Name, hint.Repository.Name)
	hint.Number, err = h.PullRequests.NewestPullRequest(ctx, c.Organization, c.ID, hint.Repository.ID)
	if err == nil && hint.Number == 0 {
		return ignored("no pull request of the repository is known")
	}
	if err == nil {
		_, _, err = h.read(ctx, c, host, hint)
	}

	return err
}

// reopened tells whether a pull request that was kept in a state before is open again.
func reopened(before codehost.State, p codehost.PullRequest) bool {
	return p.State == codehost.Open && before != "" && before != codehost.Open
}

// pullRequest looks at a pull request and queues its head; once more when it was opened
// again or when again names a cause.
func (h *Handler) pullRequest(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint, again string,
) error {
	p, before, err := h.read(ctx, c, host, hint)
	if err != nil || p.State != codehost.Open {
		return err
	}
	if again == "" && reopened(before, p) {
		again = "reopened " + p.UpdatedAt.UTC().String()
	}

	if err := h.queue(ctx, c, p, again); err != nil || !reopened(before, p) {
		return err
	}

	return h.PullRequests.UpsertPullRequest(ctx,
		publish.PullRequest{PullRequest: p, Organization: c.Organization, Connection: c.ID})
}

// queue queues the head of a pull request, unless its author had too many scans.
func (h *Handler) queue(ctx context.Context, c connection.Connection, p codehost.PullRequest, again string) error {
	if p.Fork {
		if err := h.mayScan(ctx, c, p); err != nil {
			return err
		}
	}

	return h.Scans.Queue(ctx, c, p, again)
}

// Anybody may open pull requests from a fork, so MaxForkScans is how many scans of one
// author there are in an hour. What is over that waits.
const (
	MaxForkScans = 60

	forkTime = time.Hour
	forkWait = 10 * time.Minute
)

// mayScan fails while the author of a pull request from a fork has had too many scans.
func (h *Handler) mayScan(ctx context.Context, c connection.Connection, p codehost.PullRequest) error {
	n, err := h.PullRequests.ForkScans(ctx, c.Organization, c.ID, p.AuthorID, forkTime)
	if err == nil && n >= MaxForkScans {
		err = &codehost.Error{
			Fault: codehost.Passing, After: forkWait,
			Err: fmt.Errorf("the author had %d scans from forks in an hour, which is the most", MaxForkScans),
		}
	}

	return err
}

// rerun scans a pull request again, which a check of a fork names by its head only.
func (h *Handler) rerun(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint, id string,
) error {
	again := "rerun " + id
	if hint.Number > 0 {
		return h.pullRequest(ctx, c, host, hint, again)
	}

	open, err := host.OpenPullRequests(ctx, hint.Repository, c.CreatedAt.AddDate(-10, 0, 0))
	if err != nil {
		return err
	}
	found := error(ignored("no open pull request has the head " + hint.HeadSHA))
	for _, p := range open {
		if p.HeadSHA != hint.HeadSHA {
			continue
		}
		hint.Number, found = p.Number, nil
		if err := h.pullRequest(ctx, c, host, hint, again); err != nil {
			return err
		}
	}

	return found
}

// comment hands a comment on. The pull request may have been unknown: what is kept and not
// scanned lets no other one of its commit pass. Where its author had too many scans, the
// delivery that tells of it waits, and not the comment.
func (h *Handler) comment(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint,
) error {
	if h.Commands == nil {
		return ignored("there are no commands")
	}
	access, err := host.Access(ctx)
	if err != nil {
		return err
	}
	if access.ID != "" && access.ID == hint.Comment.AuthorID {
		return ignored("the comment is ours")
	}
	p, _, err := h.read(ctx, c, host, hint)
	if err != nil {
		return err
	}
	if p.State == codehost.Open {
		if err := h.queue(ctx, c, p, ""); err != nil && codehost.FaultOf(err) != codehost.Passing {
			return err
		}
	}

	return h.Commands.Handle(ctx, c, host, p, hint.Comment)
}

// installation asks the host whether the connection's account lets it work now, because
// a delivery may be old, and keeps that. Another account says nothing about it, so it is
// only shown, unless there is something else to show.
func (h *Handler) installation(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint,
) error {
	of, ok := host.(codehost.Installable)
	switch {
	case !strings.EqualFold(hint.Account, c.Account):
		if c.State == connection.Active && c.Reason == "" {
			c.Reason = fmt.Sprintf("The App has an installation by the account %q, which is ignored: the connection is for %q.",
				hint.Account, c.Account)
			if err := h.Hosts.Report(ctx, c); err != nil {
				return err
			}
		}
		return ignored(fmt.Sprintf("the connection is for the account %q, not for %q", c.Account, hint.Account))
	case !ok || c.AppID == 0:
		return ignored("the connection works without an installation")
	}

	now, err := of.Installed(ctx)
	switch {
	case codehost.FaultOf(err) == codehost.Gone:
		c.State = connection.Broken
		c.Reason = "The App was uninstalled from the account " + c.Account + "; install it again."
	case err != nil:
		return err
	case now.Suspended:
		c = c.Refused(codehost.ErrSuspended)
	default:
		c.State, c.Reason = connection.Active, ""
	}
	c.Installation = now.ID

	return h.Hosts.Report(ctx, c)
}
