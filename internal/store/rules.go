package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
)

// ruleColumns are those of ruleRow.
const ruleColumns = `id, type, pattern, message, severity, scope, repo, paths_include, paths_exclude,
	multiline, redact, cases_match, cases_no_match, refs, created_at`

// ruleRow is a rule as it is stored.
type ruleRow struct {
	ID           string    `db:"id"`
	Type         string    `db:"type"`
	Pattern      string    `db:"pattern"`
	Message      string    `db:"message"`
	Severity     string    `db:"severity"`
	Scope        string    `db:"scope"`
	Repo         string    `db:"repo"`
	PathsInclude texts     `db:"paths_include"`
	PathsExclude texts     `db:"paths_exclude"`
	Multiline    bool      `db:"multiline"`
	Redact       bool      `db:"redact"`
	CasesMatch   texts     `db:"cases_match"`
	CasesNoMatch texts     `db:"cases_no_match"`
	References   texts     `db:"refs"`
	CreatedAt    timestamp `db:"created_at"`
}

// rule makes the domain's rule of the row.
func (r ruleRow) rule() (rule.Rule, error) {
	severity, ok := rule.ParseSeverity(r.Severity)
	if !ok {
		return rule.Rule{}, fmt.Errorf("rule %s has the unknown severity %q", r.ID, r.Severity)
	}
	origin := rule.OriginCustom
	if rule.Scope(r.Scope) == rule.ScopeRepo {
		origin = rule.OriginRepository
	}

	return rule.Rule{
		ID: r.ID, Type: r.Type, Pattern: r.Pattern, Message: r.Message, Severity: severity,
		Scope: rule.Scope(r.Scope), Repo: r.Repo,
		Paths:     rule.Paths{Include: r.PathsInclude, Exclude: r.PathsExclude},
		Multiline: r.Multiline, Redact: r.Redact,
		Cases:      rule.Cases{Match: r.CasesMatch, NoMatch: r.CasesNoMatch},
		References: r.References, Origin: origin, CreatedAt: r.CreatedAt.Time,
	}, nil
}

// CreateRule implements rule.Store.
func (s *Store) CreateRule(ctx context.Context, org string, r rule.Rule, quota int) (rule.Rule, error) {
	var out rule.Rule
	err := s.write(ctx, "create a rule", of(org), func(t *tx) error {
		if _, err := t.exec(ctx, `INSERT INTO organizations (name) VALUES (?) ON CONFLICT (name) DO NOTHING`,
			org); err != nil {
			return err
		}
		var row ruleRow
		err := t.get(ctx, &row, `INSERT INTO rules (organization, full_id, `+ruleColumns+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING `+ruleColumns,
			org, r.FullID(), r.ID, r.Type, r.Pattern, r.Message, r.Severity.String(), string(r.Scope), r.Repo,
			texts(r.Paths.Include), texts(r.Paths.Exclude), r.Multiline, r.Redact,
			texts(r.Cases.Match), texts(r.Cases.NoMatch), texts(r.References), at(t.now))
		switch {
		case err != nil && s.dialect.classify(err) == duplicate:
			return errs.New(errs.AlreadyExists, errs.ReasonRuleExists,
				"There is a rule %q already. Delete it first, or choose another id.", r.FullID())
		case err != nil:
			return err
		}
		if out, err = row.rule(); err != nil {
			return err
		}

		// Counting takes the organization's row, so that creations at the same time
		// can't all see the last free place.
		n, err := t.exec(ctx, `UPDATE organizations SET rules = rules + 1 WHERE name = ? AND rules < ?`, org, quota)
		if err == nil && n == 0 {
			return errs.New(errs.FailedPrecondition, errs.ReasonRuleQuota,
				"The organization has %d custom rules, which is the most. Delete one first.", quota)
		}

		return err
	})
	if err != nil {
		return rule.Rule{}, err
	}

	return out, nil
}

// GetRule implements rule.Store.
func (s *Store) GetRule(ctx context.Context, org, fullID string) (rule.Rule, error) {
	var row ruleRow
	err := s.read(ctx, "read a rule", of(org), func(t *tx) error {
		err := t.get(ctx, &row, `SELECT `+ruleColumns+` FROM rules WHERE organization = ? AND full_id = ?`, org, fullID)
		if errors.Is(err, sql.ErrNoRows) {
			return ruleNotFound(fullID)
		}

		return err
	})
	if err != nil {
		return rule.Rule{}, err
	}

	return row.rule()
}

func ruleNotFound(fullID string) error {
	return errs.New(errs.NotFound, errs.ReasonRuleNotFound, "There is no rule %q.", fullID)
}

// DeleteRule implements rule.Store.
func (s *Store) DeleteRule(ctx context.Context, org, fullID string) error {
	return s.write(ctx, "delete a rule", of(org), func(t *tx) error {
		n, err := t.exec(ctx, `DELETE FROM rules WHERE organization = ? AND full_id = ?`, org, fullID)
		switch {
		case err != nil:
			return err
		case n == 0:
			return ruleNotFound(fullID)
		}
		_, err = t.exec(ctx, `UPDATE organizations SET rules = rules - 1 WHERE name = ?`, org)

		return err
	})
}

// ListOrgRules implements rule.Store.
func (s *Store) ListOrgRules(ctx context.Context, org string) ([]rule.Rule, error) {
	return s.listRules(ctx, org, "") // only rules with scope org have no repository
}

// ListRepoRules implements rule.Store.
func (s *Store) ListRepoRules(ctx context.Context, org, repo string) ([]rule.Rule, error) {
	if repo == "" {
		return nil, nil
	}

	return s.listRules(ctx, org, repo)
}

func (s *Store) listRules(ctx context.Context, org, repo string) ([]rule.Rule, error) {
	var rows []ruleRow
	err := s.read(ctx, "list rules", of(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+ruleColumns+` FROM rules
			WHERE organization = ? AND repo = ? ORDER BY full_id`, org, repo)
	})
	if err != nil {
		return nil, err
	}
	out := make([]rule.Rule, 0, len(rows))
	for _, row := range rows {
		r, err := row.rule()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}

	return out, nil
}

// CountRules implements rule.Store.
func (s *Store) CountRules(ctx context.Context, org string) (orgRules int, byRepo map[string]int, err error) {
	var rows []struct {
		Repo  string `db:"repo"`
		Count int    `db:"n"`
	}
	err = s.read(ctx, "count rules", of(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT repo, COUNT(*) AS n FROM rules WHERE organization = ? GROUP BY repo
			UNION ALL SELECT repo, rule_count FROM rules_files WHERE organization = ?`, org, org)
	})
	if err != nil {
		return 0, nil, err
	}
	byRepo = map[string]int{}
	for _, r := range rows {
		if r.Repo == "" {
			orgRules += r.Count
		} else {
			byRepo[r.Repo] += r.Count
		}
	}

	return orgRules, byRepo, nil
}
