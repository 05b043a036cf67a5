package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/prwarden/prwarden/internal/rule"
)

// fileRule is a rule of a rules file as it is stored, in JSON. Its scope is
// the file's repository.
type fileRule struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Pattern    string   `json:"pattern"`
	Message    string   `json:"message"`
	Severity   string   `json:"severity"`
	Include    []string `json:"include,omitempty"`
	Exclude    []string `json:"exclude,omitempty"`
	Multiline  bool     `json:"multiline,omitempty"`
	Redact     bool     `json:"redact,omitempty"`
	Match      []string `json:"match,omitempty"`
	NoMatch    []string `json:"no_match,omitempty"`
	References []string `json:"references,omitempty"`
}

func encodeRulesFile(rules []rule.Rule) (string, error) {
	stored := make([]fileRule, 0, len(rules))
	for _, r := range rules {
		stored = append(stored, fileRule{
			ID: r.ID, Type: r.Type, Pattern: r.Pattern, Message: r.Message, Severity: r.Severity.String(),
			Include: r.Paths.Include, Exclude: r.Paths.Exclude, Multiline: r.Multiline, Redact: r.Redact,
			Match: r.Cases.Match, NoMatch: r.Cases.NoMatch, References: r.References,
		})
	}
	b, err := json.Marshal(stored)
	return string(b), err
}

func decodeRulesFile(repo, text string) ([]rule.Rule, error) {
	var stored []fileRule
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return nil, fmt.Errorf("rules file of %s: %w", repo, err)
	}
	out := make([]rule.Rule, 0, len(stored))
	for _, r := range stored {
		severity, ok := rule.ParseSeverity(r.Severity)
		if !ok {
			return nil, fmt.Errorf("rules file of %s: rule %s has the unknown severity %q", repo, r.ID, r.Severity)
		}
		out = append(out, rule.Rule{
			ID: r.ID, Type: r.Type, Pattern: r.Pattern, Message: r.Message, Severity: severity,
			Scope: rule.ScopeRepo, Repo: repo, Paths: rule.Paths{Include: r.Include, Exclude: r.Exclude},
			Multiline: r.Multiline, Redact: r.Redact, Cases: rule.Cases{Match: r.Match, NoMatch: r.NoMatch},
			References: r.References, Origin: rule.OriginRulesFile,
		})
	}

	return out, nil
}

// setRulesFile stores what a repository's rules file holds, in place of what
// was known. The rules are always read and written together, so they are one
// row.
func (t *tx) setRulesFile(ctx context.Context, org, repo string, rules []rule.Rule) error {
	if len(rules) == 0 {
		_, err := t.exec(ctx, `DELETE FROM rules_files WHERE organization = ? AND repo = ?`, org, repo)
		return err
	}
	text, err := encodeRulesFile(rules)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO rules_files (organization, repo, rule_count, rules) VALUES (?, ?, ?, ?)
		ON CONFLICT (organization, repo) DO UPDATE SET rule_count = excluded.rule_count, rules = excluded.rules`,
		org, repo, len(rules), text)
	return err
}

// RulesFileRules implements rule.Store.
func (s *Store) RulesFileRules(ctx context.Context, org, repo string) ([]rule.Rule, error) {
	var text string
	err := s.read(ctx, "read the rules of a rules file", of(org), func(t *tx) error {
		err := t.get(ctx, &text, `SELECT rules FROM rules_files WHERE organization = ? AND repo = ?`, org, repo)
		if errors.Is(err, sql.ErrNoRows) {
			text = "[]"
			return nil
		}

		return err
	})
	if err != nil {
		return nil, err
	}

	return decodeRulesFile(repo, text)
}
