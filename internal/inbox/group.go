package inbox

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/publish"
)

// waiting says for what a delivery waits that comes soon, and is no fault.
type waiting string

// Error implements error.
func (w waiting) Error() string { return string(w) }

// notEnded is while a review goes on.
const notEnded = waiting("the review has not ended")

// groupRef is how a merge queue names its branch: by the pull request that it adds.
var groupRef = regexp.MustCompile(`/pr-([1-9][0-9]{0,8})-[0-9a-f]{40}$`)

// mergeGroup scans what a merge queue is about to merge, and says the verdict in the check
// of its head: the queue waits for that. The check is all that is published, and only at
// first while the review has not ended.
func (h *Handler) mergeGroup(
	ctx context.Context, c connection.Connection, host codehost.Host, hint codehost.Hint, first bool,
) error {
	found := groupRef.FindStringSubmatch(hint.Ref)
	if found == nil {
		return ignored("the branch of the merge queue names no pull request")
	}
	number, _ := strconv.ParseInt(found[1], 10, 32) // it has nine digits at most
	p := codehost.PullRequest{
		Repository: hint.Repository, Number: int32(number), HeadSHA: hint.HeadSHA, BaseSHA: hint.BaseSHA,
	}
	switch of, err := h.Hosts.For(ctx, c.Organization, p.Repository.Name); {
	case err != nil:
		return err
	case of != c.ID:
		return ignored("the connection is not for the repository " + p.Repository.Name)
	case hint.Kind == codehost.HintMergeGroupGone:
		return h.Scans.CancelGroup(ctx, c, p)
	}

	if err := h.Scans.QueueGroup(ctx, c, p); err != nil {
		return err
	}

	return h.publishGroup(ctx, c, host, p, first)
}

// publishGroup sets the check of a merge queue's head to what its review says now.
func (h *Handler) publishGroup(
	ctx context.Context, c connection.Connection, host codehost.Host, p codehost.PullRequest, first bool,
) error {
	known := publish.PullRequest{PullRequest: p, Organization: c.Organization, Connection: c.ID}
	r, err := h.PullRequests.ReviewToPublish(ctx, known.Key(), p.HeadSHA)
	if err != nil {
		return err
	}
	by, err := h.Policies.Policy(ctx, c.Organization)
	if err != nil {
		return err
	}
	want := publish.Want(known, r, by.Publish.In(p.Repository.Name), h.Links, host.Limits())
	pending := want.Check.Verdict == codehost.Pending
	switch {
	case want.HideCheck:
		return nil
	case pending && !first:
		return notEnded
	}
	if err := h.place(ctx, c, host.Limits()); err != nil {
		return err
	}
	if err := host.Do(ctx, p, codehost.Step{Action: codehost.SetCheck, Check: want.Check}); err != nil {
		return err
	}
	if pending {
		return notEnded
	}

	return nil
}

// callPatience is the longest wait for a place among the calls of a connection.
const callPatience = 5 * time.Second

// place waits for the connection's next place for a call that writes, among those of the
// publishers.
func (h *Handler) place(ctx context.Context, c connection.Connection, l codehost.Limits) error {
	r := publish.Writing(l)
	r.Patience = callPatience
	wait, err := h.PullRequests.ReserveCall(ctx, c.Organization, c.ID, r)
	if err == nil && wait > callPatience {
		err = &codehost.Error{
			Fault: codehost.Passing, After: wait, Err: errors.New("the host takes no more calls of the connection now"),
		}
	}
	if err != nil {
		return err
	}

	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
