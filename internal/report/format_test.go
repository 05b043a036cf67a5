package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
)

func TestParseOutputs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   []string
		want []report.Output
		says string
	}{
		"nothing": {nil, []report.Output{{Format: "table"}}, ""},
		"one":     {[]string{"json"}, []report.Output{{Format: "json"}}, ""},
		"files": {
			[]string{"sarif=a=b.sarif", "junit=x.xml", "table"},
			[]report.Output{{Format: "sarif", File: "a=b.sarif"}, {Format: "junit", File: "x.xml"}, {Format: "table"}}, "",
		},
		"lines share": {[]string{"table", "github"}, []report.Output{{Format: "table"}, {Format: "github"}}, ""},
		"twice in files": {
			[]string{"json=a", "json=b"}, []report.Output{{Format: "json", File: "a"}, {Format: "json", File: "b"}}, "",
		},
		"unknown": {
			[]string{"html"}, nil, `"html" is not a format; use table, json, sarif, github, gitlab, junit`,
		},
		"empty":           {[]string{""}, nil, `"" is not a format`},
		"no file":         {[]string{"json="}, nil, `"json=" has no file after the =`},
		"the same file":   {[]string{"json=./a", "sarif=a"}, nil, "two outputs have the file a"},
		"the same format": {[]string{"table", "table"}, nil, "two outputs have the format table"},
		"objects don't share": {
			[]string{"table", "json"}, nil,
			"the format json can't share standard output with another; write it to a file with json=FILE",
		},
		"nor with one another": {[]string{"gitlab", "junit"}, nil, "can't share"},
		"a file is not sharing": {
			[]string{"gitlab=g", "junit"}, []report.Output{{Format: "gitlab", File: "g"}, {Format: "junit"}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := report.ParseOutputs(tt.in)
			if tt.says != "" {
				require.ErrorContains(t, err, tt.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

// Files appear whole: what was there stays until the new one is complete, and
// nothing else is left behind.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := filepath.Join(dir, "out.json")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	var console strings.Builder
	outputs, err := report.ParseOutputs([]string{"json=" + old, "table", "table=" + filepath.Join(dir, "out.txt")})
	require.NoError(t, err)
	require.NoError(t, report.Write(outputs, rich(), &console, report.Style{Width: 60, Color: true}))
	text, err := os.ReadFile(filepath.Join(dir, "out.txt"))
	require.NoError(t, err)
	assert.Equal(t, write(t, rich(), report.Table, report.Style{Width: terminal.DefaultWidth}), string(text),
		"a file is no terminal")
	assert.Equal(t, write(t, rich(), report.Table, report.Style{Width: 60, Color: true}), console.String())
	text, err = os.ReadFile(old)
	require.NoError(t, err)
	assert.Equal(t, write(t, rich(), report.JSON, report.Style{}), string(text))
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 2)
}

// A file is as open as others that its owner makes, and one that is replaced as
// it was.
func TestFileModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	other, err := os.Create(path("other"))
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, os.WriteFile(path("private"), []byte("old"), 0o600))
	require.NoError(t, os.Symlink("private", path("link")))
	var outputs []report.Output
	for _, name := range []string{"new", "private", "link"} {
		outputs = append(outputs, report.Output{Format: report.JSON, File: path(name)})
	}
	require.NoError(t, report.Write(outputs, rich(), nil, report.Style{}))
	mode := func(name string) os.FileMode {
		info, err := os.Lstat(path(name))
		require.NoError(t, err)
		return info.Mode()
	}
	assert.Equal(t, mode("other"), mode("new"))
	assert.Equal(t, os.FileMode(0o600), mode("private"))
	assert.Equal(t, mode("other"), mode("link"), "a link is replaced")
}

func TestFilesThatCanNotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var console strings.Builder
	err := report.Write([]report.Output{
		{Format: "json", File: filepath.Join(dir, "none", "x")}, {Format: "json", File: dir}, {Format: "table"},
	}, rich(), &console, report.Style{Width: 80})
	require.ErrorContains(t, err, "json="+filepath.Join(dir, "none", "x"))
	require.ErrorContains(t, err, "json="+dir)
	assert.NotEmpty(t, console.String(), "the others are written")
	broken := rich()
	broken.JSON = []byte("{")
	kept := filepath.Join(dir, "kept")
	require.NoError(t, os.WriteFile(kept, []byte("old"), 0o600))
	require.Error(t, report.Write([]report.Output{{Format: "json", File: kept}}, broken, &console, report.Style{}))
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	assert.Equal(t, "old", string(text))
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 1, "no temporary file is left")
}

func TestStepSummary(t *testing.T) {
	t.Parallel()
	for name, r := range cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "summary.md")
			require.NoError(t, os.WriteFile(file, []byte("before\n"), 0o600))
			lookup := func(string) string { return file }
			require.NoError(t, report.AppendStepSummary([]report.Output{{Format: report.GitHub, File: "x"}}, r, lookup))
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			after, ok := strings.CutPrefix(string(text), "before\n")
			require.True(t, ok)
			golden(t, filepath.Join("testdata", "summary", name+".golden"), after)
			assert.NotContains(t, after, "<script")
			assert.NotContains(t, after, "@me")
		})
	}
	require.NoError(
		t,
		report.AppendStepSummary([]report.Output{{Format: report.Table}}, rich(),
			func(string) string { return "/none/there" }),
		"only where annotations are",
	)
	require.Error(
		t,
		report.AppendStepSummary([]report.Output{{Format: report.GitHub}}, rich(),
			func(string) string { return "/none/there" }),
	)
}

// GitHub refuses a summary of over 1 MiB.
func TestStepSummaryIsBounded(t *testing.T) {
	t.Parallel()
	long := hostile()
	long.Message = strings.Repeat("<", 2000)
	r := complete()
	for range 10_000 {
		r.Review.Findings = append(r.Review.Findings, long)
	}
	file := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t,
		report.AppendStepSummary([]report.Output{{Format: report.GitHub}}, r, func(string) string { return file }))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Less(t, len(text), 1<<20)
	assert.Contains(t, string(text), " more.")
}

// FuzzFormats: whatever a repository and a rule hold, nothing that is written
// can drive a terminal or a CI service.
func FuzzFormats(f *testing.F) {
	h := hostile()
	f.Add(h.File, h.Message, h.Snippet, "reason\n::error::x")
	f.Add("\xff\x00", "##[", "##vso[", "\u202e")
	f.Add("##vso[task].js", "##teamcity[a ##[b", "###octopus[c", "##[error]q")
	f.Fuzz(func(t *testing.T, file, message, snippet, reason string) {
		if file == "" {
			return
		}
		found := hostile()
		found.File, found.Message, found.Snippet = file, message, snippet
		accepted := found
		accepted.Line = 2
		accepted.Suppression = &finding.Suppression{Reason: reason}
		r := complete(found)
		r.Review.Suppressed = []finding.Finding{accepted}
		r.Review.Skips = []finding.Skip{{File: file, Reason: reason, RuleID: message}}
		for _, format := range report.Formats() {
			text := write(t, r, format, report.Style{Width: 80})
			harmless(t, text, format == report.GitHub)
			if format == report.JUnit {
				checkJUnit(t, text)
			}
		}
	})
}
