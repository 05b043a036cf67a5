package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
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

// findingColumns are those that findings and findings_apart have in common.
const findingColumns = `rule_id, severity, file, line, end_line, col, end_col, utf16_col, utf16_end_col,
	message, snippet, fingerprint, line_hash, state`

func findingValues(f finding.Finding) []any {
	return []any{f.RuleID, f.Severity.String(), []byte(f.File), f.Line, f.EndLine, f.Column, f.EndColumn, f.UTF16Column, f.UTF16EndColumn,
		[]byte(f.Message), []byte(f.Snippet), f.Fingerprint, f.LineHash, string(f.State)}
}

// insertFindings inserts what a review reports.
func (t *tx) insertFindings(ctx context.Context, id string, findings []finding.Finding, state func(finding.Finding) finding.State) error {
	return t.insertRows(ctx, `findings (review_id, position, `+findingColumns+`)`, 16, len(findings), func(i int) []any {
		f := findings[i]
		f.State = state(f)
		return append([]any{id, i}, findingValues(f)...)
	})
}

// apartColumns begin what is inserted into findings_apart.
const apartColumns = `findings_apart (review_id, position, kind, ` + findingColumns

// insertSuppressed inserts what comments suppress.
func (t *tx) insertSuppressed(ctx context.Context, id string, findings []finding.Finding, state func(finding.Finding) finding.State) error {
	const into = apartColumns + `, suppress_reason, suppress_until, suppress_line)`
	return t.insertRows(ctx, into, 20, len(findings), func(i int) []any {
		f := findings[i]
		f.State = state(f)
		var by finding.Suppression
		if f.Suppression != nil {
			by = *f.Suppression
		}
		values := append([]any{id, i, string(finding.KindSuppressed)}, findingValues(f)...)
		return append(values, []byte(by.Reason), by.Until, by.Line)
	})
}

// insertFixed copies findings of the review before, given by their positions
// there, behind those that are suppressed.
func (t *tx) insertFixed(ctx context.Context, id, previous string, positions []int, suppressed int) error {
	if len(positions) == 0 {
		return nil
	}
	_, err := t.exec(ctx, `INSERT INTO `+apartColumns+`)
		SELECT ?, ? + ROW_NUMBER() OVER (ORDER BY position) - 1, 'fixed',
			rule_id, severity, file, line, end_line, col, end_col, utf16_col, utf16_end_col,
			message, snippet, fingerprint, line_hash, 'fixed'
		FROM findings WHERE review_id = ? AND position`+t.dialect.amongNumbers, id, suppressed, previous, t.dialect.numbers(positions))
	return err
}

func (t *tx) insertSkips(ctx context.Context, id string, skips []finding.Skip) error {
	const into = `skips (review_id, position, file, line, rule_id, reason)`
	return t.insertRows(ctx, into, 6, len(skips), func(i int) []any {
		s := skips[i]
		return []any{id, i, []byte(s.File), s.Line, s.RuleID, s.Reason}
	})
}

// The queries of what a review has; the dialect's ofReview and byPosition end
// them.
const (
	findingsQuery = `SELECT ` + findingColumns + ` FROM findings`
	apartQuery    = `SELECT ` + findingColumns + `, kind, suppress_reason, suppress_until, suppress_line FROM findings_apart`
	skipsQuery    = `SELECT file, line, rule_id, reason FROM skips`
	byPosition    = ` ORDER BY position`
)

// scanFinding reads a finding from the first columns of a row, which are
// findingColumns, and what follows into more.
func scanFinding(rows *sql.Rows, f *finding.Finding, more ...any) error {
	// Not by reflection, which takes longer for 10,000 rows.
	var severity string
	into := [18]any{&f.RuleID, &severity, &f.File, &f.Line, &f.EndLine, &f.Column, &f.EndColumn, &f.UTF16Column, &f.UTF16EndColumn,
		&f.Message, &f.Snippet, &f.Fingerprint, &f.LineHash, &f.State}
	if err := rows.Scan(append(into[:14], more...)...); err != nil {
		return err
	}
	var ok bool
	if f.Severity, ok = rule.ParseSeverity(severity); !ok {
		return fmt.Errorf("a finding has the unknown severity %q", severity)
	}
	return nil
}

// scanApart is scanFinding for a row of findings_apart.
func scanApart(rows *sql.Rows, f *finding.Finding, more ...any) (kind finding.Kind, err error) {
	var by finding.Suppression
	if err := scanFinding(rows, f, append([]any{&kind, &by.Reason, &by.Until, &by.Line}, more...)...); err != nil {
		return "", err
	}
	if by.Line > 0 {
		f.Suppression = &by
	}
	return kind, nil
}

// readFinding adds a row of the answer to findingsQuery to out.
func readFinding(out *[]finding.Finding) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var f finding.Finding
		if err := scanFinding(rows, &f); err != nil {
			return err
		}
		*out = append(*out, f)
		return nil
	}
}

// readApart adds a row of the answer to apartQuery to what it belongs to.
func readApart(suppressed, fixed *[]finding.Finding) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var f finding.Finding
		kind, err := scanApart(rows, &f)
		switch {
		case err != nil:
			return err
		case kind == finding.KindFixed:
			*fixed = append(*fixed, f)
		default:
			*suppressed = append(*suppressed, f)
		}
		return nil
	}
}

// readSkip adds a row of the answer to skipsQuery to out.
func readSkip(out *[]finding.Skip) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var s finding.Skip
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
