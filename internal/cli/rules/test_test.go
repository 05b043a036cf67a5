package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/rules"
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

// tests runs `rules test` on a rules file and samples, and returns what it
// printed without paths and times.
func tests(t *testing.T, in rules.TestInput, file string, samples map[string]string) (out string, err error) {
	t.Helper()
	dir := t.TempDir()
	in.File = filepath.Join(dir, "rules.yml")
	require.NoError(t, os.WriteFile(in.File, []byte(file), 0o644))
	for name, content := range samples {
		path := filepath.Join(dir, "samples", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	if len(samples) > 0 && in.Samples == nil {
		in.Samples = []string{filepath.Join(dir, "samples")}
	}
	r := test(t, in)
	assert.Empty(t, r.errs)

	out = strings.ReplaceAll(r.out, dir+string(filepath.Separator), "")
	column := regexp.MustCompile(`(?m)^(WHAT|rules\.yml|samples)  +`) // it was as wide as the path
	out = column.ReplaceAllString(out, "$1  ")
	return regexp.MustCompile(`in \d+\.\d\d s`).ReplaceAllString(out, "in 0.00 s"), r.err
}

func TestSamples(t *testing.T) {
	t.Parallel()
	out, err := tests(t, rules.TestInput{}, twoRules, map[string]string{
		"good.py":   "# prwarden: expect no-print\nprint(1)\n# prwarden: ok custom/no-print\nblueprint(1)\n",
		"plain.py":  "print(1)\nBEGIN END\n",
		"page.html": "<!-- prwarden: expect no-print-->\r\n<b>print(1)</b>\r\n",
		"stacked.c": "/* prwarden: expect no-print, style/block */\n// prwarden: ok security/no-eval\nprint(BEGIN\n) END\n",
		"logo.png":  "# prwarden: expect no-print\n\x00",
		".git/a.py": "# prwarden: expect nothing\n",
	})
	require.NoError(t, err)
	golden(t, "test-pass", out)

	wrong := strings.Replace(twoRules, "'blueprint(x)'", "'print(x) // fine'", 1)
	out, err = tests(t, rules.TestInput{}, wrong, map[string]string{
		"a.py": `# prwarden: expect no-print
log(1)
# prwarden: ok no-print
print(1)

print(2) # nobody expects
# prwarden: expct no-print
# prwarden: expect no-prnt
x = 1
# prwarden: expect
# prwarden: expect no-print,
x = 2 # prwarden: the scanner
# prwarden:ignore no-print -- not an annotation
	print(3)
# prwarden: ok no-print
`,
	})
	require.ErrorIs(t, err, cli.ErrFound)
	golden(t, "test-fail", out)
	safeToPrint(t, out)

	good := map[string]string{"good.py": "# prwarden: expect no-print\nprint(1)\n"}
	out, err = tests(t, rules.TestInput{Verbose: true}, twoRules, good)
	require.NoError(t, err)
	assert.Contains(t, out, `PASS  custom/no-print  2 cases
PASS  style/block  0 cases
PASS  samples/good.py  1 annotation of 1 rule
`)
}

// An annotation beside code is no sample of it, and says so.
func TestAnnotationsBesideCode(t *testing.T) {
	t.Parallel()
	const beside = "no-print matches here, beside an annotation, which is about the next line"
	for sample, want := range map[string]string{
		"print(1) # prwarden: expect no-print\nprint(2)\n":             "a.py:1: custom/" + beside,
		"print(1) # prwarden: ok no-print\nblueprint(2)\n":             "a.py:1: custom/" + beside,
		"x = 1 # prwarden: ok no-print as in print(1)\nblueprint(2)\n": "",
		"# prwarden: ok no-print because print(1)\nblueprint(2)\n":     "",
		"/*BEGIN prwarden: ok style/block\nEND*/\n": "a.py:1: style/block matches here, beside an " +
			"annotation",
	} {
		out, err := tests(t, rules.TestInput{}, twoRules, map[string]string{"a.py": sample})
		if want == "" {
			require.NoError(t, err, "%s%s", sample, out)
			continue
		}
		require.ErrorIs(t, err, cli.ErrFound, sample)
		assert.Contains(t, out, want, sample)
	}
}

func TestTestAsJSON(t *testing.T) {
	t.Parallel()
	samples := map[string]string{"a.py": "# prwarden: expect no-print\nlog(1)\n"}
	out, err := tests(t, rules.TestInput{Look: asJSON()}, twoRules, samples)
	require.ErrorIs(t, err, cli.ErrFound)
	assert.JSONEq(t, `{"passed": false, "failed": 1, "untested": ["style/block"], "tested": [
		{"kind": "rule", "name": "custom/no-print", "file": "rules.yml", "checks": 2, "failures": []},
		{"kind": "rule", "name": "style/block", "file": "rules.yml", "checks": 0, "failures": []},
		{"kind": "sample", "name": "samples/a.py", "file": "samples/a.py", "checks": 1, "rules": 1,
		 "failures": [{"line": 2, "message": "custom/no-print must match here, and does not"}]}]}`, out)
}

// Without a file the default rules are tested, and they pass.
func TestTestOfDefaultRules(t *testing.T) {
	t.Parallel()
	r := test(t, rules.TestInput{Look: asJSON()})
	require.NoError(t, r.err)
	var got struct {
		Passed bool
		Tested []struct{ Checks int }
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &got))
	assert.True(t, got.Passed)
	assert.Greater(t, len(got.Tested), 300)
}

func TestTestOfABrokenFile(t *testing.T) {
	t.Parallel()
	out, err := tests(t, rules.TestInput{}, strings.Replace(twoRules, "message: No", "mesage: No", 1), nil)
	require.ErrorIs(t, err, cli.ErrFound)
	assert.Contains(t, out, "rules.yml:13:5: error: rule: unknown key \"mesage\"\n")
	assert.Contains(t, out, "hint: did you mean `message`?\n")
	out, err = tests(t, rules.TestInput{Look: asJSON()}, "version: 2\n", nil)
	require.ErrorIs(t, err, cli.ErrFound)
	assert.Contains(t, out, `"valid": false`)
}

func TestTestUsage(t *testing.T) {
	t.Parallel()
	good := write(t, "rules.yml", twoRules)
	for name, tt := range map[string]struct {
		in   rules.TestInput
		want string
	}{
		"no rules":  {rules.TestInput{File: "nowhere.yml"}, "the rules file can't be read"},
		"no sample": {rules.TestInput{File: good, Samples: []string{"nowhere"}}, "the sample can't be read"},
		"binary":    {rules.TestInput{File: good, Samples: []string{write(t, "x.png", "\x00")}}, "is binary or over 1 MiB"},
		"output":    {rules.TestInput{Look: rules.Look{Output: "tap"}}, "is not a format"},
	} {
		r := test(t, tt.in)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(r.err), name)
		assert.ErrorContains(t, r.err, tt.want, name)
	}
}

// Whatever is named is meant to have annotations. It may be a link.
func TestWhatIsNamedHasAnnotations(t *testing.T) {
	t.Parallel()
	good := write(t, "rules.yml", twoRules)
	file := write(t, "x.py", "print(1)\n")
	folder := filepath.Dir(file)
	link := filepath.Join(t.TempDir(), "link")
	annotated := filepath.Dir(write(t, "a.py", "# prwarden: expect no-print\nlog(1)\n"))
	require.NoError(t, os.Symlink(annotated, link))

	const none = "      no file in the folder has an annotation\n"
	for name, tt := range map[string]struct {
		samples []string
		want    string
	}{
		"a file": {[]string{file}, "the sample has no annotation"},
		"a folder": {
			[]string{folder}, "FAIL  " + folder + "  0 annotations of 0 rules\n" + none + "          = hint: write",
		},
		"one of two": {[]string{link, folder}, none},
		"a link":     {[]string{link}, "      " + filepath.Join(link, "a.py") + ":2: custom/no-print must match here"},
	} {
		r := test(t, rules.TestInput{File: good, Samples: tt.samples})
		require.ErrorIs(t, r.err, cli.ErrFound, name)
		assert.Contains(t, r.out, tt.want, name)
	}
}
