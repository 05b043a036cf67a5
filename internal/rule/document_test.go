package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestDocumentsThereAndBack(t *testing.T) {
	t.Parallel()
	texts := []string{
		"plain", "no", "null", "~", "1.0", "2026-11-23", " leading", "trailing ", "\ttab", "a\nb", "\n a\n", "a\n\n", "\r\n",
		"# no comment", "a: b", "- a", "*a", "&a", "'", `"\`, "%", "@", "`", "é\u00a0\u2028😀", "\x01\x7f\u202e", "\ufeff",
		"|\n  x", ">", "[a, b]", "{a: b}", "!!str", "---", "...", strings.Repeat("long ", 100),
	}
	rules := make([]rule.Rule, 0, len(texts)+2)
	for i, text := range texts {
		rules = append(rules, rule.Rule{
			ID: fmt.Sprintf("a/r%02d", i), Type: rule.TypeRegex, Pattern: "zzz9", Message: "m " + text + ".",
			Severity: rule.Low, Scope: rule.ScopeOrg, Mode: rule.ModeEnforce, Origin: rule.OriginCustom,
			Confidence: rule.ConfidenceMedium,
			Cases:      rule.Cases{NoMatch: []string{text, text + "\n"}, Match: []string{text + " zzz9", "zzz9\n" + text}},
		})
	}
	whole := rule.Rule{
		ID: "whole", Type: rule.TypeRegex, Pattern: `(?s)a\x{1F600}?.`, Message: "m", Severity: rule.Critical,
		Scope: rule.ScopeRepo, Repo: "acme/shop", Multiline: true, Redact: true, Disabled: true, Mode: rule.ModeEnforce,
		Paths: rule.Paths{Include: []string{"**/*.go", "*"}, Exclude: []string{"[a-z]"}}, Origin: rule.OriginRepository,
		Confidence: rule.ConfidenceHigh,
		Languages:  []string{"go"}, In: []rule.Place{rule.InCode}, Skip: []string{"vendored"},
		References: []string{"https://example.com/?a#b"},
		Conditions: match.Conditions{
			Entropy: &match.Entropy{Min: 2.5}, Checksum: "github", Stopwords: []string{"no", "1.0"}, Allow: []string{`^a\.b$`},
		},
	}
	superseding := rule.Rule{
		ID: "superseding", Type: rule.TypeRegex, Pattern: "(a)", Message: "m", Severity: rule.Low, Scope: rule.ScopeOrg,
		Mode: rule.ModeEnforce, Origin: rule.OriginCustom, Supersedes: []string{"a/r00", "other"}, Fix: new(" $1\n"), Confidence: rule.ConfidenceLow,
		Conditions: match.Conditions{Entropy: &match.Entropy{Min: 3, Group: 1}},
	}
	rules = append(rules, superseding, whole)

	data, err := rule.DocumentsOf(rules).YAML()
	require.NoError(t, err)
	got, err := rule.ParsePushFile(t.Context(), data)
	require.NoError(t, err, "%s", data)
	assert.Equal(t, rule.DocumentsOf(rules), rule.DocumentsOf(got))
	assert.Equal(t, whole, got[len(got)-1])
	assert.Equal(t, whole, whole.Document().Rule())
	again, err := rule.DocumentsOf(got).YAML()
	require.NoError(t, err)
	assert.Equal(t, string(data), string(again))
}

func TestEtag(t *testing.T) {
	t.Parallel()
	r := rule.Rule{ID: "a", Pattern: "x"}
	same := r
	same.Scope, same.Mode, same.CreatedBy = rule.ScopeOrg, rule.ModeEnforce, "key:key_a"
	assert.Equal(t, r.Document().Etag(), same.Document().Etag(), "what goes without saying")
	other := r
	other.Disabled = true
	assert.NotEqual(t, r.Document().Etag(), other.Document().Etag())
	assert.Equal(t, []string{"enabled"}, rule.ChangedFields(r.Document(), other.Document()))
	other = r
	other.Mode = rule.ModeObserve
	assert.Equal(t, []string{"mode"}, rule.ChangedFields(r.Document(), other.Document()))
	assert.True(t, other.Document().Rule().Observed())
	other = r
	other.Paths.Include, other.Severity = []string{"a"}, rule.Low
	assert.Equal(t, []string{"paths.include", "severity"}, rule.ChangedFields(r.Document(), other.Document()))
}

func TestPushFileIsForAnOrganization(t *testing.T) {
	t.Parallel()
	const good = `{id: a, type: regex, pattern: x, message: m, severity: low`
	for name, c := range map[string]struct{ text, want string }{
		"a rule":                   {"rules: [" + good + "}]", ""},
		"of a repository":          {"rules: [" + good + ", scope: repo, repo: a/b}]", ""},
		"of none":                  {"rules: [" + good + ", scope: repo}]", "rules[0].repo: is required"},
		"of the organization's":    {"rules: [" + good + ", repo: a/b}]", "rules[0].repo: is allowed with scope"},
		"nowhere":                  {"rules: [" + good + ", scope: all}]", "is not a scope"},
		"default rules off":        {"disable: [a/b]", "disable: is for files of a repository"},
		"default rules changed":    {"override: {a/b: {severity: low}}", "override: is for files of a repository"},
		"files that nobody sees":   {"exclude: ['a/**']", "exclude: is for files of a repository"},
		"a repository's own rules": {"rules: [" + good + ", origin: x}]", "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rule.ParsePushFile(t.Context(), []byte("version: 1\n"+c.text))
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}

	_, err := rule.ParseFile(t.Context(), []byte("version: 1\nrules: ["+good+", scope: org}]"))
	assert.ErrorContains(t, err, `unknown key "scope"`)
}
