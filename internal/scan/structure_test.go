package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
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
	assert.Equal(t, []string{"a.py:2 custom/get"}, places(result))
	assert.Equal(t, 5, result.Findings[0].Column)
	assert.Equal(t, 5, result.Findings[0].EndLine)
}

func TestStructureRulesThatAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*rule.Rule){
		"multiline: is not allowed": func(r *rule.Rule) { r.Multiline = true },
		"redact: is not allowed":    func(r *rule.Rule) { r.Redact = true },
		"in: is not allowed":        func(r *rule.Rule) { r.In = []rule.Place{rule.InCode} },
		"entropy: is not allowed":   func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{} },
		"stopwords: is not allowed": func(r *rule.Rule) { r.Conditions.Stopwords = []string{"a"} },
		"allow: is not allowed":     func(r *rule.Rule) { r.Conditions.Allow = []string{"a"} },
		"supersedes: is not":        func(r *rule.Rule) { r.Supersedes = []string{"a/b"} },
		"languages: is required":    func(r *rule.Rule) { r.Languages = nil },
		"has no structure":          func(r *rule.Rule) { r.Languages = []string{"lua"} },
		"without the other one":     func(r *rule.Rule) { r.Pattern = "f(" },
		"does not match this text":  func(r *rule.Rule) { r.Cases.Match = []string{"// f(a)"} },
	} {
		r := regex("f", "f($$$)", func(r *rule.Rule) { r.Type, r.Languages = rule.TypeStructure, []string{"go"} })
		change(&r)
		require.ErrorContains(t, rule.Validate(t.Context(), r), want)
	}
}
