package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// searchFrom are the findings of the latest reviews of an organization.
const searchFrom = ` FROM reviews r JOIN findings f ON f.review_id = r.id WHERE r.organization = ? AND r.latest AND `

// searchConditions are the conditions of a search after searchFrom, and their values.
func (d dialect) searchConditions(org string, f review.Search) (conditions string, args []any) {
	args = []any{org}
	if f.Decision == finding.Open {
		conditions = isOpen
	} else {
		conditions = isSetAside + " AND decision = ?"
		args = append(args, f.Decision)
	}
	where := func(condition string, values ...any) {
		conditions += " AND " + condition
		args = append(args, values...)
	}
	if f.MinSeverity != 0 {
		where(atLeast, rankOf(f.MinSeverity))
	}
	if f.Repo != "" {
		where("r.repo = ?", f.Repo)
	}
	if f.RuleID != "" {
		where("rule_id = ?", f.RuleID)
	}
	if f.File != "" {
		where("file = ?", []byte(f.File))
	}
	if f.State != "" {
		where("state = ?", f.State)
	}
	for _, word := range f.Words {
		where(d.inFinding(word))
	}

	return conditions, args
}

// inFinding is the condition that a finding has a word in it, whatever the case of its
// ASCII letters. Files and messages need not be UTF-8: Postgres has no text of them but
// one with other bytes than ASCII as \ooo, and a backslash as two.
func (d dialect) inFinding(word string) (condition string, value any) {
	if !d.postgres {
		return contains("(rule_id || ' ' || r.repo || ' ' || file || ' ' || message)", word)
	}

	var escaped strings.Builder
	for _, b := range []byte(word) {
		switch {
		case b == '\\':
			escaped.WriteString(`\\`)
		case b == 0 || b >= 0x80:
			fmt.Fprintf(&escaped, `\%03o`, b)
		default:
			escaped.WriteByte(b)
		}
	}

	return contains(`lower(rule_id || ' ' || r.repo || ' ' || encode(file || ' '::bytea || message, 'escape'))`,
		escaped.String())
}

// SearchFindings implements review.Reviews.
func (s *Store) SearchFindings(ctx context.Context, org string, f review.Search) ([]review.Found, error) {
	conditions, args := s.dialect.searchConditions(org, f)
	if f.After != (review.FoundPlace{}) {
		conditions += ` AND r.repo >= ? AND (r.repo, r.pr_number, position) > (?, ?, ?)`
		args = append(args, f.After.Repo, f.After.Repo, f.After.PRNumber, f.After.Position)
	}
	query := `SELECT r.repo, r.pr_number, r.head_title, ` + readColumns + searchFrom + conditions + `
		ORDER BY r.repo, r.pr_number, position LIMIT ?`

	var rows []struct {
		Repo      string
		PRNumber  int32  `db:"pr_number"`
		HeadTitle string `db:"head_title"`
		findingRow
	}
	err := s.read(ctx, "search findings", of(org), func(t *tx) error {
		rows = nil

		return t.SelectContext(ctx, &rows, t.Rebind(query), append(args, max(f.Limit, 1))...)
	})
	found := make([]review.Found, len(rows))
	for i, r := range rows {
		found[i] = review.Found{
			FoundPlace: review.FoundPlace{Repo: r.Repo, PRNumber: r.PRNumber, Position: r.Position},
			ReviewID:   r.ReviewID, HeadTitle: r.HeadTitle, Finding: r.finding(),
		}
	}

	return found, err
}

// groupColumns are the keys of a group.
func groupColumns(by review.Group) string {
	switch by {
	case review.ByRule:
		return "rule_id"
	case review.ByFile:
		return "r.repo, file"
	case review.ByRepo:
		return "r.repo"
	}

	return ""
}

// bySeverity are columns that count rows by their severity, named as openRow has them.
var bySeverity = func() string {
	var all []string
	for _, s := range rule.Severities() {
		all = append(all, fmt.Sprintf("SUM(CASE WHEN severity = '%s' THEN 1 ELSE 0 END) AS open_%s", s, s))
	}

	return strings.Join(all, ", ")
}()

// countAllQuery counts what is open of an organization, or of a repository, as the reviews
// have it, which takes far less than to read the findings.
func countAllQuery(org, repo string) (query string, args []any) {
	const open = "(open_critical + open_high + open_medium + open_warning + open_low + open_info > 0)"
	query = `SELECT ` + openSums + `, COUNT(*) AS pulls FROM reviews WHERE organization = ? AND latest AND ` + open
	args = []any{org}
	if repo != "" {
		query += ` AND repo = ?`
		args = append(args, repo)
	}

	return query + ` HAVING COUNT(*) > 0`, args
}

// CountFindings implements review.Reviews.
func (s *Store) CountFindings(
	ctx context.Context, org string, f review.Search, by review.Group,
) ([]review.FoundGroup, error) {
	conditions, args := s.dialect.searchConditions(org, f)
	query, order := `SELECT `, ""
	if keys := groupColumns(by); keys != "" {
		query += keys + ", "
		order = " GROUP BY " + keys + " ORDER BY COUNT(*) DESC, " + keys
	} else {
		order = " HAVING COUNT(*) > 0"
	}
	query += bySeverity + `, COUNT(DISTINCT r.id) AS pulls` + searchFrom + conditions + order
	if by == review.ByNothing && f.AllOpen() {
		query, args = countAllQuery(org, f.Repo)
	}
	query += ` LIMIT ? OFFSET ?`

	var rows []struct {
		RuleID string `db:"rule_id"`
		Repo   string
		File   []byte
		Pulls  int
		openRow
	}
	err := s.read(ctx, "count findings", of(org), func(t *tx) error {
		rows = nil

		return t.SelectContext(ctx, &rows, t.Rebind(query), append(args, max(f.Limit, 1), f.Skip)...)
	})
	groups := make([]review.FoundGroup, len(rows))
	for i, r := range rows {
		groups[i] = review.FoundGroup{
			RuleID: r.RuleID, Repo: r.Repo, File: string(r.File), Summary: r.open(), PullRequests: r.Pulls,
		}
	}

	return groups, err
}
