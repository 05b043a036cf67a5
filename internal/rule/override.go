package rule

import (
	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/match"
)

// MaxFileOverrides is how many ids there may be under `override`.
const MaxFileOverrides = 500

// Override changes a default rule in the repository.
type Override struct {
	ID       string
	Line     int
	Severity Severity // 0 leaves it as it is
	Exclude  []string // globs of paths that the rule does not look at, beside its own
}

// overrides reads what is under `override`: a mapping of ids to what changes.
func (d *decoder) overrides(n *yaml.Node) []Override {
	if !d.plain(n, "override") || isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.failAt(
			n, "write lines below it like `category/name: {severity: low}`",
			"override: must be a mapping of rule ids to what changes",
		)
		return nil
	}
	if count := len(n.Content) / 2; count > MaxFileOverrides {
		d.fail(n.Content[2*MaxFileOverrides].Line, "override: has %d ids; at most %d are allowed", count, MaxFileOverrides)
		return nil
	}
	var list []Override
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		o := Override{ID: key.Value, Line: d.line(key.Line)}
		if !d.plain(key, "override") {
			continue
		}
		if key.Kind != yaml.ScalarNode {
			d.failAt(
				key, "write lines below it like `category/name: {severity: low}`",
				"override: each key must be the id of a rule",
			)
			continue
		}
		if err := CheckID(key.Value); err != nil {
			d.failAt(key, idHint(key.Value), "override: an id %v", err)
			continue
		}
		if seen[FullID(o.ID)] {
			d.failAt(key, "put both changes under one of them", "override: %s is there twice", o.ID)
			continue
		}
		seen[FullID(o.ID)] = true
		d.nodes["override "+o.ID] = key
		if d.override(value, &o) {
			list = append(list, o)
		}
	}
	return list
}

// override reads what changes in one rule. It says false when that is nothing.
func (d *decoder) override(n *yaml.Node, o *Override) bool {
	before := len(d.mistakes)
	name := "override " + o.ID
	d.mapping(n, name, []string{"exclude", "severity"}, func(key string, n *yaml.Node) {
		switch key {
		case "severity":
			o.Severity, _ = d.severity(n, name+": severity")
		case "exclude":
			o.Exclude = d.globs(n, name+": exclude", MaxGlobs)
		}
	})
	if total := size(o.Exclude); total > MaxAllGlobs {
		d.failAt(
			n, "", "override %s: exclude: has globs of %d bytes in all; at most %d are allowed", o.ID, total, MaxAllGlobs,
		)
	}
	if len(d.mistakes) == before && o.Severity == 0 && len(o.Exclude) == 0 {
		d.failAt(
			n, "write `severity: low`, `exclude: [\"docs/**\"]`, or both; to switch the rule off use `disable`",
			"override %s: changes nothing", o.ID,
		)
	}
	return len(d.mistakes) == before
}

// globs reads a list of at most limit valid globs.
func (d *decoder) globs(n *yaml.Node, name string, limit int) []string {
	items := d.list(n, name)
	if len(items) > limit {
		d.fail(items[limit].Line, "%s: has %d globs; at most %d are allowed", name, len(items), limit)
		return nil
	}
	var globs []string
	for i, item := range items {
		name := indexed(name, i)
		glob, ok := d.text(item, name)
		if !ok {
			continue
		}
		if err := match.CheckGlob(glob); err != nil {
			d.failAt(item, globHint(glob), "%s: %v", name, err)
		}
		globs = append(globs, glob)
	}
	return globs
}
