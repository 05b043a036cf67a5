package scan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/structure"
)

func TestStructureRules(t *testing.T) {
	t.Parallel()
	r := regex("get", "requests.get($$$, verify=False, $$$)", func(r *rule.Rule) {
		r.Type, r.Languages = rule.TypeStructure, []string{"python"}
		r.Cases = rule.Cases{Match: []string{"requests.get(a,\n verify=False)"}, NoMatch: []string{"requests.get(a)"}}
	})
	require.NoError(t, rule.Validate(t.Context(), r))
	const text = "# requests.get(verify=False)\nx = requests.get(\n  url,\n  verify=False,\n)\nrequests.get(url)\n"

	changed := file("a.py", text)
	changed.Added = []scan.LineRange{{First: 4, Last: 4}}
	other := file("b.py", text)
	other.Added = []scan.LineRange{{First: 6, Last: 6}}
	result := run(t, &pull{files: []scan.File{changed, other, file("c.js", text)}}, r)
	assert.Equal(t, []string{"a.py:4 custom/get"}, places(result), "on the first line that was added")
	assert.Equal(t, 3, result.Findings[0].Column)
	assert.Equal(t, 5, result.Findings[0].EndLine)

	r.Pattern, r.Cases = "requests.get($$$, verify=$V, $$$)", rule.Cases{}
	r.Structure = structure.Condition{Focus: "V", Inside: &structure.Condition{Pattern: "x = $$$"}}
	require.NoError(t, rule.Validate(t.Context(), r))
	changed.Added = []scan.LineRange{{First: 3, Last: 3}}
	assert.Empty(t, places(run(t, &pull{files: []scan.File{changed}}, r)), "what is meant was not added")
	changed.Added = []scan.LineRange{{First: 3, Last: 4}}
	result = run(t, &pull{files: []scan.File{changed}}, r)
	assert.Equal(t, []string{"a.py:4 custom/get"}, places(result))
	assert.Equal(t, []int{10, 15}, []int{result.Findings[0].Column, result.Findings[0].EndColumn})
}

// A structure rule in several languages is looked for by words of each of them.
func TestStructureRulesInSeveralLanguages(t *testing.T) {
	t.Parallel()
	r := regex("f", "", func(r *rule.Rule) {
		r.Type, r.Languages = rule.TypeStructure, []string{"python", "javascript", "sql"}
		r.Structure.Any = []structure.Condition{{Pattern: "f($X)"}, {Pattern: "g.h($$$)"}}
	})
	require.NoError(t, rule.Validate(t.Context(), r))
	result := run(t, &pull{files: []scan.File{
		file("a.py", "f(a)\n"), file("b.js", "g.h(); // f(a)\n"), file("c.sql", "F(a)\n"), file("d.py", "F(a)\n"),
		file("e.html", "<script>f(a)</script>\n"),
	}}, r)
	assert.Equal(t, []string{"a.py:1 custom/f", "b.js:1 custom/f", "c.sql:1 custom/f", "e.html:1 custom/f"}, places(result))
}

// What a structure rule with redact means is shown nowhere.
func TestStructureRulesMask(t *testing.T) {
	t.Parallel()
	r := regex("secrets/key", "connect($$$, key=$K, $$$)", func(r *rule.Rule) {
		r.Type, r.Languages, r.Redact, r.Structure.Focus = rule.TypeStructure, []string{"python"}, true, "K"
	})
	result := run(t, &pull{files: []scan.File{file("a.py", "connect(a,\n  key='hush')  # TODO\n")}}, r, regex("todo", "TODO"))
	require.Len(t, result.Findings, 2)
	for _, f := range result.Findings {
		assert.Equal(t, "  key=****)  # TODO", f.Snippet)
	}
}

// Structure rules and others supersede each other on the same line.
func TestStructureRulesSupersede(t *testing.T) {
	t.Parallel()
	is := func(id, pattern string, supersedes ...string) rule.Rule {
		return regex(id, pattern, func(r *rule.Rule) {
			r.Type, r.Languages, r.Supersedes = rule.TypeStructure, []string{"python"}, supersedes
		})
	}
	line := func(id string, supersedes ...string) rule.Rule {
		return regex(id, "load", func(r *rule.Rule) { r.Supersedes = supersedes })
	}
	const text = "load(a)\nload(b, c)\n# load\n"
	for name, tt := range map[string]struct {
		rules []rule.Rule
		want  []string
	}{
		"structure over lines": {[]rule.Rule{is("s", "load($X)", "l"), line("l")},
			[]string{"a.py:1 custom/s", "a.py:2 custom/l", "a.py:3 custom/l"}},
		"lines over structure": {[]rule.Rule{is("s", "load($$$)"), line("l", "s")},
			[]string{"a.py:1 custom/l", "a.py:2 custom/l", "a.py:3 custom/l"}},
		"structure over structure": {[]rule.Rule{is("s", "load($$$)"), is("t", "load($X)", "s")},
			[]string{"a.py:1 custom/t", "a.py:2 custom/s"}},
	} {
		for _, r := range tt.rules {
			require.NoError(t, rule.Validate(t.Context(), r))
		}
		assert.Equal(t, tt.want, places(run(t, &pull{files: []scan.File{file("a.py", text)}}, tt.rules...)), name)
	}
}

func TestStructureRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*rule.Rule){
		"multiline: is not allowed": func(r *rule.Rule) { r.Multiline = true },
		"in: is not allowed":        func(r *rule.Rule) { r.In = []rule.Place{rule.InCode} },
		"entropy: is not allowed":   func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{} },
		"checksum: is not allowed":  func(r *rule.Rule) { r.Conditions.Checksum = "github" },
		"stopwords: is not allowed": func(r *rule.Rule) { r.Conditions.Stopwords = []string{"a"} },
		"allow: is not allowed":     func(r *rule.Rule) { r.Conditions.Allow = []string{"a"} },
		"inside.pattern: has a br":  func(r *rule.Rule) { r.Structure.Inside = &structure.Condition{Pattern: "("} },
		"where.X: is no metavar":    func(r *rule.Rule) { r.Structure.Where = map[string]structure.Test{"X": {Is: "string"}} },
		"focus: is for rules of":    func(r *rule.Rule) { r.Type, r.Structure.Focus = rule.TypeRegex, "X" },
		"at most 8192 are allowed": func(r *rule.Rule) {
			r.Structure.Focus = strings.Repeat("X", 9000)
		},
		"as Python is read":        func(r *rule.Rule) { r.Languages, r.Pattern = []string{"go", "python"}, "f(#)" },
		"languages: is required":   func(r *rule.Rule) { r.Languages = nil },
		"has no structure":         func(r *rule.Rule) { r.Languages = []string{"lua"} },
		"without the other one":    func(r *rule.Rule) { r.Pattern = "f(" },
		"does not match this text": func(r *rule.Rule) { r.Cases.Match = []string{"// f(a)"} },
	} {
		r := regex("f", "f($$$)", func(r *rule.Rule) { r.Type, r.Languages = rule.TypeStructure, []string{"go"} })
		change(&r)
		require.ErrorContains(t, rule.Validate(t.Context(), r), want)
	}
}
