package store

import (
	"context"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// findingColumns are those of findingRow that a scan sets.
const findingColumns = `review_id, kind, position, rule_id, severity, file, line, end_line, ` +
	`col, end_col, utf16_col, utf16_end_col, message, snippet, fingerprint, line_hash, state, ` +
	`suppress_reason, suppress_until, suppress_line, confidence, steps, fix`

// readColumns are those of findingRow.
const readColumns = findingColumns + `, triage`

// findingRow is a finding as it is stored. Texts that come from repositories are
// bytes, because they need not be UTF-8.
type findingRow struct {
	ReviewID       string        `db:"review_id"`
	Kind           finding.Kind  `db:"kind"`
	Position       int           `db:"position"`
	RuleID         string        `db:"rule_id"`
	Severity       severity      `db:"severity"`
	File           []byte        `db:"file"`
	Line           int           `db:"line"`
	EndLine        int           `db:"end_line"`
	Column         int           `db:"col"`
	EndColumn      int           `db:"end_col"`
	UTF16Column    int           `db:"utf16_col"`
	UTF16EndColumn int           `db:"utf16_end_col"`
	Message        []byte        `db:"message"`
	Snippet        []byte        `db:"snippet"`
	Fingerprint    string        `db:"fingerprint"`
	LineHash       string        `db:"line_hash"`
	State          finding.State `db:"state"`
	Reason         []byte        `db:"suppress_reason"`
	Until          string        `db:"suppress_until"`
	ByLine         int           `db:"suppress_line"` // 0 when nothing suppresses it

	Confidence rule.Confidence `db:"confidence"`

	Steps  jsonOf[[]finding.Step]  `db:"steps"`
	Fix    jsonOf[*finding.Fix]    `db:"fix"`
	Triage jsonOf[*finding.Triage] `db:"triage"`
}

// insertFindings inserts findings of a review of one kind, in their order from a
// position on.
func (t *tx) insertFindings(
	ctx context.Context, id string, kind finding.Kind, first int, findings []finding.Finding,
) error {
	return t.insert(ctx, "findings", findingColumns, len(findings), func(i int) []any {
		f := findings[i]
		var by finding.Suppression
		if f.Suppression != nil {
			by = *f.Suppression
		}

		return []any{
			id, kind, first + i, f.RuleID, severity(f.Severity), []byte(f.File), f.Line, f.EndLine,
			f.Column, f.EndColumn, f.UTF16Column, f.UTF16EndColumn,
			[]byte(f.Message), []byte(f.Snippet), f.Fingerprint, f.LineHash, f.State,
			[]byte(by.Reason), by.Until, by.Line, f.Confidence, jsonOf[[]finding.Step]{f.Steps},
			jsonOf[*finding.Fix]{f.Fix},
		}
	})
}

func (r findingRow) finding() finding.Finding {
	f := finding.Finding{
		RuleID: r.RuleID, Severity: rule.Severity(r.Severity), File: string(r.File), Line: r.Line, EndLine: r.EndLine,
		Column: r.Column, EndColumn: r.EndColumn, UTF16Column: r.UTF16Column, UTF16EndColumn: r.UTF16EndColumn,
		Message: string(r.Message), Snippet: string(r.Snippet), Fingerprint: r.Fingerprint, LineHash: r.LineHash,
		State: r.State, Triage: r.Triage.value, Confidence: r.Confidence, Steps: r.Steps.value,
		Fix: r.Fix.value,
	}
	if r.ByLine > 0 {
		f.Suppression = &finding.Suppression{Reason: string(r.Reason), Until: r.Until, Line: r.ByLine}
	}

	return f
}

// findings reads all findings of a review that the transaction has found, by
// their kind.
func (t *tx) findings(ctx context.Context, id string) (map[finding.Kind][]finding.Finding, error) {
	var rows []findingRow
	err := t.list(ctx, &rows, `SELECT `+readColumns+` FROM findings WHERE review_id = ? ORDER BY kind, position`, id)

	all := make(map[finding.Kind][]finding.Finding)
	for _, row := range rows {
		all[row.Kind] = append(all[row.Kind], row.finding())
	}

	return all, err
}

// skips reads what the scan of a review that the transaction has found did not
// look at.
func (t *tx) skips(ctx context.Context, id string) ([]finding.Skip, error) {
	var rows []struct {
		finding.Skip
		Word string `db:"word"` // of the severity; '' for none
	}
	err := t.list(ctx, &rows, `SELECT file, line, rule_id AS ruleid, reason, severity AS word, tolerated FROM skips
		WHERE review_id = ? ORDER BY position`, id)

	all := make([]finding.Skip, len(rows))
	for i, row := range rows {
		all[i] = row.Skip
		all[i].Severity, _ = rule.ParseSeverity(row.Word)
	}

	return all, err
}

// pageQuery selects a page of findings. A page reads on from where the one
// before ended, so that all pages together read each row once.
const pageQuery = `SELECT ` + readColumns + ` FROM findings
	WHERE review_id = ? AND kind = ? AND position >= ?
		AND (? = '' OR rule_id = ?) AND (? = '' OR state = ?) AND (? OR file = ?) AND (? = '' OR decision = ?)
		AND ` + atLeast + `
	ORDER BY position LIMIT ?`

// atLeast is the condition that a severity has at most the rank of a parameter.
const atLeast = `CASE severity WHEN 'critical' THEN 1 WHEN 'high' THEN 2 WHEN 'medium' THEN 3 WHEN 'warning' THEN 4
	WHEN 'low' THEN 5 ELSE 6 END <= ?`

// rankOf is the rank of the least severity that is wanted; 0 wants all.
func rankOf(least rule.Severity) int {
	all := rule.Severities()
	if i := slices.Index(all, least); i >= 0 {
		return i + 1
	}

	return len(all)
}

// ListFindings implements review.Reviews.
func (s *Store) ListFindings(
	ctx context.Context, org, id string, f review.FindingFilter,
) (page review.FindingPage, err error) {
	limit := max(f.Limit, 1)
	rowLimit := limit + 1
	// What a path with bytes that are not UTF-8 looks like says not which they
	// are: of those, all are looked at here.
	odd := strings.Contains(f.File, "\uFFFD")
	if odd {
		rowLimit = review.MaxFindings
	}

	var rows []findingRow
	err = s.read(ctx, "list findings", of(org), func(t *tx) error {
		r, err := t.review(ctx, org, id)
		if err == nil && r.Status != review.Complete {
			err = review.NotComplete(id, r.Status)
		}
		if err != nil {
			return err
		}

		return t.list(ctx, &rows, pageQuery, id, f.Kind, f.After, f.RuleID, f.RuleID, f.State, f.State,
			f.File == "" || odd, []byte(f.File), f.Decision, f.Decision, rankOf(f.MinSeverity), rowLimit)
	})
	if err != nil {
		return review.FindingPage{}, err
	}

	for _, row := range rows {
		if odd && finding.Shown(string(row.File)) != f.File {
			continue
		}
		if len(page.Findings) == limit {
			page.Next = row.Position
			break
		}
		page.Findings = append(page.Findings, row.finding())
	}

	return page, nil
}
