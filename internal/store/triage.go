package store

import (
	"context"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/command"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/triage"
)

// triageColumns are those of triageRow.
const triageColumns = `organization, repo, fingerprint, pr_number, rule_id, severity, decision, reason, until, actor,
	change_id, decided_at`

// triageRow is a decision as it is stored. Its JSON is what triage_changes has.
type triageRow struct {
	Organization string           `db:"organization" json:"-"`
	Repo         string           `db:"repo"         json:"-"`
	Fingerprint  string           `db:"fingerprint"  json:"-"`
	PRNumber     int32            `db:"pr_number"    json:"-"`
	RuleID       string           `db:"rule_id"      json:"rule_id"`
	Severity     severity         `db:"severity"     json:"severity"`
	Decision     finding.Decision `db:"decision"     json:"decision"`
	Reason       string           `db:"reason"       json:"reason"`
	Until        string           `db:"until"        json:"until"`
	Actor        string           `db:"actor"        json:"actor"`
	ChangeID     string           `db:"change_id"    json:"change_id"`
	DecidedAt    timestamp        `db:"decided_at"   json:"decided_at"`
}

func (r triageRow) triage() finding.Triage {
	t := finding.Triage{
		Decision: r.Decision, Reason: r.Reason, Until: r.Until, By: r.Actor, At: r.DecidedAt.Time,
		Scope: finding.InRepository,
	}
	if r.PRNumber > 0 {
		t.Scope = finding.InPullRequest
	}

	return t
}

// word is a decision as the audit log has it; "" for none.
func (r *triageRow) word() string {
	if r == nil {
		return ""
	}

	return string(r.Decision)
}

// triageChange is what a decision replaced.
type triageChange struct {
	Fingerprint string             `db:"fingerprint"`
	Repo        string             `db:"repo"`
	PRNumber    int32              `db:"pr_number"`
	Decision    finding.Decision   `db:"decision"`
	Before      jsonOf[*triageRow] `db:"before"`
	ChangedAt   timestamp          `db:"changed_at"`
}

// Latest implements triage.Store.
func (s *Store) Latest(
	ctx context.Context, org, repo string, pr int32, fingerprints []string,
) (found []finding.Finding, err error) {
	err = s.read(ctx, "look for findings", of(org), func(t *tx) error {
		found = nil
		reviews, err := t.latestReviews(ctx, org, repo, pr)
		if err != nil || len(reviews) == 0 {
			return err
		}

		seen := map[string]bool{}
		for some := range slices.Chunk(fingerprints, rowsPerInsert) {
			rows, err := t.listed(ctx, reviews, some)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if !seen[r.Fingerprint] {
					seen[r.Fingerprint] = true
					found = append(found, r.finding())
				}
			}
		}

		return nil
	})

	return found, err
}

// SetTriage implements triage.Store. Finish takes the organization's row before it reads
// decisions, as this does before it looks for reviews, so none misses the other.
func (s *Store) SetTriage(
	ctx context.Context, org string, c triage.Change, findings map[string]finding.Finding,
) (changed int, err error) {
	c.Reason = auth.MaskTokens(c.Reason)
	err = s.write(ctx, "decide about findings", of(org), func(t *tx) error {
		changed = 0
		if err := t.takeOrganization(ctx, org); err != nil {
			return err
		}
		before, err := t.decisions(ctx, org, c.Repo, c.PRNumber, c.Fingerprints)
		if err != nil {
			return err
		}

		c := c // it may be tried again
		var fingerprints []string
		for _, f := range c.Fingerprints {
			was := before[f]
			same := was != nil && was.Decision == c.Decision && was.Reason == c.Reason && was.Until == c.Until
			if !same && (was != nil || c.Decision != finding.Open) {
				fingerprints = append(fingerprints, f)
			}
		}
		if changed = len(fingerprints); changed == 0 {
			return nil
		}
		c.Fingerprints = fingerprints

		actor := audit.FromContext(ctx).String()
		rows := make([]*triageRow, changed)
		for i, f := range fingerprints {
			if c.Decision != finding.Open {
				rows[i] = &triageRow{
					Organization: org, Repo: c.Repo, Fingerprint: f, PRNumber: c.PRNumber,
					RuleID: findings[f].RuleID, Severity: severity(findings[f].Severity),
					Decision: c.Decision, Reason: c.Reason, Until: c.Until, Actor: actor, ChangeID: c.ID,
					DecidedAt: at(t.now),
				}
			}
		}
		if err := t.putDecisions(ctx, org, c, rows); err != nil {
			return err
		}
		if err := t.keepReplaced(ctx, org, c, before); err != nil {
			return err
		}

		return t.decided(ctx, org, audit.FindingTriage, c, before, rows)
	})

	return changed, err
}

// keepReplaced stores what a change replaces.
func (t *tx) keepReplaced(
	ctx context.Context, org string, c triage.Change, before map[string]*triageRow,
) error {
	const columns = "organization, change_id, fingerprint, repo, pr_number, decision, before, changed_at"

	return t.insert(ctx, "triage_changes", columns, len(c.Fingerprints), func(i int) []any {
		f := c.Fingerprints[i]

		return []any{org, c.ID, f, c.Repo, c.PRNumber, c.Decision, jsonOf[*triageRow]{before[f]}, at(t.now)}
	})
}

// decided writes the event of a change, and applies it to reviews.
func (t *tx) decided(
	ctx context.Context, org string, action audit.Action, c triage.Change, before map[string]*triageRow,
	after []*triageRow,
) error {
	fields := audit.Diff(nil, struct {
		Repo     string `json:"repo"`
		PRNumber int32  `json:"pr_number"`
		Reason   string `json:"reason"`
		Until    string `json:"until"`
	}{c.Repo, c.PRNumber, c.Reason, c.Until})
	for i, f := range c.Fingerprints {
		fields = append(fields, audit.Field{Name: "finding " + f, Before: before[f].word(), After: after[i].word()})
	}
	if err := t.audit(ctx, org, audit.Change{Action: action, Target: c.ID, Fields: fields}); err != nil {
		return err
	}

	if err := t.countDecisions(ctx, org, c, before, after); err != nil {
		return err
	}

	return t.applyDecisions(ctx, org, c.Repo, c.PRNumber, c.Fingerprints)
}

// decisions are those at one place about some findings, by fingerprint.
func (t *tx) decisions(
	ctx context.Context, org, repo string, pr int32, fingerprints []string,
) (map[string]*triageRow, error) {
	all := map[string]*triageRow{}
	for some := range slices.Chunk(fingerprints, rowsPerInsert) {
		condition, args := in("fingerprint", some, org, repo, pr)
		var rows []triageRow
		if err := t.list(ctx, &rows, `SELECT `+triageColumns+` FROM triage
			WHERE organization = ? AND repo = ? AND pr_number = ? AND `+condition, args...); err != nil {
			return nil, err
		}
		for _, r := range rows {
			all[r.Fingerprint] = &r
		}
	}

	return all, nil
}

// putDecisions makes rows the decisions about the findings of a change; nil is none.
func (t *tx) putDecisions(ctx context.Context, org string, c triage.Change, rows []*triageRow) error {
	for some := range slices.Chunk(c.Fingerprints, rowsPerInsert) {
		condition, args := in("fingerprint", some, org, c.Repo, c.PRNumber)
		if _, err := t.exec(ctx, `DELETE FROM triage WHERE organization = ? AND repo = ? AND pr_number = ? AND `+
			condition, args...); err != nil {
			return err
		}
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *triageRow) bool { return r == nil })

	return t.insert(ctx, "triage", triageColumns, len(rows), func(i int) []any {
		r := rows[i]

		return []any{
			r.Organization, r.Repo, r.Fingerprint, r.PRNumber, r.RuleID, r.Severity, r.Decision, r.Reason, r.Until,
			r.Actor, r.ChangeID, r.DecidedAt,
		}
	})
}

// UndoTriage implements triage.Store.
func (s *Store) UndoTriage(ctx context.Context, org, changeID string) (changed int, err error) {
	err = s.write(ctx, "undo a decision", of(org), func(t *tx) error {
		if err := t.takeOrganization(ctx, org); err != nil {
			return err
		}
		var list []triageChange
		if err := t.list(ctx, &list, `SELECT fingerprint, repo, pr_number, decision, before, changed_at FROM triage_changes
			WHERE organization = ? AND change_id = ? ORDER BY fingerprint`, org, changeID); err != nil {
			return err
		}
		if len(list) == 0 {
			return errs.New(errs.NotFound, errs.ReasonTriageNotFound, "There is no such change that can be undone.")
		}
		if t.now.Sub(list[0].ChangedAt.Time) > triage.UndoTime {
			return errs.New(errs.FailedPrecondition, errs.ReasonTriageChanged,
				"The change is over an hour old and can't be undone; decide anew.")
		}

		changed = len(list)

		return t.undo(ctx, org, changeID, list)
	})

	return changed, err
}

// undo puts back what a change replaced.
func (t *tx) undo(ctx context.Context, org, changeID string, list []triageChange) error {
	fingerprints, rows := make([]string, len(list)), make([]*triageRow, len(list))
	for i, x := range list {
		fingerprints[i] = x.Fingerprint
		if was := x.Before.value; was != nil {
			was.Organization, was.Repo, was.Fingerprint, was.PRNumber = org, x.Repo, x.Fingerprint, x.PRNumber
			rows[i] = was
		}
	}
	c := triage.Change{ID: changeID, Repo: list[0].Repo, PRNumber: list[0].PRNumber, Fingerprints: fingerprints}
	now, err := t.decisions(ctx, org, c.Repo, c.PRNumber, fingerprints)
	if err != nil {
		return err
	}
	for _, x := range list {
		is := now[x.Fingerprint]
		if x.Decision == finding.Open && is != nil || x.Decision != finding.Open && (is == nil || is.ChangeID != changeID) {
			return errs.New(errs.FailedPrecondition, errs.ReasonTriageChanged,
				"Somebody has decided about the finding %s since, so the change can't be undone.", x.Fingerprint)
		}
	}

	if err := t.putDecisions(ctx, org, c, rows); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `DELETE FROM triage_changes WHERE organization = ? AND change_id = ?`,
		org, changeID); err != nil {
		return err
	}

	return t.decided(ctx, org, audit.FindingTriageUndo, c, now, rows)
}

// ListTriage implements triage.Store.
func (s *Store) ListTriage(ctx context.Context, org string, f triage.Filter) ([]triage.Decided, error) {
	const place = `change_id || '.' || fingerprint`
	var rows []triageRow
	err := s.read(ctx, "list decisions", of(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+triageColumns+` FROM triage WHERE organization = ?
			AND (? = '' OR repo = ?) AND (? = '' OR decision = ?) AND (? = '' OR rule_id = ?)
			AND (? = '' OR (until <> '' AND until < ?))
			AND (? = '' OR decided_at < ? OR (decided_at = ? AND `+place+` < ?))
			ORDER BY decided_at DESC, `+place+` DESC LIMIT ?`,
			org, f.Repo, f.Repo, f.Decision, f.Decision, f.RuleID, f.RuleID, f.ExpiringBefore, f.ExpiringBefore,
			f.After.ID, f.After.At.UnixMicro(), f.After.At.UnixMicro(), f.After.ID, max(f.Limit, 1))
	})
	out := make([]triage.Decided, len(rows))
	for i, r := range rows {
		out[i] = triage.Decided{
			Repo: r.Repo, PRNumber: r.PRNumber, Fingerprint: r.Fingerprint, RuleID: r.RuleID, ChangeID: r.ChangeID,
			Triage: r.triage(),
		}
	}

	return out, err
}

// PurgeTriage implements review.RetentionStore.
func (s *Store) PurgeTriage(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error) {
	return s.purge(ctx, "delete old decisions", latest, func(t *tx, now time.Time) (int64, error) {
		changes, err := t.exec(ctx, `DELETE FROM triage_changes WHERE (organization, change_id, fingerprint) IN
			(SELECT organization, change_id, fingerprint FROM triage_changes WHERE changed_at < ? LIMIT ?`+
			t.lockFree("triage_changes")+`)`, at(now.Add(-2*triage.UndoTime)), purgeRows)
		if err != nil {
			return 0, err
		}
		commands, err := t.exec(ctx, `DELETE FROM commands WHERE (organization, connection_id, name) IN
			(SELECT organization, connection_id, name FROM commands WHERE handled_at < ? LIMIT ?`+
			t.lockFree("commands")+`)`, at(now.Add(-command.Keep)), purgeRows)
		if err != nil {
			return 0, err
		}
		ended, err := t.exec(ctx, `DELETE FROM triage WHERE (organization, repo, fingerprint, pr_number) IN
			(SELECT organization, repo, fingerprint, pr_number FROM triage WHERE until <> '' AND until < ? LIMIT ?`+
			t.lockFree("triage")+`)`, now.Add(-keep).Format(time.DateOnly), purgeRows)

		return changes + commands + ended, err
	})
}
