package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/review"
)

// headOf is title and author of a pull request as its code host had them when it was
// last read; "" when no connection has.
func (t *tx) headOf(ctx context.Context, org, repo string, number int32) (title, author string, err error) {
	var row struct{ Title, Author []byte }
	err = t.get(ctx, &row, `SELECT title, author FROM pull_requests`+ofPullRequest, org, repo, number)
	if errors.Is(err, sql.ErrNoRows) {
		return "", "", nil
	}

	return finding.Line(string(row.Title), finding.MaxTitle), finding.Line(string(row.Author), finding.MaxAuthor), err
}

// searchable is what a review is searched in.
func searchable(repo string, number int32, title, author string) string {
	return strings.ToLower(fmt.Sprintf("%s#%d %s %s", repo, number, title, author))
}

// reviewConditions are the conditions of a filter, and their values.
func reviewConditions(org string, f review.Filter) (conditions string, args []any) {
	conditions, args = "organization = ?", []any{org}
	where := func(condition string, values ...any) {
		conditions += " AND " + condition
		args = append(args, values...)
	}
	if f.Repo != "" {
		where("repo = ?", f.Repo)
	}
	if f.PRNumber != 0 {
		where("pr_number = ?", f.PRNumber)
	}
	if f.Status != "" {
		where("status = ?", f.Status)
	}
	switch f.Standing {
	case review.Running:
		where("status IN ('queued', 'in_progress')")
	case review.NotScanned:
		where("status IN ('failed', 'canceled')")
	}
	if f.Outcome != "" {
		where("status = 'complete' AND outcome = ?", f.Outcome)
	}
	if f.CreatedBy != "" {
		where("created_by = ?", clean(f.CreatedBy))
	}
	if !f.Since.IsZero() {
		where("created_at >= ?", at(f.Since))
	}
	if !f.Until.IsZero() {
		where("created_at < ?", at(f.Until))
	}
	for _, word := range f.Words {
		where(contains("search", word))
	}

	return conditions, args
}

// contains is the condition that a column has a text in it.
func contains(column, text string) (string, any) {
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(clean(text))

	return column + ` LIKE ? ESCAPE '\'`, "%" + escaped + "%"
}

// listQuery lists the reviews of a filter.
func listQuery(org string, f review.Filter) (query string, args []any) {
	conditions, args := reviewConditions(org, f)
	if f.After != (page.Cursor{}) {
		conditions += " AND (created_at, id) < (?, ?)"
		args = append(args, at(f.After.At), f.After.ID)
	}

	return `SELECT ` + reviewColumns + ` FROM reviews WHERE ` + conditions + ` ORDER BY created_at DESC, id DESC LIMIT ?`,
		append(args, max(f.Limit, 1))
}

// ListReviews implements review.Reviews.
func (s *Store) ListReviews(ctx context.Context, org string, f review.Filter) ([]review.Review, error) {
	query, args := listQuery(org, f)
	var rows []reviewRow
	err := s.read(ctx, "list reviews", of(org), func(t *tx) error {
		return t.SelectContext(ctx, &rows, t.Rebind(query), args...) // not prepared: there are many
	})
	if err != nil {
		return nil, err
	}

	out := make([]review.Review, len(rows))
	for i, row := range rows {
		out[i] = row.review()
	}

	return out, nil
}

// countQuery counts the reviews of a filter.
func countQuery(org string, f review.Filter) (query string, args []any) {
	conditions, args := reviewConditions(org, f)

	return `SELECT status, outcome, COUNT(*) AS count FROM reviews WHERE ` + conditions +
		` GROUP BY status, outcome ORDER BY status, outcome`, args
}

// CountReviews implements review.Reviews.
func (s *Store) CountReviews(ctx context.Context, org string, f review.Filter) (counts []review.Count, err error) {
	query, args := countQuery(org, f)
	err = s.read(ctx, "count reviews", of(org), func(t *tx) error {
		counts = nil

		return t.SelectContext(ctx, &counts, t.Rebind(query), args...)
	})

	return counts, err
}
