package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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

// reviewConditions are the conditions of a filter and their values: in base those that
// an index answers in the order of the list, in rest what has to be looked for.
func reviewConditions(org string, f review.Filter) (base, rest conditions) {
	base.add("organization = ?", org)
	indexed := false
	where := func(given bool, condition string, value any) {
		switch {
		case !given:
		case indexed:
			rest.add(condition, value)
		default:
			indexed = true
			base.add(condition, value)
		}
	}
	where(f.PRNumber != 0, "pr_number = ?", f.PRNumber)
	where(f.Repo != "", "repo = ?", f.Repo)
	where(f.Outcome != "", "standing = ?", f.Outcome)
	where(f.Standing != "", "standing = ?", f.Standing)
	where(f.Status != "", "status = ?", f.Status)

	if !f.Since.IsZero() {
		base.add("created_at >= ?", at(f.Since))
	}
	if !f.Until.IsZero() {
		base.add("created_at < ?", at(f.Until))
	}
	if f.After != (page.Cursor{}) {
		base.add("(created_at, id) < (?, ?)", at(f.After.At), f.After.ID)
	}
	if f.CreatedBy != "" {
		rest.add("created_by = ?", clean(f.CreatedBy))
	}
	for _, word := range f.Words {
		rest.add(contains("search", word))
	}

	return base, rest
}

// conditions are conditions that all hold, and their values.
type conditions struct {
	text string // "" for none
	args []any
}

func (c *conditions) add(condition string, values ...any) {
	if c.text != "" {
		c.text += " AND "
	}
	c.text += condition
	c.args = append(c.args, values...)
}

// contains is the condition that a column has a text in it.
func contains(column, text string) (string, any) {
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(clean(text))

	return column + ` LIKE ? ESCAPE '\'`, "%" + escaped + "%"
}

// newestFirst is the order of lists.
const newestFirst = ` ORDER BY created_at DESC, id DESC LIMIT ?`

// lookedAtQuery reads two reviews: the last that is looked at, and the one behind it.
func lookedAtQuery(base conditions) string {
	return `SELECT created_at, id FROM reviews WHERE ` + base.text + newestFirst + ` OFFSET ?`
}

// lookedAt is where the newest review.MaxLookedAt reviews of a filter end; the zero
// Cursor when that is all.
func (t *tx) lookedAt(ctx context.Context, base conditions) (page.Cursor, error) {
	var last []struct {
		At timestamp `db:"created_at"`
		ID string
	}
	err := t.SelectContext(ctx, &last, t.Rebind(lookedAtQuery(base)), append(base.args, 2, review.MaxLookedAt-1)...)
	if err != nil || len(last) < 2 {
		return page.Cursor{}, err
	}

	return page.Cursor{At: last[0].At.Time, ID: last[0].ID}, nil
}

// bounded are both conditions, with the bound of lookedAt.
func (t *tx) bounded(ctx context.Context, base, rest conditions) (all conditions, end page.Cursor, err error) {
	if end, err = t.lookedAt(ctx, base); err == nil && end != (page.Cursor{}) {
		base.add("(created_at, id) >= (?, ?)", at(end.At), end.ID)
	}
	base.add(rest.text, rest.args...)

	return base, end, err
}

// ListReviews implements review.Reviews.
func (s *Store) ListReviews(
	ctx context.Context, org string, f review.Filter,
) (list []review.Review, next page.Cursor, err error) {
	limit := max(f.Limit, 1)
	var rows []reviewRow
	err = s.read(ctx, "list reviews", of(org), func(t *tx) error {
		rows, next = nil, page.Cursor{}
		all, rest := reviewConditions(org, f)
		if rest.text != "" {
			var err error
			if all, next, err = t.bounded(ctx, all, rest); err != nil {
				return err
			}
		}
		query := `SELECT ` + reviewColumns + ` FROM reviews WHERE ` + all.text + newestFirst

		return t.SelectContext(ctx, &rows, t.Rebind(query), append(all.args, limit+1)...) // not prepared: there are many
	})
	if err != nil {
		return nil, page.Cursor{}, err
	}

	if len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		next = page.Cursor{At: last.CreatedAt.Time, ID: last.ID}
	}
	list = make([]review.Review, len(rows))
	for i, row := range rows {
		list[i] = row.review()
	}

	return list, next, nil
}

// standingsQuery counts reviews by their standing up to review.MaxCount, which an index
// answers.
func standingsQuery(base conditions) (query string, args []any) {
	var all []string
	for _, standing := range review.Standings() {
		all = append(all, `SELECT CAST(? AS TEXT) AS standing, COUNT(*) AS count FROM
			(SELECT 1 FROM reviews WHERE `+base.text+` AND standing = ? LIMIT ?) r`)
		args = append(append(append(args, standing), base.args...), standing, review.MaxCount)
	}

	return strings.Join(all, " UNION ALL "), args
}

// someQuery counts the newest review.MaxLookedAt reviews of a filter by their standing.
// They are selected first, so that no index is chosen for the groups, which would read all.
func someQuery(base, rest conditions) (query string, args []any) {
	query = `SELECT standing, COUNT(*) AS count FROM (SELECT standing, status, repo, created_by, search FROM reviews
		WHERE ` + base.text + newestFirst + `) r`
	if rest.text != "" {
		query += ` WHERE ` + rest.text
	}
	args = append(append(slices.Clone(base.args), review.MaxLookedAt), rest.args...)

	return query + ` GROUP BY standing`, args
}

// CountReviews implements review.Reviews.
func (s *Store) CountReviews(
	ctx context.Context, org string, f review.Filter,
) (counts map[review.Standing]int, partial bool, err error) {
	var rows []struct {
		Standing review.Standing
		Count    int
	}
	err = s.read(ctx, "count reviews", of(org), func(t *tx) error {
		rows, partial = nil, false
		base, rest := reviewConditions(org, f)
		query, args := standingsQuery(base)
		if f.Repo != "" || f.PRNumber != 0 || rest.text != "" {
			end, err := t.lookedAt(ctx, base)
			if err != nil {
				return err
			}
			partial = end != (page.Cursor{})
			query, args = someQuery(base, rest)
		}

		return t.SelectContext(ctx, &rows, t.Rebind(query), args...)
	})
	counts = make(map[review.Standing]int, len(rows))
	for _, r := range rows {
		counts[r.Standing] = min(r.Count, review.MaxCount)
	}

	return counts, partial, err
}
