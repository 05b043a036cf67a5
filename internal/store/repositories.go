package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// openSums are the sums of openColumns, by their names.
var openSums = func() string {
	var all []string
	for _, s := range rule.Severities() {
		all = append(all, fmt.Sprintf("CAST(SUM(open_%s) AS BIGINT) AS open_%s", s, s))
	}

	return strings.Join(all, ", ")
}()

// lastReviewQuery reads the newest review of a repository.
const lastReviewQuery = `SELECT ` + reviewColumns + ` FROM reviews WHERE organization = ? AND repo = ?
	ORDER BY created_at DESC, id DESC LIMIT 1`

// repositoriesQuery counts the reviews of repositories.
func repositoriesQuery(org string, f review.RepositoryFilter) (query string, args []any) {
	query = `SELECT repo, COUNT(*) AS reviews FROM reviews WHERE organization = ? AND repo > ?`
	args = []any{org, clean(f.After)}
	for _, word := range f.Words {
		condition, value := contains("lower(repo)", word)
		query += " AND " + condition
		args = append(args, value)
	}

	return query + ` GROUP BY repo ORDER BY repo LIMIT ?`, append(args, max(f.Limit, 1))
}

// ListRepositories implements review.Reviews.
func (s *Store) ListRepositories(
	ctx context.Context, org string, f review.RepositoryFilter,
) (list []review.Repository, err error) {
	query, args := repositoriesQuery(org, f)
	err = s.read(ctx, "list repositories", of(org), func(t *tx) error {
		list = nil
		if err := t.SelectContext(ctx, &list, t.Rebind(query), args...); err != nil || len(list) == 0 {
			return err
		}
		open, err := t.openOf(ctx, org, list[0].Repo, list[len(list)-1].Repo)
		if err != nil {
			return err
		}
		for i := range list {
			r := &list[i]
			if r.Open = open[r.Repo]; r.Open == nil {
				r.Open = finding.NewSummary()
			}
			var last reviewRow
			if err := t.get(ctx, &last, lastReviewQuery, org, r.Repo); err != nil {
				return err
			}
			r.Last = last.review()
		}

		return nil
	})

	return list, err
}

// openOf is what is open in repositories from one name to another.
func (t *tx) openOf(ctx context.Context, org, first, last string) (map[string]finding.Summary, error) {
	var rows []struct {
		Repo string
		openRow
	}
	err := t.list(ctx, &rows, `SELECT repo, `+openSums+` FROM reviews WHERE organization = ? AND latest
		AND repo >= ? AND repo <= ? GROUP BY repo`, org, first, last)
	open := make(map[string]finding.Summary, len(rows))
	for _, r := range rows {
		open[r.Repo] = r.open()
	}

	return open, err
}
