package publish

import (
	"context"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

// Connections reads connections.
type Connections interface {
	// ReadConnection reads a connection of an organization; NotFound.
	ReadConnection(ctx context.Context, org, id string) (connection.Stored, error)
}

// CheckPages says where people see what a review found without it, so that a job of a
// CI service need not show it once more.
type CheckPages struct {
	store       Store
	connections Connections
	policies    PolicySource
}

// NewCheckPages returns the pages of the pull requests of a store.
func NewCheckPages(store Store, connections Connections, policies PolicySource) *CheckPages {
	return &CheckPages{store: store, connections: connections, policies: policies}
}

// Page is the page on which a GitHub App shows all findings of the commit that a review
// scanned, with the repository's rules, as annotations of its check; "" where none does.
// Other hosts show less than a job does: a status, or comments on a few lines.
func (c *CheckPages) Page(ctx context.Context, org string, r review.Review) (string, error) {
	if r.Status != review.Complete || r.Ruleset != r.Repo {
		return "", nil
	}
	p, err := c.store.GetPullRequest(ctx, Key{Organization: org, Repo: r.Repo, Number: r.PRNumber})
	if err != nil {
		return "", unlessNone(err)
	}
	if p.HeadSHA != r.HeadSHA || p.Publication.Problem != "" || p.URL == "" {
		return "", nil
	}
	by, err := c.connections.ReadConnection(ctx, org, p.Connection)
	if err != nil {
		return "", unlessNone(err)
	}
	if by.Kind != codehost.GitHub || by.AppID == 0 || by.State != connection.Active {
		return "", nil
	}
	rules, err := c.policies.Policy(ctx, org)
	if err != nil || !rules.Publish.In(r.Repo).Check {
		return "", err
	}

	return p.URL + "/checks", nil
}

// unlessNone is nil for what there is not.
func unlessNone(err error) error {
	if errs.KindOf(err) == errs.NotFound {
		return nil
	}

	return err
}
