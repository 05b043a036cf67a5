package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/webhook"
)

// claimed is a review as a claim returns it.
type claimed struct {
	reviewRow
	Failures    int    `db:"failures"`
	Lost        int    `db:"lost"`
	TraceParent string `db:"traceparent"`
}

// claimedColumns are those of claimed.
const claimedColumns = reviewColumns + `, failures, lost, traceparent`

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

// claimsLock is the advisory lock that makes claims on Postgres wait for each
// other. A fair choice depends on all claims before it.
const claimsLock = `SELECT pg_advisory_xact_lock(7077)`

// claimQuery chooses what to claim: first the organization, then its next review of
// that priority. Only the last three terms of the order of organizations are sorted on
// SQLite, and only among those that are equal in the first two. On Postgres, reviews
// that somebody has locked are passed over, and the status is asked again, because
// Postgres looks at a row once more that changed meanwhile. See claimArgs.
const (
	claimQuery         = claimFrom + `JOIN reviews w ON w.id = (SELECT n.id ` + claimNext + `)` + claimOrder
	claimQueryPostgres = claimFrom + `JOIN LATERAL (SELECT n.* ` + claimNext + `) w ON TRUE` + claimOrder

	claimFrom = `SELECT r.id FROM reviews r
		WHERE (r.organization, r.priority) = (SELECT o.name, w.priority FROM organizations o `
	claimNext = `FROM reviews n
			WHERE n.organization = o.name AND n.status = 'queued' AND n.not_before <= ?
			ORDER BY n.priority, n.due_at, n.id LIMIT 1`
	claimOrder = `
			WHERE o.queued > 0 AND (o.max_running = 0 OR o.running < o.max_running)
				AND (o.name <> ? OR NOT EXISTS (SELECT 1 FROM organizations x WHERE x.name <> ? AND x.served_at > 0))
				AND w.due_at <= ?
			ORDER BY o.running, o.served_at, w.priority, w.due_at, w.id LIMIT 1
		) AND r.status = 'queued' AND r.not_before <= ? AND r.due_at <= ?
		ORDER BY r.due_at, r.id LIMIT 1`
)

// claimArgs are the parameters of claimQuery. A review must be due at a time.
func claimArgs(now timestamp, except string, due any) []any {
	return []any{now, except, except, due, now, due}
}

// Claim implements review.Queue. A long queue does not make it slow, because of
// each organization only the oldest are looked at. On SQLite organizations_turn yields
// the organizations in their order, so that many idle ones don't, either. A
// review that somebody cancels at that moment is passed over.
func (s *Store) Claim(ctx context.Context, by review.Claiming) (out *review.Claim, err error) {
	err = s.write(ctx, "claim a review", allOrganizations, func(t *tx) error {
		out = nil
		if t.dialect.postgres {
			if _, err := t.exec(ctx, claimsLock); err != nil {
				return err
			}
			t.now = s.clock.now() // it may have waited
		}

		id, err := t.next(ctx, by.Except)
		if id == "" || err != nil {
			return err
		}

		var c claimed
		if err := t.get(ctx, &c, `UPDATE reviews SET status = 'in_progress', attempt = attempt + 1, worker = ?,
			lease_expires = ?, started_at = ? WHERE id = ? RETURNING `+claimedColumns,
			by.Worker, at(t.now.Add(by.Lease)), at(t.now), id); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE organizations SET queued = queued - 1, running = running + 1, served_at = ?
			WHERE name = ?`, at(t.now), c.Organization); err != nil {
			return err
		}
		t.tell(changedEvent + c.ID)

		out = &review.Claim{
			ReviewID: c.ID, Organization: c.Organization, Repo: c.Repo, PRNumber: c.PRNumber, Ruleset: c.Ruleset,
			Commits: commitsOf(c.CommitsGiven, c.HeadSHA, c.BaseSHA, c.BaseRef),
			FailOn:  rule.Severity(c.FailOn), RequireBase: c.RequireBase, CreatedBy: c.CreatedBy,
			Attempt: c.Attempt, Failures: c.Failures, Lost: c.Lost, TraceParent: c.TraceParent,
			Waited: max(t.now.Sub(c.CreatedAt.Time), 0), Today: t.now.Format(time.DateOnly),
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// next is the review to claim, "" when there is none: one that is due, or else
// one that is not.
func (t *tx) next(ctx context.Context, except string) (id string, err error) {
	query := claimQuery
	if t.dialect.postgres {
		query = claimQueryPostgres
	}

	for _, due := range []any{at(t.now), int64(math.MaxInt64)} {
		err = t.get(ctx, &id, query+t.lockFree("r"), claimArgs(at(t.now), except, due)...)
		if !errors.Is(err, sql.ErrNoRows) {
			return id, err
		}
	}

	return "", nil
}

// held is the condition under which a claim still holds its review. A lease
// that ran out while nobody took the review does no harm: the attempt is the
// fence.
const held = ` WHERE organization = ? AND id = ? AND status = 'in_progress' AND attempt = ?`

// leave ends the attempt of a claim, whose review gets another state, and has a final
// one published; review.ErrLeaseLost when the claim is lost.
func (t *tx) leave(ctx context.Context, c review.Claim, to review.Status, set string, args ...any) error {
	var repo string // by its name of now
	err := t.get(ctx, &repo, `UPDATE reviews SET `+set+held+` RETURNING repo`,
		append(args, c.Organization, c.ReviewID, c.Attempt)...)
	if errors.Is(err, sql.ErrNoRows) {
		return review.ErrLeaseLost
	}
	if err != nil {
		return err
	}
	if to == review.Queued {
		t.tell(waitsEvent)
	}
	t.tell(changedEvent + c.ReviewID)
	// The organization's row comes before the pull request's, everywhere.
	err = t.count(ctx, c.Organization, review.InProgress, to)
	if err == nil && to.Final() {
		err = t.wantPublication(ctx, c.Organization, repo, c.PRNumber)
	}
	if err == nil && to == review.Failed {
		err = t.announceReview(ctx, c.Organization, webhook.ReviewFailed, c.ReviewID)
	}

	return err
}

// count moves one of the organization's reviews from one state's count to
// another's. Every change of a state calls it in its transaction. Where a scan
// ends under a cap, another may begin.
func (t *tx) count(ctx context.Context, org string, from, to review.Status) error {
	change := func(s review.Status) int {
		switch s {
		case from:
			return -1
		case to:
			return 1
		}

		return 0
	}

	var next bool
	err := t.get(ctx, &next, `UPDATE organizations SET queued = queued + ?, running = running + ? WHERE name = ?
		RETURNING max_running > 0 AND queued > 0`, change(review.Queued), change(review.InProgress), org)
	if err == nil && next && from == review.InProgress {
		t.tell(waitsEvent)
	}

	return err
}

// Extend implements review.Queue. A lease that ran out while nobody took the
// review is prolonged like any other: see held. It waits for nobody: a review
// that another transaction has locked is left for the next time.
func (s *Store) Extend(
	ctx context.Context, beats []review.Heartbeat, lease time.Duration,
) (lost []review.Claim, err error) {
	err = s.write(ctx, "extend leases", allOrganizations, func(t *tx) error {
		lost = nil
		for _, b := range beats {
			c := b.Claim
			n, err := t.exec(ctx, `UPDATE reviews SET lease_expires = ?, files_done = ?, files_total = ?
				WHERE id = (SELECT id FROM reviews`+held+t.lockFree("reviews")+`)`,
				at(t.now.Add(lease)), b.Progress.FilesDone, b.Progress.FilesTotal, c.Organization, c.ReviewID, c.Attempt)
			if err == nil && n == 0 { // lost, unless it is only locked
				err = t.get(ctx, &n, `SELECT COUNT(*) FROM reviews`+held, c.Organization, c.ReviewID, c.Attempt)
			}
			if err != nil {
				return err
			}
			if n == 0 {
				lost = append(lost, c)
			}
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	return lost, nil
}

const (
	failSet  = `status = 'failed', completed_at = ?, lease_expires = NULL, failure_code = ?, failure_message = ?`
	queueSet = `status = 'queued', lease_expires = NULL, files_done = 0, files_total = 0`
)

// Fail implements review.Queue.
func (s *Store) Fail(ctx context.Context, c review.Claim, f review.Failure) error {
	return s.write(ctx, "fail a review", of(c.Organization), func(t *tx) error {
		return t.leave(ctx, c, review.Failed, failSet, at(t.now), f.Code, []byte(f.Message))
	})
}

// Retry implements review.Queue.
func (s *Store) Retry(ctx context.Context, c review.Claim, delay time.Duration) error {
	return s.write(ctx, "put a review back to be retried", of(c.Organization), func(t *tx) error {
		return t.leave(ctx, c, review.Queued, queueSet+`, failures = failures + 1, not_before = ?`, at(t.now.Add(delay)))
	})
}

// Release implements review.Queue.
func (s *Store) Release(ctx context.Context, c review.Claim, delay time.Duration) error {
	return s.write(ctx, "hand a review back", of(c.Organization), func(t *tx) error {
		return t.leave(ctx, c, review.Queued, queueSet+`, not_before = ?`, at(t.now.Add(delay)))
	})
}

// ReapExpired implements review.Queue.
func (s *Store) ReapExpired(ctx context.Context, maxLost int) ([]review.Reaped, error) {
	return s.reap(ctx, maxLost, func(t *tx) int64 { return t.now.UnixMicro() })
}

// ReleaseLeases does what ReapExpired does to every lease, run out or not. It
// is for the start of the one server of a database, which has no workers yet:
// whatever is in progress was lost with the process before.
func (s *Store) ReleaseLeases(ctx context.Context, maxLost int) ([]review.Reaped, error) {
	return s.reap(ctx, maxLost, func(*tx) int64 { return math.MaxInt64 })
}

// reap counts a loss for reviews in progress whose leases end until a time, and
// queues or fails them.
func (s *Store) reap(ctx context.Context, maxLost int, until func(*tx) int64) (reaped []review.Reaped, err error) {
	err = s.write(ctx, "reap leases", allOrganizations, func(t *tx) error {
		reaped = nil
		var rows []claimed
		if err := t.list(ctx, &rows, `SELECT `+claimedColumns+` FROM reviews
			WHERE status = 'in_progress' AND lease_expires <= ?
			ORDER BY organization, id`+t.lockFree("reviews"), until(t)); err != nil {
			return err
		}

		for _, c := range rows {
			claim := review.Claim{
				Organization: c.Organization, ReviewID: c.ID, Attempt: c.Attempt, Repo: c.Repo, PRNumber: c.PRNumber,
			}
			to, set, args := review.Queued, queueSet, []any(nil)
			if c.Lost+1 >= maxLost {
				message := fmt.Sprintf("The worker that scanned this review was lost %d times, so it is not tried again.", maxLost)
				to, set, args = review.Failed, failSet, []any{at(t.now), review.CodeWorkerLost, []byte(message)}
			}
			if err := t.leave(ctx, claim, to, set+`, lost = lost + 1`, args...); err != nil {
				return err
			}
			reaped = append(reaped, review.Reaped{ReviewID: c.ID, Status: to})
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	return reaped, nil
}

// averageOver is how many of the last samples a moving average is mostly made
// of: each new one counts a fifth, and the first few all the same.
const averageOver = 5

// measure adds a scan's duration, and how much it looked at, to the averages of the
// repository, of the organization and of all.
func (t *tx) measure(ctx context.Context, org, repo string, d time.Duration, bytes int64) error {
	us := max(d.Microseconds(), 0) // the clock may have been set back
	divisor := `CASE WHEN scan_durations.samples < ? THEN scan_durations.samples + 1 ELSE ? END`
	_, err := t.exec(ctx, `INSERT INTO scan_durations (organization, repo, average_us, average_bytes, samples)
		VALUES (?, ?, ?, ?, 1), (?, '', ?, ?, 1), ('', '', ?, ?, 1)
		ON CONFLICT (organization, repo) DO UPDATE SET
			average_us = scan_durations.average_us + (excluded.average_us - scan_durations.average_us) / `+divisor+`,
			average_bytes = scan_durations.average_bytes +
				(excluded.average_bytes - scan_durations.average_bytes) / `+divisor+`,
			samples = CASE WHEN scan_durations.samples < ? THEN scan_durations.samples + 1 ELSE scan_durations.samples END`,
		org, repo, us, bytes, org, us, bytes, us, bytes,
		averageOver, averageOver, averageOver, averageOver, averageOver)

	return err
}

// Waiting implements review.Queue. It looks at one row of reviews for each
// organization that has some waiting.
func (s *Store) Waiting(ctx context.Context) (list []review.Waiting, err error) {
	err = s.read(ctx, "look at the queue", allOrganizations, func(t *tx) error {
		return t.list(ctx, &list, `SELECT o.name AS organization, o.queued,
				COALESCE((? - (SELECT r.created_at FROM reviews r WHERE r.organization = o.name AND r.status = 'queued'
					ORDER BY r.created_at, r.id LIMIT 1)) * 1000, 0) AS oldest
			FROM organizations o WHERE o.queued > 0 ORDER BY o.queued DESC, o.name`, at(t.now))
	})

	return list, err
}
