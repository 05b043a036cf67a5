package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/structure"
)

func TestFixes(t *testing.T) {
	t.Parallel()
	loads := regex("load", `yaml\.load\((\w+)\)`, func(r *rule.Rule) { r.Fix = new("yaml.safe_load($1)") })
	get := regex("get", "requests.get($$$A)", func(r *rule.Rule) {
		r.Type, r.Languages, r.Fix = rule.TypeStructure, []string{"python"}, new("requests.get($$$A, timeout=3)")
		r.Structure.Where = map[string]structure.Test{"A": {Not: &structure.Test{Has: &structure.Condition{Pattern: "timeout=$_"}}}}
	})
	secret := regex("secret", `tok_\w+`, redact)
	for _, r := range []rule.Rule{loads, get, secret} {
		require.NoError(t, rule.Validate(t.Context(), r))
	}

	for name, tt := range map[string]struct {
		file scan.File
		want []*finding.Fix
	}{
		"a line": {
			file("a.py", "x = 1\n\ty = yaml.load(f)  # why\n"),
			[]*finding.Fix{{StartLine: 2, EndLine: 2, Text: "\ty = yaml.safe_load(f)  # why"}},
		},
		"lines": {
			file("a.py", "requests.get(\n  url)\n"),
			[]*finding.Fix{{StartLine: 1, EndLine: 2, Text: "requests.get(url, timeout=3)"}},
		},
		"two on a line": {file("a.py", "yaml.load(requests.get(a))\nyaml.load(b)+requests.get(c)\n"), []*finding.Fix{
			{StartLine: 1, EndLine: 1, Text: "yaml.load(requests.get(a, timeout=3))"},
			{StartLine: 2, EndLine: 2, Text: "yaml.load(b)+requests.get(c, timeout=3)"},
			{StartLine: 2, EndLine: 2, Text: "yaml.safe_load(b)+requests.get(c)"},
		}},
		"lines that were not all added": {marked("a.py", "+requests.get(\n   url)\n"), []*finding.Fix{nil}},
		"a secret beside it":            {file("a.py", "yaml.load(f); key = 'tok_x'\n"), []*finding.Fix{nil, nil}},
		"UTF-16":                        {file("a.py", "\xff\xfey\x00a\x00m\x00l\x00.\x00l\x00o\x00a\x00d\x00(\x00f\x00)\x00\n\x00"), []*finding.Fix{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fixes []*finding.Fix
			for _, f := range run(t, &pull{files: []scan.File{tt.file}}, loads, get, secret).Findings {
				fixes = append(fixes, f.Fix)
			}
			assert.Equal(t, tt.want, fixes)
		})
	}
}
