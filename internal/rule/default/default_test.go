package defaults_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// minRules is how many rules the default ruleset promises at least.
const minRules = 120

// TestRules holds every default rule to what a default rule must be. Validate
// runs the rule's cases.
func TestRules(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(rules), minRules)

	seen := map[string]bool{}
	for _, r := range rules {
		assert.False(t, seen[r.FullID()], "two rules have the id %s", r.ID)
		seen[r.FullID()] = true
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, rule.Validate(t.Context(), r))
			category, _, found := strings.Cut(r.ID, "/")
			assert.True(t, found, "a default rule's id has a category")
			assert.NotEqual(t, rule.CategoryCustom, category)
			assert.GreaterOrEqual(t, len(r.Cases.Match), 2, "cases.match")
			assert.GreaterOrEqual(t, len(r.Cases.NoMatch), 2, "cases.no_match")
			assert.NotEmpty(t, r.References)
			assert.Equal(t, rule.OriginDefault, r.Origin)
			if category == "secrets" {
				assert.True(t, r.Redact, "rules of secrets/ have `redact: true`")
			}

			for _, glob := range append(r.Paths.Include, r.Paths.Exclude...) {
				assert.False(t, !strings.Contains(glob, "/") && strings.ContainsAny(glob, "*?"),
					"%q matches in the root folder only; write **/%s", glob, glob)
			}
		})
	}
}

// TestSkip holds that rules about care are silent in what nobody writes by hand, and
// that no author's word and no folder of copies silences the others.
func TestSkip(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	byHand := []string{"generated", "minified", "vendored"}
	for _, r := range rules {
		category, _, _ := strings.Cut(r.ID, "/")
		switch category {
		case "correctness", "hygiene":
			assert.Subset(t, r.Skip, byHand, r.ID)
		default:
			for _, k := range byHand {
				assert.NotContains(t, r.Skip, k, r.ID)
			}
		}
	}
}

// TestEveryFileIsEmbedded finds rule files that the embedding misses.
func TestEveryFileIsEmbedded(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		if ext := filepath.Ext(path); !entry.IsDir() && ext != ".go" {
			assert.Equal(t, ".yml", ext, path)
			assert.Equal(t, 2, len(strings.Split(filepath.ToSlash(path), "/")), "%s must be in a folder, and not deeper", path)
		}

		return nil
	})

	require.NoError(t, err)
}
