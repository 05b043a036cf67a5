package store

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
)

// Trend implements stats.Store.
func (s *Store) Trend(ctx context.Context, org string, f stats.TrendFilter) (out stats.Trend, err error) {
	const ofDays = ` WHERE organization = ? AND day >= ? AND (? = '' OR repo = ?)`
	err = s.read(ctx, "read trends", of(org), func(t *tx) error {
		out = stats.Trend{}
		var days []struct {
			Day          string
			Severity     severity
			Found, Fixed int64
			Seconds      int64
		}
		if err := t.list(ctx, &days, `SELECT day, severity, CAST(SUM(found) AS BIGINT) AS found,
				CAST(SUM(fixed) AS BIGINT) AS fixed, CAST(SUM(fix_seconds) AS BIGINT) AS seconds
			FROM finding_days`+ofDays+` AND day <= ? GROUP BY day, severity ORDER BY day, severity`,
			org, f.Since, f.Repo, f.Repo, f.Until); err != nil {
			return err
		}
		for _, d := range days {
			out.FixSeconds += d.Seconds
			out.Days = append(out.Days, stats.Day{
				Day: d.Day, Severity: rule.Severity(d.Severity), Found: d.Found, Fixed: d.Fixed,
			})
		}

		var changes []struct {
			Day      string
			Severity severity
			Change   int64
		}
		if err := t.list(ctx, &changes, `SELECT day, severity, CAST(SUM(change) AS BIGINT) AS change
			FROM open_days`+ofDays+` GROUP BY day, severity ORDER BY day, severity`,
			org, f.Since, f.Repo, f.Repo); err != nil {
			return err
		}
		for _, c := range changes {
			out.Changes = append(out.Changes, stats.Change{Day: c.Day, Severity: rule.Severity(c.Severity), Change: c.Change})
		}

		var open []openRow
		if err := t.list(ctx, &open, `SELECT `+openSums+` FROM reviews WHERE organization = ? AND latest
			AND (? = '' OR repo = ?) HAVING COUNT(*) > 0`, org, f.Repo, f.Repo); err != nil {
			return err
		}
		if len(open) > 0 {
			out.Open = open[0].open()
		}
		out.Median, out.P90, err = t.fixTimes(ctx, org, f)

		return err
	})

	return out, err
}

// fixTimes are how long half and 9 of 10 of the fixes in a window took at most, of those
// whose lives are known.
func (t *tx) fixTimes(ctx context.Context, org string, f stats.TrendFilter) (median, p90 time.Duration, err error) {
	first, _ := time.Parse(time.DateOnly, f.Since) // stats has checked both
	last, _ := time.Parse(time.DateOnly, f.Until)
	const ofFixes = ` FROM finding_lives WHERE organization = ? AND fixed_at >= ? AND fixed_at < ? AND fixed_at IS NOT NULL
		AND (? = '' OR repo = ?)`
	args := []any{org, at(first), at(last.AddDate(0, 0, 1)), f.Repo, f.Repo}
	n := 0
	if err := t.get(ctx, &n, `SELECT COUNT(*)`+ofFixes, args...); err != nil || n == 0 {
		return 0, 0, err
	}

	// The nearest rank: so many of 10 are at most as long.
	rank := func(tenths int) (took time.Duration, err error) {
		var micros int64
		err = t.get(ctx, &micros, `SELECT fixed_at - first_seen_at AS took`+ofFixes+` ORDER BY took LIMIT 1 OFFSET ?`,
			append(args, (n*tenths+9)/10-1)...)

		return time.Duration(micros) * time.Microsecond, err
	}
	if median, err = rank(5); err == nil {
		p90, err = rank(9)
	}

	return median, p90, err
}
