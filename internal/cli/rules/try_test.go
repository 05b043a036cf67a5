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

// tree writes files into a folder of their own.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"main.go":      "package main\n\nfunc f() {\n\tfmt.Println(1)\n\tfmt.Print(fmt.Print(2))\n}\n",
		"cmd/main.go":  "fmt.Print(3)\r\n",
		"notes.txt":    "fmt.Print(\x1b[2J)\nBEGIN\nEND\n",
		"logo.png":     "fmt.Print(\x00",
		".git/main.go": "fmt.Print(4)\n",
		"large.txt":    strings.Repeat("fmt.Print(5)\n", 100_000),
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

const printPattern = `fmt\.Print(ln|f)?\(`

func TestTry(t *testing.T) {
	t.Parallel()
	root := tree(t)
	local := func(text string) string { return strings.ReplaceAll(text, root+"/", "") }

	r := try(t, rules.TryInput{Pattern: printPattern, Paths: []string{root}, Limit: 100})
	require.NoError(t, r.err)
	assert.Equal(t, `cmd/main.go:1:1: fmt.Print(3)
main.go:4:2:     fmt.Println(1)
main.go:5:2:     fmt.Print(fmt.Print(2))
notes.txt:1:1: fmt.Print(\x1b[2J)
`, local(r.out))
	assert.Equal(t, `4 matches in 3 of 3 files; 2 binary or over 1 MiB.
It costs about 0.3 µs for a MiB of code, looked for by "fmt.Print".
`, r.errs)

	r = try(t, rules.TryInput{
		Pattern: printPattern, Paths: []string{root, filepath.Join(root, "notes.txt")},
		Include: []string{"**/*.go"}, Exclude: []string{"cmd/**"}, Limit: 1, Look: rules.Look{Color: terminal.ColorAlways},
	})
	require.NoError(t, r.err)
	assert.Equal(t, "\x1b[2mmain.go:4:2: \x1b[0m    \x1b[1;31mfmt.Println(\x1b[0m1)\n", local(r.out))
	assert.Contains(t, r.errs, "2 matches in 1 of 4 files; the first 1 are shown; 2 binary")

	r = try(t, rules.TryInput{Pattern: `(?s)BEGIN.*END`, Multiline: true, Paths: []string{root}})
	require.NoError(t, r.err)
	assert.Equal(t, "notes.txt:2:1: BEGIN … to line 3\n", local(r.out))

	r = try(t, rules.TryInput{Pattern: `\s+$`, Paths: []string{filepath.Join(root, "cmd")}})
	require.NoError(t, r.err)
	assert.Empty(t, r.out)
	assert.Contains(t, r.errs, `0 matches in 0 of 1 file.
It costs about 3.0 ms for a MiB of code: nothing to look for it by, so it is tried everywhere.
  The pattern has no run`)
}

// A folder that is a symbolic link is looked through, under its own name.
func TestTryOfALink(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(tree(t), link))
	r := try(t, rules.TryInput{Pattern: printPattern, Paths: []string{link}, Include: []string{"cmd/*"}})
	require.NoError(t, r.err)
	assert.Equal(t, filepath.Join(link, "cmd", "main.go")+":1:1: fmt.Print(3)\n", r.out)
	assert.Contains(t, r.errs, "1 match in 1 of 3 files")
}

func TestTryAsJSON(t *testing.T) {
	t.Parallel()
	file := filepath.Join(tree(t), "main.go")
	r := try(t, rules.TryInput{Pattern: printPattern, Paths: []string{file}, Limit: 1, Look: asJSON()})
	require.NoError(t, r.err)
	assert.Empty(t, r.errs)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	assert.Equal(t, []any{map[string]any{
		"file": file, "line": 4., "column": 2., "end_line": 4., "end_column": 14., "text": "\tfmt.Println(1)",
	}}, got["matches"])
	assert.Equal(t, 2., got["total"])
	assert.Equal(t, false, got["cost"].(map[string]any)["weak"])
}

func TestTryUsage(t *testing.T) {
	t.Parallel()
	here := []string{t.TempDir()}
	nowhere := []string{filepath.Join(here[0], "nowhere")}
	for want, in := range map[string]rules.TryInput{
		"the pattern at byte 3: lookahead (?=…) is not supported: " +
			"patterns are RE2, without lookaround and backreferences\n" +
			"  ab(?=c)\n    ^\n  hint: match what follows too": {Pattern: "ab(?=c)", Paths: here},
		"the pattern can match the empty string": {Pattern: "a*", Paths: here},
		"--include matches nothing: paths start at the root of the repository, without \"/\"\n" +
			"  hint: write \"x\"\n--exclude is not a valid glob": {
			Pattern: "a", Paths: here, Include: []string{"/x"}, Exclude: []string{"a["},
		},
		"there is nothing to look at": {Pattern: "a", Paths: nowhere},
		"--limit must be 0":           {Pattern: "a", Paths: here, Limit: -1},
	} {
		r := try(t, in)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), want)
		assert.ErrorContains(t, r.err, want)
	}
}

const changes = `version: 1
disable: [security/no-evl, hygiene/js-debugger]
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
			r := explain(t, rules.ExplainInput{ID: id, File: file})
			require.NoError(t, r.err)
			golden(t, name, strings.ReplaceAll(r.out, file, "rules.yml"))
			assert.Empty(t, r.errs)

			r = explain(t, rules.ExplainInput{ID: id, File: file, Look: asJSON()})
			require.NoError(t, r.err)
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(r.out), &got))
			assert.Equal(t, name == "explain-disabled", got["disabled"])
			assert.Equal(t, name == "explain-overridden", got["overridden"])
			assert.NotEmpty(t, got["severity"])
		})
	}
}

func TestExplainUsage(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"security/no-evl": "did you mean security/no-eval?",
		"no-eval":         "did you mean security/no-eval?",
		"zzzzzzzz/qqqqqq": "`prwarden rules list` shows the rules",
		"meta/anything":   "is no rule: findings of meta/ are about",
	} {
		r := explain(t, rules.ExplainInput{ID: id})
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err))
		assert.ErrorContains(t, r.err, want)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", changes)
	for columns, wants := range map[int][]string{
		100: {
			`(?m)^warning   custom/no-print +Use the logger\.$`, `(?m)^low       security/no-eval `,
			`(?m)^medium    hygiene/js-debugger +\(off\) Remove`, `\n\d+ rules, 1 of them off\.\n$`,
		},
		60: {`(?m)^warning   custom/no-print\n          Use the logger\.$`},
	} {
		r := list(t, columns, rules.ListInput{File: file})
		require.NoError(t, r.err)
		for _, want := range wants {
			assert.Regexp(t, want, r.out)
		}
		for line := range strings.Lines(r.out) {
			assert.LessOrEqual(t, terminal.Columns(line), columns)
		}
	}

	r := list(t, 100, rules.ListInput{File: file, Severity: "high", Category: "security", Look: asJSON()})
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

	// A file with mistakes hides nothing else.
	r = list(t, 100, rules.ListInput{File: write(t, "rules.yml", strings.Replace(changes, "warning", "warn", 1))})
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "custom/no-print")
	assert.Contains(t, r.errs, "has mistakes, so some of it may be missing here")
}

func TestListUsage(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]rules.ListInput{
		`"bad" is not a severity`:       {Severity: "bad"},
		`no rule is in "styl"; use one`: {Category: "styl"},
		`can't be read`:                 {File: "nowhere.yml"},
	} {
		r := list(t, 100, in)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err))
		assert.ErrorContains(t, r.err, want)
	}
}
