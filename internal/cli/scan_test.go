package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/report"
)

const printRule = `version: 1
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
		"web/app.min.js":      strings.Repeat("a", 1700) + "\nprint()\n",
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
	assert.Equal(t, `main.py:1:1  warning   custom/no-print
    Use the logger.
    │ print(1)
main.py:2:1  warning   custom/no-print
    │ print(2)

web/app.min.js:2:1  warning   custom/no-print
    Use the logger.
    │ print()

web/cart.js:1:1  high      security/no-eval
    Parse the value instead of running it, with JSON.parse for data or a map of
    functions for choices.
    │ eval(answer)

Not looked at, which is tolerated:
  logo.png: a binary file

Excluded: 1 file by .prwarden/rules.yml.
4 findings in 4 files in 0.00 s: 1 high, 3 warning; 1 not looked at.
Passed: no finding is critical.
`, r.out)
	assert.Equal(t, "applying "+rules+"\n", r.errOut)

	r = scanLocally(t, all(root, noDefaults, lines, func(in *cli.ScanInput) { in.Jobs = 3 }))
	require.NoError(t, r.err)
	const end = `,"column":1,"message":"Use the logger.","severity":"warning"}` + "\n"
	assert.Equal(t, `{"rule_id":"custom/no-print","file":"main.py","line":1`+end+
		`{"rule_id":"custom/no-print","file":"main.py","line":2`+end+
		`{"rule_id":"custom/no-print","file":"web/app.min.js","line":2`+end, r.out)
	assert.Contains(t, r.errOut, "\n3 findings in 4 files in 0.00 s: 3 warning; 1 not looked at.\n")

	r = scanLocally(t, all(root, func(in *cli.ScanInput) { in.Ruleset = cli.RulesetDefault; in.Output.FailOn = "high" }))
	require.ErrorIs(t, r.err, cli.ErrFound)
	assert.Equal(t, cli.ExitFound, cli.ExitCode(r.err))
	assert.Contains(t, r.out,
		"1 finding in 4 files in 0.00 s: 1 high; 1 not looked at.\nFailed: 1 finding is high or worse.\n")
}

// The exit status is the same in whatever form findings are written.
func TestScanReachesTheThreshold(t *testing.T) {
	t.Parallel()
	root := project(t)

	for _, format := range append(report.Formats(), cli.FormatLines) {
		for failOn, fails := range map[string]bool{"high": false, "warning": true, "none": false} {
			r := scanLocally(t, all(root, noDefaults, func(in *cli.ScanInput) {
				in.Output.Formats, in.Output.FailOn = []string{format}, failOn
			}))
			assert.Equal(t, fails, cli.ExitCode(r.err) == cli.ExitFound, "%s %s: %v", format, failOn, r.err)
			assert.Equal(t, !fails, r.err == nil, "%s %s: %v", format, failOn, r.err)
			assert.NotEmpty(t, r.out)
		}
	}
}

// What was not looked at does not pass, unless that is allowed or nothing can fail.
func TestScanIncomplete(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	large := filepath.Join(root, "data.json")
	require.NoError(t, os.WriteFile(large, []byte("{"), 0o644))
	require.NoError(t, os.Truncate(large, 64<<20))

	for _, format := range append(report.Formats(), cli.FormatLines) {
		for name, change := range map[string]func(*cli.Output){
			"incomplete": func(o *cli.Output) { o.FailOn = "critical" },
			"allowed":    func(o *cli.Output) { o.FailOn, o.AllowIncomplete = "critical", true },
			"never":      func(o *cli.Output) { o.FailOn = "none" },
		} {
			r := scanLocally(t, all(root, func(in *cli.ScanInput) {
				in.Output.Formats = []string{format}
				change(&in.Output)
			}))
			assert.Equal(t, name == "incomplete", cli.ExitCode(r.err) == cli.ExitFound, "%s %s: %v", format, name, r.err)
			assert.Contains(t, r.out, "data.json", "%s %s", format, name)
		}
	}

	r := scanLocally(t, all(root, lines, func(in *cli.ScanInput) { in.Output.FailOn = "critical" }))
	assert.JSONEq(t, `{"not_looked_at":{"file":"data.json","reason":"file_too_large","tolerated":false}}`, r.out)
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
	assert.Contains(t, r.out, "out/made.py:1:6  info      a/made\n    m\n", "the folder's own excludes it")
	assert.NotContains(t, r.errOut, "applying")
	assert.Contains(t, r.out, "1 finding in 5 files in 0.00 s: 1 info; 1 not looked at.\n")

	r = scanLocally(t, all(filepath.Join(root, "main.py"), noDefaults, withRules(rules)))
	require.NoError(t, r.err)
	assert.Equal(t, "No findings in 1 file in 0.00 s: 2 lines in 1 file.\n", r.out)
	assert.Empty(t, r.errOut)
}

func TestScanUsage(t *testing.T) {
	t.Parallel()
	root := project(t)
	broken := filepath.Join(t.TempDir(), "broken.yml")
	require.NoError(t, os.WriteFile(broken, []byte("version: 1\nrules:\n- {id: \"a\\x1b[2J\"}\nexclude: 5\n"), 0o644))
	formats := func(list ...string) func(*cli.ScanInput) {
		return func(in *cli.ScanInput) { in.Output.Formats = list }
	}

	for name, tt := range map[string]struct {
		in   cli.ScanInput
		want string
	}{
		"two kinds": {
			all(root, func(in *cli.ScanInput) { in.Base = "main" }), "--all, --staged and --base exclude each other",
		},
		"head alone": {scanInput(func(in *cli.ScanInput) { in.Head = "main" }), "--head needs --base"},
		"format": {
			all(root, formats("xml")), `--output: "xml" is not a format; use table, json, sarif, github, gitlab, junit`,
		},
		"lines and more": {all(root, formats("jsonl", "table")), `"jsonl" is not a format`},
		"lines of changes": {
			scanInput(func(in *cli.ScanInput) { in.Path, in.Output.Formats = root, []string{"jsonl=-"} }),
			"--output jsonl needs --all",
		},
		"ruleset": {
			all(root, func(in *cli.ScanInput) { in.Ruleset = "custom" }),
			`--ruleset: "custom" is neither default nor repository; rules of an organization are on a server`,
		},
		"no ruleset": {
			all(root, noDefaults, func(in *cli.ScanInput) { in.Ruleset = cli.RulesetDefault }), "leave no rule",
		},
		"jobs":          {all(root, func(in *cli.ScanInput) { in.Jobs = -1 }), "--jobs must be from 1 to 1024"},
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
		assert.Contains(t, r.out, "4 findings in 4 files")
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
}
