package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// Finish implements review.Queue.
func (s *Store) Finish(ctx context.Context, c review.Claim, o finding.Result) error {
	summary, err := encodeSummary(o.Summary)
	if err != nil {
		return err
	}
	return s.write(ctx, "finish a review", of(c.Organization), func(t *tx) error {
		var done struct {
			Repo       string `db:"repo"`
			StartedAt  stamp  `db:"started_at"`
			PreviousID string `db:"previous_id"`
		}
		err := t.get(ctx, &done, `UPDATE reviews SET status = 'complete', completed_at = ?, lease_expires = NULL,
				head_sha = ?, base_sha = ?, rules_digest = ?, summary = ?, truncated = ?,
				files_done = ?, files_total = ?, previous_id = COALESCE((`+previousQuery+`), '')`+held+`
			RETURNING repo, started_at, previous_id`,
			at(t.now), o.HeadSHA, o.BaseSHA, o.RulesDigest, summary, o.Truncated, o.FilesTotal, o.FilesTotal,
			c.Organization, c.ReviewID, c.Attempt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return review.ErrLeaseLost
		case err != nil:
			return err
		}
		if err := t.insertCompared(ctx, c.ReviewID, done.PreviousID, o); err != nil {
			return err
		}
		if err := t.insertSkips(ctx, c.ReviewID, o.Skips); err != nil {
			return err
		}
		// Whoever names a base as a commit may name any.
		if o.RulesFileValid && c.Commits.Base == "" {
			if err := t.setRulesFile(ctx, c.Organization, done.Repo, o.RulesFile); err != nil {
				return err
			}
		}
		t.changed(c.ReviewID)
		if err := t.count(ctx, c.Organization, review.InProgress, review.Complete, 1); err != nil {
			return err
		}
		// Last, because every review of every organization changes the one row.
		return t.measure(ctx, c.Organization, done.Repo, t.now.Sub(done.StartedAt.Time))
	})
}

// averageOver is how many of the last samples a moving average is mostly made
// of: each new one counts a fifth, and the first few all the same.
const averageOver = 5

// measure adds a scan's duration to the averages of the repository, of the
// organization and of all.
func (t *tx) measure(ctx context.Context, org, repo string, d time.Duration) error {
	us := max(d.Microseconds(), 0) // the clock may have been set back
	for _, of := range [][2]string{{org, repo}, {org, ""}, {"", ""}} {
		if err := t.last(ctx, `INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES (?, ?, ?, 1)
			ON CONFLICT (organization, repo) DO UPDATE SET
				average_us = scan_durations.average_us + (excluded.average_us - scan_durations.average_us) /
					CASE WHEN scan_durations.samples < ? THEN scan_durations.samples + 1 ELSE ? END,
				samples = CASE WHEN scan_durations.samples < ? THEN scan_durations.samples + 1 ELSE scan_durations.samples END`,
			of[0], of[1], us, averageOver, averageOver, averageOver); err != nil {
			return err
		}
	}
	return nil
}

// What an estimate is made of. Claims are fair: of another organization's queue
// at most as many go first as this one has waiting, and one more. Of the
// averages, the repository's row comes last and so wins over the
// organization's.
const (
	queuedQuery = `WITH own AS (SELECT COALESCE(SUM(queued), 0) AS queued FROM organizations WHERE name = ?)
		SELECT CAST(COALESCE(SUM(o.queued), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN o.name = ? OR o.queued <= own.queued THEN o.queued ELSE own.queued + 1 END), 0) AS BIGINT),
			CAST(COALESCE(SUM(o.running), 0) AS BIGINT)
		FROM organizations o CROSS JOIN own`
	averagesQuery = `SELECT organization, average_us FROM scan_durations
		WHERE organization = ? AND repo IN (?, '') OR organization = '' AND repo = '' ORDER BY organization, repo`
)

// Load implements review.Reviews.
func (s *Store) Load(ctx context.Context, org, repo string) (review.Load, error) {
	var out review.Load
	err := s.ask(ctx, "read the load", everyone,
		question{query: queuedQuery, args: []any{org, org}, row: func(rows *sql.Rows) error {
			return rows.Scan(&out.Queued, &out.Ahead, &out.Running)
		}},
		question{query: averagesQuery, args: []any{org, repo}, row: func(rows *sql.Rows) error {
			var of string
			var us int64
			if err := rows.Scan(&of, &us); err != nil {
				return err
			}
			if average := time.Duration(us) * time.Microsecond; of == "" {
				out.Overall = average
			} else {
				out.Average = average
			}
			return nil
		}})
	if err != nil {
		return review.Load{}, err
	}
	return out, nil
}
