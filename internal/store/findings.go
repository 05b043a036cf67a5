package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// findingColumns are those of a finding, less its place in the review.
const findingColumns = `rule_id, severity, file, line, end_line, col, end_col, utf16_col, utf16_end_col,
	message, snippet, fingerprint, line_hash, state, suppress_reason, suppress_until, suppress_line`

// findingRow begins the statement of insertRows for values of findingValues.
const findingRow = `findings (review_id, kind, position, ` + findingColumns + `)`

func findingValues(id string, kind finding.Kind, position int, f finding.Finding) []any {
	var by finding.Suppression
	if f.Suppression != nil {
		by = *f.Suppression
	}

	return []any{
		id, string(kind), position, f.RuleID, f.Severity.String(), []byte(f.File), f.Line, f.EndLine,
		f.Column, f.EndColumn, f.UTF16Column, f.UTF16EndColumn,
		[]byte(f.Message), []byte(f.Snippet), f.Fingerprint, f.LineHash, string(f.State),
		[]byte(by.Reason), by.Until, by.Line,
	}
}

// insertFindings inserts all findings of a review of one kind, in their order.
func (t *tx) insertFindings(ctx context.Context, id string, kind finding.Kind, findings []finding.Finding) error {
	return t.insertRows(ctx, findingRow, 20, len(findings), func(i int) []any {
		return findingValues(id, kind, i, findings[i])
	})
}

func (t *tx) insertSkips(ctx context.Context, id string, skips []finding.Skip) error {
	const into = `skips (review_id, position, file, line, rule_id, reason)`

	return t.insertRows(ctx, into, 6, len(skips), func(i int) []any {
		s := skips[i]

		return []any{id, i, []byte(s.File), s.Line, s.RuleID, s.Reason}
	})
}

// scanFinding reads a finding from the first columns of a row, which are
// findingColumns, and what follows into more.
func scanFinding(rows *sql.Rows, f *finding.Finding, more ...any) error {
	// Not by reflection, which takes longer for 10,000 rows.
	var severity string
	var by finding.Suppression
	into := [19]any{
		&f.RuleID, &severity, &f.File, &f.Line, &f.EndLine, &f.Column, &f.EndColumn, &f.UTF16Column, &f.UTF16EndColumn,
		&f.Message, &f.Snippet, &f.Fingerprint, &f.LineHash, &f.State, &by.Reason, &by.Until, &by.Line,
	}
	if err := rows.Scan(append(into[:17], more...)...); err != nil {
		return err
	}

	var ok bool
	if f.Severity, ok = rule.ParseSeverity(severity); !ok {
		return fmt.Errorf("a finding has the unknown severity %q", severity)
	}
	if by.Line > 0 {
		f.Suppression = &by
	}

	return nil
}

// findings reads all findings of a review that the transaction has found, by
// their kind.
func (t *tx) findings(ctx context.Context, id string) (map[finding.Kind][]finding.Finding, error) {
	all := make(map[finding.Kind][]finding.Finding)
	err := t.each(ctx, func(rows *sql.Rows) error {
		var f finding.Finding
		var kind finding.Kind
		if err := scanFinding(rows, &f, &kind); err != nil {
			return err
		}
		all[kind] = append(all[kind], f)

		return nil
	}, `SELECT `+findingColumns+`, kind FROM findings WHERE review_id = ? ORDER BY kind, position`, id)

	return all, err
}

// skips reads what the scan of a review that the transaction has found did not
// look at.
func (t *tx) skips(ctx context.Context, id string) (all []finding.Skip, err error) {
	err = t.each(ctx, func(rows *sql.Rows) error {
		var s finding.Skip
		if err := rows.Scan(&s.File, &s.Line, &s.RuleID, &s.Reason); err != nil {
			return err
		}
		all = append(all, s)

		return nil
	}, `SELECT file, line, rule_id, reason FROM skips WHERE review_id = ? ORDER BY position`, id)

	return all, err
}

// pageQuery selects a page of findings. A page reads on from where the one
// before ended, so that all pages together read each row once.
const pageQuery = `SELECT ` + findingColumns + `, position FROM findings
	WHERE review_id = ? AND kind = ? AND position >= ?
		AND (? = '' OR rule_id = ?) AND (? = '' OR state = ?) AND (? = 0 OR file = ?)
		AND CASE severity WHEN 'critical' THEN 1 WHEN 'high' THEN 2 WHEN 'medium' THEN 3 WHEN 'warning' THEN 4
			WHEN 'low' THEN 5 ELSE 6 END <= ?
	ORDER BY position LIMIT ?`

// ListFindings implements review.Reviews. Only complete reviews have findings.
func (s *Store) ListFindings(
	ctx context.Context, org, id string, f review.FindingFilter,
) (page review.FindingPage, err error) {
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

	last := 0 // position of the last one in page
	row := func(rows *sql.Rows) error {
		var found finding.Finding
		var position int
		if err := scanFinding(rows, &found, &position); err != nil {
			return err
		}
		switch {
		case odd && finding.Shown(found.File) != f.File, page.Next > 0:
		case len(page.Findings) == limit:
			page.Next = last + 1
		default:
			page.Findings, last = append(page.Findings, found), position
		}

		return nil
	}

	err = s.read(ctx, "list findings", of(org), func(t *tx) error {
		page = review.FindingPage{}
		if _, err := t.review(ctx, org, id); err != nil {
			return err
		}

		return t.each(ctx, row, pageQuery, id, string(f.Kind), f.After, f.RuleID, f.RuleID,
			string(f.State), string(f.State), byFile, []byte(f.File), rank, rowLimit)
	})

	return page, err
}
