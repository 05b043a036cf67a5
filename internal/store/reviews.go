package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// queueFullRetry is when a caller may try again after QUEUE_FULL. Scans take
// seconds, so places become free in that time.
const queueFullRetry = 10 * time.Second

// reviewColumns are those of reviewRow.
const reviewColumns = `id, organization, repo, pr_number, ruleset, status, created_at, started_at,
	completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code,
	failure_message, attempt, files_done, files_total, commits_given, base_ref, fail_on, previous_id, has_apart`

// reviewRow is a review as it is stored.
type reviewRow struct {
	ID             string         `db:"id"`
	Organization   string         `db:"organization"`
	Repo           string         `db:"repo"`
	PRNumber       int32          `db:"pr_number"`
	Ruleset        string         `db:"ruleset"`
	Status         string         `db:"status"`
	CreatedAt      stamp          `db:"created_at"`
	StartedAt      stamp          `db:"started_at"`
	CompletedAt    stamp          `db:"completed_at"`
	HeadSHA        string         `db:"head_sha"`
	BaseSHA        string         `db:"base_sha"`
	RulesDigest    string         `db:"rules_digest"`
	Summary        string         `db:"summary"`
	Truncated      bool           `db:"truncated"`
	FailureCode    sql.NullString `db:"failure_code"`
	FailureMessage sql.NullString `db:"failure_message"`
	Attempt        int            `db:"attempt"`
	FilesDone      int            `db:"files_done"`
	FilesTotal     int            `db:"files_total"`
	CommitsGiven   bool           `db:"commits_given"`
	BaseRef        string         `db:"base_ref"`
	FailOn         string         `db:"fail_on"`
	PreviousID     string         `db:"previous_id"`
	HasApart       bool           `db:"has_apart"`
}

// review makes the domain's review of the row, without findings and skips.
func (r reviewRow) review() (review.Review, error) {
	summary, err := decodeSummary(r.Summary)
	if err != nil {
		return review.Review{}, fmt.Errorf("review %s: %w", r.ID, err)
	}
	out := review.Review{
		ID: r.ID, Organization: r.Organization, Repo: r.Repo, PRNumber: r.PRNumber,
		Ruleset: r.Ruleset, Status: review.Status(r.Status),
		HeadSHA: r.HeadSHA, BaseSHA: r.BaseSHA, RulesDigest: r.RulesDigest,
		CreatedAt: r.CreatedAt.Time, StartedAt: r.StartedAt.Time, CompletedAt: r.CompletedAt.Time,
		Summary: summary, Truncated: r.Truncated, Attempt: r.Attempt,
		Progress:   review.Progress{FilesDone: r.FilesDone, FilesTotal: r.FilesTotal},
		Commits:    commitsOf(r.CommitsGiven, r.HeadSHA, r.BaseSHA, r.BaseRef),
		PreviousID: r.PreviousID,
	}
	var ok bool
	if out.FailOn, ok = rule.ParseSeverity(r.FailOn); !ok {
		return review.Review{}, fmt.Errorf("review %s: unknown severity %q", r.ID, r.FailOn)
	}
	if r.FailureCode.Valid {
		out.Failure = &review.Failure{Code: r.FailureCode.String, Message: r.FailureMessage.String}
	}
	return out, nil
}

// encodeSummary writes counts by the words of the severities.
func encodeSummary(s finding.Summary) (string, error) {
	words := make(map[string]int, len(s))
	for severity, n := range s {
		if severity.String() == "" {
			return "", fmt.Errorf("summary: %d is no severity", severity)
		}
		words[severity.String()] = n
	}
	b, err := json.Marshal(words)
	return string(b), err
}

func decodeSummary(text string) (finding.Summary, error) {
	var words map[string]int
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	out := make(finding.Summary, len(words))
	for word, n := range words {
		severity, ok := rule.ParseSeverity(word)
		if !ok {
			return nil, fmt.Errorf("summary: unknown severity %q", word)
		}
		out[severity] = n
	}
	return out, nil
}

func reviewNotFound(id string) error {
	return errs.New(errs.NotFound, errs.ReasonReviewNotFound, "There is no review %q.", id)
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
		// Counting first takes the organization's row, so that creations at the
		// same time can't all see the last free place.
		if err := t.lastUpTo(ctx, maxQueued, `INSERT INTO organizations (name, queued) VALUES (?, 1)
			ON CONFLICT (name) DO UPDATE SET queued = organizations.queued + 1
			RETURNING queued`, n.Organization); err != nil {
			return err
		}
		t.waits()
		given := n.Commits != finding.Commits{}
		return t.last(ctx, `INSERT INTO reviews
			(id, organization, repo, pr_number, ruleset, status, created_at, traceparent,
				commits_given, head_sha, base_sha, base_ref, fail_on)
			VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?)`,
			n.ID, n.Organization, n.Repo, n.PRNumber, n.Ruleset, at(t.now), n.TraceParent,
			given, n.Commits.Head, n.Commits.Base, n.Commits.BaseRef, cmp.Or(n.FailOn, review.DefaultFailOn).String())
	})
	switch {
	case errors.Is(err, errOverLimit):
		return review.Accepted{}, queueFull(maxQueued)
	case err != nil:
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
// skips; for all others there is nothing to be found.
func (s *Store) GetReview(ctx context.Context, org, id string) (review.Review, error) {
	var (
		row                         reviewRow
		findings, suppressed, fixed []finding.Finding
		skips                       []finding.Skip
	)
	key := []any{org, id}
	err := s.ask(ctx, "read a review", of(org),
		question{query: reviewQuery, args: key, row: row.read},
		question{query: findingsQuery + s.dialect.ofReview + byPosition, args: key, row: readFinding(&findings)},
		question{query: skipsQuery + s.dialect.ofReview + byPosition, args: key, row: readSkip(&skips)},
		question{
			query: apartQuery + s.dialect.ofReview + byPosition, args: key, row: readApart(&suppressed, &fixed),
			idle: func() bool { return !row.HasApart },
		})
	if err != nil {
		return review.Review{}, err
	}
	out, err := row.existing(id)
	if err != nil {
		return review.Review{}, err
	}
	out.Findings, out.Suppressed, out.Fixed, out.Skips = findings, suppressed, fixed, skips
	return out, nil
}

// GetReviewState implements review.Reviews.
func (s *Store) GetReviewState(ctx context.Context, org, id string) (review.Review, error) {
	var row reviewRow
	if err := s.ask(ctx, "read a review's state", of(org), question{query: reviewQuery, args: []any{org, id}, row: row.read}); err != nil {
		return review.Review{}, err
	}
	return row.existing(id)
}

// reviewQuery reads a review by organization and identifier.
const reviewQuery = `SELECT ` + reviewColumns + ` FROM reviews WHERE organization = ? AND id = ?`

// read reads the answer to reviewQuery. The row stays empty when there is none.
func (r *reviewRow) read(rows *sql.Rows) error {
	return rows.Scan(&r.ID, &r.Organization, &r.Repo, &r.PRNumber, &r.Ruleset, &r.Status, &r.CreatedAt, &r.StartedAt,
		&r.CompletedAt, &r.HeadSHA, &r.BaseSHA, &r.RulesDigest, &r.Summary, &r.Truncated, &r.FailureCode,
		&r.FailureMessage, &r.Attempt, &r.FilesDone, &r.FilesTotal, &r.CommitsGiven, &r.BaseRef, &r.FailOn, &r.PreviousID, &r.HasApart)
}

// existing is the review of a row that was read, or the error that there is
// none.
func (r *reviewRow) existing(id string) (review.Review, error) {
	if r.ID == "" {
		return review.Review{}, reviewNotFound(id)
	}
	return r.review()
}

// ListReviews implements review.Reviews.
func (s *Store) ListReviews(ctx context.Context, org string, f review.Filter) ([]review.Review, error) {
	query, args := `SELECT `+reviewColumns+` FROM reviews WHERE organization = ?`, []any{org}
	where := func(condition string, values ...any) {
		query += " AND " + condition
		args = append(args, values...)
	}
	if f.Repo != "" {
		where("repo = ?", f.Repo)
	}
	if f.PRNumber != 0 {
		where("pr_number = ?", f.PRNumber)
	}
	if f.Status != "" {
		where("status = ?", string(f.Status))
	}
	if f.After != (review.Cursor{}) {
		where("(created_at, id) < (?, ?)", at(f.After.CreatedAt), f.After.ID)
	}
	query += " ORDER BY created_at DESC, id DESC LIMIT ?"
	args = append(args, max(f.Limit, 1))

	var rows []reviewRow
	if err := s.read(ctx, "list reviews", of(org), func(t *tx) error { return t.list(ctx, &rows, query, args...) }); err != nil {
		return nil, err
	}
	out := make([]review.Review, 0, len(rows))
	for _, row := range rows {
		r, err := row.review()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// CancelReview implements review.Reviews.
func (s *Store) CancelReview(ctx context.Context, org, id string) (review.Review, error) {
	var out review.Review
	err := s.write(ctx, "cancel a review", of(org), func(t *tx) error {
		// The state before decides what is counted, so nobody may change it
		// between these two statements.
		var before review.Status
		err := t.get(ctx, &before, `SELECT status FROM reviews WHERE organization = ? AND id = ?`+t.dialect.lockRow, org, id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return reviewNotFound(id)
		case err != nil:
			return err
		case before.Final():
			return errs.New(errs.FailedPrecondition, errs.ReasonReviewFinished,
				"The review %q is %s already and can't be canceled.", id, before)
		}
		var row reviewRow
		if err := t.get(ctx, &row, `UPDATE reviews SET status = 'canceled', completed_at = ?, lease_expires = NULL
			WHERE organization = ? AND id = ? RETURNING `+reviewColumns, at(t.now), org, id); err != nil {
			return err
		}
		if err := t.count(ctx, org, before, review.Canceled, 1); err != nil {
			return err
		}
		t.canceled(id)
		out, err = row.review()
		return err
	})
	if err != nil {
		return review.Review{}, err
	}
	return out, nil
}

// count moves n of the organization's reviews from one state's count to
// another's. Every change of a state calls it in its transaction. Where a scan
// ends under a cap, another may begin.
func (t *tx) count(ctx context.Context, org string, from, to review.Status, n int) error {
	change := func(s review.Status) int {
		switch s {
		case from:
			return -n
		case to:
			return n
		}
		return 0
	}
	err := t.last(ctx, `UPDATE organizations SET queued = queued + ?, running = running + ? WHERE name = ?`,
		change(review.Queued), change(review.InProgress), org)
	if from == review.InProgress {
		t.freed(org)
	}
	return err
}
