package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/rule"
)

// historyRows is how many changes of an organization's rules are kept.
const historyRows = 50_000

// ruleChange is one change of a rule, for its history.
type ruleChange struct {
	action rule.Action
	row    ruleRow // as it is then; of a rule that is deleted only the ids
}

// changeRules counts rules that are added to those of an organization, or taken
// from them, and writes the history of all that are changed. It takes the
// organization's row, so that changes come one after the other and can't all see
// the last free place.
func (t *tx) changeRules(ctx context.Context, org string, added, quota int, changes ...ruleChange) (int64, error) {
	var last int64
	err := t.get(ctx, &last, `UPDATE organizations SET rules = rules + ?, rule_changes = rule_changes + ?
		WHERE name = ? AND rules + ? <= ? RETURNING rule_changes`, added, len(changes), org, added, quota)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, rule.RuleQuota(quota)
	}
	if err != nil {
		return 0, err
	}

	if err := t.checkRulesSize(ctx, org); err != nil {
		return 0, err
	}

	first, by := last-int64(len(changes))+1, audit.FromContext(ctx).String()
	err = t.insert(ctx, "rule_history", "organization, seq, full_id, at, actor, action, rule", len(changes),
		func(i int) []any {
			c := changes[i]
			document := ""
			if c.action != rule.ActionDelete {
				text, _ := json.Marshal(c.row.rule().Document()) // texts and flags always can be
				document = string(text)
			}
			return []any{org, first + int64(i), c.row.FullID, at(t.now), by, string(c.action), document}
		})
	if err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, `DELETE FROM rule_history WHERE organization = ? AND seq <= ?`, org, last-historyRows)

	return last, err
}

// checkRulesSize refuses more text in all rules than they may have.
func (t *tx) checkRulesSize(ctx context.Context, org string) error {
	var size int64
	err := t.get(ctx, &size, `SELECT COALESCE(SUM(OCTET_LENGTH(pattern) + OCTET_LENGTH(message) +
		OCTET_LENGTH(paths_include) + OCTET_LENGTH(paths_exclude) + OCTET_LENGTH(cases_match) +
		OCTET_LENGTH(cases_no_match) + OCTET_LENGTH(refs) + OCTET_LENGTH(languages)), 0)
		FROM rules WHERE organization = ?`, org)
	if err == nil && size > rule.MaxRulesSize {
		return rule.RulesTooLarge()
	}
	return err
}

// etagOf is the etag of all rules of an organization after so many changes.
func etagOf(changes int64) string { return strconv.FormatInt(changes, 10) }

// ruleEtag reads the etag of all rules of an organization.
func (t *tx) ruleEtag(ctx context.Context, org, lock string) (string, error) {
	var changes int64
	err := t.get(ctx, &changes, `SELECT rule_changes FROM organizations WHERE name = ?`+lock, org)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil // it has done nothing yet
	}

	return etagOf(changes), err
}

// RuleEtags implements rule.Store.
func (s *Store) RuleEtags(ctx context.Context, org string) (byID map[string]string, etag string, err error) {
	err = s.read(ctx, "read the etags of rules", of(org), func(t *tx) error {
		var rows []struct {
			FullID string `db:"full_id"`
			Etag   string `db:"etag"`
		}
		if etag, err = t.ruleEtag(ctx, org, ""); err != nil {
			return err
		}
		err := t.list(ctx, &rows, `SELECT full_id, etag FROM rules WHERE organization = ?`, org)
		byID = make(map[string]string, len(rows))
		for _, r := range rows {
			byID[r.FullID] = r.Etag
		}
		return err
	})

	return byID, etag, err
}

// ExportRules implements rule.Store.
func (s *Store) ExportRules(ctx context.Context, org string) (rules []rule.Rule, etag string, err error) {
	err = s.read(ctx, "read all rules", of(org), func(t *tx) error {
		if etag, err = t.ruleEtag(ctx, org, ""); err != nil {
			return err
		}
		var rows []ruleRow
		err := t.list(ctx, &rows, `SELECT `+ruleColumns+` FROM rules WHERE organization = ? ORDER BY full_id`, org)
		rules = rulesOf(rows)
		return err
	})

	return rules, etag, err
}

func rulesOf(rows []ruleRow) []rule.Rule {
	out := make([]rule.Rule, len(rows))
	for i, row := range rows {
		out[i] = row.rule()
	}

	return out
}

// in makes a condition that a column has one of the values, and its arguments
// behind others.
func in(column string, values []string, args ...any) (string, []any) {
	for _, v := range values {
		args = append(args, v)
	}
	return column + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")", args
}

// GetRules implements rule.Store.
func (s *Store) GetRules(ctx context.Context, org string, fullIDs []string) (rules []rule.Rule, err error) {
	// There is one query for all numbers of rules: queries are kept prepared.
	fullIDs = append(slices.Clone(fullIDs), make([]string, max(0, rowsPerInsert-len(fullIDs)))...)
	err = s.read(ctx, "read rules", of(org), func(t *tx) error {
		var rows []ruleRow
		condition, args := in("full_id", fullIDs, org)
		err := t.list(ctx, &rows, `SELECT `+ruleColumns+` FROM rules WHERE organization = ? AND `+condition, args...)
		rules = rulesOf(rows)
		return err
	})

	return rules, err
}

// ApplyRules implements rule.Store.
func (s *Store) ApplyRules(ctx context.Context, org string, b rule.Batch) (etag string, err error) {
	err = s.write(ctx, "push rules", of(org), func(t *tx) error {
		if _, err := t.exec(ctx, `INSERT INTO organizations (name) VALUES (?) ON CONFLICT (name) DO NOTHING`,
			org); err != nil {
			return err
		}
		before, err := t.ruleEtag(ctx, org, t.lock("organizations"))
		if err != nil {
			return err
		}
		if before != b.Etag {
			return rule.RulesChanged()
		}

		changes, err := t.applyRules(ctx, org, b)
		if err != nil {
			return err
		}
		last, err := t.changeRules(ctx, org, len(b.Create)-len(b.Delete), b.Quota, changes...)
		if err != nil {
			return err
		}
		etag = etagOf(last)
		return t.audit(ctx, org, audit.Change{Action: audit.RulePush, Target: "rules", Fields: counts(b)})
	})

	return etag, err
}

// counts says in the audit log how many rules a batch changed.
func counts(b rule.Batch) (fields []audit.Field) {
	for _, x := range []struct {
		name string
		n    int
	}{{"created", len(b.Create)}, {"updated", len(b.Update)}, {"deleted", len(b.Delete)}} {
		if x.n > 0 {
			fields = append(fields, audit.Field{Name: x.name, After: strconv.Itoa(x.n)})
		}
	}

	return fields
}

// applyRules writes the rules of a batch.
func (t *tx) applyRules(ctx context.Context, org string, b rule.Batch) (changes []ruleChange, err error) {
	created := make(map[string]ruleRow, len(b.Update)) // who created the rules that are changed, and when
	gone := slices.Clone(b.Delete)
	for _, r := range b.Update {
		gone = append(gone, r.FullID())
	}
	for some := range slices.Chunk(gone, rowsPerInsert) {
		var rows []ruleRow
		condition, args := in("full_id", some, org)
		if err := t.list(ctx, &rows, `SELECT full_id, created_at, created_by FROM rules
			WHERE organization = ? AND `+condition, args...); err != nil {
			return nil, err
		}
		for _, row := range rows {
			created[row.FullID] = row
		}
		if _, err := t.exec(ctx, `DELETE FROM rules WHERE organization = ? AND `+condition, args...); err != nil {
			return nil, err
		}
	}

	rows := make([]ruleRow, 0, len(b.Create)+len(b.Update))
	add := func(r rule.Rule, action rule.Action) {
		row := rowOf(ctx, org, r)
		row.CreatedAt, row.CreatedBy, row.UpdatedAt = at(t.now), row.UpdatedBy, at(t.now)
		if before, ok := created[row.FullID]; ok {
			row.CreatedAt, row.CreatedBy = before.CreatedAt, before.CreatedBy
		}
		rows = append(rows, row)
		changes = append(changes, ruleChange{action, row})
	}
	for _, r := range b.Create {
		add(r, rule.ActionCreate)
	}
	for _, r := range b.Update {
		add(r, rule.ActionUpdate)
	}
	for _, id := range b.Delete {
		changes = append(changes, ruleChange{rule.ActionDelete, ruleRow{FullID: id}})
	}

	return changes, t.insert(ctx, "rules", ruleColumns, len(rows), func(i int) []any { return rows[i].values() })
}

// values are those of ruleColumns.
func (r ruleRow) values() []any {
	return []any{
		r.Organization, r.FullID, r.ID, r.Type, r.Pattern, r.Message, r.Severity, string(r.Scope), r.Repo, r.PathsInclude,
		r.PathsExclude, r.Multiline, r.Redact, r.CasesMatch, r.CasesNoMatch, r.References, r.Languages, r.Enabled,
		string(r.Mode), r.Etag, r.CreatedAt, r.CreatedBy, r.UpdatedAt, r.UpdatedBy,
	}
}

// RuleHistory implements rule.Store.
func (s *Store) RuleHistory(
	ctx context.Context, org, fullID string, before int64, limit int,
) (versions []rule.Version, err error) {
	var rows []struct {
		Seq    int64       `db:"seq"`
		At     timestamp   `db:"at"`
		Actor  string      `db:"actor"`
		Action rule.Action `db:"action"`
		Rule   string      `db:"rule"`
	}
	err = s.read(ctx, "read the history of a rule", of(org), func(t *tx) error {
		query, args := `SELECT seq, at, actor, action, rule FROM rule_history WHERE organization = ? AND full_id = ?`,
			[]any{org, fullID}
		if before > 0 {
			query, args = query+` AND seq < ?`, append(args, before)
		}
		return t.list(ctx, &rows, query+` ORDER BY seq DESC LIMIT ?`, append(args, limit)...)
	})

	for _, r := range rows {
		v := rule.Version{Seq: r.Seq, At: r.At.Time, By: r.Actor, Action: r.Action}
		if r.Rule != "" {
			v.Rule = &rule.Document{}
			if err := json.Unmarshal([]byte(r.Rule), v.Rule); err != nil {
				return nil, err
			}
		}
		versions = append(versions, v)
	}

	return versions, err
}
