package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// policed scans files by a policy, with a rules file in the base.
func policed(t *testing.T, p policy.Policy, rulesFile string, rules []rule.Rule, files ...scan.File) *scan.Result {
	t.Helper()
	pull := &pull{files: files}
	if rulesFile != "" {
		pull.sides = both(rulesFile)
	}
	got, err := try(t, pull, rules, setup{request: scan.Request{Policy: &p}})
	require.NoError(t, err)

	return got
}

func TestPolicyGoesBeforeTheRulesFile(t *testing.T) {
	t.Parallel()
	builtin := origin(rule.OriginDefault)
	rules := []rule.Rule{
		regex("d/off", "off", builtin), regex("d/low", "low", builtin, severity(rule.High)),
		regex("d/docs", "docs", builtin), regex("d/file", "file", builtin, severity(rule.High)), regex("d/free", "free", builtin),
	}
	p := lenient
	p.Disable = []string{"d/off"}
	p.Override = map[string]policy.Override{"d/low": {Severity: "low"}, "d/docs": {Exclude: []string{"docs/**"}}}

	got := policed(t, p, `version: 1
disable: [d/free, d/off]
override:
  d/file: {severity: info}
  d/low: {severity: critical, exclude: [b]}
exclude: [c, d]
`, rules,
		file("a", "off low docs file free"), file("b", "low"), file("c", "low"), file("d", "low"), file("docs/a", "docs low"))
	assert.Equal(t, []string{"a:1 d/docs", "a:1 d/file", "a:1 d/low", "docs/a:1 d/low"}, places(got))
	assert.Equal(t, rule.Critical, got.Findings[2].Severity, "a repository may be stricter")
	assert.Equal(t, rule.Info, got.Findings[1].Severity)
	assert.Equal(t, finding.Exclusions{Files: 2, By: rule.FilePath}, got.Exclusions)
	assert.Equal(t, []finding.SwitchedOff{
		{RuleID: "d/docs", By: "organization", How: "exclude"},
		{RuleID: "d/file", By: "repository", How: "override"},
		{RuleID: "d/free", By: "repository", How: "disable"},
		{RuleID: "d/low", By: "organization", How: "override"},
		{RuleID: "d/low", By: "repository", How: "exclude"},
		{RuleID: "d/off", By: "organization", How: "disable"},
	}, got.SwitchedOff)
}

// What is about rules files and comments can be switched off and suppressed too.
func TestMetaFindings(t *testing.T) {
	t.Parallel()
	evil := []rule.Rule{regex("s/eval", `eval\(`)}
	const unused = "// prwarden:ignore s/eval -- why\nx\n"
	assert.Equal(t, []string{"a.go:1 meta/suppression-unused"}, places(policed(t, lenient, "", evil, file("a.go", unused))))

	for _, rulesFile := range []string{
		"version: 1\ndisable: [meta/suppression-unused]", "version: 1\noverride: {meta/suppression-unused: {exclude: [a.go]}}",
	} {
		assert.Empty(t, places(policed(t, lenient, rulesFile, evil, file("a.go", unused))), rulesFile)
	}
	got := policed(t, lenient, "version: 1\noverride: {meta/suppression-unused: {severity: info}}", evil, file("a.go", unused))
	assert.Equal(t, rule.Info, got.Findings[0].Severity)

	off, locked := lenient, lenient
	off.Disable = []string{"meta/suppression-unused"}
	assert.Empty(t, places(policed(t, off, "", evil, file("a.go", unused))))
	locked.Locked.Rules = []string{"meta/*"}
	got = policed(t, locked, "version: 1\ndisable: [meta/suppression-unused]", evil, file("a.go", unused))
	assert.Equal(t, []string{"a.go:1 meta/suppression-unused"}, places(got)[1:])
	assert.Equal(t, "meta/rules-file-locked", got.Findings[0].RuleID)

	got = policed(t, lenient, "", evil, file("a.go", "// prwarden:ignore meta/suppression-unused -- generated\n"+unused))
	assert.Empty(t, places(got))
	assert.Equal(t, []string{"a.go:2 meta/suppression-unused"}, suppressed(got))
	got = policed(t, policy.Default(), "", evil, file("a.go", "// prwarden:ignore meta/suppression-unused -- generated\n"+unused))
	assert.Equal(t, []string{"a.go:2 meta/suppression-unused"}, places(got), "the policy is for these, too")
}

// A severity that the rules file changes is not what the policy goes by.
func TestOverridesDontOpenSuppression(t *testing.T) {
	t.Parallel()
	rules := []rule.Rule{regex("d/bad", "bad", origin(rule.OriginDefault), severity(rule.Critical))}
	got := policed(t, policy.Default(), "version: 1\noverride: {d/bad: {severity: low}}", rules,
		file("a.go", "bad // prwarden:ignore d/bad -- why until 2026-12-31\n"))
	assert.Equal(t, []string{"a.go:1 d/bad", "a.go:1 meta/suppression-refused"}, places(got))
	assert.Equal(t, "This `prwarden:ignore` is refused: d/bad is critical, and the organization allows it up to high.",
		got.Findings[1].Message)
}

// fifty are rules of which the policy locks each in one of its ways.
func fifty() (rules []rule.Rule, p policy.Policy) {
	p = policy.Default()
	for i := range 50 {
		r := regex(fmt.Sprintf("lock%d/r%02d", i%5, i), fmt.Sprintf(`evil%02d\(`, i), origin(rule.OriginDefault))
		r.Severity = rule.Severities()[i%6]
		r.Multiline = i%7 == 0
		switch i % 5 {
		case 0:
			p.Locked.Rules = append(p.Locked.Rules, r.ID)
		case 1:
			r.Paths.Include = []string{"src/**", "lib/**"}
		case 2:
			r.Redact = true
		case 3:
			r.Origin = rule.OriginCustom
		}
		rules = append(rules, r)
	}
	p.Locked.Rules = append(p.Locked.Rules, "lock1/*", "lock2/*", "lock4/*")
	p.Locked.Rulesets = []string{rule.RulesetCustom}

	return rules, p
}

// TestNothingInARepositorySwitchesLockedRulesOff has a policy of 50 locked rules and
// a repository that tries to switch them off in every way that there is.
func TestNothingInARepositorySwitchesLockedRulesOff(t *testing.T) {
	t.Parallel()
	rules, p := fifty()
	var plain, ids, disable, override strings.Builder
	for i, r := range rules {
		fmt.Fprintf(&plain, "evil%02d()\n", i)
		fmt.Fprintf(&ids, "%s\n", r.ID)
		if r.Origin == rule.OriginDefault {
			fmt.Fprintf(&disable, "  - %s\n", r.ID)
			fmt.Fprintf(&override, "  %s: {severity: info, exclude: [\"**\"]}\n", r.ID)
		}
	}
	each := func(format string) string {
		var text strings.Builder
		for i, r := range rules {
			text.WriteString(strings.NewReplacer("ID", r.ID, "EVIL", fmt.Sprintf("evil%02d()", i)).Replace(format) + "\n")
		}

		return text.String()
	}

	for name, tt := range map[string]struct {
		rulesFile, path, text, ruleset string
	}{
		"disable":          {rulesFile: "version: 1\ndisable:\n" + disable.String()},
		"override":         {rulesFile: "version: 1\noverride:\n" + override.String()},
		"exclude":          {rulesFile: "version: 1\nexclude: [\"**\"]"},
		"exclude the file": {rulesFile: "version: 1\nexclude: [src/a.go, \"src/*\", \"*/a.go\", \"**/*.go\"]"},
		"all of them": {
			rulesFile: "version: 1\nexclude: [\"**\"]\ndisable:\n" + disable.String() + "override:\n" + override.String(),
		},
		"a broken rules file": {rulesFile: "version: 1\nexclude: [\"**\"]\nnothing: 1"},
		"a rule with the same id": {
			rulesFile: "version: 1\nrules: [{id: lock0/r00, type: regex, pattern: never, message: m, severity: low}]",
		},
		"a comment on the line":      {text: each("EVIL // prwarden:ignore ID -- why until 2026-12-31")},
		"a comment before":           {text: each("// prwarden:ignore ID -- why until 2026-12-31\nEVIL")},
		"a comment in a block":       {text: each("/* prwarden:ignore ID -- why until 2026-12-31 */ EVIL")},
		"several ids":                {text: each("EVIL // prwarden:ignore x, ID, y/z -- why until 2026-12-31")},
		"far to the right":           {text: each("EVIL" + strings.Repeat(" ", 900) + "// prwarden:ignore ID -- why until 2026-12-31")},
		"in a text":                  {text: each("EVIL; x = \"prwarden:ignore ID -- why until 2026-12-31\"")},
		"in a text on the line":      {text: each("x = \"// prwarden:ignore ID -- why until 2026-12-31\"\nEVIL")},
		"a comment about meta":       {text: each("EVIL // prwarden:ignore ID, meta/suppression-refused -- why until 2026-12-31")},
		"the other ruleset":          {ruleset: rule.RulesetDefault},
		"the organization's rules":   {ruleset: rule.RulesetCustom},
		"another extension":          {path: "src/a.txt"},
		"no extension":               {path: "src/a"},
		"a Markdown file":            {path: "src/README.md"},
		"tests":                      {path: "src/a_test.go"},
		"vendored":                   {path: "lib/vendor/node_modules/a.min.js"},
		"a hidden folder":            {path: "src/.git2/.a"},
		"a path that is not UTF-8":   {path: "src/\xff\xfe.go"},
		"a path with marks of globs": {path: "src/[a]{b,c}*?.go", rulesFile: "version: 1\nexclude: [\"src/**\"]"},
		"ends of lines of old Macs":  {text: strings.ReplaceAll(plain.String(), "\n", "\r")},
		"ends of lines of Windows":   {text: strings.ReplaceAll(plain.String(), "\n", "\r\n")},
		"a byte order mark":          {text: "\ufeff" + plain.String()},
		"what is not UTF-8 before":   {text: "\xff\xc0\x80" + plain.String()},
		"generated, says the file":   {text: "// Code generated by x. DO NOT EDIT.\n// prwarden:ignore-file\n" + plain.String()},
		"an editor's mode line":      {text: "// -*- mode: text; coding: utf-16 -*-\n// vim: ft=markdown\n" + plain.String()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, text := tt.path, tt.text
			if path == "" {
				path = "src/a.go"
			}
			if text == "" {
				text = plain.String()
			}
			pull := &pull{files: []scan.File{
				file(path, text), file(".gitattributes", "* binary -diff -text linguist-generated linguist-vendored\n"),
			}}
			if tt.rulesFile != "" {
				pull.sides = both(tt.rulesFile)
			}

			got, err := try(t, pull, rules, setup{ruleset: tt.ruleset, request: scan.Request{Policy: &p}})
			require.NoError(t, err)
			found := map[string]rule.Severity{}
			for _, f := range got.Findings {
				found[f.RuleID] = f.Severity
			}
			for _, r := range rules {
				assert.Equal(t, r.Severity, found[r.ID], r.ID)
			}
			assert.Empty(t, suppressed(got))
			for _, skip := range got.Skips {
				assert.Equal(t, finding.SkipRulesFileInvalid, skip.Reason)
			}
			for _, off := range got.SwitchedOff {
				assert.NotContains(t, ids.String(), off.RuleID+"\n")
			}
		})
	}
}

// What the base's rules file wants less published is in the result; what it wants more is
// a finding.
func TestPublishOfTheRulesFile(t *testing.T) {
	t.Parallel()
	got := policed(t, policy.Default(), "version: 1\npublish: {summary: none, comments_max: 21}", nil, file("a.go", "x\n"))
	assert.True(t, got.Publish.NoSummary)
	require.Len(t, got.Findings, 1)
	assert.Equal(t, rule.MetaRulesFileLocked, got.Findings[0].RuleID)
	assert.Equal(t, 2, got.Findings[0].Line)
	assert.Contains(t, got.Findings[0].Message, "publish.comments_max")
	assert.Contains(t, got.Findings[0].Message, "which is 20")

	got, err := try(t, changed("version: 1", "version: 1\npublish: {summary: none}"), nil, setup{})
	require.NoError(t, err)
	assert.Zero(t, got.Publish, "the head decides nothing")
}
