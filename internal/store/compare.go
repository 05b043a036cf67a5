package store

import (
	"context"

	"github.com/prwarden/prwarden/internal/finding"
)

// previousQuery finds the review that a row of reviews is compared with.
const previousQuery = `SELECT p.id FROM reviews p
	WHERE p.organization = reviews.organization AND p.repo = reviews.repo AND p.pr_number = reviews.pr_number
		AND p.ruleset = reviews.ruleset AND p.status = 'complete' AND (p.created_at, p.id) < (reviews.created_at, reviews.id)
	ORDER BY p.created_at DESC, p.id DESC LIMIT 1`

// insertCompared inserts the findings of an outcome, compared with the review
// before, "" for none.
func (t *tx) insertCompared(ctx context.Context, id, previous string, o finding.Result) error {
	before, err := t.before(ctx, previous, len(o.Skips) > 0)
	if err != nil {
		return err
	}
	if err := t.insertFindings(ctx, id, o.Findings, func(f finding.Finding) finding.State {
		return stateOf(before.reported[f.Fingerprint])
	}); err != nil {
		return err
	}
	if err := t.insertSuppressed(ctx, id, o.Suppressed, func(f finding.Finding) finding.State {
		return stateOf(before.reported[f.Fingerprint] || before.suppressed[f.Fingerprint])
	}); err != nil {
		return err
	}
	fixed := before.fixedBy(o)
	if len(o.Suppressed)+len(fixed) == 0 {
		return nil
	}
	if err := t.insertFixed(ctx, id, previous, fixed, len(o.Suppressed)); err != nil {
		return err
	}
	_, err = t.exec(ctx, `UPDATE reviews SET has_apart = TRUE WHERE id = ?`, id)
	return err
}

func stateOf(known bool) finding.State {
	if known {
		return finding.StateExisting
	}
	return finding.StateNew
}

// before is what a review had that another is compared with.
type before struct {
	reported, suppressed map[string]bool // by fingerprint
	findings             []earlier       // that it reported
}

// earlier is as much of a finding as comparing takes.
type earlier struct {
	position   int
	print      string
	rule, file string // empty when nobody asks for places
}

// before reads a review's findings, with their places if those are needed.
// Retention may just have deleted them, and then all is new.
func (t *tx) before(ctx context.Context, id string, places bool) (*before, error) {
	b := &before{}
	if id == "" {
		return b, nil
	}
	place := "'', ''"
	if places {
		place = "rule_id, file"
	}
	rows, err := t.QueryContext(ctx, t.rebind(`SELECT position, fingerprint, 0, `+place+` FROM findings WHERE review_id = ?
		UNION ALL SELECT position, fingerprint, 1, `+place+` FROM findings_apart WHERE review_id = ? AND kind = 'suppressed'`), id, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	b.reported, b.suppressed = make(map[string]bool), make(map[string]bool)
	for rows.Next() {
		var (
			e          earlier
			suppressed bool
		)
		if err := rows.Scan(&e.position, &e.print, &suppressed, &e.rule, &e.file); err != nil {
			return nil, err
		}
		if suppressed {
			b.suppressed[e.print] = true
			continue
		}
		b.reported[e.print] = true
		b.findings = append(b.findings, e)
	}
	return b, rows.Err()
}

// fixedBy returns the positions of the findings that are gone. What was not
// looked at is not gone, and of an outcome that is truncated nobody knows. A
// rule that was stopped is so for the rest of the scan, and only the file where
// it happened has a skip: files are matched side by side, so which ones it still
// looked at can't be told.
func (b *before) fixedBy(o finding.Result) []int {
	if o.Truncated || len(b.findings) == 0 {
		return nil
	}
	there := make(map[string]bool, len(o.Findings)+len(o.Suppressed))
	for _, f := range o.Findings {
		there[f.Fingerprint] = true
	}
	for _, f := range o.Suppressed {
		there[f.Fingerprint] = true
	}
	files, rules := make(map[string]bool), make(map[string]bool)
	for _, s := range o.Skips {
		switch {
		case s.RuleID != "":
			rules[s.RuleID] = true
		default:
			files[s.File] = true
		}
	}
	var positions []int
	for _, e := range b.findings {
		if !there[e.print] && !files[e.file] && !rules[e.rule] {
			positions = append(positions, e.position)
		}
	}
	return positions
}
