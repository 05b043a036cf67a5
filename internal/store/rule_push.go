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

// ruleChange is one change of a rule, and what its history gets.
type ruleChange struct {
	action   rule.Action
	row      ruleRow // as it is then; of a rule that is deleted only the full id
	document string  // "" of a rule that is deleted
}

// changesOf encodes what a batch changes, before a transaction makes others wait.
func changesOf(ctx context.Context, org string, b rule.Batch) []ruleChange {
	changes := make([]ruleChange, 0, len(b.Create)+len(b.Update)+len(b.Delete))
	add := func(rules []rule.Rule, action rule.Action) {
		for _, r := range rules {
			document := r.Document().JSON()
			changes = append(changes, ruleChange{action, rowOf(ctx, org, r, document), string(document)})
		}
	}
	add(b.Create, rule.ActionCreate)
	add(b.Update, rule.ActionUpdate)
	for _, id := range b.Delete {
		changes = append(changes, ruleChange{action: rule.ActionDelete, row: ruleRow{FullID: id}})
	}

	return changes
}

// changeRules is write for changes of an organization's rules, which come one after
// the other: each takes the organization's row first. fn gets the etag of all rules.
func (s *Store) changeRules(ctx context.Context, op, org string, fn func(t *tx, etag string) error) error {
	return s.write(ctx, op, of(org), func(t *tx) error {
		if err := t.takeOrganization(ctx, org); err != nil {
			return err
		}
		etag, err := t.ruleEtag(ctx, org)
		if err != nil {
			return err
		}

		return fn(t, etag)
	})
}

// recordRules counts rules that are added to those of an organization, or taken
// from them, and writes the history of all that are changed. It returns the number
// of the last change.
func (t *tx) recordRules(ctx context.Context, org string, added, quota int, changes []ruleChange) (int64, error) {
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
			return []any{org, first + int64(i), c.row.FullID, at(t.now), by, string(c.action), c.document}
		})
	if err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, `DELETE FROM rule_history WHERE organization = ? AND seq <= ?`, org, last-historyRows)

	return last, err
}

// checkRulesSize refuses more bytes in all rules than they may have.
func (t *tx) checkRulesSize(ctx context.Context, org string) error {
	var size int64
	err := t.get(ctx, &size, `SELECT COALESCE(SUM(size), 0) FROM rules WHERE organization = ?`, org)
	if err == nil && size > rule.MaxRulesSize {
		return rule.RulesTooLarge()
	}
	return err
}

// etagOf is the etag of all rules of an organization after so many changes.
func etagOf(changes int64) string { return strconv.FormatInt(changes, 10) }

// ruleEtag reads the etag of all rules of an organization.
func (t *tx) ruleEtag(ctx context.Context, org string) (string, error) {
	var changes int64
	err := t.get(ctx, &changes, `SELECT rule_changes FROM organizations WHERE name = ?`, org)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil // it has done nothing yet
	}

	return etagOf(changes), err
}

// RuleEtags implements rule.Store.
func (s *Store) RuleEtags(ctx context.Context, org string) (byID map[string]rule.Stored, etag string, err error) {
	err = s.read(ctx, "read the etags of rules", of(org), func(t *tx) error {
		var rows []struct {
			FullID string `db:"full_id"`
			Etag   string `db:"etag"`
			Size   int    `db:"size"`
		}
		if etag, err = t.ruleEtag(ctx, org); err != nil {
			return err
		}
		err := t.list(ctx, &rows, `SELECT full_id, etag, size FROM rules WHERE organization = ?`, org)
		byID = make(map[string]rule.Stored, len(rows))
		for _, r := range rows {
			byID[r.FullID] = rule.Stored{Etag: r.Etag, Size: r.Size}
		}
		return err
	})

	return byID, etag, err
}

// ExportRules implements rule.Store.
func (s *Store) ExportRules(ctx context.Context, org string) (rules []rule.Rule, etag string, err error) {
	err = s.read(ctx, "read all rules", of(org), func(t *tx) error {
		if etag, err = t.ruleEtag(ctx, org); err != nil {
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
	changes := changesOf(ctx, org, b)
	err = s.changeRules(ctx, "push rules", org, func(t *tx, before string) (err error) {
		if before != b.Etag {
			return rule.RulesChanged()
		}
		if etag, err = t.applyRules(ctx, org, changes, b.Quota); err != nil {
			return err
		}

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

// applyRules makes changes and writes their history, whatever the etag of the rules.
// It returns the etag afterwards, and completes the rows of the changes.
func (t *tx) applyRules(ctx context.Context, org string, changes []ruleChange, quota int) (etag string, err error) {
	var gone []string
	added := 0
	for _, c := range changes {
		switch c.action {
		case rule.ActionCreate:
			added++
		case rule.ActionDelete:
			added--
		}
		if c.action != rule.ActionCreate {
			gone = append(gone, c.row.FullID)
		}
	}
	before, err := t.removeRules(ctx, org, gone)
	if err != nil {
		return "", err
	}

	var rows []ruleRow
	for i := range changes {
		c := &changes[i]
		if c.action == rule.ActionDelete {
			continue
		}
		c.row.CreatedAt, c.row.CreatedBy, c.row.UpdatedAt = at(t.now), c.row.UpdatedBy, at(t.now)
		if c.action == rule.ActionUpdate {
			c.row.CreatedAt, c.row.CreatedBy = before[c.row.FullID].CreatedAt, before[c.row.FullID].CreatedBy
		}
		rows = append(rows, c.row)
	}
	for some := range slices.Chunk(rows, rowsPerInsert) {
		if err := t.insertRow(ctx, "rules", ruleColumns, some); err != nil {
			return "", err
		}
	}

	last, err := t.recordRules(ctx, org, added, quota, changes)

	return etagOf(last), err
}

// removeRules deletes rules, and returns who created them and when. One that is not
// there is an error.
func (t *tx) removeRules(ctx context.Context, org string, fullIDs []string) (map[string]ruleRow, error) {
	removed := make(map[string]ruleRow, len(fullIDs))
	for some := range slices.Chunk(fullIDs, rowsPerInsert) {
		var rows []ruleRow
		condition, args := in("full_id", some, org)
		if err := t.list(ctx, &rows, `DELETE FROM rules WHERE organization = ? AND `+condition+
			` RETURNING full_id, created_at, created_by`, args...); err != nil {
			return nil, err
		}
		for _, row := range rows {
			removed[row.FullID] = row
		}
	}
	for _, id := range fullIDs {
		if _, ok := removed[id]; !ok {
			return nil, ruleNotFound(id)
		}
	}

	return removed, nil
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
