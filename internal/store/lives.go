package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
)

// ofLives is the condition that rows of finding_lives are of a pull request.
const ofLives = ` WHERE organization = ? AND repo = ? AND pr_number = ?`

// live notes what a review, whose rows are stored, sees and has fixed. A finding that
// comes back begins anew. The rows come in one order, so that reviews of one pull
// request that finish at the same time are not in each other's way.
func (t *tx) live(ctx context.Context, c review.Claim, repo string, fixed []finding.Finding) error {
	now := at(t.now)
	if _, err := t.exec(ctx, `INSERT INTO finding_lives
			(organization, repo, pr_number, fingerprint, rule_id, severity, first_seen_at, last_seen_at)
		SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS INTEGER), fingerprint, MIN(rule_id), MIN(severity),
			CAST(? AS BIGINT), CAST(? AS BIGINT)
		FROM findings WHERE review_id = ? AND kind = 'reported' GROUP BY fingerprint ORDER BY fingerprint
		ON CONFLICT (organization, repo, pr_number, fingerprint) DO UPDATE SET last_seen_at = excluded.last_seen_at,
			first_seen_at = CASE WHEN finding_lives.fixed_at IS NULL THEN finding_lives.first_seen_at
				ELSE excluded.first_seen_at END, fixed_at = NULL`,
		c.Organization, repo, c.PRNumber, now, now, c.ReviewID); err != nil {
		return err
	}

	fixed = slices.SortedFunc(slices.Values(fixed), func(a, b finding.Finding) int {
		return cmp.Compare(a.Fingerprint, b.Fingerprint)
	})
	fixed = slices.CompactFunc(fixed, func(a, b finding.Finding) bool { return a.Fingerprint == b.Fingerprint })
	took := map[fixedRule]time.Duration{}
	for some := range slices.Chunk(fixed, rowsPerInsert) {
		// An upsert looks each row up by its key, whatever the database believes of the table.
		const row = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
		var args []any
		for _, f := range some {
			args = append(args, c.Organization, repo, c.PRNumber, f.Fingerprint, f.RuleID, severity(f.Severity), now, now, now)
		}
		var rows []struct {
			RuleID    string `db:"rule_id"`
			Severity  severity
			FirstSeen timestamp `db:"first_seen_at"`
		}
		if err := t.list(ctx, &rows, `INSERT INTO finding_lives (organization, repo, pr_number, fingerprint, rule_id,
				severity, first_seen_at, last_seen_at, fixed_at) VALUES `+row+strings.Repeat(", "+row, len(some)-1)+`
			ON CONFLICT (organization, repo, pr_number, fingerprint) DO UPDATE SET fixed_at = excluded.fixed_at
				WHERE finding_lives.fixed_at IS NULL
			RETURNING rule_id, severity, first_seen_at`, args...); err != nil {
			return err
		}
		for _, r := range rows {
			took[fixedRule{r.RuleID, rule.Severity(r.Severity)}] += max(t.now.Sub(r.FirstSeen.Time), 0)
		}
	}

	return t.countFixes(ctx, c.Organization, repo, took)
}

// fixedRule is what times of fixing are counted by.
type fixedRule struct {
	id       string
	severity rule.Severity
}

// countFixes adds to the day how long fixing took.
func (t *tx) countFixes(ctx context.Context, org, repo string, took map[fixedRule]time.Duration) error {
	rules := slices.SortedFunc(maps.Keys(took), func(a, b fixedRule) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.severity, b.severity))
	})
	day := t.now.Format(time.DateOnly)

	return t.upsert(ctx, "finding_days",
		"organization, day, repo, rule_id, severity, found, fixed, suppressed, work, fix_seconds",
		` ON CONFLICT (organization, day, repo, rule_id, severity) DO UPDATE SET
			fix_seconds = finding_days.fix_seconds + excluded.fix_seconds`, len(rules), func(i int) []any {
			r := rules[i]

			return []any{org, day, repo, r.id, severity(r.severity), 0, 0, 0, 0, int64(took[r] / time.Second)}
		})
}

// countOpen adds to the day by how much what is open in a repository changed.
func (t *tx) countOpen(ctx context.Context, org, repo string, before, after finding.Summary) error {
	var changed []rule.Severity
	for _, s := range rule.Severities() {
		if after[s] != before[s] {
			changed = append(changed, s)
		}
	}
	day := t.now.Format(time.DateOnly)

	return t.upsert(ctx, "open_days", "organization, day, repo, severity, change",
		` ON CONFLICT (organization, day, repo, severity) DO UPDATE SET change = open_days.change + excluded.change`,
		len(changed), func(i int) []any {
			s := changed[i]

			return []any{org, day, repo, severity(s), after[s] - before[s]}
		})
}

// forget takes what is known of reviews that were deleted from elsewhere: what is open of
// them, and the lives of findings of a pull request that has no review any more.
func (t *tx) forget(ctx context.Context, reviews []deleted) error {
	type pull struct {
		org, repo string
		number    int32
	}
	seen := map[pull]bool{}
	for _, r := range reviews {
		if r.Latest {
			if err := t.countOpen(ctx, r.Organization, r.Repo, r.open(), nil); err != nil {
				return err
			}
		}
		of := pull{r.Organization, r.Repo, r.PRNumber}
		if seen[of] {
			continue
		}
		seen[of] = true
		if _, err := t.exec(ctx, `DELETE FROM finding_lives`+ofLives+` AND NOT EXISTS
			(SELECT 1 FROM reviews WHERE organization = ? AND repo = ? AND pr_number = ?)`,
			of.org, of.repo, of.number, of.org, of.repo, of.number); err != nil {
			return err
		}
	}

	return nil
}

// decisionCount is where a decision is counted: on the day when it was made.
type decisionCount struct {
	day, ruleID string
	severity    rule.Severity
	decision    finding.Decision
}

// countDecisions counts the decisions of a change, and no more those that it replaces.
func (t *tx) countDecisions(
	ctx context.Context, org string, c triage.Change, before map[string]*triageRow, after []*triageRow,
) error {
	counts := map[decisionCount]int{}
	add := func(r *triageRow, n int) {
		if r != nil {
			counts[decisionCount{
				r.DecidedAt.Format(time.DateOnly), r.RuleID, rule.Severity(r.Severity), r.Decision,
			}] += n
		}
	}
	for i, f := range c.Fingerprints {
		add(before[f], -1)
		add(after[i], 1)
	}

	var keys []decisionCount
	for k, n := range counts {
		if n != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b decisionCount) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.ruleID, b.ruleID), cmp.Compare(a.severity, b.severity),
			cmp.Compare(a.decision, b.decision))
	})
	for _, k := range keys {
		if err := t.countDecision(ctx, org, c.Repo, k, counts[k]); err != nil {
			return err
		}
	}

	return nil
}

// countDecision adds to a number of a day. Nothing is taken from a day that is deleted.
func (t *tx) countDecision(ctx context.Context, org, repo string, k decisionCount, n int) error {
	column := string(k.decision) // accepted, false_positive or wont_fix
	if n < 0 {
		_, err := t.exec(ctx, `UPDATE finding_days SET `+column+` = `+column+` + ? WHERE organization = ? AND day = ?
			AND repo = ? AND rule_id = ? AND severity = ? AND `+column+` + ? >= 0`,
			n, org, k.day, repo, k.ruleID, severity(k.severity), n)

		return err
	}
	_, err := t.exec(ctx, `INSERT INTO finding_days
			(organization, day, repo, rule_id, severity, found, fixed, suppressed, work, `+column+`)
		VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, ?) ON CONFLICT (organization, day, repo, rule_id, severity) DO UPDATE SET
			`+column+` = finding_days.`+column+` + excluded.`+column,
		org, k.day, repo, k.ruleID, severity(k.severity), n)

	return err
}
