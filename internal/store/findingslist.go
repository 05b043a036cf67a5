package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// The queries of a page of findings, which the dialect's ofReview and selected
// end: one of those that are reported, one of those apart.
const (
	listReported = `SELECT ` + findingColumns + `, position FROM findings`
	listApart    = `SELECT ` + findingColumns + `, kind, suppress_reason, suppress_until, suppress_line, position FROM findings_apart`
	ofKind       = ` AND kind = ?`
	// Constant, because both databases keep it compiled. A page reads on from
	// where the one before ended, so that all pages together read each row once.
	selected = ` AND position >= ? AND (? = '' OR rule_id = ?) AND (? = '' OR state = ?) AND (? = 0 OR file = ?)
		AND CASE severity WHEN 'critical' THEN 1 WHEN 'high' THEN 2 WHEN 'medium' THEN 3 WHEN 'warning' THEN 4 WHEN 'low' THEN 5 ELSE 6 END <= ?
		ORDER BY position LIMIT ?`
)

// ListFindings implements review.Reviews. Only complete reviews have findings.
func (s *Store) ListFindings(ctx context.Context, org, id string, f review.FindingFilter) (review.FindingPage, error) {
	limit := max(f.Limit, 1)
	// What a path with bytes that are not UTF-8 looks like says not which they
	// are: of those, all are looked at here.
	odd := strings.Contains(f.File, "\uFFFD")
	rowLimit := limit + 1
	if odd {
		rowLimit = review.MaxFindings
	}
	byFile := 0
	if f.File != "" && !odd {
		byFile = 1
	}
	rank := slices.Index(rule.Severities(), f.MinSeverity) + 1
	if rank == 0 {
		rank = len(rule.Severities())
	}
	query, args := listReported+s.dialect.ofReview, []any{org, id}
	if f.Kind != finding.KindReported {
		query, args = listApart+s.dialect.ofReview+ofKind, append(args, string(f.Kind))
	}
	args = append(args, f.After, f.RuleID, f.RuleID, string(f.State), string(f.State), byFile, []byte(f.File), rank, rowLimit)

	var (
		row  reviewRow
		page review.FindingPage
		last int // position of the last one in page
	)
	err := s.ask(ctx, "list findings", of(org),
		question{query: reviewQuery, args: []any{org, id}, row: row.read},
		question{query: query + selected, args: args, row: func(rows *sql.Rows) (err error) {
			var (
				found    finding.Finding
				position int
			)
			if f.Kind == finding.KindReported {
				err = scanFinding(rows, &found, &position)
			} else {
				_, err = scanApart(rows, &found, &position)
			}
			switch {
			case err != nil:
				return err
			case odd && finding.Shown(found.File) != f.File, page.Next > 0:
			case len(page.Findings) == limit:
				page.Next = last + 1
			default:
				page.Findings, last = append(page.Findings, found), position
			}
			return nil
		}})
	if err != nil {
		return review.FindingPage{}, err
	}
	if _, err := row.existing(id); err != nil {
		return review.FindingPage{}, err
	}
	return page, nil
}
