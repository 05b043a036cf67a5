package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

const fixRules = `version: 1
rules:
  - {id: load, type: regex, pattern: 'yaml\.load\((\w+)\)', message: Load it safely., severity: high, fix: yaml.safe_load($1)}
  - {id: debug, type: regex, pattern: '^\s*debugger;$', message: Remove it., severity: warning, fix: ''}
  - id: get
    type: structure
    languages: [python]
    pattern: requests.get($$$A)
    where: {A: {not: {has: timeout=$_}}}
    message: Give a timeout.
    severity: medium
    fix: requests.get($$$A, timeout=10)
`

// fixable is a folder of files with the times of yesterday.
func fixable(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files[".prwarden/rules.yml"] = fixRules
	yesterday := time.Now().Add(-24 * time.Hour)
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o640))
		require.NoError(t, os.Chtimes(path, yesterday, yesterday))
	}

	return root
}

func fixing(in *cli.ScanInput) { in.Fix = true }

func TestScanFix(t *testing.T) {
	t.Parallel()
	root := fixable(t, map[string]string{
		"a/b.py": "x = yaml.load(f) + yaml.load(requests)\r\ny = requests.get(\r\n  yaml.load(g))\r\nprint()",
		"c.js":   "a();\n  debugger;\nb();\n",
		"d.js":   "eval(x) // debugger;\n",
	})
	before, err := os.Stat(filepath.Join(root, "d.js"))
	require.NoError(t, err)

	r := scanLocally(t, all(root, noDefaults, fixing))
	require.NoError(t, r.err)
	assert.Contains(t, r.errOut, "made 5 fixes in 2 files\n")
	assert.Contains(t, r.out, "No findings")

	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return string(text)
	}
	assert.Equal(t, "x = yaml.safe_load(f) + yaml.safe_load(requests)\r\n"+
		"y = requests.get(yaml.safe_load(g), timeout=10)\r\nprint()", read("a/b.py"))
	assert.Equal(t, "a();\nb();\n", read("c.js"))
	assert.Equal(t, "eval(x) // debugger;\n", read("d.js"))

	info, err := os.Stat(filepath.Join(root, "c.js"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode())
	after, err := os.Stat(filepath.Join(root, "d.js"))
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime(), "a file without fixes is not touched")
	names, err := filepath.Glob(filepath.Join(root, "*", ".prwarden-fix*"))
	require.NoError(t, err)
	assert.Empty(t, names)

	r = scanLocally(t, all(root, noDefaults, fixing))
	require.NoError(t, r.err)
	assert.Contains(t, r.errOut, "nothing was fixed\n")
}

// Only one file is named.
func TestScanFixOfAFile(t *testing.T) {
	t.Parallel()
	root := fixable(t, map[string]string{"a.py": "yaml.load(f)\n", "b.py": "yaml.load(f)\n"})
	r := scanLocally(t, all(filepath.Join(root, "a.py"), noDefaults, fixing, withRules(filepath.Join(root, ".prwarden/rules.yml"))))
	require.NoError(t, r.err)
	assert.Contains(t, r.errOut, "made 1 fix\n")
	text, err := os.ReadFile(filepath.Join(root, "b.py"))
	require.NoError(t, err)
	assert.Equal(t, "yaml.load(f)\n", string(text))
}

// A file that somebody writes meanwhile stays as it is.
func TestScanFixOfAChangedFile(t *testing.T) {
	t.Parallel()
	root := fixable(t, map[string]string{"a.py": "yaml.load(f)\n", "b.py": "yaml.load(f)\n"})
	tomorrow := time.Now().Add(24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(root, "a.py"), tomorrow, tomorrow))
	r := scanLocally(t, all(root, noDefaults, fixing))
	require.NoError(t, r.err)
	assert.Contains(t, r.errOut, "a.py: can't be fixed: it was changed while it was scanned; run the command again\nmade 1 fix\n")
	assert.Contains(t, r.out, "1 finding")
}

func TestScanFixUsage(t *testing.T) {
	t.Parallel()
	root := fixable(t, map[string]string{})
	for text, change := range map[string]func(*cli.ScanInput){
		"not for --staged": func(in *cli.ScanInput) { in.Staged = true },
		"and --base":       func(in *cli.ScanInput) { in.Base = "main" },
		"another format":   func(in *cli.ScanInput) { in.All = true; lines(in) },
	} {
		r := scanLocally(t, scanInput(func(in *cli.ScanInput) { in.Path, in.Fix = root, true; change(in) }))
		var usage *cli.UsageError
		require.ErrorAs(t, r.err, &usage)
		assert.Contains(t, r.err.Error(), text)
	}
}

// The rules that are applied stay as they are, whatever they match of themselves.
func TestScanFixLeavesRules(t *testing.T) {
	t.Parallel()
	const rules = "version: 1\nrules:\n  - {id: r, type: regex, pattern: old_name, message: m, severity: high, fix: renamed}\n"
	for _, name := range []string{".prwarden/rules.yml", "other.yml"} {
		root := fixable(t, map[string]string{"x.txt": "old_name\n"})
		path, given := filepath.Join(root, name), ""
		if name == "other.yml" {
			given = path
		}
		require.NoError(t, os.WriteFile(path, []byte(rules), 0o644))
		r := scanLocally(t, all(root, noDefaults, fixing, withRules(given)))
		require.NoError(t, r.err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, rules, string(text))
		text, err = os.ReadFile(filepath.Join(root, "x.txt"))
		require.NoError(t, err)
		assert.Equal(t, "renamed\n", string(text))
	}
}

// Statements of a block are removed one after the other, so that the last one stays.
func TestScanFixKeepsBlocks(t *testing.T) {
	t.Parallel()
	root := fixable(t, map[string]string{"a.py": "if x:\n    debug(1)\n    debug(2)\ny()\ndebug(3)\n"})
	path := filepath.Join(root, ".prwarden/rules.yml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\nrules:\n  - {id: r, type: structure, languages: [python], "+
		"pattern: debug($$$), message: m, severity: low, fix: ''}\n"), 0o644))
	r := scanLocally(t, all(root, noDefaults, fixing))
	require.NoError(t, r.err)
	assert.Contains(t, r.errOut, "made 2 fixes in 1 file\n")
	text, err := os.ReadFile(filepath.Join(root, "a.py"))
	require.NoError(t, err)
	assert.Equal(t, "if x:\n    debug(2)\ny()\n", string(text))
}
