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

// both is a rules file that the pull request does not change.
func both(text string) map[scan.Side]map[string]string {
	f := map[string]string{rule.FilePath: text}
	return map[scan.Side]map[string]string{scan.Base: f, scan.Head: f, scan.MergeBase: f}
}

func changed(base, head string) *pull {
	p := &pull{sides: both(base), files: []scan.File{file("a", "one\ntwo"), file(rule.FilePath, head)}}
	p.sides[scan.Head] = map[string]string{rule.FilePath: head}
	return p
}

func TestRulesFile(t *testing.T) {
	t.Parallel()
	const (
		fine   = "version: 1\n"
		broken = "version: 1\nnope: 1\n"
		own    = "version: 1\nrules:\n  - {id: own, type: regex, pattern: two, message: m, severity: low}\n"
	)
	deleted := changed(fine, "")
	deleted.files, deleted.sides[scan.Head] = deleted.files[:1], nil
	behind := changed(own, "") // the base got its rules file after the pull request started
	behind.files, behind.sides[scan.Head], behind.sides[scan.MergeBase] = behind.files[:1], nil, nil
	created := changed("", own)
	created.sides[scan.Base], created.sides[scan.MergeBase] = nil, nil
	unchanged := func(text string) *pull {
		return &pull{sides: both(text), files: []scan.File{file("a", "one\ntwo")}}
	}

	excluded := &pull{sides: both("version: 1\nexclude: ['**']\n"), files: []scan.File{file(rule.FilePath, fine)}}
	const taken = "version: 1\nrules:\n- {id: d/one, type: regex, pattern: two, message: m, severity: low}\n" +
		"- {id: org, type: regex, pattern: two, message: m, severity: low}\n"

	// What is found in a, and about the rules file.
	const (
		one, two  = "a:1 d/one high", "a:2 custom/own low"
		edited    = rule.FilePath + ":1 meta/rules-file-changed info"
		invalid   = rule.FilePath + ":%d meta/rules-file-invalid high"
		unknownID = rule.FilePath + ":%d meta/rules-file-unknown-id warning"
	)
	at := fmt.Sprintf

	for name, tt := range map[string]struct {
		pull  *pull
		valid bool
		want  []string
	}{
		"unchanged":                        {unchanged(own), true, []string{one, two}},
		"changed":                          {changed(fine, own), true, []string{edited, one}},
		"switched off by the pull request": {changed(fine, "version: 1\ndisable: [d/one]"), true, []string{edited, one}},
		"created":                          {created, true, []string{edited, one}},
		"deleted":                          {deleted, true, []string{edited, one}},
		"newer in the base":                {behind, true, []string{one, two}},
		"broken in the base":               {unchanged(broken + "disable: [d/one]"), false, []string{at(invalid, 2), one}},
		"repaired":                         {changed(broken, fine), false, []string{edited, at(invalid, 2), one}},
		"broken by the pull request":       {changed(fine, "version: 2\n"), true, []string{edited, at(invalid, 1), one}},
		"broken before and after": {
			changed(broken, broken+"# still"), false, []string{edited, at(invalid, 2), at(invalid, 2), one},
		},
		"unknown id": {
			unchanged("version: 1\ndisable:\n- d/one\n- d/gone\n- org\n"), true,
			[]string{at(unknownID, 4), at(unknownID, 5)},
		},
		"unknown id repaired": {
			changed("version: 1\ndisable: [d/gone]", "version: 1\n\ndisable: [d/nope]"), true,
			[]string{edited, at(unknownID, 3), one},
		},
		"taken id":  {unchanged(taken), false, []string{at(invalid, 3), one}},
		"excluded":  {excluded, true, []string{edited}},
		"too large": {unchanged(strings.Repeat("#", rule.MaxFileSize+1)), false, []string{at(invalid, 1), one}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tt.pull,
				regex("d/one", "^one", origin(rule.OriginDefault), severity(rule.High)), regex("org", "nothing"))
			found := []string{}
			prints := map[string]bool{}

			for _, f := range got.Findings {
				found = append(found, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.RuleID, f.Severity))
				prints[f.Fingerprint] = true

				assert.Len(t, f.Fingerprint, 32)
			}

			assert.Equal(t, tt.want, found)
			assert.Len(t, prints, len(found), "fingerprints differ")
			assert.Equal(t, tt.valid, got.RulesFileValid)
			sum := 0

			for _, n := range got.Summary {
				sum += n
			}

			assert.Equal(t, len(found), sum)
		})
	}
}

// What a rules file says is stored without a mask, so nothing in it that may be
// a secret is repeated.
func TestRulesFileMessagesRepeatNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "ghp_Zx91kQ7vT2"

	for _, content := range []string{
		secret + ": 1", "version: 1\n" + secret + ": 1", "version: " + secret, "version: 1\nrules: [{" + secret + ": x}]",
		"version: 1\nrules: [{id: a, type: " + secret + ", pattern: a, message: m, severity: " + secret + "}]",
		"version: 1\nexclude: *" + secret, "version: &" + secret + " 1", "version: 1\ndisable: [" + secret + "]",
		"version: 1\n? [" + secret + "]\n: 1", "%" + secret + "\n---\nversion: 1", "version: \"\\" + secret,
	} {
		got := run(t, changed("version: 1", content))
		require.Len(t, got.Findings, 2, content)
		assert.NotContains(t, got.Findings[1].Message, secret, content)
	}
}

// A pull request can't bury what else is found under mistakes of a rules file.
func TestRulesFileBuriesNothing(t *testing.T) {
	t.Parallel()
	var ids strings.Builder

	for i := range 500 {
		fmt.Fprintf(&ids, "- a%d\n", i)
	}

	got := run(t, changed("version: 1", "version: 1\ndisable:\n"+ids.String()))
	require.Len(t, got.Findings, 1+20)
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	never := func(r *rule.Rule) { r.Paths.Exclude = []string{"never/**"} }
	one := regex("d/one", "one", origin(rule.OriginDefault), severity(rule.High), never)
	token := regex("d/token", `tok_\w+`, origin(rule.OriginDefault), redact)
	two := regex("two", "two")

	for name, tt := range map[string]struct {
		file     string
		rules    []rule.Rule
		ruleset  string
		want     []string
		noEffect bool // the digest is that of a scan without it
	}{
		"severity": {
			file: "override: {d/one: {severity: low}}",
			want: []string{"a:1 d/one low", "docs/a:1 d/one low", "docs/b:1 d/token warning **** ****"},
		},
		"exclude": {
			file: "override: {d/one: {exclude: ['docs/**']}}",
			want: []string{"a:1 d/one high", "docs/b:1 d/token warning **** ****"},
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
			file: "override: {d/token: {severity: low}}", rules: []rule.Rule{regex("x", "tok_b")}, ruleset: rule.RulesetCustom,
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
			got, err := try(t, p, rules, setup{ruleset: tt.ruleset})
			require.NoError(t, err)
			var found []string

			for _, f := range got.Findings {
				line := fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.RuleID, f.Severity)
				if strings.HasSuffix(f.File, "b") {
					line += " " + f.Snippet
				}

				found = append(found, line)
			}

			assert.Equal(t, tt.want, found)

			plain, err := try(t, &pull{sides: both("version: 1\n")}, rules, setup{ruleset: tt.ruleset})
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
	set, err := s.AddRules(t.Context(), "", rule.Digest([]rule.Rule{one}), []rule.Rule{one})
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
	assert.Equal(t, rule.Digest([]rule.Rule{one}), second.RulesDigest)
}
