package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// claimed is a review as a claim returns it.
type claimed struct {
	ReviewID     string        `db:"id"`
	Organization string        `db:"organization"`
	Repo         string        `db:"repo"`
	PRNumber     int32         `db:"pr_number"`
	Ruleset      string        `db:"ruleset"`
	Attempt      int           `db:"attempt"`
	Failures     int           `db:"failures"`
	Lost         int           `db:"lost"`
	TraceParent  string        `db:"traceparent"`
	Waited       time.Duration `db:"waited"`
	CommitsGiven bool          `db:"commits_given"`
	HeadSHA      string        `db:"head_sha"`
	BaseSHA      string        `db:"base_sha"`
	BaseRef      string        `db:"base_ref"`
	ClaimedAt    timestamp     `db:"started_at"`
}

// claimedColumns are those of claimed, less what is computed.
const claimedColumns = `id, organization, repo, pr_number, ruleset, attempt, failures, lost, traceparent,
	commits_given, head_sha, base_sha, base_ref, started_at`

// claim makes the domain's claim of it.
func (c claimed) claim() *review.Claim {
	return &review.Claim{
		ReviewID: c.ReviewID, Organization: c.Organization, Repo: c.Repo, PRNumber: c.PRNumber, Ruleset: c.Ruleset,
		Commits: commitsOf(c.CommitsGiven, c.HeadSHA, c.BaseSHA, c.BaseRef),
		Attempt: c.Attempt, Failures: c.Failures, Lost: c.Lost, TraceParent: c.TraceParent, Waited: c.Waited,
		Today: c.ClaimedAt.Format(time.DateOnly),
	}
}

// commitsOf are the commits that a request named, as they are stored.
func commitsOf(given bool, head, base, baseRef string) finding.Commits {
	switch {
	case !given:
		return finding.Commits{}
	case baseRef != "":
		return finding.Commits{Head: head, BaseRef: baseRef}
	}

	return finding.Commits{Head: head, Base: base}
}

// claimQuery chooses what to claim. Only the last two terms of its order are
// sorted, and only among organizations that are equal in the first two.
const claimQuery = `SELECT r.id
	FROM organizations o JOIN reviews r ON r.id =
		(SELECT w.id FROM reviews w
		 WHERE w.organization = o.name AND w.status = 'queued' AND w.not_before <= ?
		 ORDER BY w.created_at, w.id LIMIT 1)
	WHERE o.queued > 0 AND (o.max_running = 0 OR o.running < o.max_running)
	ORDER BY o.running, o.served_at, r.created_at, r.id LIMIT 1`

// claiming is who claims.
type claiming struct {
	worker string
	lease  time.Duration
	now    timestamp // of a test's clock; NULL for the database's own
}

// Claim implements review.Queue. Of each organization only the oldest reviews
// that may be claimed are looked at, so that a long queue does not make it slow.
// On SQLite organizations_turn yields the organizations in their order, so that
// many idle ones don't, either; Postgres looks at all that have reviews waiting.
func (s *Store) Claim(ctx context.Context, worker string, lease time.Duration) (*review.Claim, error) {
	var out *review.Claim
	by := claiming{worker: worker, lease: lease, now: s.clock.parameter()}
	err := s.write(ctx, "claim a review", allOrganizations, func(t *tx) error {
		c, err := s.dialect.claim(ctx, t, by)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		out = c.claim()
		t.changed(c.ReviewID)

		return nil
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// claimSQLite chooses and takes a review. There is one writer, so nobody comes in
// between.
func claimSQLite(ctx context.Context, t *tx, by claiming) (c claimed, err error) {
	var id string
	if err := t.get(ctx, &id, claimQuery, at(t.now)); err != nil {
		return c, err
	}

	if err := t.get(ctx, &c, `UPDATE reviews SET status = 'in_progress', attempt = attempt + 1, worker = ?,
			lease_expires = ?, started_at = ?
		WHERE id = ?
		RETURNING `+claimedColumns+`, (? - created_at) * 1000 AS waited`,
		by.worker, at(t.now.Add(by.lease)), at(t.now), id, at(t.now)); err != nil {
		return c, err
	}
	_, err = t.exec(ctx, `UPDATE organizations SET queued = queued - 1, running = running + 1, served_at = ?
		WHERE name = ?`, at(t.now), c.Organization)

	return c, err
}

// claimsLock is the advisory lock that makes claims wait for each other. A fair
// choice depends on all claims before it.
const claimsLock = `SELECT pg_advisory_xact_lock(7077)`

// claimStatement is all of a claim on Postgres. Some more candidates than one are
// looked at, in their order, and the first one is taken that nobody else has
// locked, so that a review that is being canceled holds up no claim. The time is
// not the begin of the transaction, which may have waited for the lock.
//
// Claims whose worker was not heard of for unheard do not count as running when
// it is decided whose turn it is: else an organization whose reviews were on a
// lost server would get nothing, until their leases have run out, while others
// have something waiting.
const claimStatement = `WITH clock (now) AS MATERIALIZED (SELECT COALESCE(CAST(? AS BIGINT), ` + pgNow + `)),
	doubtful AS MATERIALIZED (SELECT r.organization, count(*) AS n FROM reviews r CROSS JOIN clock
		WHERE r.status = 'in_progress' AND r.lease_expires <= clock.now + ? GROUP BY r.organization),
	candidates AS MATERIALIZED (
		(SELECT o.running, o.served_at, r.created_at, r.id
			FROM organizations o CROSS JOIN clock` + claimCandidates + `
			ORDER BY o.running, o.served_at, r.created_at, r.id LIMIT 8)
		UNION ALL
		(SELECT o.running - doubtful.n, o.served_at, r.created_at, r.id
			FROM doubtful JOIN organizations o ON o.name = doubtful.organization CROSS JOIN clock` + claimCandidates + `)),
	chosen AS (SELECT r.id FROM candidates c JOIN reviews r ON r.id = c.id
		WHERE r.status = 'queued'
		ORDER BY c.running, c.served_at, c.created_at, c.id LIMIT 1 FOR UPDATE OF r SKIP LOCKED),
	claimed AS (UPDATE reviews r SET status = 'in_progress', attempt = r.attempt + 1, worker = ?,
			lease_expires = clock.now + ?, started_at = clock.now
		FROM chosen CROSS JOIN clock WHERE r.id = chosen.id
		RETURNING r.*),
	counted AS (UPDATE organizations o SET queued = o.queued - 1, running = o.running + 1, served_at = clock.now
		FROM claimed CROSS JOIN clock WHERE o.name = claimed.organization)
	SELECT ` + claimedColumns + `, (clock.now - created_at) * 1000 AS waited
	FROM claimed CROSS JOIN clock`

// claimCandidates are the oldest waiting reviews of organizations o.
const claimCandidates = `
			JOIN LATERAL (SELECT w.id, w.created_at FROM reviews w
				WHERE w.organization = o.name AND w.status = 'queued' AND w.not_before <= clock.now
				ORDER BY w.created_at, w.id LIMIT 4) r ON TRUE
			WHERE o.queued > 0 AND (o.max_running = 0 OR o.running < o.max_running)`

// unheard is how long a worker says nothing until its claims are doubtful. A
// living one prolongs them every second.
const unheard = 5 * time.Second

// claimPostgres chooses and takes a review, in its turn after other claims.
func claimPostgres(ctx context.Context, t *tx, by claiming) (c claimed, err error) {
	if _, err := t.exec(ctx, claimsLock); err != nil {
		return c, err
	}

	err = t.get(ctx, &c, claimStatement, by.now, (by.lease - unheard).Microseconds(),
		by.worker, by.lease.Microseconds())

	return c, err
}
