package store

import (
	"context"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// A finding is open when a review reports it and nobody has set it aside. This is the
// one condition by which findings count for verdicts, lists and trends.
const (
	isOpen     = `kind = 'reported' AND decision = 'open'`
	isSetAside = `kind = 'reported' AND decision <> 'open'`
)

// makeLatest makes a review that has just finished the latest one of its pull request,
// unless one that was created later is. It comes after the organization's row was
// changed, so that no two do it at a time.
func (t *tx) makeLatest(ctx context.Context, c review.Claim, r finishing) error {
	const ofPull = ` WHERE organization = ? AND repo = ? AND pr_number = ? AND latest`
	var later int
	if err := t.get(ctx, &later, `SELECT COUNT(*) FROM reviews`+ofPull+` AND (created_at, id) > (?, ?)`,
		c.Organization, r.Repo, c.PRNumber, r.CreatedAt, c.ReviewID); err != nil || later > 0 {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE reviews SET latest = ?`+ofPull, false, c.Organization, r.Repo,
		c.PRNumber); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE reviews SET latest = ? WHERE organization = ? AND id = ?`,
		true, c.Organization, c.ReviewID)

	return err
}

// openColumns are those of openRow.
const openColumns = `open_critical, open_high, open_medium, open_warning, open_low, open_info`

// openRow counts open findings.
type openRow struct {
	Critical int `db:"open_critical"`
	High     int `db:"open_high"`
	Medium   int `db:"open_medium"`
	Warning  int `db:"open_warning"`
	Low      int `db:"open_low"`
	Info     int `db:"open_info"`
}

func (r openRow) open() finding.Summary {
	return finding.Summary{
		rule.Critical: r.Critical, rule.High: r.High, rule.Medium: r.Medium, rule.Warning: r.Warning,
		rule.Low: r.Low, rule.Info: r.Info,
	}
}

// setOpen sets openColumns to openValues.
const setOpen = `open_critical = ?, open_high = ?, open_medium = ?, open_warning = ?, open_low = ?, open_info = ?`

func openValues(open finding.Summary) []any {
	var values []any
	for _, s := range rule.Severities() {
		values = append(values, max(open[s], 0))
	}

	return values
}

// setVerdict stores what is open of a review, and the verdict that follows.
func (t *tx) setVerdict(
	ctx context.Context, org, id string, open finding.Summary, threshold rule.Severity, notLookedAt int,
) error {
	args := append([]any{finding.Decide(open.AtLeast(threshold), notLookedAt)}, openValues(open)...)
	_, err := t.exec(ctx, `UPDATE reviews SET outcome = ?, `+setOpen+` WHERE organization = ? AND id = ?`,
		append(args, org, id)...)

	return err
}
