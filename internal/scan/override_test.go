package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func TestOverrides(t *testing.T) {
	t.Parallel()
	one := regex(
		"d/one",
		"one",
		origin(rule.OriginDefault),
		severity(rule.High),
		func(r *rule.Rule) { r.Paths.Exclude = []string{"never/**"} },
	)
	token := regex("d/token", `tok_\w+`, origin(rule.OriginDefault), redact)
	two := regex("two", "two")
	for name, tt := range map[string]struct {
		file      string
		rules     []rule.Rule
		selection scan.Selection
		want      []string
		noEffect  bool // the digest is that of a scan without it
	}{
		"severity": {
			file: "override: {d/one: {severity: low}}",
			want: []string{"a:1 d/one low", "docs/a:1 d/one low", "docs/b:1 d/token warning **** ****"},
		},
		"exclude": {
			file: "override: {d/one: {exclude: ['docs/**']}}",
			want: []string{"a:1 d/one high", "docs/b:1 d/token warning **** ****"},
		},
		"both": {
			file: "override: {d/one: {severity: info, exclude: [a]}, d/token: {severity: critical}}",
			want: []string{"docs/a:1 d/one info", "docs/b:1 d/token critical **** ****"},
		},
		"its own exclude stays": {
			file: "override: {d/one: {exclude: ['docs/**', a]}}",
			want: []string{"docs/b:1 d/token warning **** ****"},
		},
		"a rule that looks nowhere masks nothing there": {
			file: "override: {d/token: {exclude: ['docs/**']}}", rules: []rule.Rule{regex("x", "tok_b")},
			want: []string{"a:1 d/one high", "docs/a:1 d/one high", "docs/b:1 custom/x warning tok_a tok_b"},
		},
		"a disabled rule": {
			file: "disable: [d/one]\noverride: {d/one: {severity: low}}",
			want: []string{"docs/b:1 d/token warning **** ****"},
		},
		"a shadowed rule": {
			file: "override: {d/one: {severity: low}}", rules: []rule.Rule{regex("d/one", "^one")},
			want: []string{
				"a:1 d/one warning", "docs/a:1 d/one warning", "docs/b:1 d/token warning **** ****",
				"never/a:1 d/one warning",
			},
			noEffect: true,
		},
		"a rule that is not selected still masks": {
			file: "override: {d/token: {severity: low}}", rules: []rule.Rule{regex("x", "tok_b")}, selection: scan.SelectCustom,
			want: []string{"docs/b:1 custom/x warning **** ****"}, noEffect: true,
		},
		"an unknown rule, and an organization's": {
			file: "override:\n  d/gone: {severity: low}\n  custom/two: {severity: low}\n  d/one: {severity: low}",
			want: []string{
				".prwarden/rules.yml:3 meta/rules-file-unknown-id warning",
				".prwarden/rules.yml:4 meta/rules-file-unknown-id warning",
				"a:1 d/one low", "docs/a:1 d/one low", "docs/b:1 d/token warning **** ****",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pull{sides: both("version: 1\n" + tt.file + "\n"), files: []scan.File{
				file("a", "one"), file("docs/a", "one"), file("docs/b", "tok_a tok_b"), file("never/a", "one"),
			}}
			rules := append([]rule.Rule{one, token, two}, tt.rules...)
			got, err := try(t, p, rules, setup{selection: tt.selection})
			require.NoError(t, err)
			var found []string
			counts := map[rule.Severity]int{}
			for _, f := range got.Findings {
				line := fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.RuleID, f.Severity)
				if strings.HasSuffix(f.File, "b") {
					line += " " + f.Snippet
				}
				found = append(found, line)
				counts[f.Severity]++
			}
			assert.Equal(t, tt.want, found)
			for s, n := range got.Summary {
				assert.Equal(t, counts[s], n, s)
			}
			plain, err := try(t, &pull{sides: both("version: 1\n")}, rules, setup{selection: tt.selection})
			require.NoError(t, err)
			assert.Equal(t, tt.noEffect, plain.RulesDigest == got.RulesDigest)
		})
	}
}

// What one repository overrides is not so in another's scan with the same rules,
// and the digest says what applies and not where it is written.
func TestOverridesAreOneScans(t *testing.T) {
	t.Parallel()
	one := regex("d/one", "one", origin(rule.OriginDefault), severity(rule.High))
	low := one
	low.Severity = rule.Low
	low.Paths.Exclude = []string{"x"}
	p := &pull{
		files: []scan.File{file("a", "one")},
		sides: both("version: 1\noverride: {d/one: {severity: low, exclude: [x]}}\n"),
	}
	s := scan.NewScanner(p, scan.Options{})
	set, err := s.AddRules(rule.Digest([]rule.Rule{one}), []rule.Rule{one})
	require.NoError(t, err)
	scanned := func() *scan.Result {
		got, err := s.Scan(t.Context(), scan.Request{Rules: set, MaxFindings: 9}, func(scan.Progress) {})
		require.NoError(t, err)
		return got
	}
	first := scanned()
	assert.Equal(t, 1, first.Summary[rule.Low])
	assert.Equal(t, rule.Digest([]rule.Rule{low}), first.RulesDigest)
	p.sides = nil
	second := scanned()
	assert.Equal(t, 1, second.Summary[rule.High])
	assert.Equal(t, set.Digest(), second.RulesDigest)
}
