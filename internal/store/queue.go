package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// held is the condition under which a claim still holds its review. A lease
// that ran out while nobody took the review does no harm: the attempt is the
// fence.
const held = ` WHERE organization = ? AND id = ? AND status = 'in_progress' AND attempt = ?`

// change does fn for the holder of a claim: set is the SET part of the UPDATE
// that proves the claim.
func (s *Store) change(
	ctx context.Context, op string, c review.Claim, fn func(t *tx) (set string, args []any), to review.Status,
) error {
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

// maxBeats bounds the claims of one statement, and so its parameters.
const maxBeats = 500

// Extend implements review.Queue. A lease that ran out while nobody took the
// review is prolonged like any other: see held. It waits for nobody: a review
// that another transaction is changing, as Finish does for as long as a large
// result takes, is left for the next time.
func (s *Store) Extend(ctx context.Context, beats []review.Heartbeat, lease time.Duration) ([]review.Claim, error) {
	var lost []review.Claim
	err := s.write(ctx, "extend leases", allOrganizations, func(t *tx) error {
		lost = nil
		for part := range slices.Chunk(beats, maxBeats) {
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

func (t *tx) extend(
	ctx context.Context, beats []review.Heartbeat, lease time.Duration,
) (lost []review.Claim, err error) {
	values := make([]string, 0, len(beats))
	var args []any
	for _, b := range beats {
		values = append(values, `(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))`)
		args = append(args, b.Claim.Organization, b.Claim.ReviewID, b.Claim.Attempt,
			b.Progress.FilesDone, b.Progress.FilesTotal)
	}

	beat := `WITH beat (organization, id, attempt, done, total) AS (VALUES ` + strings.Join(values, ", ") + `)`
	const valid = ` SELECT r.id, r.attempt FROM beat JOIN reviews r ON r.organization = beat.organization
		AND r.id = beat.id AND r.attempt = beat.attempt AND r.status = 'in_progress'`
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

	valids := make(map[heldKey]bool, len(rows))
	for _, row := range rows {
		valids[row] = true
	}
	for _, b := range beats {
		if !valids[heldKey{b.Claim.ReviewID, b.Claim.Attempt}] {
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
func (s *Store) reap(
	ctx context.Context, op string, maxLost int, which func(t *tx) (condition string, args []any),
) ([]review.Reaped, error) {
	var reaped []review.Reaped
	err := s.write(ctx, op, allOrganizations, func(t *tx) error {
		reaped = nil
		condition, args := which(t)
		var rows []claimed
		if err := t.list(ctx, &rows, `SELECT id, organization, repo, pr_number, ruleset, attempt, failures, lost
			FROM reviews WHERE status = 'in_progress'`+condition+`
			ORDER BY organization, id`+t.skipLocked("reviews"), args...); err != nil {
			return err
		}
		for _, c := range rows {
			to, err := t.lose(ctx, c, maxLost)
			if err != nil {
				return err
			}
			reaped = append(reaped, review.Reaped{ReviewID: c.ReviewID, Status: to})
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	return reaped, nil
}

// lose counts the loss of one review's worker. The review waits again, or fails
// when that was the last time.
func (t *tx) lose(ctx context.Context, c claimed, maxLost int) (to review.Status, err error) {
	to = review.Queued
	set, args := queueSet+`, lost = lost + 1`, []any(nil)
	if c.Lost+1 >= maxLost {
		to = review.Failed
		set, args = failSet+`, lost = lost + 1`, []any{at(t.now), review.CodeWorkerLost, []byte(lostMessage(c.Lost + 1))}
	}

	args = append(args, c.Organization, c.ReviewID, c.Attempt)
	if _, err := t.exec(ctx, `UPDATE reviews SET `+set+held, args...); err != nil {
		return "", err
	}
	if err := t.count(ctx, c.Organization, review.InProgress, to, 1); err != nil {
		return "", err
	}
	if to == review.Queued {
		t.waits()
	}
	t.changed(c.ReviewID)

	return to, nil
}

func lostMessage(times int) string {
	return fmt.Sprintf("The worker that scanned this review was lost %d times, so it is not tried again.", times)
}

// waiting is an organization as Waiting reads it.
type waiting struct {
	Organization string        `db:"name"`
	Queued       int           `db:"queued"`
	Oldest       time.Duration `db:"oldest"`
}

// Waiting implements review.Overview. It looks at one row of reviews for each
// organization that has some waiting.
func (s *Store) Waiting(ctx context.Context) ([]review.Waiting, error) {
	var rows []waiting
	err := s.read(ctx, "look at the queue", allOrganizations, func(t *tx) error {
		return t.list(ctx, &rows, `SELECT o.name, o.queued, COALESCE((? - (SELECT r.created_at FROM reviews r
				WHERE r.organization = o.name AND r.status = 'queued' ORDER BY r.created_at, r.id LIMIT 1)) * 1000, 0) AS oldest
			FROM organizations o WHERE o.queued > 0 ORDER BY o.queued DESC, o.name`, at(t.now))
	})
	if err != nil {
		return nil, err
	}

	out := make([]review.Waiting, len(rows))
	for i, row := range rows {
		out[i] = review.Waiting(row)
	}

	return out, nil
}
