package store

import (
	"context"
	"database/sql"
	"errors"

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
// unless one that was created later is, and returns what was open before. It comes after
// the organization's row was changed, so that no two do it at a time.
func (t *tx) makeLatest(ctx context.Context, c review.Claim, r finishing) (open finding.Summary, done bool, err error) {
	const setLatest = `UPDATE reviews SET latest = ? WHERE organization = ? AND id = ?`
	var was struct {
		ID    string
		Later bool
		openRow
	}
	err = t.get(ctx, &was, `SELECT id, (created_at, id) > (?, ?) AS later, `+openColumns+` FROM reviews
		WHERE organization = ? AND repo = ? AND pr_number = ? AND latest`,
		r.CreatedAt, c.ReviewID, c.Organization, r.Repo, c.PRNumber)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil || was.Later:
		return nil, false, err
	default:
		open = was.open()
		if _, err := t.exec(ctx, setLatest, false, c.Organization, was.ID); err != nil {
			return nil, false, err
		}
	}
	_, err = t.exec(ctx, setLatest, true, c.Organization, c.ReviewID)

	return open, true, err
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
