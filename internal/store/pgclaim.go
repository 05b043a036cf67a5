package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// claimsLock is the advisory lock that makes claims wait for each other. A fair
// choice depends on all claims before it.
const claimsLock = `SELECT pg_advisory_xact_lock(7077)`

// claimStatement is all of a claim, in one message: whoever dies or is frozen in the
// middle of a claim keeps nobody from claiming. Some more candidates than one
// are looked at, in their order, and the first one is taken that nobody else
// has locked, so that a review that is being canceled holds up no claim.
//
// Claims whose worker was not heard of for unheard do not count as running when
// it is decided whose turn it is: else an organization whose reviews were on a
// lost server would get nothing, until their leases have run out, while others
// have something waiting.
const claimStatement = `WITH clock (now) AS MATERIALIZED (SELECT /* clock */),
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
	SELECT ` + claimedColumns + `, (clock.now - created_at) * 1000
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

// claimAtOnce is Claim in one message.
func (s *Store) claimAtOnce(ctx context.Context, worker string, lease time.Duration) (*review.Claim, error) {
	text := claimStatement
	var args []any
	if s.clock.fixed != nil {
		text = strings.Replace(text, "/* clock */", "CAST(? AS BIGINT)", 1)
		args = append(args, at(s.clock.now()))
	} else {
		// Not the begin of the transaction, which may have waited for the lock.
		text = strings.Replace(text, "/* clock */", pgClock, 1)
		text = strings.Replace(text, "now()", "clock_timestamp()", 1)
	}
	args = append(args, (lease - unheard).Microseconds())
	args = append(args, worker, lease.Microseconds())

	var c claimed
	err := s.askAtOnce(ctx, asking{scope: everyone, write: true}, []question{
		{query: claimsLock},
		{query: text, args: args, row: func(rows *sql.Rows) error {
			return rows.Scan(&c.ReviewID, &c.Organization, &c.Repo, &c.PRNumber, &c.Ruleset, &c.Attempt,
				&c.Failures, &c.Lost, &c.TraceParent, &c.CommitsGiven, &c.HeadSHA, &c.BaseSHA, &c.BaseRef, &c.ClaimedAt, &c.Waited)
		}},
	})
	switch {
	case err != nil:
		return nil, s.translate(ctx, "claim a review", err)
	case c.ReviewID == "":
		return nil, nil
	}
	s.tell(event{changedEvent, c.ReviewID})
	return c.claim(), nil
}
