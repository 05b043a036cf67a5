package store

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/stats"
)

// countDay adds what a review changed to the numbers of its repository and day.
// Reviews of one repository that finish at the same time change the rows in the
// same order, which stats.Of gives, so none is in the way of another.
func (t *tx) countDay(ctx context.Context, org, repo string, counts []stats.Count) error {
	const (
		columns = "organization, day, repo, rule_id, severity, found, fixed, suppressed, work"
		add     = ` ON CONFLICT (organization, day, repo, rule_id, severity) DO UPDATE SET
			found = finding_days.found + excluded.found, fixed = finding_days.fixed + excluded.fixed,
			suppressed = finding_days.suppressed + excluded.suppressed, work = finding_days.work + excluded.work`
	)
	day := t.now.Format(time.DateOnly)

	return t.upsert(ctx, "finding_days", columns, add, len(counts), func(i int) []any {
		n := counts[i]

		return []any{org, day, repo, n.RuleID, severity(n.Severity), n.Found, n.Fixed, n.Suppressed, n.Work}
	})
}

// ruleStatsQuery sums numbers up. The first parameter says whether repositories
// are told apart, and the last but four whether a page before has ended at what
// follows.
const ruleStatsQuery = `SELECT rule_id, repo, found, fixed, suppressed, accepted, false_positive, wont_fix, work FROM (
		SELECT rule_id, CASE WHEN ? THEN repo ELSE '' END AS repo,
			CAST(SUM(found) AS BIGINT) AS found, CAST(SUM(fixed) AS BIGINT) AS fixed,
			CAST(SUM(suppressed) AS BIGINT) AS suppressed, CAST(SUM(accepted) AS BIGINT) AS accepted,
			CAST(SUM(false_positive) AS BIGINT) AS false_positive, CAST(SUM(wont_fix) AS BIGINT) AS wont_fix,
			CAST(SUM(work) AS BIGINT) AS work
		FROM finding_days
		WHERE organization = ? AND day >= ? AND day <= ? AND (? = '' OR repo = ?) AND (? = '' OR rule_id = ?)
			AND ` + atLeast + `
		GROUP BY 1, 2) sums
	WHERE ? = '' OR found < ? OR (found = ? AND (rule_id, repo) > (?, ?))
	ORDER BY found DESC, rule_id, repo LIMIT ?`

// RuleStats implements stats.Store.
func (s *Store) RuleStats(ctx context.Context, org string, f stats.Filter) ([]stats.Rule, error) {
	var rows []struct {
		RuleID        string `db:"rule_id"`
		Repo          string
		Found         int64
		Fixed         int64
		Suppressed    int64
		Accepted      int64
		FalsePositive int64 `db:"false_positive"`
		WontFix       int64 `db:"wont_fix"`
		Work          int64
	}
	err := s.read(ctx, "read the numbers of rules", of(org), func(t *tx) error {
		return t.list(ctx, &rows, ruleStatsQuery, f.ByRepository, org, f.Since, f.Until, f.Repo, f.Repo, f.RuleID, f.RuleID,
			rankOf(f.MinSeverity), f.After.RuleID, f.After.Found, f.After.Found, f.After.RuleID, f.After.Repo, max(f.Limit, 1))
	})
	out := make([]stats.Rule, len(rows))
	for i, row := range rows {
		out[i] = stats.Rule(row)
	}

	return out, err
}

// PurgeStats implements review.RetentionStore.
func (s *Store) PurgeStats(ctx context.Context, days int, latest time.Time) (n int, more bool, err error) {
	return s.purge(ctx, "delete old numbers", latest, func(t *tx, now time.Time) (int64, error) {
		last := now.AddDate(0, 0, -days).Format(time.DateOnly)
		open, err := t.exec(ctx, `DELETE FROM open_days WHERE (organization, day, repo, severity) IN
			(SELECT d.organization, d.day, d.repo, d.severity FROM organizations o
			 JOIN open_days d ON d.organization = o.name AND d.day <= ? LIMIT ?`+t.lockFree("d")+`)`, last, purgeRows)
		if err != nil {
			return 0, err
		}
		numbers, err := t.exec(ctx, `DELETE FROM finding_days WHERE (organization, day, repo, rule_id, severity) IN
			(SELECT d.organization, d.day, d.repo, d.rule_id, d.severity FROM organizations o
			 JOIN finding_days d ON d.organization = o.name AND d.day <= ? LIMIT ?`+t.lockFree("d")+`)`, last, purgeRows)

		return open + numbers, err
	})
}
