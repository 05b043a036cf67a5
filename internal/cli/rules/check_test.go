package rules_test

import (
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

// printed is what a command printed, without colours, on a page of some columns.
type printed struct {
	out, errs strings.Builder
	columns   int
}

func (p *printed) streams() cli.Streams {
	if p.columns == 0 {
		p.columns = 100
	}
	return cli.Streams{Out: &p.out, Err: &p.errs, Env: []string{fmt.Sprint("COLUMNS=", p.columns)}}
}

func text() rules.Look { return rules.Look{Output: rules.OutputText, Color: terminal.ColorAuto} }
func asJSON() rules.Look {
	return rules.Look{Output: rules.OutputJSON, Color: terminal.ColorAuto}
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

// What is said about broken files. Who changes a message looks at it here with
// the eyes of someone who has nothing else to repair the file by.
func TestCheckMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(broken + "/*.yml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 30)
	var all strings.Builder
	for _, file := range files {
		var p printed
		err := rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{file}, Look: text()})
		name := filepath.Base(file)
		if name == "32-not-meant.yml" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, cli.ErrFound, name)
		}
		assert.Empty(t, p.errs.String())
		out := strings.ReplaceAll(p.out.String(), file, name)
		for line := range strings.Lines(out) {
			require.Equal(t, line, terminal.Safe(strings.TrimSuffix(line, "\n"))+"\n", "safe to print")
		}
		fmt.Fprintf(&all, "=== %s\n%s\n", name, out)
	}
	golden(t, "messages", all.String())
}

// A hint is there for nearly everything that is said.
func TestCheckHints(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(broken + "/*.yml")
	require.NoError(t, err)
	var p printed
	require.ErrorIs(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: files, Look: asJSON()}), cli.ErrFound)
	var got struct {
		Files []struct {
			File     string
			Valid    bool
			Problems []struct {
				Line, Column            int
				Severity, Message, Hint string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &got))
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
	good := write(t, "rules.yml", "version: 1\nrules:\n- {id: a, type: regex, pattern: frobnicate, message: m, severity: low, cases: {match: [frobnicate()], no_match: [x]}}\n")
	var p printed
	require.NoError(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{good}, Look: text()}))
	assert.Equal(t, good+": fine, 1 rule and 2 cases.\n", p.out.String())

	p = printed{}
	require.NoError(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{good, good}, Look: asJSON()}))
	assert.JSONEq(t, fmt.Sprintf(`{"files": [%[1]s, %[1]s]}`, fmt.Sprintf(`{"file": %q, "valid": true, "rules": 1, "cases": 2, "problems": []}`, good)), p.out.String())

	p = printed{}
	warned := []string{broken + "/32-not-meant.yml"}
	require.NoError(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: warned, Look: text()}))
	require.ErrorIs(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: warned, Strict: true, Look: text()}), cli.ErrFound)
}

// The limits are those of a repository where the file is a repository's.
func TestCheckKnowsWhoseFileItIs(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString("version: 1\nrules:\n")
	for i := range 501 {
		fmt.Fprintf(&many, "- {id: r%d, type: regex, pattern: frobnicate, message: m, severity: low}\n", i)
	}
	var p printed
	err := rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{write(t, ".prwarden/rules.yml", many.String())}, Look: text()})
	require.ErrorIs(t, err, cli.ErrFound)
	assert.Contains(t, p.out.String(), "rules.yml:503: error: rules: has 501 rules; at most 500 are allowed\n")

	p = printed{}
	require.NoError(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{write(t, "rules.yml", many.String())}, Look: text()}))
	assert.Contains(t, p.out.String(), "rules.yml:503: warning: the file has 501 rules; as the rules file of a repository it may have 500\n")
}

func TestCheckUsage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   rules.CheckInput
		want string
	}{
		"no such file": {rules.CheckInput{Files: []string{"nowhere.yml"}, Look: text()}, "the rules file can't be read"},
		"no own file":  {rules.CheckInput{Look: text()}, "there is no .prwarden/rules.yml here; name the rules file"},
		"a folder":     {rules.CheckInput{Files: []string{t.TempDir()}, Look: text()}, "the rules file can't be read"},
		"output":       {rules.CheckInput{Look: rules.Look{Output: "xml", Color: "auto"}}, `--output: "xml" is not a format; use text or json`},
		"color":        {rules.CheckInput{Look: rules.Look{Output: "text", Color: "red"}}, `--color: "red" is not allowed; use auto, always or never`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p printed
			err := rules.Check(t.Context(), p.streams(), tt.in)
			var usage *cli.UsageError
			require.True(t, errors.As(err, &usage), "%v", err)
			assert.Contains(t, err.Error(), tt.want)
			assert.Empty(t, p.out.String())
		})
	}
}

// What a stranger wrote into a file can't drive the terminal.
func TestCheckIsSafeToPrint(t *testing.T) {
	t.Parallel()
	file := write(t, "rules.yml", "version: 1\nrules:\n- {id: \"a\\e[2J\", type: regex, pattern: \"(\u202e\", message: m, \"\\e]0;x\\a\": 1, severity: low}\n# \u202e\n")
	var p printed
	require.ErrorIs(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{file}, Look: text()}), cli.ErrFound)
	for line := range strings.Lines(p.out.String()) {
		assert.Equal(t, line, terminal.Safe(strings.TrimSuffix(line, "\n"))+"\n")
	}
	p = printed{}
	require.ErrorIs(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{file}, Look: rules.Look{Output: rules.OutputText, Color: terminal.ColorAlways}}), cli.ErrFound)
	assert.Contains(t, p.out.String(), "\x1b[1;31merror:\x1b[0m")
	assert.NotContains(t, p.out.String(), "\u202e")
}

// A rules file in its place in a repository may lead anywhere, and who checks it
// prints what is there.
func TestRulesFileIsNotBehindALink(t *testing.T) {
	t.Parallel()
	secret := write(t, "rules.yml", "key: hunter2\n")
	place := func(link func(root string)) string {
		root := t.TempDir()
		link(root)
		return filepath.Join(root, ".prwarden", "rules.yml")
	}
	folder := func(root string) { require.NoError(t, os.Mkdir(filepath.Join(root, ".prwarden"), 0o755)) }
	file := func(target string) string {
		return place(func(root string) {
			folder(root)
			require.NoError(t, os.Symlink(target, filepath.Join(root, ".prwarden", "rules.yml")))
		})
	}
	other := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.Symlink(write(t, "mine.yml", twoRules), other))
	for name, tt := range map[string]struct{ path, want string }{
		"link":          {file(secret), "is a symbolic link, which is not followed there"},
		"dangling link": {file("nowhere"), "is a symbolic link, which is not followed there"},
		"folder": {place(func(root string) {
			require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(root, ".prwarden")))
		}), ".prwarden is no folder, and a symbolic link is not followed there"},
		"device": {os.DevNull, "is no regular file"},
		"a directory": {place(func(root string) {
			folder(root)
			require.NoError(t, os.Mkdir(filepath.Join(root, ".prwarden", "rules.yml"), 0o755))
		}), "is no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p printed
			for command, err := range map[string]error{
				"check":   rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{tt.path}, Look: text()}),
				"test":    rules.Test(t.Context(), p.streams(), rules.TestInput{File: tt.path, Look: text()}),
				"explain": rules.Explain(t.Context(), p.streams(), rules.ExplainInput{ID: "security/no-eval", File: tt.path, Look: text()}),
			} {
				require.ErrorContains(t, err, tt.want, command)
				assert.Equal(t, cli.ExitUsage, cli.ExitCode(err), command)
				assert.NotContains(t, err.Error(), "hunter2", command)
			}
			assert.Empty(t, p.out.String())
		})
	}
	var p printed
	require.NoError(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{other}, Look: text()}), "a link that someone named")
}

// Neither a path nor what is in a file is a command to a CI service.
func TestNothingIsACommand(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	create := func(name, text string) string {
		path := filepath.Join(here, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	file := create("##[add-mask]r.yml", "version: 1\nrules:\n- {id: a, type: regex, pattern: '##[group](', message: m, severity: low}\n")
	good := create("##vso[task.complete].yml", twoRules)
	sample := create("##teamcity[x].py", "# prwarden: expect no-print\n##[error] log(1)\n")
	var p printed
	require.ErrorIs(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{file}, Look: text()}), cli.ErrFound)
	require.NoError(t, rules.Check(t.Context(), p.streams(), rules.CheckInput{Files: []string{good}, Look: text()}))
	require.ErrorIs(t, rules.Test(t.Context(), p.streams(), rules.TestInput{File: good, Samples: []string{sample}, Verbose: true, Look: text()}), cli.ErrFound)
	require.NoError(t, rules.Try(t.Context(), p.streams(), rules.TryInput{Pattern: "log", Paths: []string{sample}, Look: text()}))
	require.NoError(t, rules.List(t.Context(), p.streams(), rules.ListInput{File: file, Look: text()}))
	all := p.out.String() + p.errs.String()
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
