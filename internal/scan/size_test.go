package scan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// odd are texts that take more bytes in an answer than they have.
func odd() map[string]string {
	return map[string]string{
		"control": "\x01", "new line": "\n", "tab": "\t", "delete": "\x7f", "quote": `"`, "backslash": `\`, "markup": "<>&", "space": " +(",
		"line separator": "\u2028\u2029", "two bytes": "é", "three bytes": "日", "four bytes": "\U0001f41e", "replacement": "\uFFFD",
		"no UTF-8": "\xff", "no UTF-8 and text": "a\xffb\xfe", "half a character": "\xe6\x97", "plain": "x",
	}
}

// inAnswer is how long a finding is in an answer of the API.
func inAnswer(t *testing.T, f scan.Finding) int {
	t.Helper()
	const number = 1 << 20 // a file has no more lines or columns
	m := &prwardenv1.Finding{
		RuleId: f.RuleID, Severity: prwardenv1.Severity_critical.Enum(), File: review.Shown(f.Path), Message: review.Shown(f.Message),
		Snippet: review.Shown(f.Snippet), Fingerprint: f.Fingerprint, LineHash: &f.LineHash, State: prwardenv1.Finding_existing.Enum(),
		Line: number, EndLine: number, Column: number, EndColumn: number, Utf16Column: number, Utf16EndColumn: number,
	}
	if !utf8.ValidString(f.Path) {
		m.FileBytes = []byte(f.Path)
	}
	if s := f.Suppression; s != nil {
		m.Suppression = &prwardenv1.Suppression{Reason: review.Shown(s.Reason), Until: &s.Until, Line: number}
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
	require.NoError(t, err)
	return len(text)
}

// inLog is how long one more finding makes a SARIF log.
func inLog(t *testing.T, f scan.Finding) int {
	t.Helper()
	one := review.Finding{
		RuleID: f.RuleID, Severity: rule.Critical, File: f.Path, Message: f.Message, Snippet: f.Snippet, Fingerprint: f.Fingerprint,
		LineHash: f.LineHash, State: review.Existing, Line: 1 << 20, EndLine: 1 << 20, UTF16Column: 1 << 20, UTF16EndColumn: 1 << 20,
	}
	if s := f.Suppression; s != nil {
		one.Suppression = &review.Suppression{Reason: s.Reason, Until: s.Until, Line: 1 << 20}
	}
	r := review.Review{PreviousID: "rev_a"}
	return more(t, r, func(r *review.Review) { r.Findings = append(r.Findings, one) })
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
	base := scan.Finding{RuleID: "security/x", Path: "a.go", Message: "m", Fingerprint: strings.Repeat("a", 32), LineHash: strings.Repeat("b", 16) + ":10000"}
	for name, text := range odd() {
		long := strings.Repeat(text, 500)
		for what, f := range map[string]scan.Finding{
			"path": {Path: long}, "message": {Message: long}, "snippet": {Snippet: long}, "all": {Path: long, Message: long, Snippet: long},
			"suppressed": {Path: long, Suppression: &scan.Suppression{Reason: long, Until: "2026-01-01"}},
		} {
			f.RuleID, f.Fingerprint, f.LineHash = base.RuleID, base.Fingerprint, base.LineHash
			assert.GreaterOrEqual(t, f.Size(), inAnswer(t, f), "%s of %s, in an answer", what, name)
			assert.GreaterOrEqual(t, f.Size(), inLog(t, f), "%s of %s, in a log", what, name)
		}
	}
	assert.Less(t, base.Size(), 1000, "what ordinary findings take leaves room for 10,000")
}

func TestSizeOfASkip(t *testing.T) {
	t.Parallel()
	for name, text := range odd() {
		s := scan.Skip{Path: strings.Repeat(text, 500), Line: 1 << 20, RuleID: "performance/a-rule-with-a-long-name", Reason: scan.SkipRuleTimeout}
		line := int32(s.Line)
		m := &prwardenv1.Skip{File: review.Shown(s.Path), Line: &line, RuleId: &s.RuleID, Reason: prwardenv1.Skip_rule_timeout.Enum()}
		if !utf8.ValidString(s.Path) {
			m.FileBytes = []byte(s.Path)
		}
		answer, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, s.Size(), len(answer), "%s, in an answer", name)
		assert.GreaterOrEqual(t, s.Size(), more(t, review.Review{}, func(r *review.Review) {
			r.Skipped = append(r.Skipped, review.Skip{File: s.Path, Line: s.Line, RuleID: s.RuleID, Reason: s.Reason})
		}), "%s, in a log", name)
	}
}

// sizes are what the lists of a result take.
func sizes(r *scan.Result) (findings, suppressed, skips int) {
	for _, f := range r.Findings {
		findings += f.Size()
	}
	for _, f := range r.Suppressed {
		suppressed += f.Size()
	}
	for _, s := range r.Skips {
		skips += s.Size()
	}
	return findings, suppressed, skips
}

// Of findings that take too much the most severe are kept, and all are counted.
func TestSizeOfAllFindings(t *testing.T) {
	t.Parallel()
	const lines, size = 100, 1 << 20
	hostile := strings.Repeat("\x01", 3000)
	p := func() *pull {
		p := &pull{files: []scan.File{file("z", "fix\n")}}
		for i := range 3 {
			p.files = append(p.files, file(fmt.Sprintf("%s%d", hostile, i), strings.Repeat("todo\n", lines)))
		}
		return p
	}
	rules := []rule.Rule{regex("fix", "fix", severity(rule.High)), regex("todo", "todo")}
	all := run(t, p(), rules...)
	require.Len(t, all.Findings, 3*lines+1)
	require.False(t, all.Truncated)
	whole, _, _ := sizes(all)

	got, err := try(t, p(), rules, setup{request: scan.Request{MaxSize: size}})
	require.NoError(t, err)
	assert.True(t, got.Truncated)
	assert.Equal(t, all.Summary, got.Summary, "the summary counts all")
	kept := len(got.Findings) - 1
	assert.Equal(t, all.Findings[:kept], got.Findings[:kept], "the first of those that are as severe as others")
	assert.Equal(t, "z", got.Findings[kept].Path, "the most severe one")
	used, _, _ := sizes(got)
	assert.LessOrEqual(t, used, size)
	assert.Greater(t, used+got.Findings[0].Size(), size, "no more than necessary is left out")

	for _, c := range []struct {
		size      int
		truncated bool
	}{{whole, false}, {whole - 1, true}} {
		got, err := try(t, p(), rules, setup{request: scan.Request{MaxSize: c.size}})
		require.NoError(t, err)
		assert.Equal(t, c.truncated, got.Truncated)
		if !c.truncated {
			assert.Equal(t, all.Findings, got.Findings)
		}
	}
}

// Findings, suppressed ones and skips share a size, and none of them can take it
// all from the others.
func TestSizeIsShared(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for name, c := range map[string]struct {
		findings, suppressed, skips int
		cut                         [3]bool
		least                       [3]int // of size, in percent
	}{
		"all fit":             {50, 50, 50, [3]bool{}, [3]int{}},
		"too many findings":   {1000, 5, 5, [3]bool{true, false, false}, [3]int{90, 0, 0}},
		"too many suppressed": {5, 1000, 5, [3]bool{false, true, false}, [3]int{0, 90, 0}},
		"too many skips":      {5, 5, 1000, [3]bool{false, false, true}, [3]int{0, 0, 90}},
		"too many of two":     {1000, 5, 1000, [3]bool{true, false, true}, [3]int{45, 0, 40}},
		"too many of all":     {1000, 1000, 1000, [3]bool{true, true, true}, [3]int{49, 24, 24}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := strings.Repeat("\x02", 400)
			p := &pull{files: []scan.File{
				file(path+"1", strings.Repeat("todo\n", c.findings)),
				file(path+"2", strings.Repeat("todo // prwarden:ignore custom/x -- a reason\n", c.suppressed)),
			}}
			for i := range c.skips {
				p.files = append(p.files, scan.File{Path: fmt.Sprintf("%s3/%d", path, i), Submodule: true})
			}
			got, err := try(t, p, []rule.Rule{regex("x", "todo")}, setup{request: scan.Request{MaxSize: size}})
			require.NoError(t, err)
			assert.Equal(t, c.cut, [3]bool{len(got.Findings) < c.findings, len(got.Suppressed) < c.suppressed, len(got.Skips) < c.skips})
			assert.Equal(t, c.cut != [3]bool{}, got.Truncated)
			findings, suppressed, skips := sizes(got)
			assert.LessOrEqual(t, findings+suppressed+skips, size)
			for i, used := range []int{findings, suppressed, skips} {
				assert.GreaterOrEqual(t, used, size/100*c.least[i])
			}
			assert.Equal(t, c.findings, got.Summary[rule.Warning])
		})
	}
}
