package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/store"
)

// rules are what the reviews apply.
type rules struct {
	defaults []rule.Rule
	own      []rule.Rule // the organization's
}

// loadRules reads the default ruleset and, from a file of identifiers and
// patterns with a tab between, the organization's. No path is none.
func loadRules(path string) (r rules, err error) {
	if r.defaults, err = defaults.Load(); err != nil || path == "" {
		return r, err
	}
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		id, pattern, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			return r, fmt.Errorf("%s: %q has no tab", path, lines.Text())
		}
		r.own = append(r.own, rule.Rule{
			ID: "bench/" + strings.ToLower(id), Type: rule.TypeRegex, Pattern: pattern, Message: "A rule of the organization.",
			Severity: rule.Info, Scope: rule.ScopeOrg, Origin: rule.OriginCustom,
		})
	}
	return r, lines.Err()
}

// newStore makes a database in dir in which the organization has its rules.
func newStore(ctx context.Context, dir string, r rules) (_ *store.Store, err error) {
	store, err := store.Open(ctx, store.Options{Database: "sqlite:" + filepath.Join(dir, "prwarden.db"), Exclusive: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	if err := store.Migrate(ctx); err != nil {
		return nil, err
	}
	for _, own := range r.own {
		if _, err := store.CreateRule(ctx, organization, own, rule.MaxCustomRules); err != nil {
			return nil, fmt.Errorf("rule %s: %w", own.ID, err)
		}
	}
	return store, nil
}
