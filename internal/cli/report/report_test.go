package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/report"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

func complete(findings ...restclient.Finding) restclient.Review {
	r := restclient.Review{Status: "complete", Repo: "acme/web", PRNumber: 17, Findings: findings, Summary: map[string]int{}}
	for _, f := range findings {
		r.Summary[f.Severity]++
	}
	return r
}

func TestTable(t *testing.T) {
	t.Parallel()
	secret := restclient.Finding{RuleID: "secrets/aws-access-key", Severity: "critical", File: "deploy/config.py", Line: 3, Column: 12, Message: "An AWS access key is in the code. Revoke it, and read it from the environment or a secret store instead."}
	query := restclient.Finding{RuleID: "security/sql-concat", Severity: "high", File: "app/db.py", Line: 41, Column: 5, Message: "Pass values as parameters of the query instead of putting them into its text."}
	deep := restclient.Finding{RuleID: "custom/no-print", Severity: "warning", File: strings.Repeat("very/deep/", 6) + "main.go", Line: 100200, Column: 3, Message: "Use the logger."}
	wide := restclient.Finding{RuleID: "custom/wide", Severity: "low", File: "docs/日本語.md", Line: 1, Column: 1, Message: "日本語のメッセージは全角で表示されるので、幅を二倍に数える必要があります。 And ASCII after it."}
	hostile := restclient.Finding{RuleID: "custom/x", Severity: "info", File: "a\x1b[2J\rb\n\u202etxt.exe", Line: 1, Column: 1, Message: "\x1b]0;owned\a two\nlines\tand a tab"}

	withSkips := complete(query)
	withSkips.Skipped = []restclient.Skip{
		{File: "logo.png", Reason: "binary"},
		{File: "data.json", Reason: "file_too_large"},
		{File: "min.js", Line: 7, Reason: "line_too_long"},
		{File: "vendor/lib", Reason: "submodule"},
		{File: "big.txt", RuleID: "custom/slow", Reason: "rule_timeout"},
		{File: "new.txt", Reason: "reason_of_tomorrow"},
	}
	withSkips.Truncated = true

	tests := []struct {
		name   string
		review restclient.Review
		width  int
	}{
		{"findings-100", complete(secret, query), 100},
		{"findings-140", complete(secret, query, deep), 140},
		{"narrow", complete(secret, deep), 60},
		{"wide-characters", complete(wide, query), 100},
		{"hostile", complete(hostile), 100},
		{"skipped", withSkips, 100},
		{"nothing", complete(), 100},
		{"failed", restclient.Review{Status: "failed", Repo: "acme/web", PRNumber: 17, Error: &restclient.Failure{Code: "pull_request_not_found", Message: "There is no pull request\n17."}}, 100},
		{"canceled", restclient.Review{Status: "canceled", Repo: "acme/web", PRNumber: 17}, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			require.NoError(t, report.Table(&b, tt.review, tt.width))
			golden(t, filepath.Join("testdata", tt.name+".golden"), b.String())
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				assert.Equal(t, terminal.Safe(line), line, "safe to print")
				if tt.review.Status == "complete" && tt.name != "narrow" {
					assert.LessOrEqual(t, terminal.Columns(line), tt.width)
				}
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
