package finding_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// odd are texts that take more bytes in an answer than they have.
func odd() map[string]string {
	return map[string]string{
		"control": "\x01", "new line": "\n", "tab": "\t", "delete": "\x7f",
		"quote": `"`, "backslash": `\`, "markup": "<>&", "space": " +(", "colon": ":", "plain": "x",
		"line separator": "\u2028\u2029", "two bytes": "é", "three bytes": "日", "four bytes": "\U0001f41e",
		"replacement": "\uFFFD", "no UTF-8": "\xff", "no UTF-8 and text": "a\xffb\xfe", "half a character": "\xe6\x97",
	}
}

// number is larger than any line or column of a file.
const number = 1 << 20

// inAnswer is how long a finding is in an answer of the API.
func inAnswer(t *testing.T, f finding.Finding) int {
	t.Helper()
	m := &prwardenv1.Finding{
		RuleId: f.RuleID, Severity: prwardenv1.Severity_critical.Enum(), State: prwardenv1.Finding_existing.Enum(),
		File: finding.Shown(f.File), Message: finding.Shown(f.Message), Snippet: finding.Shown(f.Snippet),
		Fingerprint: f.Fingerprint, LineHash: &f.LineHash, Line: number, EndLine: number,
		Column: number, EndColumn: number, Utf16Column: number, Utf16EndColumn: number,
	}
	if !utf8.ValidString(f.File) {
		m.FileBytes = []byte(f.File)
	}
	if s := f.Suppression; s != nil {
		m.Suppression = &prwardenv1.Suppression{Reason: finding.Shown(s.Reason), Until: &s.Until, Line: number}
	}

	for _, s := range f.Steps {
		m.Steps = append(m.Steps, &prwardenv1.FindingStep{
			Kind: prwardenv1.FindingStep_assignment.Enum(), Line: number, Column: number, EndColumn: number, Utf16Column: number,
			Utf16EndColumn: number, Snippet: finding.Shown(s.Snippet),
		})
	}

	text, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
	require.NoError(t, err)

	return len(text)
}

// inLog is how long one more finding makes a SARIF log.
func inLog(t *testing.T, f finding.Finding) int {
	t.Helper()
	f.Severity, f.State = rule.Critical, finding.StateExisting
	f.Line, f.EndLine, f.UTF16Column, f.UTF16EndColumn = number, number, number, number
	if s := f.Suppression; s != nil {
		f.Suppression = &finding.Suppression{Reason: s.Reason, Until: s.Until, Line: number}
	}
	for i := range f.Steps {
		s := &f.Steps[i]
		s.Kind, s.Line, s.UTF16Column, s.UTF16EndColumn = finding.StepAssignment, number, number, number
	}

	return more(t, review.Review{PreviousID: "rev_a"}, func(r *review.Review) { r.Findings = append(r.Findings, f) })
}

// more is how much longer a log is after the second of two equal additions.
func more(t *testing.T, r review.Review, add func(*review.Review)) int {
	t.Helper()
	var once, twice bytes.Buffer
	add(&r)
	require.NoError(t, sarif.Write(&once, sarif.Input{Review: r}))
	add(&r)
	require.NoError(t, sarif.Write(&twice, sarif.Input{Review: r}))
	return twice.Len() - once.Len()
}

// What is counted of a finding is no less than what any answer has of it.
func TestSizeOfAFinding(t *testing.T) {
	t.Parallel()
	base := finding.Finding{
		RuleID: "security/x", File: "a.go", Message: "m",
		Fingerprint: strings.Repeat("a", 32), LineHash: strings.Repeat("b", 16) + ":10000",
	}
	assert.Less(t, base.Size(), 1000, "what ordinary findings take leaves room for 10,000")

	for name, text := range odd() {
		long := strings.Repeat(text, 500)
		for what, f := range map[string]finding.Finding{
			"path":       {File: long},
			"message":    {Message: long},
			"snippet":    {Snippet: long},
			"all":        {File: long, Message: long, Snippet: long},
			"steps":      {File: long, Steps: slices.Repeat([]finding.Step{{Snippet: strings.Repeat(text, 200)}}, finding.MaxSteps)},
			"suppressed": {File: long, Suppression: &finding.Suppression{Reason: long, Until: "2026-01-01"}},
		} {
			f.RuleID, f.Fingerprint, f.LineHash = base.RuleID, base.Fingerprint, base.LineHash
			assert.GreaterOrEqual(t, f.Size(), inAnswer(t, f), "%s of %s, in an answer", what, name)
			assert.GreaterOrEqual(t, f.Size(), inLog(t, f), "%s of %s, in a log", what, name)
		}
	}
}

func TestSizeOfASkip(t *testing.T) {
	t.Parallel()
	for name, text := range odd() {
		s := finding.Skip{
			File: strings.Repeat(text, 500), Line: number,
			RuleID: "performance/a-rule-with-a-long-name", Reason: finding.SkipRuleStopped, Severity: rule.Critical,
		}
		line := int32(s.Line)
		m := &prwardenv1.Skip{
			File: finding.Shown(s.File), Line: &line, RuleId: &s.RuleID, Reason: prwardenv1.Skip_rule_stopped.Enum(),
			Severity: prwardenv1.Severity_critical.Enum(),
		}
		if !utf8.ValidString(s.File) {
			m.FileBytes = []byte(s.File)
		}

		answer, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
		require.NoError(t, err)

		assert.GreaterOrEqual(t, s.Size(), len(answer), "%s, in an answer", name)
		inLog := more(t, review.Review{}, func(r *review.Review) { r.Skips = append(r.Skips, s) })
		assert.GreaterOrEqual(t, s.Size(), inLog, "%s, in a log", name)
	}
}
