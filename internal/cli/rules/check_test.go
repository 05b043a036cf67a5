package rules_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// printed is what a command printed, and how it ended.
type printed struct {
	out, errs string
	err       error
}

// run runs a command without colours, on a page of some columns.
func run(t *testing.T, columns int, command func(cli.Streams) error) printed {
	t.Helper()
	var out, errs strings.Builder
	err := command(cli.Streams{Out: &out, Err: &errs, Env: []string{fmt.Sprint("COLUMNS=", columns)}})
	return printed{out.String(), errs.String(), err}
}

// usual fills in what the command line does: text, in colours for a terminal.
func usual(l rules.Look) rules.Look {
	return rules.Look{Output: cmp.Or(l.Output, rules.OutputText), Color: cmp.Or(l.Color, terminal.ColorAuto)}
}

func asJSON() rules.Look { return rules.Look{Output: rules.OutputJSON} }

func check(t *testing.T, in rules.CheckInput) printed {
	t.Helper()
	in.Look = usual(in.Look)
	return run(t, 100, func(st cli.Streams) error { return rules.Check(t.Context(), st, in) })
}

func checkFile(t *testing.T, file string) printed {
	t.Helper()
	return check(t, rules.CheckInput{Files: []string{file}})
}

func test(t *testing.T, in rules.TestInput) printed {
	t.Helper()
	in.Look = usual(in.Look)
	return run(t, 100, func(st cli.Streams) error { return rules.Test(t.Context(), st, in) })
}

func try(t *testing.T, in rules.TryInput) printed {
	t.Helper()
	in.Look = usual(in.Look)
	return run(t, 100, func(st cli.Streams) error { return rules.Try(t.Context(), st, in) })
}

func list(t *testing.T, columns int, in rules.ListInput) printed {
	t.Helper()
	in.Look = usual(in.Look)
	return run(t, columns, func(st cli.Streams) error { return rules.List(t.Context(), st, in) })
}

func explain(t *testing.T, in rules.ExplainInput) printed {
	t.Helper()
	in.Look = usual(in.Look)
	return run(t, 200, func(st cli.Streams) error { return rules.Explain(t.Context(), st, in) }) // paths are long
}

// safeToPrint checks that nothing in a text can drive a terminal.
func safeToPrint(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		require.Equal(t, line, terminal.Safe(strings.TrimSuffix(line, "\n"))+"\n")
	}
}

// write writes a file into a folder of its own and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

const broken = "../../rule/testdata/broken"

// What is said about broken files. If you change a message, look at it here with
// the eyes of someone who has nothing else to repair the file by.
func TestCheckMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(broken + "/*.yml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 30)

	var all strings.Builder
	for _, file := range files {
		r := checkFile(t, file)
		name := filepath.Base(file)
		assert.Equal(t, name != "32-not-meant.yml", errors.Is(r.err, cli.ErrFound), name)
		assert.Empty(t, r.errs)
		out := strings.ReplaceAll(r.out, file, name)
		safeToPrint(t, out)
		fmt.Fprintf(&all, "=== %s\n%s\n", name, out)
	}
	golden(t, "messages", all.String())
}

// A hint is there for nearly everything that is said.
func TestCheckHints(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(broken + "/*.yml")
	require.NoError(t, err)
	r := check(t, rules.CheckInput{Files: files, Look: asJSON()})
	require.ErrorIs(t, r.err, cli.ErrFound)
	var got struct {
		Files []struct {
			File     string
			Problems []struct {
				Line, Column            int
				Severity, Message, Hint string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	require.Len(t, got.Files, len(files))

	hints, problems := 0, 0
	for _, f := range got.Files {
		require.NotEmpty(t, f.Problems, f.File)
		data, err := os.ReadFile(f.File)
		require.NoError(t, err)
		lines := strings.Split(string(data), "\n")
		for _, x := range f.Problems {
			problems++
			if x.Hint != "" {
				hints++
			}
			require.True(t, x.Line >= 1 && x.Line <= len(lines), "%+v", x)
			require.LessOrEqual(t, x.Column, len(lines[x.Line-1])+1, "%+v", x)
			require.Contains(t, []string{"error", "warning"}, x.Severity)
			require.LessOrEqual(t, utf8.RuneCountInString(x.Message), 301)
		}
	}
	assert.Greater(t, problems, 90)
	assert.Greater(t, float64(hints), 0.9*float64(problems), "of %d", problems)
}

func TestCheckOfGoodFiles(t *testing.T) {
	t.Parallel()
	good := write(t, "rules.yml", `version: 1
rules:
- {id: a, type: regex, pattern: frobnicate, message: m, severity: low, cases: {match: [frobnicate()], no_match: [x]}}
`)
	r := checkFile(t, good)
	require.NoError(t, r.err)
	assert.Equal(t, good+": fine, 1 rule and 2 cases.\n", r.out)

	r = check(t, rules.CheckInput{Files: []string{good, good}, Look: asJSON()})
	require.NoError(t, r.err)
	file := fmt.Sprintf(`{"file": %q, "valid": true, "rules": 1, "cases": 2, "problems": []}`, good)
	assert.JSONEq(t, fmt.Sprintf(`{"files": [%[1]s, %[1]s]}`, file), r.out)

	warned := []string{broken + "/32-not-meant.yml"}
	require.ErrorIs(t, check(t, rules.CheckInput{Files: warned, Strict: true}).err, cli.ErrFound)
}

// The limits are those of a repository where the file is a repository's.
func TestCheckKnowsWhoseFileItIs(t *testing.T) {
	t.Parallel()
	many := "version: 1\nrules:\n"
	for i := range 501 {
		many += fmt.Sprintf("- {id: r%d, type: regex, pattern: frobnicate, message: m, severity: low}\n", i)
	}
	r := checkFile(t, write(t, ".prwarden/rules.yml", many))
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Contains(t, r.out, "rules.yml:503: error: rules: has 501 rules; at most 500 are allowed\n")

	r = checkFile(t, write(t, "rules.yml", many))
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "rules.yml:503: warning: the file has 501 rules; "+
		"as the rules file of a repository it may have 500\n")
}

func TestCheckUsage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   rules.CheckInput
		want string
	}{
		"no such file": {rules.CheckInput{Files: []string{"nowhere.yml"}}, "the rules file can't be read"},
		"no own file":  {rules.CheckInput{}, "there is no .prwarden/rules.yml here; name the rules file"},
		"a folder":     {rules.CheckInput{Files: []string{t.TempDir()}}, "the rules file can't be read"},
		"output": {
			rules.CheckInput{Look: rules.Look{Output: "xml"}}, `--output: "xml" is not a format; use text or json`,
		},
		"color": {rules.CheckInput{Look: rules.Look{Color: "red"}}, `--color: "red" is not auto, always or never`},
	} {
		r := check(t, tt.in)
		require.ErrorContains(t, r.err, tt.want, name)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), name)
		assert.Empty(t, r.out, name)
	}
}

// What a stranger wrote into a file can't drive the terminal.
func TestCheckIsSafeToPrint(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", "version: 1\nrules:\n"+
		"- {id: \"a\\e[2J\", type: regex, pattern: \"(\u202e\", message: m, \"\\e]0;x\\a\": 1, severity: low}\n# \u202e\n")
	r := checkFile(t, file)
	require.ErrorIs(t, r.err, cli.ErrFound)
	safeToPrint(t, r.out)

	r = check(t, rules.CheckInput{Files: []string{file}, Look: rules.Look{Color: terminal.ColorAlways}})
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Contains(t, r.out, "\x1b[1;31merror:\x1b[0m")
	assert.NotContains(t, r.out, "\u202e")
}

// A rules file in its place in a repository may lead anywhere, and a check
// prints what is there.
func TestRulesFileIsNotBehindALink(t *testing.T) {
	t.Parallel()
	secret := write(t, "rules.yml", "key: hunter2\n")
	linked := func(target string) string {
		folder := filepath.Join(t.TempDir(), ".prwarden")
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.Symlink(target, filepath.Join(folder, "rules.yml")))
		return filepath.Join(folder, "rules.yml")
	}
	folder := filepath.Join(t.TempDir(), ".prwarden")
	require.NoError(t, os.Symlink(filepath.Dir(secret), folder))
	directory := filepath.Join(t.TempDir(), ".prwarden", "rules.yml")
	require.NoError(t, os.MkdirAll(directory, 0o755))

	for name, tt := range map[string]struct{ path, want string }{
		"link":          {linked(secret), "is a symbolic link, which is not followed there"},
		"dangling link": {linked("nowhere"), "is a symbolic link, which is not followed there"},
		"folder": {
			filepath.Join(folder, "rules.yml"), ".prwarden is no folder, and a symbolic link is not followed there",
		},
		"device":      {os.DevNull, "is no regular file"},
		"a directory": {directory, "is no regular file"},
	} {
		for command, r := range map[string]printed{
			"check":   checkFile(t, tt.path),
			"test":    test(t, rules.TestInput{File: tt.path}),
			"explain": explain(t, rules.ExplainInput{ID: "security/no-eval", File: tt.path}),
		} {
			require.ErrorContains(t, r.err, tt.want, name+command)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), name+command)
			assert.NotContains(t, r.err.Error(), "hunter2", name+command)
			assert.Empty(t, r.out)
		}
	}

	named := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.Symlink(write(t, "mine.yml", twoRules), named))
	require.NoError(t, checkFile(t, named).err, "a link that someone named")
}

// Neither a path nor what is in a file is a command to a CI service.
func TestNothingIsACommand(t *testing.T) {
	t.Parallel()
	file := write(t, "##[add-mask]r.yml",
		"version: 1\nrules:\n- {id: a, type: regex, pattern: '##[group](', message: m, severity: low}\n")
	good := write(t, "##vso[task.complete].yml", twoRules)
	sample := write(t, "##teamcity[x].py", "# prwarden: expect no-print\n##[error] log(1)\n")

	all := ""
	for _, r := range []printed{
		checkFile(t, file), checkFile(t, good),
		test(t, rules.TestInput{File: good, Samples: []string{sample}, Verbose: true}),
		try(t, rules.TryInput{Pattern: "log", Paths: []string{sample}}), list(t, 100, rules.ListInput{File: file}),
	} {
		all += r.out + r.errs
	}
	for _, part := range []string{
		`##\x5badd-mask]r.yml:3:`, `pattern: '##\x5bgroup]('`, `##vso\x5btask.complete].yml: fine`,
		`##teamcity\x5bx].py:2:11: ##\x5berror] log(1)`, "has mistakes",
	} {
		assert.Contains(t, all, part)
	}
	for _, mark := range []string{"##[", "##vso[", "##teamcity["} {
		assert.NotContains(t, all, mark)
	}
}
