package report_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

func localFindings(places ...finding.Finding) []finding.Finding {
	rules := map[string]finding.Finding{
		"custom/no-print": {Severity: rule.Warning, Message: "Use the logger."},
		"secrets/aws-access-key": {
			Severity: rule.Critical,
			Message:  "An AWS access key is in the code. Revoke it, and read it from the environment or a secret store instead.",
		},
		"security/hostile": {Severity: rule.Info, Message: "\x1b]0;owned\a <b> \"two\"\nlines\t\u202eand \\ é 日本"},
	}
	for i := range places {
		places[i].Severity, places[i].Message = rules[places[i].RuleID].Severity, rules[places[i].RuleID].Message
	}
	return places
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	var b []byte
	b = report.JSONLines(
		b,
		"cmd/main.go",
		localFindings(finding.Finding{RuleID: "custom/no-print", Line: 3, Column: 2},
			finding.Finding{RuleID: "secrets/aws-access-key", Line: 12, Column: 5}),
	)
	b = report.JSONLines(b, "a \"b\" \\ <c>/é\x1b\u202e\U0001F600\U000E0001",
		localFindings(finding.Finding{RuleID: "security/hostile", Line: 1, Column: 1}))
	b = report.JSONLines(b, "caf\xe9",
		localFindings(finding.Finding{RuleID: "custom/no-print", Line: 2147483647, Column: 16384}))
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
