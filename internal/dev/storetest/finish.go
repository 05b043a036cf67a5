package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// confidences are all that findings can have.
var confidences = []rule.Confidence{rule.ConfidenceHigh, rule.ConfidenceMedium, rule.ConfidenceLow}

// outcome returns an outcome with n findings and n skips.
func outcome(n int) finding.Result {
	o := finding.Result{
		HeadSHA: strings.Repeat("a1", 20), BaseSHA: strings.Repeat("b2", 20), RulesDigest: strings.Repeat("c3", 32),
		Summary: finding.Summary{rule.Critical: 0, rule.High: n, rule.Medium: 0, rule.Warning: 0, rule.Low: 0,
			rule.Info: 0},
		FilesTotal: 12,
	}
	for i := range n {
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "security/no-eval", Severity: rule.High, Confidence: confidences[i%len(confidences)],
			File: fmt.Sprintf("src/%05d.js", i), Line: i + 1, EndLine: i + 2,
			Column: 3, Message: "Don't evaluate text as code.", Snippet: "  eval(x)", Fingerprint: fmt.Sprintf("%032x", i),
			EndColumn: 7, UTF16Column: 2, UTF16EndColumn: 6, LineHash: fmt.Sprintf("%016x:1", i), State: finding.StateNew,
		})
		o.Skips = append(o.Skips, finding.Skip{File: fmt.Sprintf("img/%05d.png", i), Reason: "binary"})
	}
	o.Judge(review.DefaultFailOn, policy.Default().Tolerates)

	return o
}

// finish creates, claims and finishes a review, and reads it.
func finish(t *testing.T, h Harness, id string, o finding.Result) review.Review {
	t.Helper()
	create(t, h, acme, id)
	c := claim(t, h)
	require.Equal(t, id, c.ReviewID)
	require.NoError(t, h.Store.Finish(t.Context(), c, o))

	return get(t, h, acme, id)
}

func storedOutcome(t *testing.T, h Harness) {
	created := h.Clock.Stored()
	create(t, h, acme, "rev_a")
	h.Clock.Advance(time.Second)
	started := h.Clock.Stored()
	c := claim(t, h)
	h.Clock.Advance(time.Second)
	o := outcome(0)
	o.Truncated = true
	o.Summary = finding.Summary{}

	for i, s := range rule.Severities() {
		o.Summary[s] = 1_000_000 + i
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "custom/r", Severity: s, Confidence: rule.ConfidenceMedium, File: "f",
			Line: 1 + i, EndLine: 2 + i, Column: 1<<31 - 1,
			Message: "m", Snippet: "s", Fingerprint: "0f", EndColumn: 1<<31 - 1, UTF16Column: 1<<31 - 2,
			UTF16EndColumn: 1<<31 - 3,
			LineHash:       "0f:1", State: finding.StateNew, Steps: []finding.Step{
				{Kind: finding.StepSource, Line: 1, Column: 2, EndColumn: 3, UTF16Column: 4, UTF16EndColumn: 5, Snippet: "é🙂\\"},
				{Kind: finding.StepSink, Line: 1<<31 - 1},
			},
			Fix: &finding.Fix{StartLine: 1, EndLine: 1<<31 - 1, Text: "é🙂\\\n\t"},
		})
	}
	o.Skips = []finding.Skip{
		{File: "a", Reason: "binary", Tolerated: true},
		{File: "b", Line: 7, Reason: "rules_file_invalid"},
		{File: "c", RuleID: "custom/r", Reason: "rule_stopped", Severity: rule.Critical},
	}
	o.Exclusions = finding.Exclusions{Files: 12, By: rule.FilePath}
	o.Publish = rule.Publish{NoSummary: true, CommentsMin: rule.Critical, CommentsMax: new(int)}
	o.SwitchedOff = []finding.SwitchedOff{
		{RuleID: "a/b", By: finding.ByOrganization, How: finding.HowDisable},
		{RuleID: "c/d", By: finding.ByRepository, How: finding.HowOverride},
		{RuleID: "e/f", By: finding.ByRepository, How: finding.HowExclude},
	}
	o.Verdict = finding.Verdict{Outcome: finding.Incomplete, Threshold: rule.High, NotLookedAt: 7_000_000}
	o.HeadTitle, o.HeadAuthor = "Grüße 🙂", "Ann"
	o.BaseFoundBy, o.LookedAt = finding.BaseMergeCommit, finding.LookedAt{
		Files: 1, AddedLines: 1<<31 - 1, Rules: 3, Generated: 4, Minified: 5, Vendored: 6,
	}
	require.NoError(t, h.Store.Finish(t.Context(), c, o))

	want := review.Review{
		ID: "rev_a", Organization: acme, Repo: repo, PRNumber: 7, Ruleset: repo, Status: review.Complete,
		HeadSHA: o.HeadSHA, BaseSHA: o.BaseSHA, RulesDigest: o.RulesDigest,
		CreatedAt: created, StartedAt: started, CompletedAt: h.Clock.Stored(),
		Findings: o.Findings, Summary: o.Summary, Skips: o.Skips, Truncated: true, Attempt: 1,
		Progress: review.Progress{FilesDone: 12, FilesTotal: 12}, FailOn: rule.High, Verdict: &o.Verdict,
		BaseFoundBy: o.BaseFoundBy, LookedAt: o.LookedAt, Priority: review.Normal,
		Exclusions: o.Exclusions, SwitchedOff: o.SwitchedOff, Publish: o.Publish,
		HeadTitle: o.HeadTitle, HeadAuthor: o.HeadAuthor, Open: o.Summary, NewTotal: len(o.Findings),
	}
	assert.Equal(t, want, get(t, h, acme, "rev_a"))

	want.Findings, want.Skips = nil, nil
	assert.Equal(t, want, state(t, h, acme, "rev_a"))
	assert.Equal(t, []review.Review{want}, list(t, h, acme, review.Filter{Limit: 1}))
}

func anyBytes(t *testing.T, h Harness) {
	odd := []string{
		"caf\xe9.txt", "\xff\xfe", "nul\x00inside", "new\nline", `back\slash"quote'`,
		"ünïcode 🙂", " space ", "\u202eright",
		"%s ? $1 :name", strings.Repeat("\xf0\x9f", 2_000),
	}
	var o finding.Result
	for i, s := range odd {
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "custom/r", Severity: rule.Info, Confidence: rule.ConfidenceMedium, File: s,
			Line: i + 1, EndLine: i + 1, Column: 1,
			Message: s, Snippet: s, Fingerprint: "00", State: finding.StateNew,
		})
		o.Skips = append(o.Skips, finding.Skip{File: s, Reason: "binary"})
	}
	r := finish(t, h, "rev_a", o)
	assert.Equal(t, o.Findings, r.Findings)
	assert.Equal(t, o.Skips, r.Skips)

	o.Findings = []finding.Finding{{
		RuleID: "custom/r", Severity: rule.Info, Confidence: rule.ConfidenceMedium, File: "", Line: 1,
		State: finding.StateNew,
	}}
	assert.Equal(t, o.Findings, finish(t, h, "rev_b", o).Findings, "empty texts")
	r = finish(t, h, "rev_c", finding.Result{})
	assert.Equal(t, review.Complete, r.Status)
	assert.Empty(t, r.Skips)
	assert.Empty(t, r.Summary)
}

// refusedOutcome gives an outcome whose last finding can't be stored: all of
// it must be undone, or the review would be complete without its findings.
func refusedOutcome(t *testing.T, h Harness) {
	create(t, h, acme, "rev_a")
	c := claim(t, h)
	o := outcome(500)
	o.Findings[499].Severity = 0
	o.RulesFileValid, o.RulesFile = true, []rule.Rule{fileRule("no-print")}
	require.Error(t, h.Store.Finish(t.Context(), c, o))

	r := get(t, h, acme, "rev_a")
	assert.Equal(t, review.InProgress, r.Status)
	assert.Empty(t, r.Findings)
	assert.Empty(t, r.HeadSHA)
	assert.Zero(t, load(t, h, acme, repo).Overall)
	require.NoError(t, h.Store.Finish(t.Context(), c, outcome(500)), "the claim still holds")
}

func fileRule(id string) rule.Rule {
	return rule.Rule{
		ID: id, Type: rule.TypeRegex, Pattern: `fmt\.Print(ln|f)?\(`, Message: "Use the logger.", Severity: rule.Warning,
		Scope: rule.ScopeRepo, Repo: repo, Paths: rule.Paths{Include: []string{"**/*.go"}, Exclude: []string{"cmd/**"}},
		Multiline: true, Redact: true, Cases: rule.Cases{Match: []string{`fmt.Println("x")`},
			NoMatch: []string{"log\n\tü<&>"}},
		References: []string{"https://go.dev/"}, Languages: []string{"go"},
		In: []rule.Place{rule.InComment}, Skip: []string{"test"},
		Origin: rule.OriginRulesFile,
	}
}

func rulesFile(t *testing.T, h Harness) {
	want := func(org, repo string, rules ...rule.Rule) {
		t.Helper()
		got, err := h.Store.RulesFileRules(t.Context(), org, repo)
		require.NoError(t, err)
		assert.ElementsMatch(t, rules, got)
	}
	want(acme, repo)
	two := []rule.Rule{fileRule("no-print"), fileRule("style/tabs")}
	finish(t, h, "rev_1", finding.Result{RulesFileValid: true, RulesFile: two})
	want(acme, repo, two...)
	want(other, repo)
	want(acme, "acme/site")

	finish(t, h, "rev_2", finding.Result{RulesFile: []rule.Rule{fileRule("ignored")}})
	want(acme, repo, two...) // an invalid file leaves what was known

	finish(t, h, "rev_3", finding.Result{RulesFileValid: true, RulesFile: two[:1]})
	want(acme, repo, two[0])

	create(t, h, acme, "rev_4")
	require.NoError(t, h.Store.Fail(t.Context(), claim(t, h), review.Failure{Code: "x", Message: "y"}))
	want(acme, repo, two[0])

	finish(t, h, "rev_5", finding.Result{RulesFileValid: true})
	want(acme, repo) // the file is gone
}
