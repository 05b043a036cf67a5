// Package defaults is the default ruleset, embedded in the program: every
// .yml file in a folder here. Which file a rule is in decides nothing; its id
// has its category.
package defaults

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/rule"
)

//go:embed */*.yml
var files embed.FS

// Load returns the rules of the default ruleset, ordered by id, each with
// OriginDefault. Rules of the categories correctness and hygiene skip generated, minified
// and vendored files, those of security and secrets look everywhere: what makes a file
// one of these is the word of its author. Their patterns are not compiled. An error means that the
// program was built from broken files, which this package's tests refuse.
func Load() ([]rule.Rule, error) {
	var rules []rule.Rule
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		parsed, err := rule.ParseDefaults(data)
		if err != nil {
			return fmt.Errorf("default ruleset: %s: %w", path, err)
		}
		rules = append(rules, parsed...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range rules {
		switch category, _, _ := strings.Cut(rules[i].ID, "/"); category {
		case "correctness", "hygiene": // nobody mends what is not written by hand here
			rules[i].Skip = append([]string{"generated", "minified", "vendored"}, rules[i].Skip...)
		}
	}
	slices.SortStableFunc(rules, func(a, b rule.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return rules, nil
}
