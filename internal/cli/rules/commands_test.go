package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

const twoRules = `version: 1
rules:
  - id: no-print
    type: regex
    pattern: '\bprint\('
    message: Use the logger.
    severity: warning
    paths: {include: ["src/**"]}
    cases: {match: ['print(x)'], no_match: ['blueprint(x)']}
  - id: style/block
    type: regex
    pattern: '(?s)BEGIN.*?END'
    message: No blocks.
    severity: low
    multiline: true
`

func TestSamples(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", twoRules)
	good := tree(t, map[string]string{
		"good.py":   "# prwarden: expect no-print\nprint(1)\n# prwarden: ok custom/no-print\nblueprint(1)\n",
		"plain.py":  "print(1)\nBEGIN END\n",
		"page.html": "<!-- prwarden: expect no-print-->\r\n<b>print(1)</b>\r\n",
		"stacked.c": "/* prwarden: expect no-print, style/block */\n// prwarden: ok security/no-eval\nprint(BEGIN\n) END\n",
		"beside.py": "# prwarden: ok no-print because print(1)\nblueprint(2)\n",
		"words.py":  "# prwarden: expect no-print and more\nprint(1) # prwarden:ignore no-print\n",
		"logo.png":  "# prwarden: expect no-print\n\x00\x01\x02\xff\xfe\x80\x90\x05\x06\x07",
		".git/a.py": "# prwarden: expect nothing\n",
	})

	r := test(t, file, good)
	require.NoError(t, r.err, r.out)
	assert.Equal(t, "PASS: 2 rules with 2 cases, 5 samples with 7 annotations.\n", r.out)

	root := tree(t, map[string]string{
		"a.py": `# prwarden: expect no-print
log(1)
# prwarden: ok no-print
print(1)
print(2) # nobody expects
# prwarden: expect no-prnt
# prwarden: expect
x
# prwarden: ok no-print
`,
		"none/b.py": "print(1)\n",
	})

	r = test(t, file, filepath.Join(root, "a.py"), filepath.Join(root, "none"))
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Equal(t, `a.py:2: custom/no-print must match here, and does not
a.py:4: custom/no-print must not match here, and does
a.py:5: custom/no-print matches here, and no annotation says so
a.py:6: there is no rule "no-prnt"; `+"`prwarden rules list`"+` shows them
a.py:7: an id of a rule is missing: `+"`prwarden: expect ID` or `prwarden: expect ID, ID`"+`
a.py:9: no line follows that the annotation could be about
none:1: there is no annotation; `+"write `prwarden: expect ID` in a comment on the line before "+
		`one that the rule must match
FAIL: 7 failures.
`, strings.ReplaceAll(r.out, root+string(filepath.Separator), ""))

	r = test(t, write(t, "rules.yml", strings.Replace(twoRules, "'blueprint(x)'", "'print(x)'", 1)))
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Contains(t, r.out, "rules.yml:9:45: error: rules[0].cases.no_match[0]: the rule matches this text, on line 1")
}

func TestTry(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"main.go":      "package main\n\nfunc f() {\n\tfmt.Println(1)\n\tfmt.Print(fmt.Print(2))\n}\n",
		"cmd/main.go":  "fmt.Print(3)\r\n",
		"notes.txt":    "fmt.Print(\x1b[2J)\nBEGIN\nEND\n",
		"logo.png":     "\x00\x01\x02\xff\xfe\x80\x90\x05fmt.Print(",
		".git/main.go": "fmt.Print(4)\n",
		"large.txt":    strings.Repeat("fmt.Print(5)\n", 1_500_000),
	})

	local := func(text string) string { return strings.ReplaceAll(text, root+"/", "") }
	const pattern = `fmt\.Print(ln|f)?\(`

	r := try(t, rules.TryInput{Pattern: pattern, Paths: []string{root}})
	require.NoError(t, r.err)
	assert.Equal(t, `cmd/main.go:1:1: fmt.Print(3)
main.go:4:2: fmt.Println(1)
main.go:5:2: fmt.Print(fmt.Print(2))
notes.txt:1:1: fmt.Print(�[2J)
`, local(r.out))
	assert.Equal(t, "4 matches in 3 files.\nIt costs about 300ns for a MiB of code, looked for by \"fmt.Print\".\n",
		r.errs)

	file := filepath.Join(root, "notes.txt")
	r = try(t, rules.TryInput{
		Pattern: pattern, Paths: []string{root, file}, Include: []string{"**/*.go"}, Exclude: []string{"cmd/**"},
	})

	require.NoError(t, r.err)
	assert.Equal(t, "main.go:4:2: fmt.Println(1)\nmain.go:5:2: fmt.Print(fmt.Print(2))\n", local(r.out))

	r = try(t, rules.TryInput{Pattern: `(?s)BEGIN.*END`, Multiline: true, Paths: []string{file}})
	require.NoError(t, r.err)
	assert.Equal(t, "notes.txt:2:1: BEGIN\n", local(r.out))
	assert.Contains(t, r.errs, "1 match in 1 file.\nIt costs about")

	r = try(t, rules.TryInput{Pattern: "fmt.Print($_)", Structure: []string{"go"}, Paths: []string{root}})
	require.NoError(t, r.err)
	assert.Equal(t, "cmd/main.go:1:1: fmt.Print(3)\nmain.go:5:2: fmt.Print(fmt.Print(2))\n", local(r.out))
	r = try(t, rules.TryInput{Pattern: "fmt.Print(", Structure: []string{"go"}, Paths: []string{root}})
	assert.ErrorContains(t, r.err, "pattern")

	require.NoError(t, os.Chmod(file, 0))
	if os.Geteuid() > 0 {
		r = try(t, rules.TryInput{Pattern: pattern, Paths: []string{root}})
		require.ErrorContains(t, r.err, "notes.txt: ")
		assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))
	}
}

const changes = `version: 1
disable: [hygiene/js-debugger]
override:
  security/no-eval: {severity: low, exclude: ["tools/**"]}
rules:
  - id: no-print
    type: regex
    pattern: '^\s*print\('
    message: Use the logger.
    severity: warning
    paths: {include: ["**/*.py"]}
    cases: {match: ["print(x)\nprint(y)"], no_match: ['log(x)']}
`

func TestExplain(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", changes)
	for name, id := range map[string]string{
		"explain-overridden": "security/no-eval", "explain-disabled": "hygiene/js-debugger",
		"explain-own": "no-print", "explain-secret": "secrets/jwt",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := explain(t, id, file, rules.OutputText)
			require.NoError(t, r.err)
			golden(t, name, strings.ReplaceAll(r.out, file, "rules.yml"))
			assert.Empty(t, r.errs)

			r = explain(t, id, file, rules.OutputJSON)
			require.NoError(t, r.err)
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(r.out), &got))
			assert.Equal(t, name == "explain-disabled", got["disabled"])
			assert.Equal(t, name == "explain-overridden", got["overridden"])
			assert.NotEmpty(t, got["severity"])
			assert.Contains(t, got, "cost")
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", changes)
	r := list(t, rules.ListInput{File: file, Output: rules.OutputText})
	require.NoError(t, r.err)
	for _, want := range []string{
		`(?m)^warning   medium  custom/no-print +Use the logger\.$`, `(?m)^low       medium  security/no-eval `,
		`(?m)^medium    high    hygiene/js-debugger +\(off\) Remove`, `\n\d+ rules, 1 of them off\.\n$`,
	} {
		assert.Regexp(t, want, r.out)
	}

	for line := range strings.Lines(r.out) {
		assert.LessOrEqual(t, terminal.Columns(line), 100)
	}

	r = list(t, rules.ListInput{File: file, Severity: "high", Category: "security", Output: rules.OutputJSON})
	require.NoError(t, r.err)
	var got struct {
		Rules []struct{ ID, Severity string }
	}

	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	assert.Greater(t, len(got.Rules), 10)
	for _, r := range got.Rules {
		assert.True(t, strings.HasPrefix(r.ID, "security/"))
		assert.Contains(t, []string{"critical", "high"}, r.Severity)
		assert.NotEqual(t, "security/no-eval", r.ID, "it is low here")
	}

	broken := write(t, "rules.yml", strings.Replace(changes, "warning", "warn", 1))
	r = list(t, rules.ListInput{File: broken, Output: rules.OutputText})
	require.ErrorContains(t, r.err, "the rules file has mistakes, which `prwarden rules check` names all: ")
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err))
}
