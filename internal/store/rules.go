package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/structure"
)

// ruleColumns are those of ruleRow.
const ruleColumns = `organization, full_id, id, type, pattern, message, severity, scope, repo, paths_include, ` +
	`paths_exclude, places, multiline, redact, cases_match, cases_no_match, refs, languages, skip, conditions, ` +
	`confidence, enabled, mode, etag, size, created_at, created_by, updated_at, updated_by`

// ruleRow is a rule from the API as it is stored.
type ruleRow struct {
	Organization string                 `db:"organization"`
	FullID       string                 `db:"full_id"`
	ID           string                 `db:"id"`
	Type         string                 `db:"type"`
	Pattern      string                 `db:"pattern"`
	Message      string                 `db:"message"`
	Severity     severity               `db:"severity"`
	Scope        rule.Scope             `db:"scope"`
	Repo         string                 `db:"repo"`
	PathsInclude jsonOf[[]string]       `db:"paths_include"`
	PathsExclude jsonOf[[]string]       `db:"paths_exclude"`
	Places       jsonOf[[]rule.Place]   `db:"places"`
	Multiline    bool                   `db:"multiline"`
	Redact       bool                   `db:"redact"`
	CasesMatch   jsonOf[[]string]       `db:"cases_match"`
	CasesNoMatch jsonOf[[]string]       `db:"cases_no_match"`
	References   jsonOf[[]string]       `db:"refs"`
	Languages    jsonOf[[]string]       `db:"languages"`
	Skip         jsonOf[[]string]       `db:"skip"`
	Conditions   jsonOf[ruleConditions] `db:"conditions"`
	Confidence   rule.Confidence        `db:"confidence"`
	Enabled      bool                   `db:"enabled"`
	Mode         rule.Mode              `db:"mode"`
	Etag         string                 `db:"etag"`
	Size         int                    `db:"size"`
	CreatedAt    timestamp              `db:"created_at"`
	CreatedBy    string                 `db:"created_by"`
	UpdatedAt    timestamp              `db:"updated_at"`
	UpdatedBy    string                 `db:"updated_by"`
}

// ruleConditions are what decides about the matches of a rule, and what becomes of them.
type ruleConditions struct {
	Entropy    *match.Entropy      `json:"entropy,omitempty"`
	Checksum   string              `json:"checksum,omitempty"`
	Stopwords  []string            `json:"stopwords,omitempty"`
	Allow      []string            `json:"allow,omitempty"`
	Supersedes []string            `json:"supersedes,omitempty"`
	Fix        *string             `json:"fix,omitempty"`
	Structure  structure.Condition `json:"structure,omitzero"`
	Taint      rule.Taint          `json:"taint,omitzero"`
	Words      map[string]string   `json:"words,omitempty"`
}

// rule makes the domain's rule of the row.
func (r ruleRow) rule() rule.Rule {
	origin := rule.OriginCustom
	if r.Scope == rule.ScopeRepo {
		origin = rule.OriginRepository
	}

	c := r.Conditions.value

	return rule.Rule{
		ID: r.ID, Type: r.Type, Pattern: r.Pattern, Message: r.Message, Severity: rule.Severity(r.Severity),
		Scope: r.Scope, Repo: r.Repo,
		Paths:     rule.Paths{Include: r.PathsInclude.value, Exclude: r.PathsExclude.value},
		Multiline: r.Multiline, Redact: r.Redact,
		Cases:      rule.Cases{Match: r.CasesMatch.value, NoMatch: r.CasesNoMatch.value},
		Languages:  r.Languages.value,
		In:         r.Places.value,
		Conditions: match.Conditions{Entropy: c.Entropy, Checksum: c.Checksum, Stopwords: c.Stopwords, Allow: c.Allow},
		Supersedes: c.Supersedes,
		Fix:        c.Fix,
		Structure:  c.Structure,
		Taint:      c.Taint,
		Words:      c.Words,
		Confidence: r.Confidence,
		Skip:       r.Skip.value,
		References: r.References.value, Disabled: !r.Enabled, Mode: r.Mode, Origin: origin, Etag: r.Etag,
		CreatedAt: r.CreatedAt.Time, CreatedBy: r.CreatedBy, UpdatedAt: r.UpdatedAt.Time, UpdatedBy: r.UpdatedBy,
	}
}

// rowOf makes the row of a rule with that document as it is to be stored, but for the
// times and who created it.
func rowOf(ctx context.Context, org string, r rule.Rule, document []byte) ruleRow {
	return ruleRow{
		Organization: org, FullID: r.FullID(), ID: r.ID, Type: r.Type, Pattern: r.Pattern, Message: r.Message,
		Severity: severity(r.Severity), Scope: r.Scope, Repo: r.Repo, Multiline: r.Multiline, Redact: r.Redact,
		PathsInclude: jsonOf[[]string]{r.Paths.Include}, PathsExclude: jsonOf[[]string]{r.Paths.Exclude},
		CasesMatch: jsonOf[[]string]{r.Cases.Match}, CasesNoMatch: jsonOf[[]string]{r.Cases.NoMatch},
		References: jsonOf[[]string]{r.References}, Languages: jsonOf[[]string]{r.Languages},
		Places: jsonOf[[]rule.Place]{r.In},
		Conditions: jsonOf[ruleConditions]{ruleConditions{
			r.Conditions.Entropy, r.Conditions.Checksum, r.Conditions.Stopwords, r.Conditions.Allow, r.Supersedes, r.Fix,
			r.Structure, r.Taint, r.Words,
		}},
		Skip: jsonOf[[]string]{r.Skip}, Confidence: r.Sureness(),
		Enabled: !r.Disabled, Mode: cmp.Or(r.Mode, rule.ModeEnforce), Etag: rule.EtagOf(document),
		Size: len(document), UpdatedBy: audit.FromContext(ctx).String(),
	}
}

// CreateRule implements rule.Store.
func (s *Store) CreateRule(ctx context.Context, org string, r rule.Rule, quota int) (out rule.Rule, err error) {
	changes := changesOf(ctx, org, rule.Batch{Create: []rule.Rule{r}})
	err = s.changeRules(ctx, "create a rule", org, func(t *tx, _ string) error {
		_, err := t.applyRules(ctx, org, changes, quota)
		if s.dialect.classify(err) == duplicate {
			return errs.New(errs.AlreadyExists, errs.ReasonRuleExists,
				"There is a rule %q already. Delete it first, or choose another id.", r.FullID())
		}
		if err != nil {
			return err
		}
		out = changes[0].row.rule()

		return t.audit(ctx, org, audit.Change{Action: audit.RuleCreate, Target: r.FullID(), Fields: []audit.Field{
			{Name: "severity", After: r.Severity.String()}, {Name: "pattern", After: r.Pattern},
		}})
	})

	return out, err
}

// GetRule implements rule.Store.
func (s *Store) GetRule(ctx context.Context, org, fullID string) (rule.Rule, error) {
	rules, err := s.listRules(ctx, org, "full_id", fullID)
	if err != nil {
		return rule.Rule{}, err
	}
	if len(rules) == 0 {
		return rule.Rule{}, ruleNotFound(fullID)
	}

	return rules[0], nil
}

func ruleNotFound(fullID string) error {
	return errs.New(errs.NotFound, errs.ReasonRuleNotFound, "There is no rule %q.", fullID)
}

// UpdateRule implements rule.Store.
func (s *Store) UpdateRule(ctx context.Context, org string, r rule.Rule, etag string) (out rule.Rule, err error) {
	changes := changesOf(ctx, org, rule.Batch{Update: []rule.Rule{r}})
	err = s.changeRules(ctx, "change a rule", org, func(t *tx, _ string) error {
		var before ruleRow
		err := t.get(ctx, &before, `SELECT `+ruleColumns+` FROM rules WHERE organization = ? AND full_id = ?`,
			org, r.FullID())
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ruleNotFound(r.FullID())
		case err != nil:
			return err
		case before.Etag != etag:
			return rule.EtagMismatch(r.FullID())
		}

		if _, err := t.applyRules(ctx, org, changes, math.MaxInt32); err != nil {
			return err
		}
		out = changes[0].row.rule()

		return t.audit(ctx, org, audit.Change{
			Action: audit.RuleUpdate, Target: r.FullID(), Fields: changed(before.rule(), out),
		})
	})

	return out, err
}

// changed is what the audit log says of a changed rule. Cases are source code,
// maybe with the secrets that a rule looks for.
func changed(before, after rule.Rule) []audit.Field {
	is, was := after.Document(), before.Document()
	is.Cases, was.Cases = nil, nil
	fields := audit.Diff(was, is)
	if before.Disabled != after.Disabled {
		enabled := func(r rule.Rule) string { return strconv.FormatBool(!r.Disabled) }
		fields = append(fields, audit.Field{Name: "enabled", Before: enabled(before), After: enabled(after)})
	}

	return fields
}

// DeleteRule implements rule.Store.
func (s *Store) DeleteRule(ctx context.Context, org, fullID string) error {
	changes := changesOf(ctx, org, rule.Batch{Delete: []string{fullID}})
	return s.changeRules(ctx, "delete a rule", org, func(t *tx, _ string) error {
		if _, err := t.applyRules(ctx, org, changes, math.MaxInt32); err != nil {
			return err
		}

		return t.audit(ctx, org, audit.Change{Action: audit.RuleDelete, Target: fullID})
	})
}

// ListRules implements rule.Store. Only rules with scope org have no repository.
func (s *Store) ListRules(ctx context.Context, org, repo string) ([]rule.Rule, error) {
	return s.listRules(ctx, org, "repo", repo)
}

// listRules lists the rules of an organization that have a value in a column.
func (s *Store) listRules(ctx context.Context, org, column, value string) ([]rule.Rule, error) {
	var rows []ruleRow
	err := s.read(ctx, "read rules", of(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+ruleColumns+` FROM rules
			WHERE organization = ? AND `+column+` = ? ORDER BY full_id`, org, value)
	})

	return rulesOf(rows), err
}

// CountRules implements rule.Store.
func (s *Store) CountRules(ctx context.Context, org string) (orgRules int, byRepo map[string]int, err error) {
	var rows []struct {
		Repo  string
		Count int
	}
	err = s.read(ctx, "count rules", of(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT repo, COUNT(*) AS count FROM rules WHERE organization = ? GROUP BY repo
			UNION ALL SELECT repo, rule_count FROM rules_files WHERE organization = ?`, org, org)
	})
	if err != nil {
		return 0, nil, err
	}

	byRepo = map[string]int{}
	for _, r := range rows {
		byRepo[r.Repo] += r.Count
	}
	orgRules = byRepo[""]
	delete(byRepo, "")

	return orgRules, byRepo, nil
}

// setRulesFile stores what a repository's rules file holds, in place of what
// was known. The rules are always read and written together, so they are one
// row.
func (t *tx) setRulesFile(ctx context.Context, org, repo string, rules []rule.Rule) error {
	if len(rules) == 0 {
		_, err := t.exec(ctx, `DELETE FROM rules_files WHERE organization = ? AND repo = ?`, org, repo)
		return err
	}

	_, err := t.exec(ctx, `INSERT INTO rules_files (organization, repo, rule_count, rules) VALUES (?, ?, ?, ?)
		ON CONFLICT (organization, repo) DO UPDATE SET rule_count = excluded.rule_count, rules = excluded.rules`,
		org, repo, len(rules), jsonOf[[]rule.Rule]{rules})

	return err
}

// RulesFileRules implements rule.Store.
func (s *Store) RulesFileRules(ctx context.Context, org, repo string) ([]rule.Rule, error) {
	var stored jsonOf[[]rule.Rule]
	err := s.read(ctx, "read the rules of a rules file", of(org), func(t *tx) error {
		err := t.get(ctx, &stored, `SELECT rules FROM rules_files WHERE organization = ? AND repo = ?`, org, repo)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}

		return err
	})
	for i := range stored.value {
		r := &stored.value[i]
		r.Scope, r.Repo, r.Origin = rule.ScopeRepo, repo, rule.OriginRulesFile
	}

	return stored.value, err
}
