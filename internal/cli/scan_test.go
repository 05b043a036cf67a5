package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

const printRule = `version: 1
disable: [none/such]
override: {none/other: {severity: low}}
exclude: ["out/**"]
rules:
  - {id: no-print, type: regex, pattern: 'print\(', message: Use the logger., severity: warning}
`

// project writes a small folder with a rules file of its own.
func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		".prwarden/rules.yml": printRule,
		"main.py":             "print(1)\nprint(2)\n",
		"web/cart.js":         "eval(answer)\n",
		"out/made.py":         "print(3)\n",
		"logo.png":            "\x89PNG\x00",
		"web/app.min.js":      strings.Repeat("a", 17000) + "\nprint()\n",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

// scanInput is a scan with the flags that the command has by itself.
func scanInput(change func(*cli.ScanInput)) cli.ScanInput {
	in := cli.ScanInput{
		Head: cli.HeadDefault, Ruleset: cli.RulesetRepository,
		Output: cli.Output{FailOn: cli.FailNever, Suppressed: cli.SuppressedInclude, Color: terminal.ColorAuto},
	}
	change(&in)
	return in
}

// all is a scan of every file at a path.
func all(path string, change ...func(*cli.ScanInput)) cli.ScanInput {
	return scanInput(func(in *cli.ScanInput) {
		in.All, in.Path = true, path
		for _, c := range change {
			c(in)
		}
	})
}

func lines(in *cli.ScanInput)      { in.Output.Formats = []string{cli.FormatLines} }
func noDefaults(in *cli.ScanInput) { in.NoDefaults = true }

func withRules(file string) func(*cli.ScanInput) {
	return func(in *cli.ScanInput) { in.RulesFile = file }
}

func scanLocally(t *testing.T, in cli.ScanInput, env ...string) result {
	t.Helper()
	var out, errOut strings.Builder
	err := cli.Scan(t.Context(), cli.Streams{Out: &out, Err: &errOut, Env: append([]string{"COLUMNS=80"}, env...)}, in)
	took := regexp.MustCompile(`in \d+\.\d\d s`)
	return result{
		err,
		took.ReplaceAllString(out.String(), "in 0.00 s"),
		took.ReplaceAllString(errOut.String(), "in 0.00 s"),
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	root := project(t)
	rules := filepath.Join(root, ".prwarden", "rules.yml")
	r := scanLocally(t, all(root, func(in *cli.ScanInput) { in.Output.FailOn = "critical" }))
	require.NoError(t, r.err)
	assert.Equal(t, `main.py
  1:1  warning   custom/no-print
       Use the logger.
       │ print(1)
  2:1  warning   custom/no-print
       │ print(2)

web/app.min.js
  2:1  warning   custom/no-print
       Use the logger.
       │ print()

web/cart.js
  1:1  high      security/no-eval
       Parse the value instead of running it, with JSON.parse for data or a map
       of functions for choices.
       │ eval(answer)

Not looked at:
  logo.png: a binary file
  web/app.min.js:1: the line is over 16 KiB

4 findings in 4 files (17.2 kB) in 0.00 s: 1 high, 3 warning; 2 not looked at.
Passed: no finding is critical.
`, r.out)
	assert.Equal(t, `applying `+rules+`
`+rules+`:2: none/such is not a rule of the default ruleset, so it can't be disabled
`+rules+`:3: none/other is not a rule of the default ruleset, so it can't be overridden
`, r.errOut)

	r = scanLocally(t, all(root, noDefaults, lines, func(in *cli.ScanInput) { in.Verbose, in.Jobs = true, 3 }))
	require.NoError(t, r.err)
	assert.Equal(
		t,
		`{"rule_id":"custom/no-print","file":"main.py","line":1,"column":1,"message":"Use the logger.","severity":"warning"}
{"rule_id":"custom/no-print","file":"main.py","line":2,"column":1,"message":"Use the logger.","severity":"warning"}
{"rule_id":"custom/no-print","file":"web/app.min.js","line":2,"column":1,"message":"Use the logger.","severity":"warning"}
`,
		r.out,
	)
	assert.Contains(t, r.errOut, `
logo.png: not looked at: a binary file
web/app.min.js:1: not looked at: the line is over 16 KiB
3 findings in 4 files (17.2 kB) in 0.00 s: 3 warning.
Not looked at: 1 binary file (5 B), 1 line over 16 KiB.
`)

	r = scanLocally(t, all(root, func(in *cli.ScanInput) { in.Ruleset = cli.RulesetDefault; in.Output.FailOn = "high" }))
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Equal(t, cli.ExitFound, cli.ExitCode(r.err))
	assert.Contains(t, r.out,
		"1 finding in 4 files (17.2 kB) in 0.00 s: 1 high; 2 not looked at.\nFailed: 1 finding is high or worse.\n")
}

// The exit status is the same in whatever form findings are written.
func TestScanReachesTheThreshold(t *testing.T) {
	t.Parallel()
	root := project(t)
	for _, format := range append(report.Formats(), cli.FormatLines) {
		for failOn, fails := range map[string]bool{"critical": false, "high": true, "info": true, "none": false} {
			r := scanLocally(t,
				all(root, func(in *cli.ScanInput) { in.Output.Formats, in.Output.FailOn = []string{format}, failOn }))
			assert.Equal(t, fails, cli.ExitCode(r.err) == cli.ExitFound, "%s %s: %v", format, failOn, r.err)
			assert.Equal(t, !fails, r.err == nil, "%s %s: %v", format, failOn, r.err)
			assert.NotEmpty(t, r.out)
		}
	}
}

func TestScanWithARulesFile(t *testing.T) {
	t.Parallel()
	root := project(t)
	rules := filepath.Join(t.TempDir(), "mine.yml")
	require.NoError(
		t,
		os.WriteFile(rules,
			[]byte("version: 1\nrules:\n- {id: a/made, type: regex, pattern: '\\(3\\)', message: m, severity: info}\n"), 0o644),
	)
	r := scanLocally(t, all(root, withRules(rules), noDefaults))
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "out/made.py\n  1:6  info      a/made\n       m\n", "the folder's own excludes it")
	assert.NotContains(t, r.errOut, "applying")
	assert.Contains(t, r.out, "1 finding in 5 files (17.2 kB) in 0.00 s: 1 info; 2 not looked at.\n")

	r = scanLocally(t, all(filepath.Join(root, "main.py"), noDefaults, withRules(rules)))
	require.NoError(t, r.err)
	assert.Equal(t, "No findings in 1 file (18 B) in 0.00 s.\n", r.out)
	assert.Empty(t, r.errOut)
}

// Whoever scans a part of a repository is told that the rules file of the whole
// does not apply, and nobody else is.
func TestScanOfAPart(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(project(t))
	require.NoError(t, err)
	rules := filepath.Join(root, ".prwarden", "rules.yml")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(filepath.Join(root, "web"), link))
	inner := filepath.Join(root, "lib", "inner")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, ".prwarden"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(inner, ".prwarden", "rules.yml"), []byte("version: 1\n"), 0o644))
	web := filepath.Join(root, "web")

	assert.Empty(t, scanLocally(t, all(web, noDefaults)).errOut, "of no repository")

	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	says := func(path string) string {
		return "not applying " + rules + ", the rules file of the whole repository, " +
			"whose globs do not fit paths from " + path + " on; --rules applies it anyway\n"
	}
	r := scanLocally(t, all(web))
	require.NoError(t, r.err)
	assert.Equal(t, says(web), r.errOut)
	assert.NotContains(t, r.out, "no-print")
	for _, part := range []string{web, filepath.Join(root, "main.py"), filepath.Join(root, "lib"), link} {
		r := scanLocally(t, all(part, noDefaults))
		require.ErrorContains(t, r.err, "there are no rules to apply")
		assert.Equal(t, says(part), r.errOut)
	}

	for name, in := range map[string]cli.ScanInput{
		"the root":                 all(root, noDefaults),
		"a folder with its own":    all(inner, noDefaults),
		"a file that is given":     all(web, noDefaults, withRules(rules)),
		"a repository without any": all(filepath.Join(nested(t, root), "src"), noDefaults),
	} {
		assert.NotContains(t, scanLocally(t, in).errOut, "not applying", name)
	}
}

// nested puts a repository without a rules file into a folder, as a submodule is.
func nested(t *testing.T, root string) string {
	t.Helper()
	dir := filepath.Join(root, "module")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "src"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: ../.git/modules/module\n"), 0o644))
	return dir
}

// Costly rules are named to whoever gave the file, and to nobody else.
func TestScanTellsCostlyRules(t *testing.T) {
	t.Parallel()
	write := func(path string, patterns ...string) string {
		text := "version: 1\nrules:\n- {id: cheap, type: regex, pattern: frobnicate, message: m, severity: info}\n"
		for i, p := range patterns {
			text += fmt.Sprintf("- {id: r%02d, type: regex, pattern: '%s', message: m, severity: info}\n", i, p)
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	tell := func(root, rules string) string {
		r := scanLocally(t, all(root, withRules(rules)))
		require.NoError(t, r.err)
		return r.errOut
	}
	price := func(pattern string) string {
		c, err := rule.Rule{Pattern: pattern}.Cost()
		require.NoError(t, err)
		require.Greater(t, c.PerMiB, rule.Costly, pattern)
		return c.PerMiB.Round(time.Microsecond).String()
	}
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("\n"), 0o644))
	rules := filepath.Join(t.TempDir(), "mine.yml")
	const weak, short, classes = `[a-z]+$`, `\bif\b`, `[0-9]{4}`
	assert.Empty(t, tell(root, write(rules)))
	assert.Equal(t, "1 costly rule of "+rules+" with little to be looked for by; it takes more than 50µs for a MiB:\n"+
		"  custom/r00: "+price(short)+"\n", tell(root, write(rules, short)))

	require.NotEqual(t, price(short), price(classes))
	got := tell(root, write(rules, short, weak, classes, short))
	assert.Contains(
		t,
		got,
		"4 costly rules of "+rules+" with little to be looked for by; each takes more than 50µs for a MiB:\n"+
			"  custom/r01: "+price(weak)+", weak: tried everywhere\n",
	)
	for id, pattern := range map[string]string{"r00": short, "r02": classes, "r03": short} {
		assert.Contains(t, got, "\n  custom/"+id+": "+price(pattern)+"\n")
	}
	var took []time.Duration
	for _, m := range regexp.MustCompile(`(?m)^  custom/r\d+: ([^,\n]+)`).FindAllStringSubmatch(got, -1) {
		d, err := time.ParseDuration(m[1])
		require.NoError(t, err)
		took = append(took, -d)
	}
	assert.Len(t, took, 4)
	assert.True(t, slices.IsSorted(took), "the dearest first: %s", got)

	assert.NotContains(t, tell(root, write(rules, slices.Repeat([]string{short}, 10)...)), "more\n")
	got = tell(root, write(rules, append(slices.Repeat([]string{short}, 11), weak)...))
	assert.Contains(t, got, ":\n  custom/r11: "+price(weak))
	assert.True(t, strings.HasSuffix(got, "\n  custom/r08: "+price(short)+"\n  and 2 more\n"), got)

	own := write(filepath.Join(root, ".prwarden", "rules.yml"), weak)
	r := scanLocally(t, all(root, lines))
	require.NoError(t, r.err)
	assert.Contains(t, r.errOut, "applying "+own)
	assert.NotContains(t, r.errOut, "costly")
}

// Whoever repairs fifty mistakes is told that they were not all.
func TestScanTellsOfMoreMistakes(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "mine.yml")
	scan := func(mistakes int) string {
		text := "version: 1\nrules:\n" + strings.Repeat("- {id: a}\n", mistakes)
		require.NoError(t, os.WriteFile(rules, []byte(text), 0o644))
		r := scanLocally(t, all(t.TempDir(), withRules(rules)))
		require.Error(t, r.err)
		return r.err.Error()
	}
	const more = "\n  and perhaps more; the first 50 that were found are shown"
	assert.NotContains(t, scan(1), "perhaps more")
	assert.True(t, strings.HasSuffix(scan(60), more))
}

func TestScanUsage(t *testing.T) {
	t.Parallel()
	root := project(t)
	broken := filepath.Join(t.TempDir(), "broken.yml")
	require.NoError(t, os.WriteFile(broken, []byte("version: 1\nrules:\n- {id: \"a\\x1b[2J\"}\nexclude: 5\n"), 0o644))
	set := func(change func(*cli.ScanInput)) func(*cli.ScanInput) { return change }
	formats := func(list ...string) func(*cli.ScanInput) {
		return func(in *cli.ScanInput) { in.Output.Formats = list }
	}
	for name, tt := range map[string]struct {
		in   cli.ScanInput
		want string
	}{
		"two kinds": {
			all(root, set(func(in *cli.ScanInput) { in.Base = "main" })), "--all, --staged and --base exclude each other",
		},
		"two other kinds": {scanInput(func(in *cli.ScanInput) { in.Staged, in.Base = true, "main" }), "exclude each other"},
		"head alone":      {scanInput(func(in *cli.ScanInput) { in.Head = "main" }), "--head needs --base"},
		"format": {
			all(root, formats("xml")), `--output: "xml" is not a format; use table, json, sarif, github, gitlab, junit`,
		},
		"lines of changes": {
			scanInput(func(in *cli.ScanInput) { in.Path, in.Output.Formats = root, []string{"jsonl"} }),
			"--output jsonl needs --all",
		},
		"lines and more":  {all(root, formats("jsonl", "table")), "--output jsonl stands alone"},
		"lines to a file": {all(root, formats("jsonl=x")), "--output jsonl stands alone"},
		"no such file":    {all(root, formats("json=none/x")), "--output: json=none/x: there is no folder none"},
		"threshold": {
			all(root, set(func(in *cli.ScanInput) { in.Output.FailOn = "bad" })),
			`--fail-on: "bad" is no severity; use critical,`,
		},
		"ruleset": {
			all(root, set(func(in *cli.ScanInput) { in.Ruleset = "custom" })),
			`--ruleset: "custom" is neither default nor repository; rules of an organization are on a server`,
		},
		"no ruleset": {
			all(root, noDefaults, set(func(in *cli.ScanInput) { in.Ruleset = cli.RulesetDefault })), "leave no rule",
		},
		"jobs":          {all(root, set(func(in *cli.ScanInput) { in.Jobs = -1 })), "--jobs must be from 1 to 1024"},
		"no folder":     {all(filepath.Join(root, "none")), "there is nothing to scan: "},
		"a device":      {all(os.DevNull), "is neither a file nor a folder"},
		"no rules":      {all(filepath.Join(root, "web"), noDefaults), "there are no rules to apply: give --rules"},
		"no rules file": {all(root, withRules("none.yml")), "the rules file can't be read"},
		"broken rules": {
			all(root, withRules(broken)), broken + " is not valid:\n  line 3: rules[0].id: must not have '\\x1b' there",
		},
		"all its errors": {all(root, withRules(broken)), "\n  line 4: exclude: must be a list"},
		"no repository": {
			scanInput(func(in *cli.ScanInput) { in.Path = root }),
			"is in no git repository, so there are no changes to scan; --all scans every file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errOut strings.Builder
			err := cli.Scan(t.Context(), cli.Streams{Out: &out, Err: &errOut}, tt.in)
			require.ErrorContains(t, err, tt.want)
			assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
			assert.Empty(t, out.String())
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
}

// A scan does not find what an earlier one, or itself, wrote.
func TestScanLeavesOutItsReports(t *testing.T) {
	t.Parallel()
	root := project(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "web", "reports"), 0o755))
	for range 3 {
		r := scanLocally(t, all(root, func(in *cli.ScanInput) {
			in.Output.Formats = []string{
				"table", "json=" + filepath.Join(root, "r.json"), "sarif=" + filepath.Join(link, "web/reports/r.sarif"),
				"gitlab=" + filepath.Join(t.TempDir(), "main.py"),
			}
		}))
		require.NoError(t, r.err)
		assert.Contains(t, r.out, "4 findings in 4 files (17.2 kB)")
	}
	r := scanLocally(t, all(root))
	require.NoError(t, r.err)
	assert.Contains(t, r.out, "r.json", "what no report of this scan is written to is looked at")
}

// A report of before does not stay where there is none now.
func TestScanWithdrawsReports(t *testing.T) {
	t.Parallel()
	root := project(t)
	file := filepath.Join(t.TempDir(), "r.sarif")
	output := func(in *cli.ScanInput) { in.Output.Formats = []string{"sarif=" + file} }
	for name, in := range map[string]cli.ScanInput{
		"no folder":     all(filepath.Join(root, "none"), output),
		"no rules file": all(root, output, withRules("none.yml")),
		"no repository": scanInput(func(in *cli.ScanInput) { in.Path = root; output(in) }),
	} {
		require.NoError(t, scanLocally(t, all(root, output)).err, name)
		assert.FileExists(t, file)
		r := scanLocally(t, in)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), name)
		assert.NoFileExists(t, file, name)
	}
}

// full is an output that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestScanFails(t *testing.T) {
	t.Parallel()
	root := project(t)
	var errOut strings.Builder
	err := cli.Scan(t.Context(), cli.Streams{Out: full{}, Err: &errOut}, all(root, lines))
	require.ErrorContains(t, err, "no space left on device")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(err))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = cli.Scan(ctx, cli.Streams{Out: full{}, Err: &errOut}, all(root, lines))
	require.ErrorContains(t, err, "interrupted")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(err))
}
