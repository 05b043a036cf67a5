package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
	ClaimedAt    stamp         `db:"started_at"`
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

// Claim implements review.Queue. Of each organization only the oldest reviews
// that may be claimed are looked at, so that a long queue does not make it slow.
// On SQLite organizations_turn yields the organizations in their order, so that
// many idle ones don't, either; Postgres looks at all that have reviews waiting.
func (s *Store) Claim(ctx context.Context, worker string, lease time.Duration) (*review.Claim, error) {
	if s.dialect.atOnce {
		return s.claimAtOnce(ctx, worker, lease)
	}
	var out *review.Claim
	err := s.write(ctx, "claim a review", everyone, func(t *tx) error {
		var id string
		err := t.get(ctx, &id, claimQuery, at(t.now))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		var c claimed
		if err := t.get(ctx, &c, `UPDATE reviews SET status = 'in_progress', attempt = attempt + 1, worker = ?,
				lease_expires = ?, started_at = ?
			WHERE id = ?
			RETURNING `+claimedColumns+`, (? - created_at) * 1000 AS waited`,
			worker, at(t.now.Add(lease)), at(t.now), id, at(t.now)); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE organizations SET queued = queued - 1, running = running + 1, served_at = ?
			WHERE name = ?`, at(t.now), c.Organization); err != nil {
			return err
		}
		out = c.claim()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// held is the condition under which a claim still holds its review. A lease
// that ran out while nobody took the review does no harm: the attempt is the
// fence.
const held = ` WHERE organization = ? AND id = ? AND status = 'in_progress' AND attempt = ?`

// change does fn for the holder of a claim: set is the SET part of the UPDATE
// that proves the claim. fn may be nil.
func (s *Store) change(ctx context.Context, op string, c review.Claim, fn func(t *tx) (set string, args []any), to review.Status) error {
	return s.write(ctx, op, of(c.Organization), func(t *tx) error {
		set, args := fn(t)
		n, err := t.exec(ctx, `UPDATE reviews SET `+set+held, append(args, c.Organization, c.ReviewID, c.Attempt)...)
		switch {
		case err != nil:
			return err
		case n == 0:
			return review.ErrLeaseLost
		case to == review.Queued:
			t.waits()
		}
		t.changed(c.ReviewID)
		return t.count(ctx, c.Organization, review.InProgress, to, 1)
	})
}

// extendAtOnce bounds the claims of one statement, and so its parameters.
const extendAtOnce = 500

// Extend implements review.Queue. A lease that ran out while nobody took the
// review is prolonged like any other: see held. It waits for nobody: a review
// that another transaction is changing, as Finish does for as long as a large
// result takes, is left for the next time.
func (s *Store) Extend(ctx context.Context, beats []review.Heartbeat, lease time.Duration) ([]review.Claim, error) {
	var lost []review.Claim
	err := s.write(ctx, "extend leases", everyone, func(t *tx) error {
		lost = nil
		for part := range slices.Chunk(beats, extendAtOnce) {
			gone, err := t.extend(ctx, part, lease)
			if err != nil {
				return err
			}
			lost = append(lost, gone...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

func (t *tx) extend(ctx context.Context, beats []review.Heartbeat, lease time.Duration) (lost []review.Claim, err error) {
	values := make([]string, 0, len(beats))
	var args []any
	for _, b := range beats {
		values = append(values, `(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))`)
		args = append(args, b.Claim.Organization, b.Claim.ReviewID, b.Claim.Attempt, b.Progress.FilesDone, b.Progress.FilesTotal)
	}
	beat := `WITH beat (organization, id, attempt, done, total) AS (VALUES ` + strings.Join(values, ", ") + `)`
	const valid = ` SELECT r.id, r.attempt FROM beat JOIN reviews r ON r.organization = beat.organization AND r.id = beat.id
		AND r.attempt = beat.attempt AND r.status = 'in_progress'`
	var rows []heldKey
	if err := t.list(ctx, &rows, beat+`, free AS (`+valid+t.skipLocked("r")+`)
		UPDATE reviews SET lease_expires = ?, files_done = beat.done, files_total = beat.total
		FROM beat JOIN free ON free.id = beat.id WHERE reviews.id = beat.id
		RETURNING reviews.id, reviews.attempt`, append(slices.Clip(args), at(t.now.Add(lease)))...); err != nil {
		return nil, err
	}
	if len(rows) < len(beats) && t.dialect.lockRow != "" {
		// Which of the others are only locked?
		rows = nil
		if err := t.list(ctx, &rows, beat+valid, args...); err != nil {
			return nil, err
		}
	}
	kept := make(map[heldKey]bool, len(rows))
	for _, row := range rows {
		kept[row] = true
	}
	for _, b := range beats {
		if !kept[heldKey{b.Claim.ReviewID, b.Claim.Attempt}] {
			lost = append(lost, b.Claim)
		}
	}
	return lost, nil
}

// heldKey tells claims apart.
type heldKey struct {
	ID      string `db:"id"`
	Attempt int    `db:"attempt"`
}

// Fail implements review.Queue.
func (s *Store) Fail(ctx context.Context, c review.Claim, f review.Failure) error {
	return s.change(ctx, "fail a review", c, func(t *tx) (string, []any) {
		return failSet, []any{at(t.now), f.Code, []byte(f.Message)}
	}, review.Failed)
}

const (
	failSet  = `status = 'failed', completed_at = ?, lease_expires = NULL, failure_code = ?, failure_message = ?`
	queueSet = `status = 'queued', lease_expires = NULL, files_done = 0, files_total = 0`
)

// Retry implements review.Queue.
func (s *Store) Retry(ctx context.Context, c review.Claim, delay time.Duration) error {
	return s.change(ctx, "put a review back to be retried", c, func(t *tx) (string, []any) {
		return queueSet + `, failures = failures + 1, not_before = ?`, []any{at(t.now.Add(delay))}
	}, review.Queued)
}

// Release implements review.Queue.
func (s *Store) Release(ctx context.Context, c review.Claim, delay time.Duration) error {
	return s.change(ctx, "hand a review back", c, func(t *tx) (string, []any) {
		return queueSet + `, not_before = ?`, []any{at(t.now.Add(delay))}
	}, review.Queued)
}

// ReapExpired implements review.Queue.
func (s *Store) ReapExpired(ctx context.Context, maxLost int) ([]review.Reaped, error) {
	return s.reap(ctx, "reap leases", maxLost, func(t *tx) (string, []any) {
		return ` AND lease_expires <= ?`, []any{at(t.now)}
	})
}

// ReleaseLeases does what ReapExpired does to every lease, run out or not. It
// is for the start of the one server of a database, which has no workers yet:
// whatever is in progress was lost with the process before. It fails on a
// store that was not opened with Exclusive, where the leases may be others'.
func (s *Store) ReleaseLeases(ctx context.Context, maxLost int) ([]review.Reaped, error) {
	if !s.exclusive {
		return nil, errors.New("release leases: the database is not this process's alone")
	}
	// The condition holds for all of them. It is there so that the index of
	// leases is used, and not every review that there ever was is looked at.
	return s.reap(ctx, "release leases", maxLost, func(*tx) (string, []any) {
		return ` AND lease_expires <= ?`, []any{int64(math.MaxInt64)}
	})
}

// reap counts a loss for reviews in progress, and queues or fails them.
func (s *Store) reap(ctx context.Context, op string, maxLost int, which func(t *tx) (condition string, args []any)) ([]review.Reaped, error) {
	var reaped []review.Reaped
	err := s.write(ctx, op, everyone, func(t *tx) error {
		reaped = nil
		condition, args := which(t)
		var rows []claimed
		if err := t.list(ctx, &rows, `SELECT id, organization, repo, pr_number, ruleset, attempt, failures, lost
			FROM reviews WHERE status = 'in_progress'`+condition+` ORDER BY organization, id`+t.skipLocked("reviews"), args...); err != nil {
			return err
		}
		for _, c := range rows {
			to, set, values := review.Queued, queueSet+`, lost = lost + 1`, []any(nil)
			if c.Lost+1 >= maxLost {
				to, set = review.Failed, failSet+`, lost = lost + 1`
				values = []any{at(t.now), review.CodeWorkerLost, []byte(lostMessage(c.Lost + 1))}
			}
			if _, err := t.exec(ctx, `UPDATE reviews SET `+set+held, append(values, c.Organization, c.ReviewID, c.Attempt)...); err != nil {
				return err
			}
			if err := t.count(ctx, c.Organization, review.InProgress, to, 1); err != nil {
				return err
			}
			if to == review.Queued {
				t.waits()
			}
			t.changed(c.ReviewID)
			reaped = append(reaped, review.Reaped{ReviewID: c.ReviewID, Status: to})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return reaped, nil
}

func lostMessage(times int) string {
	return fmt.Sprintf("The worker that scanned this review was lost %d times, so it is not tried again.", times)
}
