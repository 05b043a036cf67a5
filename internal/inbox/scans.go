package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// Reviews is what the inbox needs of review.Service.
type Reviews interface {
	Create(ctx context.Context, org string, in review.CreateInput) (review.Accepted, error)
	Cancel(ctx context.Context, org, id string) (review.Review, error)
	List(ctx context.Context, org string, in review.ListInput) ([]review.Review, string, error)
}

// Scans queues reviews of pull requests as their host has them.
type Scans struct{ reviews Reviews }

// NewScans returns the scans that a service queues.
func NewScans(reviews Reviews) *Scans { return &Scans{reviews} }

// Actor is who makes the changes that a connection causes.
func Actor(connectionID string) audit.Actor {
	return audit.Actor{Kind: audit.Connection, ID: connectionID}
}

// Queue cancels what a connection queued for older heads of a pull request, and queues
// its head unless the last scan of that was against the same base: the last one is what is
// published. With again, which names the cause, it is queued anyhow, once for each cause.
// Its errors are those of review.Service.Create.
func (s *Scans) Queue(ctx context.Context, c connection.Connection, p codehost.PullRequest, again string) error {
	ctx = audit.NewContext(ctx, Actor(c.ID))
	known, err := s.newest(ctx, c, p)
	if err != nil {
		return err
	}

	commits, newest := commitsOf(p), ""
	if len(known) > 0 {
		newest = known[0].ID
	}
	last := slices.IndexFunc(known, func(r review.Review) bool {
		return r.Commits.Head == commits.Head && !isGroup(r)
	})
	scanned := last >= 0 && known[last].Commits == commits && known[last].Status != review.Canceled
	for _, r := range known {
		if r.Commits != commits && !r.Status.Final() && !isGroup(r) {
			if err := s.cancel(ctx, c.Organization, r.ID); err != nil {
				return err
			}
		}
	}
	if scanned && again == "" {
		return nil
	}

	// Whoever does the same at the same time gets the same review. When the last one was
	// canceled, or of another base, newest makes it another key.
	cause := again
	if again == "" {
		cause = newest
	}
	_, err = s.reviews.Create(ctx, c.Organization, review.CreateInput{
		Repo: p.Repository.Name, PRNumber: p.Number, Commits: commits,
		IdempotencyKey: keyOf(c.ID, p.Repository.Name, strconv.Itoa(int(p.Number)),
			commits.Head, commits.BaseRef, cause),
	})

	return err
}

// newest are the newest reviews of a pull request that its connection queued: only they
// are published, and others may make any number.
func (s *Scans) newest(ctx context.Context, c connection.Connection, p codehost.PullRequest) ([]review.Review, error) {
	known, _, err := s.reviews.List(ctx, c.Organization, review.ListInput{
		Selection: review.Selection{Repo: p.Repository.Name, PRNumber: p.Number, CreatedBy: Actor(c.ID).String()},
		PageSize:  review.MaxPageSize,
	})

	return known, err
}

// commitsOf are the head of a pull request and the branch that it is to be merged into,
// which has the rules of now.
func commitsOf(p codehost.PullRequest) finding.Commits {
	return finding.Commits{Head: p.HeadSHA, BaseRef: p.BaseRef}
}

// QueueGroup queues what a merge queue is about to merge, the commits from the base of p to
// its head, once.
func (s *Scans) QueueGroup(ctx context.Context, c connection.Connection, p codehost.PullRequest) error {
	ctx = audit.NewContext(ctx, Actor(c.ID))
	_, err := s.reviews.Create(ctx, c.Organization, review.CreateInput{
		Repo: p.Repository.Name, PRNumber: p.Number, Commits: finding.Commits{Head: p.HeadSHA, Base: p.BaseSHA},
		IdempotencyKey: keyOf(c.ID, p.Repository.Name, "merge group", p.HeadSHA, p.BaseSHA),
	})

	return err
}

// CancelGroup cancels what QueueGroup queued.
func (s *Scans) CancelGroup(ctx context.Context, c connection.Connection, p codehost.PullRequest) error {
	ctx = audit.NewContext(ctx, Actor(c.ID))
	known, err := s.newest(ctx, c, p)
	for _, r := range known {
		if isGroup(r) && r.Commits.Head == p.HeadSHA && !r.Status.Final() {
			if err := s.cancel(ctx, c.Organization, r.ID); err != nil {
				return err
			}
		}
	}

	return err
}

// isGroup reports whether a review of a connection is of a merge queue: the others name
// the branch that they are to be merged into.
func isGroup(r review.Review) bool { return r.Commits.Base != "" }

// cancel cancels a review unless it has ended meanwhile.
func (s *Scans) cancel(ctx context.Context, org, id string) error {
	_, err := s.reviews.Cancel(ctx, org, id)
	switch errs.KindOf(err) {
	case errs.FailedPrecondition, errs.NotFound:
		return nil
	}

	return err
}

// keyOf is an idempotency key for a cause.
func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))

	return "inbox-" + hex.EncodeToString(sum[:])
}
