package scan_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// places are "path:line rule" of findings.
func places(r *scan.Result) []string {
	list := []string{}
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.RuleID))
	}

	return list
}

func TestFindings(t *testing.T) {
	t.Parallel()
	p := &pull{files: []scan.File{
		marked("b.go", " todo\n+x todo\n"),
		marked("a.go", "+\ttodo eval(\n todo\n+\n+todo"),
		{Path: "empty"},
	}}
	got := run(t, p, regex("z/todo", "todo"), regex("eval", `eval\(`, severity(rule.High)))

	assert.Equal(t, []string{"a.go:1 custom/eval", "a.go:1 z/todo", "a.go:4 z/todo", "b.go:2 z/todo"}, places(got))
	assert.Equal(t, finding.Finding{
		RuleID: "custom/eval", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: "a.go", Line: 1, EndLine: 1, Column: 7, EndColumn: 12,
		UTF16Column: 7, UTF16EndColumn: 12, LineHash: "d81bbd1ecf0fa203:1", Message: "Do not.", Snippet: "\ttodo eval(",
		Fingerprint: got.Findings[0].Fingerprint,
	}, got.Findings[0])

	assert.Equal(t,
		finding.Summary{rule.Critical: 0, rule.High: 1, rule.Medium: 0, rule.Warning: 3, rule.Low: 0, rule.Info: 0},
		got.Summary)

	assert.Equal(t, 3, got.FilesTotal)
	assert.False(t, got.Truncated)
	assert.Empty(t, got.Skips)
	assert.True(t, got.RulesFileValid, "there is no rules file")
	assert.Equal(t, strings.Repeat("a", 40), got.HeadSHA)
	assert.Equal(t, strings.Repeat("b", 40), got.BaseSHA)
}

// All skips count for the verdict, also those that are not listed, and what was
// looked at is counted without them.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := &pull{sides: both("version: 7\n"), files: []scan.File{
		file("a", "one\ntwo\n"), marked("b", " old\n+new\n"), file("none", ""), {Path: "sub", Submodule: true},
	}}
	for i := range 5 {
		p.files = append(p.files, scan.File{Path: fmt.Sprintf("huge%d", i), Size: 1 << 40})
	}
	got, err := try(t, p, []rule.Rule{regex("x", "todo"), regex("y", "todo")}, setup{limit: 2})
	require.NoError(t, err)

	assert.Equal(t, finding.SkipCounts{
		{Reason: finding.SkipFileTooLarge}: 5, {Reason: finding.SkipSubmodule}: 1, {Reason: finding.SkipRulesFileInvalid}: 1,
	}, got.SkipCounts)
	assert.Equal(t, []finding.Skip{
		{File: rule.FilePath, Reason: finding.SkipRulesFileInvalid}, {File: "huge0", Reason: finding.SkipFileTooLarge},
	}, got.Skips)
	assert.True(t, got.Truncated)
	assert.Equal(t, finding.LookedAt{Files: 2, AddedLines: 3, Rules: 2}, got.LookedAt)
	assert.Equal(t, finding.BaseMergeRef, got.BaseFoundBy)

	got, err = try(t, p, []rule.Rule{regex("x", "todo")}, setup{ruleset: rule.RulesetCustom})
	require.NoError(t, err)
	assert.NotContains(t, got.SkipCounts, finding.SkipKind{Reason: finding.SkipRulesFileInvalid}, "which has no part in it")
}

func TestSkips(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<16)
	p := &pull{files: []scan.File{
		file("binary", "todo\x00\x01\x02\xff\xfe\x80\x90\x05"),
		file("nuls", "a\x00\x00todo\x00\x00"),
		file("nuls.py", "todo\x00\x01\x02\xff\xfe\x80\x90\x05"),
		file("binary-late", strings.Repeat("-\n", 4000)+"todo\x00"),
		{Path: "huge", Size: scan.MaxFileSize + 1},
		file("largest", strings.Repeat("x\n", 1<<19)),
		file("long", "todo\n"+long+"todo\ntodo"),
		marked("long-old", "+todo\n "+long+"\n"),
		{Path: "sub", Submodule: true},
		file("vendor/binary", "\x00"),
		{Path: "vendor/huge", Size: scan.MaxFileSize + 1},
		{Path: "vendor/sub", Submodule: true},
	}, sides: both("version: 1\nexclude: ['vendor/**']\n")}
	got := run(t, p, regex("x", "todo"))

	assert.Equal(t, []finding.Skip{
		{File: "binary", Reason: finding.SkipBinary},
		{File: "huge", Reason: finding.SkipFileTooLarge},
		{File: "nuls", Reason: finding.SkipUndecodable},
		{File: "nuls.py", Reason: finding.SkipUndecodable},
		{File: "sub", Reason: finding.SkipSubmodule},
	}, got.Skips)

	assert.Equal(t,
		[]string{"binary-late:4001 custom/x", "long:1 custom/x", "long:2 custom/x", "long:3 custom/x", "long-old:1 custom/x"},
		places(got))

	assert.Equal(t, "todo\ufffd", got.Findings[0].Snippet)
}

func TestLimit(t *testing.T) {
	t.Parallel()
	p := func() *pull {
		return &pull{
			files: []scan.File{file("a", strings.Repeat("todo fix\n", 30)), file("b", strings.Repeat("todo\n", 30))},
		}
	}

	rules := []rule.Rule{regex("fix", "fix", severity(rule.High)), regex("todo", "todo")}
	all := run(t, p(), rules...)
	require.Len(t, all.Findings, 90)

	for _, limit := range []int{1, 7, 60, 61, 90} {
		got, err := try(t, p(), rules, setup{limit: limit})
		require.NoError(t, err)
		assert.Equal(t, all.Findings[:limit], got.Findings)
		assert.Equal(t, all.Summary, got.Summary, "the summary counts all")
		assert.Equal(t, limit < 90, got.Truncated)
	}

	// Many small ones do not bury a large one.
	noise := &pull{files: []scan.File{file("a", strings.Repeat("todo\n", 30)), file("z", "fix\n")}}
	got, err := try(t, noise, rules, setup{limit: 5})
	require.NoError(t, err)
	require.Len(t, got.Findings, 5)
	assert.Equal(t, "z", got.Findings[4].File)
	assert.Equal(t, rule.High, got.Findings[4].Severity)
}

func TestSelection(t *testing.T) {
	t.Parallel()
	rules := []rule.Rule{
		regex("d/one", "one", origin(rule.OriginDefault)),
		regex("d/two", "two", origin(rule.OriginDefault)),
		regex("custom", "two"),
		regex("repo", "two", origin(rule.OriginRepository)),
		regex("d/shadowed", "one", origin(rule.OriginDefault)),
		regex("d/shadowed", "two"),
	}

	sides := both("version: 1\ndisable: [d/two]\n" +
		"rules:\n- {id: own, type: regex, pattern: two, message: m, severity: low}\n")
	digests := map[string]bool{}

	for ruleset, want := range map[string][]string{
		"":                  {"a:1 d/one", "a:2 custom/custom", "a:2 custom/own", "a:2 custom/repo", "a:2 d/shadowed"},
		rule.RulesetDefault: {"a:1 d/one", "a:1 d/shadowed"},
		rule.RulesetCustom:  {"a:2 custom/custom", "a:2 d/shadowed"},
	} {
		got, err := try(t, &pull{files: []scan.File{file("a", "one\ntwo")}, sides: sides}, rules,
			setup{ruleset: ruleset})
		require.NoError(t, err)
		assert.Equal(t, want, places(got))
		require.Len(t, got.RulesFile, 1, "whatever the ruleset")
		assert.Equal(t, "acme/api", got.RulesFile[0].Repo)
		assert.True(t, got.RulesFileValid)
		digests[got.RulesDigest] = true
	}

	assert.Len(t, digests, 3)
}

func TestRulesDigest(t *testing.T) {
	t.Parallel()
	one, two := regex("d/one", "one", origin(rule.OriginDefault)), regex("two", "two")
	digest := func(rulesFile string, rules ...rule.Rule) string {
		return run(t, &pull{sides: both(rulesFile)}, rules...).RulesDigest
	}

	plain := digest("version: 1", one, two)
	assert.Equal(t, lenient.DigestWith(rule.Digest([]rule.Rule{two, one})), plain)
	assert.Equal(t, plain, digest("version: 1\nrules: []\n# nothing", two, one))
	assert.Equal(t, digest("version: 1", two), digest("version: 1\ndisable: [d/one]", one, two),
		"what is off does not count")

	assert.NotEqual(t, plain, digest("version: 1\nexclude: [a]", one, two))
	assert.NotEqual(t, plain,
		digest("version: 1\nrules: [{id: x, type: regex, pattern: x, message: x, severity: low}]", one, two))
}

func TestFailures(t *testing.T) {
	t.Parallel()
	unreachable := &scan.Failure{Code: scan.CodeHostUnreachable, Message: "m"}
	files := []scan.File{file("a", "x"), file("b", "x")}
	slow := func(ctx context.Context) { <-ctx.Done() }

	for name, tt := range map[string]struct {
		pull pull
		code string
	}{
		"open":       {pull{openErr: unreachable}, scan.CodeHostUnreachable},
		"read":       {pull{files: files, fileErr: unreachable}, scan.CodeHostUnreachable},
		"unexpected": {pull{fileErr: errors.New("disk on fire")}, scan.CodeScanFailed},
		"too slow":   {pull{files: files, onFile: slow}, scan.CodeScanTimeout},
		"none":       {pull{files: files}, scan.OutcomeComplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outcomes []string
			options := scan.Options{Observe: func(outcome string, times scan.Times) {
				outcomes = append(outcomes, outcome)
				assert.Positive(t, times[scan.PhaseTotal])
			}}
			if name == "too slow" {
				options.Timeout = 10 * time.Millisecond
			}
			_, err := try(t, &tt.pull, nil, setup{options: options})

			assert.Equal(t, []string{tt.code}, outcomes)
			assert.Equal(t, name != "open", tt.pull.closed)
			if tt.code == scan.OutcomeComplete {
				require.NoError(t, err)
				return
			}

			var failure *scan.Failure
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, tt.code, failure.Code)
			assert.Equal(t, name == "too slow", failure.Lasting)
			assert.NotContains(t, failure.Message, "fire")
		})
	}
}

// A rule that is too slow is stopped and listed; the others go on, and so does
// the scan.
func TestRuleStopped(t *testing.T) {
	t.Parallel()
	text := "first\n" + strings.Repeat(strings.Repeat("a", 100)+"\n", 1000) + "todo\n"
	rules := []rule.Rule{regex("slow", `first|(?s)a.*z|a`, multiline), regex("todo", "todo")}
	files := []scan.File{file("1", text), file("2", text), file("3", "first\n")}
	got := run(t, &pull{files: files}, rules...)
	require.Len(t, got.Skips, 2)
	for i, skip := range got.Skips {
		assert.Equal(t, "custom/slow", skip.RuleID)
		assert.Equal(t, finding.SkipRuleStopped, skip.Reason)
		assert.Equal(t, files[i].Path, skip.File)
	}

	found := places(got)
	for _, place := range []string{"1:1002 custom/todo", "2:1002 custom/todo", "1:1 custom/slow", "2:1 custom/slow"} {
		assert.Contains(t, found, place)
	}
	assert.Contains(t, found, "3:1 custom/slow", "no file takes anything from another")

	for _, workers := range []int{1, 2, 7} {
		again, err := try(t, &pull{files: files}, rules, setup{options: scan.Options{Workers: workers}})
		require.NoError(t, err)
		assert.Equal(t, got.Result, again.Result, "whoever works beside it")
	}
}

// Files behind many others have less work, whatever the order in which they are matched.
func TestLateFilesHaveLessWork(t *testing.T) {
	t.Parallel()
	text := "first\n" + strings.Repeat("a", 200) + "\n"
	rules := []rule.Rule{regex("slow", `first|(?s)a.*z|a[a-y]*y`, multiline)}
	files := []scan.File{file("0", text)}
	for i := range rule.FullWork/scan.MaxFileSize + 1 {
		files = append(files, file(fmt.Sprintf("a%02d", i), strings.Repeat("-", scan.MaxFileSize)))
	}
	files = append(files, file("z", strings.Repeat(text, 40)), file("zz", text))

	var first *scan.Result
	for _, workers := range []int{1, 4} {
		got, err := try(t, &pull{files: files}, rules, setup{options: scan.Options{Workers: workers}})
		require.NoError(t, err)
		require.Len(t, got.Skips, 1)
		assert.Equal(t, "z", got.Skips[0].File)
		assert.Contains(t, places(got), "zz:1 custom/slow")
		if first == nil {
			first = got
		}
		assert.Equal(t, first.Result, got.Result)
	}

	// Files that are in no change have as much.
	s := scan.NewScanner(nil, scan.Options{})
	set, err := s.AddRules(t.Context(), "", rule.Digest(rules), rules)
	require.NoError(t, err)
	var skips []finding.Skip
	_, err = s.ScanFiles(t.Context(), scan.Request{Rules: set, MaxFindings: 10}, 4, func(yield func(*scan.File, error) bool) {
		for _, f := range files {
			if !yield(&f, nil) {
				return
			}
		}
	}, func(_ *scan.File, r scan.FileResult) error { skips = append(skips, r.Skips...); return nil })
	require.NoError(t, err)
	assert.Equal(t, first.Skips, skips)
}

func TestProgress(t *testing.T) {
	t.Parallel()
	p := &pull{files: []scan.File{file("a", "x"), file("b", "x"), {Path: "c"}}}
	s := scan.NewScanner(p, scan.Options{Workers: 1})
	set, err := s.AddRules(t.Context(), "", rule.Digest(nil), nil)
	require.NoError(t, err)
	var told []scan.Progress
	_, err = s.Scan(t.Context(), scan.Request{Rules: set}, func(p scan.Progress) { told = append(told, p) })
	require.NoError(t, err)
	assert.Equal(t, scan.Progress{Total: 3}, told[0])
	assert.Equal(t, scan.Progress{Done: 3, Total: 3}, told[len(told)-1])

	for i := 1; i < len(told); i++ {
		assert.Greater(t, told[i].Done, told[i-1].Done)
	}
}

// Many rules that match everywhere end at the time limit, not later and not
// with all memory used up.
func TestManyRulesThatMatchEverywhere(t *testing.T) {
	t.Parallel()
	var rules []rule.Rule

	for i := range 250 {
		rules = append(rules, regex(fmt.Sprintf("line-%d", i), "abc"),
			regex(fmt.Sprintf("file-%d", i), "(?s)[ab]", multiline, redact))
	}

	const limit = 10 * time.Second

	assert.Less(t, steady.Least(limit, func() {
		p := &pull{files: []scan.File{file("a", strings.Repeat("abc\n", 1<<18))}}
		_, err := try(t, p, rules, setup{options: scan.Options{Timeout: 300 * time.Millisecond}})
		var failure *scan.Failure
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, scan.CodeScanTimeout, failure.Code)
	}), limit)
}

// A scan below a span has spans of its phases, with counts and no texts.
func TestSpans(t *testing.T) {
	t.Parallel()
	recorded := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded))
	s := scan.NewScanner(&pull{files: []scan.File{file("secret-name.go", "todo secret-content")}}, scan.Options{})
	rules := []rule.Rule{regex("x", "todo")}
	set, err := s.AddRules(t.Context(), "", rule.Digest(rules), rules)
	require.NoError(t, err)
	ctx, parent := provider.Tracer("test").Start(t.Context(), "parent")
	_, err = s.Scan(
		ctx,
		scan.Request{Target: scan.Target{Organization: "acme", Repo: "acme/api", Number: 1}, Rules: set, MaxFindings: 10},
		func(scan.Progress) {},
	)
	require.NoError(t, err)
	parent.End()

	spans := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range recorded.Ended() {
		spans[span.Name()] = span

		for _, a := range span.Attributes() {
			assert.NotContains(t, a.Value.String(), "secret", "%s of %s", a.Key, span.Name())
		}
	}

	require.Contains(t, spans, "scan")
	assert.Equal(t, parent.SpanContext().SpanID(), spans["scan"].Parent().SpanID())
	assert.Equal(t, codes.Unset, spans["scan"].Status().Code)
	assert.Contains(t, spans["scan"].Attributes(), attribute.String("prwarden.outcome", "complete"))
	require.Contains(t, spans, "rules")
	assert.Equal(t, spans["scan"].SpanContext().SpanID(), spans["rules"].Parent().SpanID())
}

// A pull request can't use up what a critical rule may do: neither by texts that nearly
// match it, nor by text that it has to look at in vain.
func TestFillersStopNoCriticalRule(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	const begin = "-----BEGIN RSA PRIVATE KEY-----"
	base64 := strings.Repeat("MIIEpAIBAAKCAQEAx5xq0", 40)
	fill := func(text string) string { return strings.Repeat(text, scan.MaxFileSize/len(text)) }

	for name, filler := range map[string]string{
		"as it was seen":    fill(begin + "\"'\"'" + base64[:39]),
		"on lines":          fill(begin + "\n" + base64[:39] + "\n"),
		"the begin alone":   fill(begin),
		"one long gap":      (begin + fill("\"'\n "))[:scan.MaxFileSize],
		"many gaps":         fill(begin + strings.Repeat(" ", 500)),
		"other keys":        fill("AKIA" + strings.Repeat("A", 15) + "! ghp_" + strings.Repeat("x", 35) + "? "),
		"nothing but lines": fill("\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []scan.File
			for i := range rule.FullWork/scan.MaxFileSize + 2 {
				files = append(files, file(fmt.Sprintf("a/1000%02d.txt", i), filler))
			}
			files = append(files, file("z/last.pem", begin+"\n"+base64+"\n-----END RSA PRIVATE KEY-----\n"))
			got := run(t, &pull{files: files}, rules...)
			assert.Empty(t, got.Skips)
			assert.Contains(t, places(got), "z/last.pem:1 secrets/private-key")
		})
	}
}
