package rules_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
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

// run runs a command on a page of 100 columns.
func run(t *testing.T, command func(cli.Streams) error) printed {
	t.Helper()
	var out, errs strings.Builder
	err := command(cli.Streams{Out: &out, Err: &errs, Env: []string{"COLUMNS=100"}})
	return printed{out.String(), errs.String(), err}
}

func check(t *testing.T, files ...string) printed {
	t.Helper()
	in := rules.CheckInput{Files: files, Output: rules.OutputText}
	return run(t, func(st cli.Streams) error { return rules.Check(t.Context(), st, in) })
}

func test(t *testing.T, file string, samples ...string) printed {
	t.Helper()
	in := rules.TestInput{File: file, Samples: samples}
	return run(t, func(st cli.Streams) error { return rules.Test(t.Context(), st, in) })
}

func try(t *testing.T, in rules.TryInput) printed {
	t.Helper()
	return run(t, func(st cli.Streams) error { return rules.Try(t.Context(), st, in) })
}

func list(t *testing.T, in rules.ListInput) printed {
	t.Helper()
	return run(t, func(st cli.Streams) error { return rules.List(t.Context(), st, in) })
}

func explain(t *testing.T, id, file, output string) printed {
	t.Helper()
	in := rules.ExplainInput{ID: id, File: file, Output: output}
	return run(t, func(st cli.Streams) error { return rules.Explain(t.Context(), st, in) })
}

// tree writes files into a folder of their own.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}

	return root
}

// write writes one file and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	return filepath.Join(tree(t, map[string]string{name: content}), filepath.FromSlash(name))
}

// What is said about broken files. If you change a message, look at it here with
// the eyes of someone who has nothing else to repair the file by.
func TestCheckMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../rule/testdata/broken/*.yml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 25)

	var all strings.Builder
	for _, file := range files {
		r := check(t, file)
		name := filepath.Base(file)
		assert.Equal(t, name != "32-not-meant.yml", errors.Is(r.err, cli.ErrFound), name)
		assert.Empty(t, r.errs)
		fmt.Fprintf(&all, "%s\n", strings.ReplaceAll(r.out, file, name))
	}

	golden(t, "messages", all.String())
}

func TestCheckOfGoodFiles(t *testing.T) {
	t.Parallel()
	good := write(t, "rules.yml", `version: 1
rules:
- {id: a, type: regex, pattern: frobnicate, message: m, severity: low, cases: {match: [frobnicate()], no_match: [x]}}
`)
	r := check(t, good)
	require.NoError(t, r.err)
	assert.Equal(t, good+": fine, 1 rule and 2 cases.\n", r.out)

	r = run(t, func(st cli.Streams) error {
		in := rules.CheckInput{Files: []string{good, good}, Output: rules.OutputJSON}
		return rules.Check(t.Context(), st, in)
	})

	require.NoError(t, r.err)
	file := fmt.Sprintf(`{"file": %q, "valid": true, "rules": 1, "cases": 2, "problems": []}`, good)
	assert.JSONEq(t, fmt.Sprintf(`{"files": [%[1]s, %[1]s]}`, file), r.out)

	r = run(t, func(st cli.Streams) error {
		warned := []string{"../../rule/testdata/broken/32-not-meant.yml"}
		return rules.Check(t.Context(), st, rules.CheckInput{Files: warned, Strict: true, Output: rules.OutputText})
	})

	require.ErrorIs(t, r.err, cli.ErrFound)
}

// The limits are those of a repository where the file is a repository's.
func TestCheckKnowsWhoseFileItIs(t *testing.T) {
	t.Parallel()
	many := "version: 1\nrules:\n"
	for i := range 501 {
		many += fmt.Sprintf("- {id: r%d, type: regex, pattern: frobnicate, message: m, severity: low}\n", i)
	}

	r := check(t, write(t, ".prwarden/rules.yml", many))
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Contains(t, r.out, "rules.yml:503:3: error: rules: has 501 entries; at most 500 are allowed\n")
	require.NoError(t, check(t, write(t, "rules.yml", many)).err)
}

func TestUsage(t *testing.T) {
	t.Parallel()
	good := write(t, "rules.yml", twoRules)
	folder := t.TempDir()
	for name, tt := range map[string]struct {
		r    printed
		want string
	}{
		"check nothing":   {check(t, "nowhere.yml"), "the rules file can't be read"},
		"check own":       {check(t), "there is no .prwarden/rules.yml here; name the rules file"},
		"check a folder":  {check(t, folder), "the rules file can't be read"},
		"test nothing":    {test(t, "nowhere.yml"), "the rules file can't be read"},
		"test no sample":  {test(t, good, "nowhere"), "the sample can't be read"},
		"list nothing":    {list(t, rules.ListInput{File: "nowhere.yml", Output: "text"}), "can't be read"},
		"list severity":   {list(t, rules.ListInput{Severity: "bad", Output: "text"}), `"bad" is not a severity`},
		"list category":   {list(t, rules.ListInput{Category: "styl", Output: "text"}), `no rule is in "styl"; use one`},
		"list output":     {list(t, rules.ListInput{Output: "xml"}), `"xml" is not a format; use text or json`},
		"explain near":    {explain(t, "security/no-evl", "", "text"), "did you mean security/no-eval?"},
		"explain name":    {explain(t, "no-eval", "", "text"), "did you mean security/no-eval?"},
		"explain nothing": {explain(t, "zzzzzzzz/qqqqqq", "", "text"), "`prwarden rules list` shows the rules"},
		"try lookahead": {
			try(t, rules.TryInput{Pattern: "ab(?=c)", Paths: []string{folder}}), "pattern at byte 3: lookahead (?=…) is not",
		},
		"try globs": {
			try(t, rules.TryInput{Pattern: "a", Paths: []string{folder}, Include: []string{"/x"}, Exclude: []string{"a["}}),
			"paths.include[0] matches nothing: paths start at the root of the repository, without \"/\"\npaths.exclude[0] is",
		},
		"try nothing": {try(t, rules.TryInput{Pattern: "a", Paths: []string{"nowhere"}}), "there is nothing to look at"},
	} {
		require.ErrorContains(t, tt.r.err, tt.want, name)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(tt.r.err), name)
		assert.Empty(t, tt.r.out, name)
	}
}

// What a stranger wrote into a file can't drive the terminal, and neither a path
// nor what is in a file is a command to a CI service.
func TestIsSafeToPrint(t *testing.T) {
	t.Parallel()
	broken := write(t, "##[add-mask]r.yml", "version: 1\nrules:\n"+
		"- {id: \"a\\e[2J\", type: regex, pattern: '##[group](', message: m, severity: low}\n"+
		"- {id: b, \"\\e]0;x\\a\": 1}\n# \u202e\n")
	good := write(t, "##vso[task.complete].yml", twoRules)
	sample := write(t, "##teamcity[x].py", "# prwarden: expect no-print\n##[error] log(1)\n")

	all := ""
	for _, r := range []printed{
		check(t, broken), check(t, good), test(t, good, sample), list(t, rules.ListInput{File: good, Output: "text"}),
		try(t, rules.TryInput{Pattern: "log", Paths: []string{sample}}),
	} {
		all += r.out + r.errs
	}

	for _, part := range []string{
		`##\x5badd-mask]r.yml:3:`, `##vso\x5btask.complete].yml: fine`, `##teamcity\x5bx].py:2:11: ##\x5berror] log(1)`,
	} {
		assert.Contains(t, all, part)
	}

	for line := range strings.Lines(all) {
		require.Equal(t, line, terminal.Safe(strings.TrimSuffix(line, "\n"))+"\n")
		require.NotRegexp(t, `##\w*\[`, line)
	}
}

// A rules file in its place in a repository may be a link that leads anywhere.
func TestRulesFileIsNotBehindALink(t *testing.T) {
	t.Parallel()
	secret := write(t, "rules.yml", "key: hunter2\n")
	linked := filepath.Join(t.TempDir(), ".prwarden", "rules.yml")
	require.NoError(t, os.Mkdir(filepath.Dir(linked), 0o755))
	require.NoError(t, os.Symlink(secret, linked))
	folder := filepath.Join(t.TempDir(), ".prwarden")
	require.NoError(t, os.Symlink(filepath.Dir(secret), folder))

	for _, path := range []string{linked, filepath.Join(folder, "rules.yml")} {
		for _, r := range []printed{check(t, path), test(t, path), explain(t, "security/no-eval", path, "text")} {
			require.ErrorContains(t, r.err, "is no regular file, or behind a symbolic link")
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err))
			assert.NotContains(t, r.err.Error(), "hunter2")
			assert.Empty(t, r.out)
		}
	}
}

// The rules files in the user guide are valid, and what it shows of the commands
// is what they print.
func TestUserGuide(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../docs/rules.md")
	require.NoError(t, err)
	dir := t.TempDir()
	place := func(name, content string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}

	blocks := strings.Split(string(data), "```") // every second one is between the marks
	valid, shown := 0, 0
	var file, sample string
	for i := 1; i < len(blocks); i += 2 {
		kind, content, _ := strings.Cut(blocks[i], "\n")
		switch {
		case kind == "yaml" && strings.Contains(content, "version: 1\n"):
			_, err := rule.ParseFile(t.Context(), []byte(content))
			require.NoError(t, err, content)
			file = place("rules.yml", content)
			valid++
		case kind == "go":
			sample = place("samples/print.go", content)
		case strings.HasPrefix(content, "version: 1\n"): // a broken one, and what is said about it
			r := check(t, place(".prwarden/rules.yml", content))
			require.ErrorIs(t, r.err, cli.ErrFound)
			_, want, _ := strings.Cut(blocks[i+2], "\n")
			assert.Equal(t, want, strings.ReplaceAll(r.out, dir+string(filepath.Separator), ""))
			shown++
		case strings.HasPrefix(content, "samples/print.go:"):
			r := test(t, file, sample)
			require.ErrorIs(t, r.err, cli.ErrFound)
			assert.Equal(t, content, strings.ReplaceAll(r.out, dir+string(filepath.Separator), ""))
			shown++
		}
	}
	assert.Equal(t, 2, shown)
	assert.Positive(t, valid)
}
