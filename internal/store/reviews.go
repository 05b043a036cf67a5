package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/webhook"
)

// queueFullRetry is when a caller may try again after QUEUE_FULL. Scans take
// seconds, so places become free in that time.
const queueFullRetry = 10 * time.Second

// reviewColumns are those of reviewRow.
const reviewColumns = `id, organization, repo, pr_number, ruleset, status, created_at, started_at,
	completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code,
	failure_message, attempt, files_done, files_total, commits_given, base_ref, fail_on, previous_id,
	finding_rows, skip_rows, require_base, outcome, not_looked_at, base_found_by, looked_at_files, looked_at_lines,
	looked_at_rules, generated_files, minified_files, vendored_files, priority, created_by,
	excluded_files, switched_off, publish, head_title, head_author,
	new_total, fixed_total, suppressed_total, ` + openColumns

// reviewRow is a review as it is stored.
type reviewRow struct {
	ID             string                  `db:"id"`
	Organization   string                  `db:"organization"`
	Repo           string                  `db:"repo"`
	PRNumber       int32                   `db:"pr_number"`
	Ruleset        string                  `db:"ruleset"`
	Status         review.Status           `db:"status"`
	CreatedAt      timestamp               `db:"created_at"`
	StartedAt      timestamp               `db:"started_at"`
	CompletedAt    timestamp               `db:"completed_at"`
	HeadSHA        string                  `db:"head_sha"`
	BaseSHA        string                  `db:"base_sha"`
	RulesDigest    string                  `db:"rules_digest"`
	Summary        jsonOf[finding.Summary] `db:"summary"`
	Truncated      bool                    `db:"truncated"`
	FailureCode    sql.NullString          `db:"failure_code"`
	FailureMessage sql.NullString          `db:"failure_message"`
	Attempt        int                     `db:"attempt"`
	FilesDone      int                     `db:"files_done"`
	FilesTotal     int                     `db:"files_total"`
	CommitsGiven   bool                    `db:"commits_given"`
	BaseRef        string                  `db:"base_ref"`
	FailOn         severity                `db:"fail_on"`
	PreviousID     string                  `db:"previous_id"`
	CreatedBy      string                  `db:"created_by"`
	FindingRows    int                     `db:"finding_rows"` // of all kinds
	SkipRows       int                     `db:"skip_rows"`
	RequireBase    bool                    `db:"require_base"`
	Outcome        finding.Outcome         `db:"outcome"` // "" until complete
	NotLookedAt    int                     `db:"not_looked_at"`
	BaseFoundBy    finding.BaseFoundBy     `db:"base_found_by"`
	LookedAtFiles  int                     `db:"looked_at_files"`
	LookedAtLines  int                     `db:"looked_at_lines"`
	LookedAtRules  int                     `db:"looked_at_rules"`
	GeneratedFiles int                     `db:"generated_files"`
	MinifiedFiles  int                     `db:"minified_files"`
	VendoredFiles  int                     `db:"vendored_files"`
	ExcludedFiles  int                     `db:"excluded_files"`

	SwitchedOff jsonOf[[]finding.SwitchedOff] `db:"switched_off"`
	Publish     jsonOf[rule.Publish]          `db:"publish"`
	Priority    int                           `db:"priority"`

	HeadTitle       string `db:"head_title"`
	HeadAuthor      string `db:"head_author"`
	NewTotal        int    `db:"new_total"`
	FixedTotal      int    `db:"fixed_total"`
	SuppressedTotal int    `db:"suppressed_total"`
	openRow
}

// priorities are those of reviews in their order, which is how they are stored.
func priorities() []review.Priority { return []review.Priority{review.Normal, review.Low} }

// review makes the domain's review of the row, without findings and skips.
func (r reviewRow) review() review.Review {
	out := review.Review{
		ID: r.ID, Organization: r.Organization, Repo: r.Repo, PRNumber: r.PRNumber, Ruleset: r.Ruleset, Status: r.Status,
		HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest,
		CreatedAt: r.CreatedAt.Time, StartedAt: r.StartedAt.Time, CompletedAt: r.CompletedAt.Time,
		Summary: r.Summary.value, Truncated: r.Truncated, Attempt: r.Attempt,
		Progress:   review.Progress{FilesDone: r.FilesDone, FilesTotal: r.FilesTotal},
		Commits:    commitsOf(r.CommitsGiven, r.HeadSHA, r.BaseSHA, r.BaseRef),
		PreviousID: r.PreviousID, FailOn: rule.Severity(r.FailOn), BaseFoundBy: r.BaseFoundBy,
		Priority: priorities()[r.Priority], CreatedBy: r.CreatedBy,
		LookedAt: finding.LookedAt{
			Files: r.LookedAtFiles, AddedLines: r.LookedAtLines, Rules: r.LookedAtRules,
			Generated: r.GeneratedFiles, Minified: r.MinifiedFiles, Vendored: r.VendoredFiles,
		},
		SwitchedOff: r.SwitchedOff.value, Publish: r.Publish.value,
		HeadTitle: r.HeadTitle, HeadAuthor: r.HeadAuthor,
		NewTotal: r.NewTotal, FixedTotal: r.FixedTotal, SuppressedTotal: r.SuppressedTotal,
	}
	if r.ExcludedFiles > 0 {
		out.Exclusions = finding.Exclusions{Files: r.ExcludedFiles, By: rule.FilePath}
	}
	if r.Outcome != "" {
		out.Open = r.open()
		out.Verdict = &finding.Verdict{Outcome: r.Outcome, Threshold: out.FailOn, NotLookedAt: r.NotLookedAt}
	}
	if r.FailureCode.Valid {
		out.Failure = &review.Failure{Code: r.FailureCode.String, Message: r.FailureMessage.String}
	}

	return out
}

// reviewNotFound does not repeat the identifier: it may be a key that somebody put in its place.
func reviewNotFound() error {
	return errs.New(errs.NotFound, errs.ReasonReviewNotFound,
		"There is no such review; its id is the review_id that POST /v1/reviews answered.")
}

// CreateReview implements review.Reviews.
func (s *Store) CreateReview(ctx context.Context, n review.NewReview, maxQueued int) (review.Accepted, error) {
	var accepted review.Accepted
	err := s.write(ctx, "create a review", of(n.Organization), func(t *tx) error {
		accepted = review.Accepted{ReviewID: n.ID, EstimatedMS: n.EstimatedMS}
		if n.Idempotency != nil {
			earlier, err := t.claimIdempotencyKey(ctx, n)
			if err != nil {
				return err
			}
			if earlier != nil {
				accepted = *earlier
				return nil
			}
		}

		changed, err := t.exec(ctx, `INSERT INTO organizations (name, queued) VALUES (?, 1)
			ON CONFLICT (name) DO UPDATE SET queued = organizations.queued + 1 WHERE organizations.queued < ?`,
			n.Organization, maxQueued)
		if err != nil {
			return err
		}
		if changed == 0 {
			return queueFull(maxQueued)
		}
		t.tell(waitsEvent)

		title, author, err := t.headOf(ctx, n.Organization, n.Repo, n.PRNumber)
		if err != nil {
			return err
		}
		due := t.now
		if n.Large {
			due = due.Add(review.LargeDelay)
		}

		_, err = t.exec(ctx, `INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at,
				traceparent, commits_given, head_sha, base_sha, base_ref, fail_on, require_base, priority, due_at,
				created_by, head_title, head_author, search)
			VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			n.ID, n.Organization, n.Repo, n.PRNumber, n.Ruleset, at(t.now), n.TraceParent,
			n.Commits != finding.Commits{}, n.Commits.Head, n.Commits.Base, n.Commits.BaseRef,
			severity(cmp.Or(n.FailOn, review.DefaultFailOn)), n.RequireBase,
			max(slices.Index(priorities(), n.Priority), 0), at(due), n.CreatedBy,
			title, author, searchable(n.Repo, n.PRNumber, title, author))
		if err != nil {
			return err
		}

		if err := t.announceReview(ctx, n.Organization, webhook.ReviewQueued, n.ID); err != nil {
			return err
		}

		return t.wantPublication(ctx, n.Organization, n.Repo, n.PRNumber)
	})
	if err != nil {
		return review.Accepted{}, err
	}

	return accepted, nil
}

func queueFull(maxQueued int) error {
	e := errs.New(errs.Unavailable, errs.ReasonQueueFull,
		"The organization has %d reviews waiting, which is the most. Try again when some are done.", maxQueued)
	e.RetryAfter = queueFullRetry
	return e
}

// GetReview implements review.Reviews. Only complete reviews have findings and
// skips.
func (s *Store) GetReview(ctx context.Context, org, id string) (out review.Review, err error) {
	err = s.read(ctx, "read a review", of(org), func(t *tx) error {
		out, err = t.wholeReview(ctx, org, id)

		return err
	})
	if err != nil {
		return review.Review{}, err
	}

	return out, nil
}

// wholeReview reads a review with its findings and skips.
func (t *tx) wholeReview(ctx context.Context, org, id string) (review.Review, error) {
	row, err := t.review(ctx, org, id)
	if err != nil {
		return review.Review{}, err
	}
	out := row.review()
	if row.FindingRows > 0 {
		all, err := t.findings(ctx, id)
		if err != nil {
			return review.Review{}, err
		}
		out.Findings = all[finding.KindReported]
		out.Suppressed, out.Fixed = all[finding.KindSuppressed], all[finding.KindFixed]
		out.Observed = all[finding.KindObserved]
	}
	if row.SkipRows > 0 {
		out.Skips, err = t.skips(ctx, id)
	}

	return out, err
}

// GetReviewState implements review.Reviews.
func (s *Store) GetReviewState(ctx context.Context, org, id string) (review.Review, error) {
	var row reviewRow
	err := s.read(ctx, "read a review's state", of(org), func(t *tx) (err error) {
		row, err = t.review(ctx, org, id)

		return err
	})
	if err != nil {
		return review.Review{}, err
	}

	return row.review(), nil
}

// review reads the row of a review; NotFound when there is none.
func (t *tx) review(ctx context.Context, org, id string) (row reviewRow, err error) {
	err = t.get(ctx, &row, `SELECT `+reviewColumns+` FROM reviews WHERE organization = ? AND id = ?`, org, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = reviewNotFound()
	}

	return row, err
}

// CancelReview implements review.Reviews.
func (s *Store) CancelReview(ctx context.Context, org, id string) (review.Review, error) {
	var row reviewRow
	err := s.write(ctx, "cancel a review", of(org), func(t *tx) error {
		// The state before decides what is counted, so nobody may change it
		// between these two statements.
		var before review.Status
		err := t.get(ctx, &before, `SELECT status FROM reviews WHERE organization = ? AND id = ?`+t.lock("reviews"), org, id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return reviewNotFound()
		case err != nil:
			return err
		case before.Final():
			return errs.New(errs.FailedPrecondition, errs.ReasonReviewFinished,
				"The review %q is %s already and can't be canceled.", id, before)
		}

		if err := t.get(ctx, &row, `UPDATE reviews SET status = 'canceled', completed_at = ?, lease_expires = NULL
			WHERE organization = ? AND id = ? RETURNING `+reviewColumns, at(t.now), org, id); err != nil {
			return err
		}
		t.tell(canceledEvent + id)
		if err := t.count(ctx, org, before, review.Canceled); err != nil {
			return err
		}

		return t.wantPublication(ctx, org, row.Repo, row.PRNumber)
	})
	if err != nil {
		return review.Review{}, err
	}

	return row.review(), nil
}

// Load implements review.Reviews. Claims are fair: of another organization's
// queue at most as many go first as this one has waiting, and one more. Of the
// averages, the repository's wins over the organization's.
func (s *Store) Load(ctx context.Context, org, repo string) (l review.Load, err error) {
	err = s.read(ctx, "read the load", allOrganizations, func(t *tx) error {
		return t.get(ctx, &l, `WITH mine AS
				(SELECT COALESCE(SUM(queued), 0) AS queued FROM organizations WHERE name = ?)
			SELECT CAST(COALESCE(SUM(CASE WHEN o.name = ? OR o.queued <= mine.queued THEN o.queued
					ELSE mine.queued + 1 END), 0) AS BIGINT) AS ahead,
				CAST(COALESCE(SUM(o.running), 0) AS BIGINT) AS running,
				COALESCE((SELECT average_us FROM scan_durations WHERE organization = ? AND repo IN (?, '')
					ORDER BY repo DESC LIMIT 1), 0) * 1000 AS average,
				COALESCE((SELECT average_us FROM scan_durations WHERE organization = '' AND repo = ''), 0) * 1000 AS overall,
				COALESCE((SELECT average_bytes FROM scan_durations WHERE organization = ? AND repo = ?), 0) AS bytes
			FROM organizations o CROSS JOIN mine`, org, org, org, repo, org, repo)
	})

	return l, err
}

// claimIdempotencyKey stores n's idempotency key with n's answer, or returns
// the answer that the key has already. The same key with another request is
// Aborted.
func (t *tx) claimIdempotencyKey(ctx context.Context, n review.NewReview) (*review.Accepted, error) {
	// One statement decides between creations at the same time. It also
	// replaces a key that is expired.
	changed, err := t.exec(ctx, `INSERT INTO idempotency_keys
		(organization, idem_key, request_hash, review_id, estimated_ms, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (organization, idem_key) DO UPDATE SET request_hash = excluded.request_hash,
			review_id = excluded.review_id, estimated_ms = excluded.estimated_ms, expires_at = excluded.expires_at
		WHERE idempotency_keys.expires_at <= ?`,
		n.Organization, n.Idempotency.Key, n.Idempotency.RequestHash, n.ID, n.EstimatedMS,
		at(t.now.Add(n.Idempotency.TTL)), at(t.now))
	if err != nil || changed > 0 {
		return nil, err
	}
	var earlier struct {
		RequestHash string `db:"request_hash"`
		ReviewID    string `db:"review_id"`
		EstimatedMS int32  `db:"estimated_ms"`
	}
	err = t.get(ctx, &earlier, `SELECT request_hash, review_id, estimated_ms FROM idempotency_keys
		WHERE organization = ? AND idem_key = ?`, n.Organization, n.Idempotency.Key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errors.New("an idempotency key is taken and not there")
	case err != nil:
		return nil, err
	case earlier.RequestHash != n.Idempotency.RequestHash:
		return nil, errs.New(errs.Aborted, errs.ReasonIdempotencyConflict,
			"The idempotency key was used with another request. Use a new key for a new request.")
	}

	return &review.Accepted{ReviewID: earlier.ReviewID, EstimatedMS: earlier.EstimatedMS, Replayed: true}, nil
}
