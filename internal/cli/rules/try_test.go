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
	var p printed
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{Pattern: printPattern, Paths: []string{root}, Limit: 100, Look: text()}))
	assert.Equal(t, `cmd/main.go:1:1: fmt.Print(3)
main.go:4:2:     fmt.Println(1)
main.go:5:2:     fmt.Print(fmt.Print(2))
notes.txt:1:1: fmt.Print(\x1b[2J)
`, strings.ReplaceAll(p.out.String(), root+"/", ""))
	assert.Equal(t, `4 matches in 3 of 3 files; 2 binary or over 1 MiB.
It costs about 0.3 µs for a MiB of code, looked for by "fmt.Print".
`, p.errs.String())

	p = printed{}
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{
		Pattern: printPattern, Paths: []string{root, filepath.Join(root, "notes.txt")}, Include: []string{"**/*.go"}, Exclude: []string{"cmd/**"}, Limit: 1,
		Look: rules.Look{Output: rules.OutputText, Color: terminal.ColorAlways},
	}))
	assert.Equal(t, "\x1b[2mmain.go:4:2: \x1b[0m    \x1b[1;31mfmt.Println(\x1b[0m1)\n", strings.ReplaceAll(p.out.String(), root+"/", ""))
	assert.Contains(t, p.errs.String(), "2 matches in 1 of 4 files; the first 1 are shown; 2 binary")

	p = printed{}
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{Pattern: `(?s)BEGIN.*END`, Multiline: true, Paths: []string{root}, Look: text()}))
	assert.Equal(t, "notes.txt:2:1: BEGIN … to line 3\n", strings.ReplaceAll(p.out.String(), root+"/", ""))

	p = printed{}
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{Pattern: `\s+$`, Paths: []string{filepath.Join(root, "cmd")}, Look: text()}))
	assert.Empty(t, p.out.String())
	assert.Contains(t, p.errs.String(), "0 matches in 0 of 1 file.\nIt costs about 3.0 ms for a MiB of code: nothing to look for it by, so it is tried everywhere.\n  The pattern has no run")
}

// A folder that is a symbolic link is looked through, under its own name.
func TestTryOfALink(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(tree(t), link))
	var p printed
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{Pattern: printPattern, Paths: []string{link}, Include: []string{"cmd/*"}, Look: text()}))
	assert.Equal(t, filepath.Join(link, "cmd", "main.go")+":1:1: fmt.Print(3)\n", p.out.String())
	assert.Contains(t, p.errs.String(), "1 match in 1 of 3 files")
}

func TestTryAsJSON(t *testing.T) {
	t.Parallel()
	root := tree(t)
	var p printed
	file := filepath.Join(root, "main.go")
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{Pattern: printPattern, Paths: []string{file}, Limit: 1, Look: asJSON()}))
	assert.Empty(t, p.errs.String())
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &got))
	assert.Equal(t, []any{map[string]any{"file": file, "line": 4., "column": 2., "end_line": 4., "end_column": 14., "text": "\tfmt.Println(1)"}}, got["matches"])
	assert.Equal(t, 2., got["total"])
	assert.Equal(t, false, got["cost"].(map[string]any)["weak"])
}

func TestTryUsage(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	for name, tt := range map[string]struct {
		in   rules.TryInput
		want string
	}{
		"pattern": {rules.TryInput{Pattern: "ab(?=c)", Paths: []string{here}, Look: text()}, "the pattern at byte 3: lookahead (?=…) is not supported: patterns are RE2, without lookaround and backreferences\n  ab(?=c)\n    ^\n  hint: match what follows too"},
		"empty":   {rules.TryInput{Pattern: "a*", Paths: []string{here}, Look: text()}, "the pattern can match the empty string"},
		"glob":    {rules.TryInput{Pattern: "a", Paths: []string{here}, Include: []string{"/x"}, Exclude: []string{"a["}, Look: text()}, "--include matches nothing: paths start at the root of the repository, without \"/\"\n  hint: write \"x\"\n--exclude is not a valid glob"},
		"path":    {rules.TryInput{Pattern: "a", Paths: []string{filepath.Join(here, "nowhere")}, Look: text()}, "there is nothing to look at"},
		"limit":   {rules.TryInput{Pattern: "a", Paths: []string{here}, Limit: -1, Look: text()}, "--limit must be 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p printed
			err := rules.Try(t.Context(), p.streams(), tt.in)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
			assert.ErrorContains(t, err, tt.want)
		})
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
	for name, id := range map[string]string{"explain-overridden": "security/no-eval", "explain-disabled": "hygiene/js-debugger", "explain-own": "no-print", "explain-secret": "secrets/jwt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := printed{columns: 200} // the path is of any length
			require.NoError(t, rules.Explain(t.Context(), p.streams(), rules.ExplainInput{ID: id, File: file, Look: text()}))
			golden(t, name, strings.ReplaceAll(p.out.String(), file, "rules.yml"))
			assert.Empty(t, p.errs.String())

			p = printed{}
			require.NoError(t, rules.Explain(t.Context(), p.streams(), rules.ExplainInput{ID: id, File: file, Look: asJSON()}))
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(p.out.String()), &got))
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
		var p printed
		err := rules.Explain(t.Context(), p.streams(), rules.ExplainInput{ID: id, Look: text()})
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		assert.ErrorContains(t, err, want)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", changes)
	var p printed
	require.NoError(t, rules.List(t.Context(), p.streams(), rules.ListInput{File: file, Look: text()}))
	assert.Regexp(t, `(?m)^warning   custom/no-print +Use the logger\.$`, p.out.String())
	assert.Regexp(t, `(?m)^low       security/no-eval `, p.out.String())
	assert.Regexp(t, `(?m)^medium    hygiene/js-debugger +\(off\) Remove`, p.out.String())
	assert.Regexp(t, `\n\d+ rules, 1 of them off\.\n$`, p.out.String())
	for line := range strings.Lines(p.out.String()) {
		assert.LessOrEqual(t, terminal.Columns(line), 101)
	}

	p = printed{columns: 60}
	require.NoError(t, rules.List(t.Context(), p.streams(), rules.ListInput{File: file, Look: text()}))
	assert.Regexp(t, `(?m)^warning   custom/no-print\n          Use the logger\.$`, p.out.String())
	for line := range strings.Lines(p.out.String()) {
		assert.LessOrEqual(t, terminal.Columns(line), 61)
	}

	p = printed{}
	require.NoError(t, rules.List(t.Context(), p.streams(), rules.ListInput{File: file, Severity: "high", Category: "security", Look: asJSON()}))
	var got struct {
		Rules []struct{ ID, Severity string }
	}
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &got))
	assert.Greater(t, len(got.Rules), 10)
	for _, r := range got.Rules {
		assert.True(t, strings.HasPrefix(r.ID, "security/"))
		assert.Contains(t, []string{"critical", "high"}, r.Severity)
		assert.NotEqual(t, "security/no-eval", r.ID, "it is low here")
	}

	for want, in := range map[string]rules.ListInput{
		`"bad" is not a severity`:       {Severity: "bad", Look: text()},
		`no rule is in "styl"; use one`: {Category: "styl", Look: text()},
		`can't be read`:                 {File: "nowhere.yml", Look: text()},
	} {
		err := rules.List(t.Context(), p.streams(), in)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
		assert.ErrorContains(t, err, want)
	}

	// A file with mistakes hides nothing else.
	p = printed{}
	require.NoError(t, rules.List(t.Context(), p.streams(), rules.ListInput{File: write(t, "rules.yml", strings.Replace(changes, "warning", "warn", 1)), Look: text()}))
	assert.Contains(t, p.out.String(), "custom/no-print")
	assert.Contains(t, p.errs.String(), "has mistakes, so some of it may be missing here")
}
