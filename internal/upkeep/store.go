// Package upkeep is what a database needs over the years: reviews that are old
// enough go, and with them what else nobody needs any more; reviews of
// organizations that were removed from the configuration fail; freed space is
// given back.
package upkeep

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// Store is a database in small steps. Each step is one short transaction that
// does a bounded amount of work, and returns whether there may be more to do.
// On a database of several servers one of them works at a time: a step that
// comes while another server takes one does nothing and says that there is no
// more.
type Store interface {
	// PurgeReviews deletes reviews that ended more than keep ago, the oldest
	// first, with their findings and skips. The store's clock says what time it
	// is, but no later than latest: a database's clock that is set wrong must not
	// delete everything.
	PurgeReviews(ctx context.Context, keep time.Duration, latest time.Time) (Deleted, bool, error)
	// PurgeExpired deletes idempotency keys that are expired, and API keys that
	// were revoked or expired more than keepKeys ago.
	PurgeExpired(ctx context.Context, keepKeys time.Duration) (Deleted, bool, error)
	// PurgeRepositories deletes what is remembered of repositories of which
	// there is no review any more: their rules files and scan times.
	PurgeRepositories(ctx context.Context) (Deleted, bool, error)
	// Announce says that this server's configuration names the organizations
	// with which the store was opened.
	Announce(ctx context.Context) error
	// FailRemoved fails waiting reviews of organizations that no server has
	// announced for at least grace, and returns them. Only time in which this
	// server announced without a gap counts: it knows nothing of the rest.
	FailRemoved(ctx context.Context, grace time.Duration, f review.Failure) ([]string, bool, error)
	// FoldLog empties a log that grew because readers kept the database from
	// doing that by itself.
	FoldLog(ctx context.Context) error
	// GiveBack returns a part of the space that is free inside of the database
	// to the file system, where that is a lot of it and the database can do it
	// by and by.
	GiveBack(ctx context.Context) (bool, error)
}

// Deleted counts what was deleted, by the word that logs and metrics have for
// it. Each kind counts rows, but repositories: those count repositories.
type Deleted struct {
	Reviews         int
	Findings        int
	Skips           int
	IdempotencyKeys int
	APIKeys         int
	Repositories    int
}

// Plus is the sum.
func (d Deleted) Plus(o Deleted) Deleted {
	return Deleted{
		Reviews: d.Reviews + o.Reviews, Findings: d.Findings + o.Findings, Skips: d.Skips + o.Skips,
		IdempotencyKeys: d.IdempotencyKeys + o.IdempotencyKeys, APIKeys: d.APIKeys + o.APIKeys,
		Repositories: d.Repositories + o.Repositories,
	}
}

// ByKind is d for metrics.
func (d Deleted) ByKind() map[string]int {
	return map[string]int{
		"reviews": d.Reviews, "findings": d.Findings, "skips": d.Skips,
		"idempotency_keys": d.IdempotencyKeys, "api_keys": d.APIKeys, "repositories": d.Repositories,
	}
}

// CodeOrganizationRemoved is the failure code of a review that waited while
// its organization was removed from the configuration of all servers.
const CodeOrganizationRemoved = "organization_removed"

// The times of upkeep.
const (
	// Grace is how long no server's configuration has named an organization,
	// while another server was there to see that, before it counts as removed. It
	// is longer than a server's restart takes, and than one started by mistake
	// without its configuration file is left running. After an outage of them all
	// each has this long to come back.
	Grace = 10 * time.Minute
	// KeepKeys is how long keys that do not work any more are remembered, so
	// that their users are told why.
	KeepKeys = 90 * 24 * time.Hour
	// clockSlack is how far the database's clock is believed to be ahead of this
	// machine's.
	clockSlack = 24 * time.Hour
)
