package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestParseOutputs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   []string
		want []report.Output
		says string
	}{
		"one": {[]string{"json"}, []report.Output{{Format: "json"}}, ""},
		"files": {
			[]string{"sarif=a=b.sarif", "junit=x.xml", "table"},
			[]report.Output{{Format: "sarif", File: "a=b.sarif"}, {Format: "junit", File: "x.xml"}, {Format: "table"}}, "",
		},
		"lines share": {[]string{"table", "github"}, []report.Output{{Format: "table"}, {Format: "github"}}, ""},
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

// A file has what the console has, without colours and as wide as usual.
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
}

// A file is replaced as a whole, and stays as open as it was. A link that a
// repository may have brought along is replaced, whatever its name starts with.
func TestFileModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	private, link, sly := filepath.Join(dir, "private"), filepath.Join(dir, "link"), filepath.Join(dir, "sly")
	require.NoError(t, os.WriteFile(private, []byte("old"), 0o600))
	require.NoError(t, os.Link(private, filepath.Join(dir, "old")))
	require.NoError(t, os.Symlink("target", link))
	require.NoError(t, os.Symlink("target", sly))
	outputs := []report.Output{
		{Format: report.JSON, File: private}, {Format: report.JSON, File: link}, {Format: report.JSON, File: "/dev/.." + sly},
	}
	require.NoError(t, report.Write(outputs, rich(), nil, report.Style{}))

	info, err := os.Stat(private)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	old, err := os.ReadFile(filepath.Join(dir, "old"))
	require.NoError(t, err)
	assert.Equal(t, "old", string(old))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 4, "no target of a link, and nothing temporary")
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
			assert.Equal(t, 1, strings.Count(after, "</pre>"), "nothing ends the block")
		})
	}

	lookup := func(string) string { return "/none/there" }
	require.NoError(t, report.AppendStepSummary([]report.Output{{Format: report.Table}}, rich(), lookup),
		"only where annotations are")
	require.Error(t, report.AppendStepSummary([]report.Output{{Format: report.GitHub}}, rich(), lookup))
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
	assert.Contains(t, string(text), "There is more.\n")
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

func TestJSONObserved(t *testing.T) {
	t.Parallel()
	f := finding.Finding{RuleID: "a/b", Severity: rule.High, Line: 1, Column: 2, Message: "m"}
	line := `{"observed":{"rule_id":"a/b","file":"x","line":1,"column":2,"message":"m","severity":"high"}}` + "\n"
	assert.Equal(t, line+line, string(report.JSONObserved(nil, "x", []finding.Finding{f, f})))
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	found := func(line, column int, severity rule.Severity, id, message string) finding.Finding {
		return finding.Finding{RuleID: id, Severity: severity, Message: message, Line: line, Column: column}
	}
	b := report.JSONLines(nil, "cmd/main.go", []finding.Finding{
		found(3, 2, rule.Warning, "custom/no-print", "Use the logger."),
		found(12, 5, rule.Critical, "secrets/aws-access-key", secret().Message),
	})
	b = report.JSONLines(b, "a \"b\" \\ <c>/é\x1b\u202e\U0001F600\U000E0001", []finding.Finding{found(1, 1, rule.Info,
		"security/hostile", "\x1b]0;owned\a <b> \"two\"\nlines\t\u202eand \\ é 日本")})
	b = report.JSONLines(b, "caf\xe9", []finding.Finding{
		found(2147483647, 16384, rule.Warning, "custom/no-print", "Use the logger."),
	})
	golden(t, filepath.Join("testdata", "lines.jsonl"), string(b))
}

type localFinding struct {
	RuleID    string `json:"rule_id"`
	File      string `json:"file"`
	FileBytes []byte `json:"file_bytes"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Message   string `json:"message"`
	Severity  string `json:"severity"`
}

// What is written is read again as it was, and can't drive a terminal or
// a CI service.
func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{
		"", "a/b.go", "caf\xe9", "\x1b[2J", "\"\\\n", "\u2028\u2029", "\xed\xa0\x80", "😀\x00", "\U0010FFFF", "</script>",
		"##[error]q.js", "##vso[task].js",
	} {
		f.Add(seed, seed, 1, 2)
	}

	f.Fuzz(func(t *testing.T, file, message string, line, column int) {
		message = strings.ToValidUTF8(message, "") // as rules are checked to be
		text := report.JSONLines(nil, file,
			[]finding.Finding{{RuleID: "a/b", Severity: rule.High, Message: message, Line: line, Column: column}})
		require.Equal(t, 1, strings.Count(string(text), "\n"))
		require.Equal(t, terminal.Safe(string(text[:len(text)-1])), string(text[:len(text)-1]))
		noMarks(t, string(text))
		var got localFinding
		require.NoError(t, json.Unmarshal(text, &got))
		want := localFinding{RuleID: "a/b", File: file, Line: line, Column: column, Message: message, Severity: "high"}
		if !utf8.ValidString(file) {
			want.File, want.FileBytes = strings.ToValidUTF8(file, "\uFFFD"), []byte(file)
		}
		require.Equal(t, want, got)
	})
}
