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

	"github.com/prwarden/prwarden/internal/rule"
)

//go:embed */*.yml
var files embed.FS

// Load returns the rules of the default ruleset, ordered by id, each with
// OriginDefault. Their patterns are not compiled. An error means that the
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
	slices.SortStableFunc(rules, func(a, b rule.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return rules, nil
}
