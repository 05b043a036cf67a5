package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// finishing is what completing a review has to know of it.
type finishing struct {
	Repo       string    `db:"repo"`
	StartedAt  timestamp `db:"started_at"`
	PreviousID string    `db:"previous_id"` // the review to compare with; '' for none
}

// finishingColumns are those of finishing. The last one is of the latest earlier
// review of the same pull request.
const finishingColumns = `repo, started_at, COALESCE((SELECT p.id FROM reviews p
	WHERE p.organization = reviews.organization AND p.repo = reviews.repo AND p.pr_number = reviews.pr_number
		AND p.ruleset = reviews.ruleset AND p.status = 'complete'
		AND (p.created_at, p.id) < (reviews.created_at, reviews.id)
	ORDER BY p.created_at DESC, p.id DESC LIMIT 1), '') AS previous_id`

// Finish implements review.Queue.
func (s *Store) Finish(ctx context.Context, c review.Claim, o finding.Result) error {
	summary, err := encodeSummary(o.Summary)
	if err != nil {
		return err
	}

	return s.write(ctx, "finish a review", of(c.Organization), func(t *tx) error {
		var r finishing
		err := t.get(ctx, &r, `SELECT `+finishingColumns+` FROM reviews`+held+t.lockOf("reviews"),
			c.Organization, c.ReviewID, c.Attempt)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return review.ErrLeaseLost
		case err != nil:
			return err
		}

		findings, err := t.insertCompared(ctx, c.ReviewID, r.PreviousID, o)
		if err != nil {
			return err
		}
		if err := t.insertSkips(ctx, c.ReviewID, o.Skips); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE reviews SET status = 'complete', completed_at = ?, lease_expires = NULL,
				head_sha = ?, base_sha = ?, rules_digest = ?, summary = ?, truncated = ?,
				files_done = ?, files_total = ?, previous_id = ?, finding_rows = ?, skip_rows = ?`+held,
			at(t.now), o.HeadSHA, o.BaseSHA, o.RulesDigest, summary, o.Truncated,
			o.FilesTotal, o.FilesTotal, r.PreviousID, findings, len(o.Skips),
			c.Organization, c.ReviewID, c.Attempt); err != nil {
			return err
		}
		// Whoever names a base as a commit may name any.
		if o.RulesFileValid && c.Commits.Base == "" {
			if err := t.setRulesFile(ctx, c.Organization, r.Repo, o.RulesFile); err != nil {
				return err
			}
		}
		t.changed(c.ReviewID)
		if err := t.count(ctx, c.Organization, review.InProgress, review.Complete, 1); err != nil {
			return err
		}

		// Last, because every review of every organization changes the one row.
		return t.measure(ctx, c.Organization, r.Repo, t.now.Sub(r.StartedAt.Time))
	})
}

// insertCompared inserts all findings of a review, compared with the previous
// one, "" for none. It returns how many there are. What was fixed is copied,
// because retention deletes the previous review first.
func (t *tx) insertCompared(ctx context.Context, id, previousID string, o finding.Result) (rows int, err error) {
	var previous finding.Result
	if previousID != "" {
		// Retention may just have deleted them, and then all is new.
		all, err := t.findings(ctx, previousID)
		if err != nil {
			return 0, err
		}
		previous.Findings, previous.Suppressed = all[finding.KindReported], all[finding.KindSuppressed]
	}
	compared := finding.Compare(previous, o)

	fixed := make([]finding.Finding, len(compared.Fixed))
	for i, position := range compared.Fixed {
		fixed[i] = previous.Findings[position]
		fixed[i].State = finding.StateFixed
	}
	for _, part := range []struct {
		kind     finding.Kind
		findings []finding.Finding
	}{
		{finding.KindReported, withStates(o.Findings, compared.Reported)},
		{finding.KindSuppressed, withStates(o.Suppressed, compared.Suppressed)},
		{finding.KindFixed, fixed},
	} {
		if err := t.insertFindings(ctx, id, part.kind, part.findings); err != nil {
			return 0, err
		}
		rows += len(part.findings)
	}

	return rows, nil
}

// withStates copies findings with their states.
func withStates(findings []finding.Finding, states []finding.State) []finding.Finding {
	out := make([]finding.Finding, len(findings))
	for i, f := range findings {
		f.State = states[i]
		out[i] = f
	}

	return out
}

// averageOver is how many of the last samples a moving average is mostly made
// of: each new one counts a fifth, and the first few all the same.
const averageOver = 5

// measure adds a scan's duration to the averages of the repository, of the
// organization and of all.
func (t *tx) measure(ctx context.Context, org, repo string, d time.Duration) error {
	us := max(d.Microseconds(), 0) // the clock may have been set back
	_, err := t.exec(ctx, `INSERT INTO scan_durations (organization, repo, average_us, samples)
		VALUES (?, ?, ?, 1), (?, '', ?, 1), ('', '', ?, 1)
		ON CONFLICT (organization, repo) DO UPDATE SET
			average_us = scan_durations.average_us + (excluded.average_us - scan_durations.average_us) /
				CASE WHEN scan_durations.samples < ? THEN scan_durations.samples + 1 ELSE ? END,
			samples = CASE WHEN scan_durations.samples < ? THEN scan_durations.samples + 1 ELSE scan_durations.samples END`,
		org, repo, us, org, us, us, averageOver, averageOver, averageOver)

	return err
}
