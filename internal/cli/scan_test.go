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
	"github.com/prwarden/prwarden/internal/rule"
)

const printRule = `version: 1
disable: [none/such]
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

func scanFolder(t *testing.T, in cli.ScanInput) result {
	t.Helper()
	var out, errOut strings.Builder
	in.All = true
	if in.Format == "" {
		in.Format = cli.FormatTable
	}
	err := cli.Scan(t.Context(), cli.Streams{Out: &out, Err: &errOut, Env: []string{"COLUMNS=80"}}, in)
	return result{err, out.String(), regexp.MustCompile(`in \d+\.\d\d s`).ReplaceAllString(errOut.String(), "in 0.00 s")}
}

func TestScan(t *testing.T) {
	t.Parallel()
	root := project(t)
	rules := filepath.Join(root, ".prwarden", "rules.yml")
	r := scanFolder(t, cli.ScanInput{Path: root})
	require.NoError(t, r.err)
	assert.Equal(t, `warning   main.py:1:1  custom/no-print
          Use the logger.
warning   main.py:2:1  custom/no-print
warning   web/app.min.js:2:1  custom/no-print
          Use the logger.
high      web/cart.js:1:1  security/no-eval
          Parse the value instead of running it, with JSON.parse for data or a
          map of functions for choices.
`, r.out)
	assert.Equal(t, `applying `+rules+`
`+rules+`:2: none/such is not a rule of the default ruleset, so it can't be disabled
4 findings in 4 files (17.2 kB) in 0.00 s: 1 high, 3 warning.
Not looked at: 1 binary file (5 B), 1 line over 16 KiB (17.0 kB); --verbose names each.
`, r.errOut)

	r = scanFolder(t, cli.ScanInput{Path: root, NoDefaults: true, Format: cli.FormatJSON, Verbose: true, Jobs: 3})
	require.NoError(t, r.err)
	assert.Equal(t, `{"rule_id":"custom/no-print","file":"main.py","line":1,"column":1,"message":"Use the logger.","severity":"warning"}
{"rule_id":"custom/no-print","file":"main.py","line":2,"column":1,"message":"Use the logger.","severity":"warning"}
{"rule_id":"custom/no-print","file":"web/app.min.js","line":2,"column":1,"message":"Use the logger.","severity":"warning"}
`, r.out)
	assert.Contains(t, r.errOut, `
logo.png: not looked at: a binary file
web/app.min.js:1: not looked at: the line is over 16 KiB
3 findings in 4 files (17.2 kB) in 0.00 s: 3 warning.
Not looked at: 1 binary file (5 B), 1 line over 16 KiB (17.0 kB).
`)
}

func TestScanWithARulesFile(t *testing.T) {
	t.Parallel()
	root := project(t)
	rules := filepath.Join(t.TempDir(), "mine.yml")
	require.NoError(t, os.WriteFile(rules, []byte("version: 1\nrules:\n- {id: a/made, type: regex, pattern: '\\(3\\)', message: m, severity: info}\n"), 0o644))
	r := scanFolder(t, cli.ScanInput{Path: root, RulesFile: rules, NoDefaults: true})
	require.NoError(t, r.err)
	assert.Equal(t, "info      out/made.py:1:6  a/made\n          m\n", r.out, "the folder's own excludes it")
	assert.NotContains(t, r.errOut, "applying")
	assert.Contains(t, r.errOut, "1 finding in 5 files (17.2 kB) in 0.00 s: 1 info.\n")

	r = scanFolder(t, cli.ScanInput{Path: filepath.Join(root, "main.py"), NoDefaults: true, RulesFile: rules})
	require.NoError(t, r.err)
	assert.Empty(t, r.out)
	assert.Equal(t, "No findings in 1 file (18 B) in 0.00 s.\n", r.errOut)
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
		r := scanFolder(t, cli.ScanInput{Path: root, RulesFile: rules})
		require.NoError(t, r.err)
		notice, _, _ := strings.Cut(r.errOut, "No findings in ")
		return notice
	}
	price := func(pattern string) string {
		c, err := rule.Rule{Pattern: pattern}.Cost()
		require.NoError(t, err)
		require.Greater(t, c.PerMiB, rule.Costly, pattern)
		return c.PerMiB.Round(time.Microsecond).String()
	}
	root := t.TempDir()
	rules := filepath.Join(t.TempDir(), "mine.yml")
	const weak, short, classes = `[a-z]+$`, `\bif\b`, `[0-9]{4}`
	assert.Empty(t, tell(root, write(rules)))
	assert.Equal(t, "1 costly rule of "+rules+" with little to be looked for by; it takes more than 50µs for a MiB:\n"+
		"  custom/r00: "+price(short)+"\n", tell(root, write(rules, short)))

	require.NotEqual(t, price(short), price(classes))
	got := tell(root, write(rules, short, weak, classes, short))
	assert.Contains(t, got, "4 costly rules of "+rules+" with little to be looked for by; each takes more than 50µs for a MiB:\n"+
		"  custom/r01: "+price(weak)+", weak: tried everywhere\n")
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
	r := scanFolder(t, cli.ScanInput{Path: root, Format: cli.FormatJSON})
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
		r := scanFolder(t, cli.ScanInput{Path: t.TempDir(), RulesFile: rules})
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
	for name, tt := range map[string]struct {
		in   cli.ScanInput
		want string
	}{
		"no --all":       {cli.ScanInput{Path: root, Format: "table"}, "--all is needed"},
		"format":         {cli.ScanInput{All: true, Path: root, Format: "xml"}, `"xml" is not a format; use table or json`},
		"jobs":           {cli.ScanInput{All: true, Path: root, Format: "json", Jobs: -1}, "--jobs must be from 1 to 1024"},
		"no folder":      {cli.ScanInput{All: true, Path: filepath.Join(root, "none"), Format: "json"}, "there is nothing to scan: "},
		"a device":       {cli.ScanInput{All: true, Path: os.DevNull, Format: "json"}, "is neither a file nor a folder"},
		"no rules":       {cli.ScanInput{All: true, Path: filepath.Join(root, "web"), Format: "json", NoDefaults: true}, "there are no rules to apply: give --rules"},
		"no rules file":  {cli.ScanInput{All: true, Path: root, Format: "json", RulesFile: "none.yml"}, "the rules file can't be read"},
		"broken rules":   {cli.ScanInput{All: true, Path: root, Format: "json", RulesFile: broken}, broken + " is not valid:\n  line 3: rules[0].id: must not have '\\x1b' there"},
		"all its errors": {cli.ScanInput{All: true, Path: root, Format: "json", RulesFile: broken}, "\n  line 4: exclude: must be a list"},
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

// full is an output that has no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestScanFails(t *testing.T) {
	t.Parallel()
	root := project(t)
	var errOut strings.Builder
	err := cli.Scan(t.Context(), cli.Streams{Out: full{}, Err: &errOut}, cli.ScanInput{All: true, Path: root, Format: "json"})
	require.ErrorContains(t, err, "no space left on device")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(err))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = cli.Scan(ctx, cli.Streams{Out: full{}, Err: &errOut}, cli.ScanInput{All: true, Path: root, Format: "json"})
	require.ErrorContains(t, err, "interrupted")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(err))
}
