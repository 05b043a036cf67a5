package report_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/report"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/match"
)

func localRules() []rule.Rule {
	return []rule.Rule{
		{ID: "no-print", Severity: rule.Warning, Message: "Use the logger."},
		{ID: "secrets/aws-access-key", Severity: rule.Critical, Message: "An AWS access key is in the code. Revoke it, and read it from the environment or a secret store instead."},
		{ID: "security/hostile", Severity: rule.Info, Message: "\x1b]0;owned\a <b> \"two\"\nlines\t\u202eand \\ é 日本"},
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	for name, width := range map[string]int{"rows-100": 100, "rows-60": 60} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := report.NewRows(localRules(), width)
			var b []byte
			b = rows.Append(b, "cmd/main.go", []match.Hit{{Rule: 0, Line: 3, Column: 2}, {Rule: 0, Line: 9, Column: 14}, {Rule: 1, Line: 12, Column: 5}, {Rule: 0, Line: 1200, Column: 1}})
			b = rows.Append(b, "a\x1b[2J\rb\n\u202etxt.exe\xff", []match.Hit{{Rule: 2, Line: 1, Column: 1}})
			b = rows.Append(b, strings.Repeat("very/deep/", 6)+"日本.go", []match.Hit{{Rule: 0, Line: 100200, Column: 3}})
			golden(t, filepath.Join("testdata", name+".golden"), string(b))
			for line := range strings.Lines(string(b)) {
				line = strings.TrimSuffix(line, "\n")
				assert.Equal(t, terminal.Safe(line), line, "safe to print")
			}
		})
	}
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	lines := report.NewJSONLines(localRules())
	var b []byte
	b = lines.Append(b, "cmd/main.go", []match.Hit{{Rule: 0, Line: 3, Column: 2}, {Rule: 1, Line: 12, Column: 5}})
	b = lines.Append(b, "a \"b\" \\ <c>/é\x1b\u202e\U0001F600\U000E0001", []match.Hit{{Rule: 2, Line: 1, Column: 1}})
	b = lines.Append(b, "caf\xe9", []match.Hit{{Rule: 0, Line: 2147483647, Column: 16384}})
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

// What is written is read again as it was, and can't drive a terminal.
func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{"", "a/b.go", "caf\xe9", "\x1b[2J", "\"\\\n", "\u2028\u2029", "\xed\xa0\x80", "😀\x00", "\U0010FFFF", "</script>"} {
		f.Add(seed, seed, 1, 2)
	}
	f.Fuzz(func(t *testing.T, file, message string, line, column int) {
		message = strings.ToValidUTF8(message, "") // as rules are checked to be
		r := rule.Rule{ID: "a/b", Severity: rule.High, Message: message}
		text := report.NewJSONLines([]rule.Rule{r}).Append(nil, file, []match.Hit{{Line: line, Column: column}})
		require.Equal(t, 1, strings.Count(string(text), "\n"))
		require.Equal(t, terminal.Safe(string(text[:len(text)-1])), string(text[:len(text)-1]))
		var got localFinding
		require.NoError(t, json.Unmarshal(text, &got))
		want := localFinding{RuleID: "a/b", File: file, Line: line, Column: column, Message: message, Severity: "high"}
		if !utf8.ValidString(file) {
			want.File, want.FileBytes = strings.ToValidUTF8(file, "\uFFFD"), []byte(file)
		}
		require.Equal(t, want, got)
	})
}

func BenchmarkJSONLines(b *testing.B) {
	lines := report.NewJSONLines(localRules())
	hits := make([]match.Hit, 256)
	for i := range hits {
		hits[i] = match.Hit{Rule: i % 2, Line: i * 7, Column: i}
	}
	var dst []byte
	for b.Loop() {
		dst = lines.Append(dst[:0], "internal/scan/folder/folder.go", hits)
	}
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
}
