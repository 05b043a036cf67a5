package report_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/dev/sariftest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

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

func secret() finding.Finding {
	return finding.Finding{
		RuleID: "secrets/aws-access-key", Severity: rule.Critical, Confidence: rule.ConfidenceHigh, File: "deploy/config.py", Line: 3, EndLine: 3, Column: 12,
		EndColumn: 32, UTF16Column: 12, UTF16EndColumn: 32,
		Message: "An AWS access key is in the code. Revoke it, and read it from the environment or a secret store instead.",
		Snippet: "aws_key = \"********************\"", Fingerprint: "f1", LineHash: "", State: finding.StateNew,
	}
}

func query() finding.Finding {
	return finding.Finding{
		RuleID: "security/sql-concat", Severity: rule.High, Confidence: rule.ConfidenceHigh, File: "app/db.py", Line: 41, EndLine: 43, Column: 5, EndColumn: 2,
		UTF16Column: 5, UTF16EndColumn: 2,
		Message: "Pass values as parameters of the query instead of putting them into its text.",
		Snippet: "\tcursor.execute(\"SELECT * FROM t WHERE id=\" + id)", Fingerprint: "f2", LineHash: "8c2f6b1d0a9e4573:1",
		State: finding.StateExisting, Steps: []finding.Step{
			{Kind: finding.StepSource, Line: 9, Column: 2, EndColumn: 20, UTF16Column: 2, UTF16EndColumn: 20, Snippet: "\tid = request.args"},
			{Kind: finding.StepAssignment, Line: 40, Column: 1, EndColumn: 3, UTF16Column: 1, UTF16EndColumn: 3,
				Snippet: "\tid = \x1b[31m::error::" + strings.Repeat("long ", 30)},
			{Kind: finding.StepSink, Line: 41, Column: 5, EndColumn: 9, UTF16Column: 5, UTF16EndColumn: 9, Snippet: "\tcursor.execute"},
		},
	}
}

func again(f finding.Finding, line int) finding.Finding {
	f.Line, f.EndLine, f.Fingerprint = line, line, f.Fingerprint+"a"
	return f
}

// hostile has what an attacker would put into names and code, and what custom
// rules may say.
func hostile() finding.Finding {
	return finding.Finding{
		RuleID: "custom/x", Severity: rule.Info,
		File: "::error::\x1b[2J\rb,c:d%0A\n\u202etxt.exe\xff##[add-mask]##vso[task.y]|`<b>&\"]]>", Line: 1, EndLine: 1,
		Column: 1, EndColumn: 2, UTF16Column: 1, UTF16EndColumn: 2,
		Message: "\x1b]0;owned\a two\nlines\tand a tab ::set-output name=x::1 ##[error]no ##vso[task.x]y %0A " +
			"<script>&amp;]]> | `a` @me",
		Snippet:     "::stop-commands::x \x1b[31m##[group]##teamcity[x]\x00",
		Fingerprint: "f3", State: finding.StateNew,
	}
}

func deep() finding.Finding {
	return finding.Finding{
		RuleID:      "custom/no-print",
		Severity:    rule.Warning,
		File:        strings.Repeat("very/deep/", 6) + "main.go",
		Line:        100200,
		EndLine:     100200,
		Column:      3,
		Message:     "Use the logger.",
		Fingerprint: "f4",
		State:       finding.StateNew,
	}
}

func wide() finding.Finding {
	return finding.Finding{
		RuleID: "custom/wide", Severity: rule.Low, Confidence: rule.ConfidenceHigh, File: "docs/日本語.md", Line: 1, EndLine: 1, Column: 1,
		State: finding.StateNew, Fingerprint: "f5",
		Message: "日本語のメッセージは全角で表示されるので、幅を二倍に数える必要があります。 And ASCII after it.",
		Snippet: strings.Repeat("日本語", 40),
	}
}

func complete(findings ...finding.Finding) report.Report {
	r := report.Report{
		Of: "acme/web#17", FailOn: rule.High, Version: "v1.2.3",
		Review: review.Review{
			ID: "rev_1", Status: review.Complete, Repo: "acme/web", PRNumber: 17, Ruleset: "acme/web", Findings: findings,
			Summary: finding.Summary{},
			BaseSHA: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", BaseFoundBy: finding.BaseMergeRef,
			LookedAt:  finding.LookedAt{Files: 9, AddedLines: 1204, Rules: 433},
			Verdict:   &finding.Verdict{Outcome: finding.Pass, Threshold: rule.High},
			CreatedAt: time.Date(2026, 11, 20, 9, 41, 3, 0, time.UTC),
		},
	}
	for _, f := range findings {
		r.Review.Summary[f.Severity]++
		if f.Severity.AtLeast(rule.High) {
			r.Review.Verdict.Outcome = finding.Fail
		}
	}
	return r
}

// rich has everything that a report can have.
func rich() report.Report {
	r := complete(query(), again(query(), 50), secret(), hostile())
	r.Review.PreviousID = "rev_0"
	accepted := again(query(), 60)
	accepted.Suppression = &finding.Suppression{Reason: "the id is a number\n", Until: "2027-01-31", Line: 59}
	silent := again(query(), 70)
	silent.Fingerprint = "f2b"
	silent.Suppression = &finding.Suppression{Line: 70}
	r.Review.Suppressed = []finding.Finding{accepted, silent}
	trial := hostile()
	trial.Line, trial.Fingerprint = 3, "f3b"
	unsure := again(query(), 81)
	unsure.Confidence, unsure.Message = rule.ConfidenceLow, "Perhaps wrong."
	r.Review.Observed = []finding.Finding{again(query(), 80), unsure, trial}
	gone := again(secret(), 9)
	gone.State = finding.StateFixed
	r.Review.Fixed = []finding.Finding{gone}
	r.Review.Skips = []finding.Skip{
		{File: "logo.png", Reason: "binary", Tolerated: true},
		{File: "data.json", Reason: "file_too_large"},
		{File: "min.js", Line: 7, Reason: "undecodable"},
		{File: "vendor/lib", Reason: "submodule", Tolerated: true},
		{File: "big.txt", RuleID: "custom/slow", Reason: "rule_stopped", Severity: rule.High},
		{File: "new.txt", Reason: "reason_of_tomorrow"},
		{File: hostile().File, Reason: "::error::\n##[x]"},
	}
	r.Review.Verdict.NotLookedAt = 5
	r.Review.BaseFoundBy = finding.BaseDefaultBranch
	r.Review.Exclusions = finding.Exclusions{Files: 12, By: rule.FilePath}
	r.Review.SwitchedOff = []finding.SwitchedOff{
		{RuleID: "a/b", By: finding.ByOrganization, How: finding.HowDisable},
		{RuleID: "c/d", By: finding.ByRepository, How: finding.HowOverride},
		{RuleID: "e/f", By: finding.ByRepository, How: finding.HowExclude},
	}
	return r
}

// incomplete has no finding that fails, and more that was not looked at than is
// listed.
func incomplete() report.Report {
	r := complete(deep())
	r.Review.Skips = []finding.Skip{
		{File: ".prwarden/rules.yml", Reason: "rules_file_invalid"},
		{File: "a.txt", RuleID: "custom/slow", Reason: "rule_stopped", Severity: rule.Low, Tolerated: true},
		{File: "data.json", Reason: "file_too_large"},
	}
	r.Review.Verdict = &finding.Verdict{Outcome: finding.Incomplete, Threshold: rule.High, NotLookedAt: 12_002}
	r.Review.Truncated = true
	r.Review.BaseFoundBy = finding.BaseMergeCommit
	return r
}

func many() report.Report {
	r := complete(secret())
	for i := range 30 {
		r.Review.Skips = append(r.Review.Skips, finding.Skip{
			File: fmt.Sprintf("logo%d.png", i), Reason: "binary", Tolerated: true,
		})
		r.Review.Fixed = append(r.Review.Fixed, again(secret(), i+1))
	}
	r.Review.Truncated = true
	r.Review.Summary[rule.Critical] = 12_000
	return r
}

func failed() report.Report {
	return report.Report{Of: "acme/web#17", FailOn: rule.High, Review: review.Review{
		Status: review.Failed, Repo: "acme/web", PRNumber: 17,
		Failure: &review.Failure{Code: "pull_request_not_found", Message: "There is no pull request\n17."},
	}}
}

func cases() map[string]report.Report {
	newOnly := rich()
	newOnly.NewOnly = true
	never := complete(secret())
	never.FailOn = 0
	allowed := incomplete()
	allowed.AllowIncomplete = true
	canceled := failed()
	canceled.Review.Status, canceled.Review.Failure = review.Canceled, nil
	return map[string]report.Report{
		"rich": rich(), "new-only": newOnly, "never": never, "passes": complete(wide(), deep()), "nothing": complete(),
		"many": many(), "incomplete": incomplete(), "allowed": allowed,
		"failed": failed(), "canceled": canceled,
	}
}

func write(t testing.TB, r report.Report, format string, style report.Style) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Write([]report.Output{{Format: format}}, r, &b, style))
	return b.String()
}

// Each format of each report is in a golden file, holds what its readers need,
// and can't drive a terminal or a CI service.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, r := range cases() {
		for _, format := range report.Formats() {
			t.Run(name+"/"+format, func(t *testing.T) {
				t.Parallel()
				text := write(t, r, format, report.Style{Width: 100})
				if r.Review.Status != review.Complete && (format == report.SARIF || format == report.GitLab) {
					assert.Empty(t, text, "it would read as a review without findings")
					return
				}
				golden(t, filepath.Join("testdata", format, name+".golden"), text)
				harmless(t, text, format == report.GitHub)
				switch format {
				case report.JSON:
					assert.True(t, json.Valid([]byte(text)))
				case report.SARIF:
					sariftest.Valid(t, []byte(text))
				case report.GitLab:
					checkGitLab(t, text)
				case report.JUnit:
					checkJUnit(t, text)
				}
			})
		}
	}
}

// harmless checks what a terminal and the runners of CI services would make of a
// text. GitHub's takes lines that begin with `::` after white space for commands,
// and all look for marks anywhere.
func harmless(t *testing.T, text string, commands bool) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		assert.Equal(t, terminal.Safe(line), line, "safe to print")
		noMarks(t, line)
		if commands {
			assert.Regexp(t, `^::(error|warning|notice) `, line)
			continue
		}
		assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), line)
	}
}

func noMarks(t *testing.T, line string) {
	t.Helper()
	for _, mark := range []string{"##[", "##vso[", "##teamcity[", "##octopus["} {
		assert.NotContains(t, line, mark)
	}
}

// checkGitLab checks what GitLab's importer wants of each issue.
func checkGitLab(t *testing.T, text string) {
	t.Helper()
	var issues []struct {
		Description, Fingerprint, Severity string
		CheckName                          string `json:"check_name"`
		Location                           struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &issues))
	seen := map[string]bool{}
	for _, i := range issues {
		assert.NotEmpty(t, i.Description)
		assert.NotEmpty(t, i.CheckName)
		assert.NotEmpty(t, i.Location.Path)
		assert.Positive(t, i.Location.Lines.Begin)
		assert.Contains(t, []string{"info", "minor", "major", "critical", "blocker"}, i.Severity)
		assert.False(t, seen[i.Fingerprint], "fingerprints differ")
		seen[i.Fingerprint] = true
	}
}

// checkJUnit checks what the schemas of Jenkins and others have in common:
// counts that are right, names, and one outcome a case.
func checkJUnit(t *testing.T, text string) {
	t.Helper()
	var all struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Cases    []struct {
				Name      string   `xml:"name,attr"`
				ClassName string   `xml:"classname,attr"`
				Failures  []string `xml:"failure"`
				Errors    []string `xml:"error"`
				Skipped   []string `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal([]byte(text), &all))
	s := all.Suite
	assert.NotEmpty(t, s.Name)
	require.NotEmpty(t, s.Cases, "Jenkins refuses a report without a case")

	names := map[string]bool{}
	failures, wrong, skipped := 0, 0, 0
	for _, c := range s.Cases {
		assert.NotEmpty(t, c.ClassName)
		assert.False(t, names[c.ClassName+c.Name], "names differ: %s", c.Name)
		names[c.ClassName+c.Name] = true
		assert.LessOrEqual(t, len(c.Failures)+len(c.Errors)+len(c.Skipped), 1)
		failures, wrong, skipped = failures+len(c.Failures), wrong+len(c.Errors), skipped+len(c.Skipped)
	}
	assert.Equal(t, []int{len(s.Cases), failures, wrong, skipped}, []int{s.Tests, s.Failures, s.Errors, s.Skipped})
}

// What a server answered is indented, and made safe. What is not JSON is not
// written at all.
func TestJSONOfServer(t *testing.T) {
	t.Parallel()
	write := func(text string) (string, error) {
		var b strings.Builder
		r := report.Report{JSON: []byte(text)}
		err := report.Write([]report.Output{{Format: report.JSON}}, r, &b, report.Style{})
		return b.String(), err
	}
	got, err := write("{\"a\":[{\"b\" :-1.5e3},\"é\u202e##[x]\", []]}\r\n ")
	require.NoError(t, err)
	want := "{\n  \"a\": [\n    {\n      \"b\": -1.5e3\n    },\n    \"é\\u202e##\\u005bx]\",\n    []\n  ]\n}\n"
	assert.Equal(t, want, got)

	for _, broken := range []string{"", "{", "[1}", "{} x"} {
		got, err := write(broken)
		require.ErrorContains(t, err, "not JSON")
		assert.Empty(t, got, "half an answer")
	}
}

// Of a review that failed there is no file that reads as one without findings,
// not even an old one.
func TestWriteFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var outputs []report.Output
	for _, format := range []string{report.SARIF, report.GitLab, report.JSON, report.JUnit} {
		file := filepath.Join(dir, "r."+format)
		outputs = append(outputs, report.Output{Format: format, File: file})
		require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	}
	require.NoError(t, report.Write(outputs, failed(), nil, report.Style{Width: 100}))

	for _, output := range outputs {
		text, err := os.ReadFile(output.File)
		if output.Format == report.SARIF || output.Format == report.GitLab {
			require.ErrorIs(t, err, os.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		assert.NotEqual(t, "old", string(text), output.Format)
	}
}

// The table fits the width that there is, and has colours only when asked.
func TestTableStyles(t *testing.T) {
	t.Parallel()
	r := complete(query(), secret(), deep(), wide())
	for name, style := range map[string]report.Style{
		"width-140": {Width: 140}, "width-60": {Width: 60}, "color": {Width: 100, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := write(t, r, report.Table, style)
			golden(t, filepath.Join("testdata", "styles", name+".golden"), text)
			assert.Equal(t, style.Color, strings.Contains(text, "\x1b["))
			if style.Color {
				return
			}
			for line := range strings.Lines(text) {
				if !strings.Contains(line, "very/deep") { // names are not broken
					assert.LessOrEqual(t, terminal.Columns(strings.TrimSuffix(line, "\n")), style.Width, line)
				}
			}
		})
	}
}

// What a truncated review lists of anything but findings is not all that there
// is.
func TestSummaryOfTruncated(t *testing.T) {
	t.Parallel()
	r := rich()
	assert.Equal(t,
		"4 findings in acme/web#17: 1 critical, 2 high, 1 info; 2 new, 1 fixed, 2 suppressed, 2 observed, "+
			"7 not looked at (2 tolerated).", r.Summary())
	r.Review.Truncated, r.Review.Fixed = true, nil
	assert.Equal(
		t,
		"4 findings in acme/web#17: 1 critical, 2 high, 1 info; at least 2 new, 0 fixed, at least 2 suppressed, "+
			"at least 2 observed, at least 7 not looked at (at least 2 tolerated), too many to list all.",
		r.Summary(),
	)
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	// Of 12,000 critical findings one is listed, so that the others are new is
	// possible.
	truncated := many()
	truncated.NewOnly = true
	truncated.Review.Findings[0].State = finding.StateExisting
	existing := complete(query())
	existing.NewOnly = true
	never := complete(secret())
	never.FailOn = 0
	worst := complete(query())
	worst.FailOn = rule.Critical
	newAndSkipped := rich()
	newAndSkipped.NewOnly = true
	newAndSkipped.Review.Findings = newAndSkipped.Review.Findings[:2] // none is new
	newAndSkipped.Review.Summary = finding.Summary{rule.High: 2}
	allowed, regardless := incomplete(), incomplete()
	allowed.AllowIncomplete, regardless.FailOn = true, 0
	one := incomplete()
	one.Review.Verdict.NotLookedAt = 1

	for name, tt := range map[string]struct {
		r    report.Report
		want finding.Outcome
		says string
	}{
		"fails": {
			complete(query(), secret(), deep()), finding.Fail, "Failed: 2 findings are high or worse.",
		},
		"less than the threshold": {complete(deep()), finding.Pass, "Passed: no finding is high or worse."},
		"the worst threshold":     {worst, finding.Pass, "Passed: no finding is critical."},
		"none is new":             {existing, finding.Pass, "Passed: no new finding is high or worse."},
		"no threshold":            {never, finding.Pass, ""},
		"truncated":               {truncated, finding.Fail, "Failed: 11999 new findings are high or worse."},
		"failed":                  {failed(), finding.Pass, ""},
		"fails, and not all was looked at": {
			rich(), finding.Fail, "Failed: 3 findings are high or worse, and 5 parts were not looked at.",
		},
		"not all was looked at": {
			incomplete(), finding.Incomplete,
			"Incomplete: no finding is high or worse, but 12002 parts were not looked at.",
		},
		"one part": {
			one, finding.Incomplete, "Incomplete: no finding is high or worse, but 1 part was not looked at.",
		},
		"none is new, and not all was looked at": {
			newAndSkipped, finding.Incomplete,
			"Incomplete: no new finding is high or worse, but 5 parts were not looked at.",
		},
		"allowed": {
			allowed, finding.Incomplete,
			"Passed: no finding is high or worse. That 12002 parts were not looked at is allowed.",
		},
		"no threshold, and not all was looked at": {regardless, finding.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, tt.r.Outcome())
			assert.Equal(t, tt.want == finding.Pass || tt.r.AllowIncomplete, tt.r.Passes())
			assert.Equal(t, tt.says, tt.r.Verdict())
		})
	}
}

// The match stands out in the line of code, wherever it can be told.
func TestHighlight(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90)
	for name, tt := range map[string]struct {
		snippet        string
		endLine        int // 1 when 0
		column, endCol int
		want           string // what stands out; "" for nothing, "…" for what is cut off
	}{
		"in the middle":          {snippet: "\ta := eval(x)", column: 7, endCol: 11, want: "eval"},
		"from the begin":         {snippet: "  eval(x)", column: 1, endCol: 8, want: "eval("},
		"up to the end":          {snippet: "a eval", column: 3, endCol: 7, want: "eval"},
		"over several lines":     {snippet: "a eval(", endLine: 2, column: 3, endCol: 1, want: "eval("},
		"what is masked":         {snippet: `key = "****"`, column: 8, endCol: 60, want: "****"},
		"behind what is masked":  {snippet: `f("****", eval)`, column: 30, endCol: 34},
		"where the line is cut":  {snippet: long + "evaluate", column: 91, endCol: 99, want: "…"},
		"behind the cut":         {snippet: long + "xxxxxxx eval", column: 99, endCol: 103, want: "…"},
		"in a part of a snippet": {snippet: strings.Repeat("y", 400), column: 700, endCol: 704},
		"no columns":             {snippet: "eval(x)"},
		"half a character":       {snippet: "é", column: 2, endCol: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := finding.Finding{
				RuleID: "a/b", Severity: rule.High, Confidence: rule.ConfidenceHigh, File: "f", Line: 1, EndLine: max(tt.endLine, 1), Column: tt.column,
				EndColumn: tt.endCol, Message: "m", Snippet: tt.snippet,
			}
			text := write(t, complete(f), report.Table, report.Style{Width: 60, Color: true})
			_, code, found := strings.Cut(text, "│ ")
			require.True(t, found)
			code, _, _ = strings.Cut(code, "\n")
			if tt.want == "" {
				assert.NotContains(t, code, "\x1b[31m")
				return
			}
			if tt.want == "…" {
				assert.True(t, strings.HasSuffix(code, "\x1b[31m…\x1b[0m"), "%q", code)
				return
			}
			assert.Contains(t, code, "\x1b[31m"+tt.want+"\x1b[0m")
		})
	}
}
