package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// rowsAtOnce is how many rows one INSERT has on SQLite. Of 1, 5, 20, 50 and 200
// rows this was the quickest.
const rowsAtOnce = 20

// insertRows inserts n rows. into is the table with its columns; row returns the
// values of the row i, none of them NULL.
func (t *tx) insertRows(ctx context.Context, into string, columns, n int, row func(i int) []any) (err error) {
	if t.dialect.atOnce {
		return t.insertArrays(ctx, into, columns, n, row)
	}
	values := "(" + strings.Repeat("?, ", columns-1) + "?)"
	query := func(rows int) string {
		return t.rebind("INSERT INTO " + into + " VALUES " + strings.Repeat(values+", ", rows-1) + values)
	}
	args := func(from, to int) []any {
		out := make([]any, 0, columns*(to-from))
		for i := from; i < to; i++ {
			out = append(out, row(i)...)
		}
		return out
	}
	full := n - n%rowsAtOnce
	if full > 0 {
		stmt, err := t.PrepareContext(ctx, query(rowsAtOnce))
		if err != nil {
			return err
		}
		// The transaction closes it, too.
		defer func() { _ = stmt.Close() }()
		for i := 0; i < full; i += rowsAtOnce {
			if _, err := stmt.ExecContext(ctx, args(i, i+rowsAtOnce)...); err != nil {
				return err
			}
		}
	}
	if full < n {
		_, err = t.ExecContext(ctx, query(n-full), args(full, n)...)
	}
	return err
}

func (t *tx) insertFindings(ctx context.Context, id string, findings []review.Finding) error {
	const into = `findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint)`
	return t.insertRows(ctx, into, 11, len(findings), func(i int) []any {
		f := findings[i]
		return []any{id, i, f.RuleID, f.Severity.String(), []byte(f.File), f.Line, f.EndLine, f.Column,
			[]byte(f.Message), []byte(f.Snippet), f.Fingerprint}
	})
}

func (t *tx) insertSkips(ctx context.Context, id string, skips []review.Skip) error {
	const into = `skips (review_id, position, file, line, rule_id, reason)`
	return t.insertRows(ctx, into, 6, len(skips), func(i int) []any {
		s := skips[i]
		return []any{id, i, []byte(s.File), s.Line, s.RuleID, s.Reason}
	})
}

// The queries of what a review has; the dialect's ofReview ends them.
const (
	findingsQuery = `SELECT rule_id, severity, file, line, end_line, col, message, snippet, fingerprint FROM findings`
	skipsQuery    = `SELECT file, line, rule_id, reason FROM skips`
)

// readFinding adds a row of the answer to findingsQuery to out.
func readFinding(out *[]review.Finding) func(*sql.Rows) error {
	// Not by reflection, which takes longer for 10,000 rows.
	return func(rows *sql.Rows) error {
		var f review.Finding
		var severity string
		if err := rows.Scan(&f.RuleID, &severity, &f.File, &f.Line, &f.EndLine, &f.Column,
			&f.Message, &f.Snippet, &f.Fingerprint); err != nil {
			return err
		}
		var ok bool
		if f.Severity, ok = rule.ParseSeverity(severity); !ok {
			return fmt.Errorf("a finding has the unknown severity %q", severity)
		}
		*out = append(*out, f)
		return nil
	}
}

// readSkip adds a row of the answer to skipsQuery to out.
func readSkip(out *[]review.Skip) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var s review.Skip
		if err := rows.Scan(&s.File, &s.Line, &s.RuleID, &s.Reason); err != nil {
			return err
		}
		*out = append(*out, s)
		return nil
	}
}

func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
