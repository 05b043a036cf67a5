package publish

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

var update = flag.Bool("update", false, "write the golden files")

const headSHA = "89abcdef0123456789abcdef0123456789abcdef"

func toReview(id, org string) string { return "https://prwarden.example/" + id + "/" + org }

func pullRequestAt(head string) PullRequest {
	return PullRequest{Organization: "acme", Connection: "con_a", PullRequest: codehost.PullRequest{
		Repository: codehost.Repository{ID: "42", Name: "acme/shop"}, Number: 7, State: codehost.Open, HeadSHA: head,
	}}
}

func aFinding(n int, s rule.Severity) finding.Finding {
	return finding.Finding{
		RuleID: fmt.Sprintf("security/rule-%d", n), Severity: s, Confidence: rule.ConfidenceMedium, File: fmt.Sprintf("src/a%d.go", n), Line: n, EndLine: n,
		Column: 1, EndColumn: 4, Message: "Do not do this.", Snippet: "\teval(x)", Fingerprint: fmt.Sprintf("%032x", n),
	}
}

func completed(findings ...finding.Finding) *review.Review {
	r := &review.Review{
		ID: "rev_01", Status: review.Complete, HeadSHA: headSHA, Findings: findings, Summary: finding.NewSummary(),
		Verdict: &finding.Verdict{Threshold: rule.High},
	}
	for _, f := range findings {
		r.Summary[f.Severity]++
	}
	r.Verdict.Outcome = finding.Decide(r.Summary.AtLeast(rule.High), 0)

	return r
}

// hostile are texts of somebody who wants to be read otherwise.
func hostile() []string {
	return []string{
		"``` \n</details><script>alert(1)</script> @everyone", "`a`` b```", "<!-- prwarden:1:summary -->",
		"![x](https://evil.example/a.png) [y](javascript:x)", "/close\n/approve", "#1 !2 $3 %4 &5 ~bug GH-1 @team/x",
		"\u202egnp.exe\x00\x1b[31m", "# heading\n- list\n> quote", "\xff\xfe", "www.evil.example <img src=x>",
		"a|b|c", "***bold***_x_", strings.Repeat("`", 50), "$(x) ${y}", "fixes #12, closes owner/repo#3",
	}
}

func incomplete() *review.Review {
	r := completed()
	r.Verdict = &finding.Verdict{Outcome: finding.Incomplete, Threshold: rule.High, NotLookedAt: 2}
	r.Skips = []finding.Skip{
		{File: "big.js", Reason: finding.SkipFileTooLarge}, {File: "x.png", Reason: finding.SkipBinary, Tolerated: true},
		{File: "a.go", Line: 3, RuleID: "security/x", Reason: finding.SkipRuleStopped},
	}
	r.Exclusions = finding.Exclusions{Files: 2, By: ".prwarden/rules.yml"}
	r.SwitchedOff = []finding.SwitchedOff{{RuleID: "hygiene/todo", By: finding.ByOrganization, How: finding.HowDisable}}
	r.BaseFoundBy = finding.BaseDefaultBranch

	return r
}

// reviews are one of each kind.
func reviews() map[string]*review.Review {
	many := []finding.Finding{}
	for i := range 40 {
		many = append(many, aFinding(i+1, rule.Severity(1+i%4)))
	}
	var evil []finding.Finding
	for i, text := range hostile() {
		f := aFinding(i+1, rule.High)
		f.Message, f.Snippet, f.File = text, text, text
		evil = append(evil, f)
	}
	accepted := aFinding(2, rule.High)
	accepted.Triage = &finding.Triage{Decision: finding.Accepted, Reason: "later", By: "key:key_a"}
	aside := completed(aFinding(1, rule.Low), accepted)
	aside.Verdict.Outcome = finding.Pass
	var fixed []finding.Finding
	for i, x := range []finding.Fix{
		{StartLine: 1, EndLine: 1, Text: "\tparse(x)"}, {StartLine: 2, EndLine: 4, Text: "a\n\tb ```"}, {StartLine: 3, EndLine: 3},
		{StartLine: 3, EndLine: 4}, {StartLine: 4, EndLine: 5, Text: "c"}, {StartLine: 6, EndLine: 6, Text: "'''\n/approve"},
	} {
		f := aFinding(i+1, rule.High)
		f.Fix = &x
		fixed = append(fixed, f)
	}
	meta := aFinding(1, rule.Low)
	meta.Line, meta.EndLine = 0, 0

	return map[string]*review.Review{
		"queued":     {ID: "rev_01", Status: review.Queued},
		"failed":     {ID: "rev_01", Status: review.Failed, Failure: &review.Failure{Code: "x", Message: "No `base` @here."}},
		"canceled":   {ID: "rev_01", Status: review.Canceled},
		"nothing":    completed(),
		"harmless":   completed(aFinding(1, rule.Low), aFinding(2, rule.Medium)),
		"fail":       completed(aFinding(1, rule.Low), aFinding(2, rule.High), aFinding(3, rule.Critical)),
		"incomplete": incomplete(),
		"many":       completed(many...),
		"hostile":    completed(evil...),
		"no line":    completed(meta),
		"fixes":      completed(fixed...),

		"fixes of a line": completed(fixed...),
		"fixes of more":   completed(fixed...),
		"set aside":       aside,
	}
}

// document is all that a Desired says, for golden files.
func document(d Desired) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s\ntitle: %s\n", d.Check.Verdict, d.Check.Title)
	for _, a := range d.Annotations {
		fmt.Fprintf(&b, "annotation: %s %q:%d-%d %s: %q\n", a.Severity, a.Path, a.Line, a.EndLine, a.RuleID, a.Message)
	}
	if d.Talk != nil {
		fmt.Fprintf(&b, "summary is made: %t\n-----\n%s\n-----\n", d.Talk.MakeSummary, d.Talk.Summary)
		for _, c := range d.Talk.New {
			fmt.Fprintf(&b, "comment on %q line %d:\n-----\n%s\n-----\n", c.Path, c.Line, c.Body)
		}
	}

	return b.String()
}

func TestWantGolden(t *testing.T) {
	t.Parallel()
	how := map[string]codehost.Suggestions{
		"fixes of a line": codehost.SuggestionOfLine, "fixes of more": codehost.SuggestionOfMore,
	}
	for name, r := range reviews() {
		limits := codehost.Limits{Body: 65536, Suggestions: how[name]}
		got := document(Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, limits))
		path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), got, name)
	}
}

// Only a review that passed lets a pull request pass.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]codehost.Verdict{
		"queued": codehost.Pending, "failed": codehost.Broken, "canceled": codehost.Broken, "nothing": codehost.Success,
		"harmless": codehost.Success, "fail": codehost.Failure, "incomplete": codehost.Failure, "many": codehost.Failure,
	} {
		d := Want(pullRequestAt(headSHA), reviews()[name], policy.DefaultPublish(), toReview, codehost.Limits{})
		assert.Equal(t, want, d.Check.Verdict, name)
		assert.Equal(t, headSHA, d.Check.SHA)
	}
	r := completed()
	r.Verdict = nil
	d := Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, codehost.Limits{})
	assert.Equal(t, codehost.Failure, d.Check.Verdict)
	assert.True(t, Want(pullRequestAt(headSHA), nil, policy.DefaultPublish(), toReview, codehost.Limits{}).HideCheck)
}

func TestDefaultsKeepPeople(t *testing.T) {
	t.Parallel()
	posts := func(change func(*PullRequest, *policy.Publish)) (new int, most int, summary bool) {
		p, s := pullRequestAt(headSHA), policy.DefaultPublish()
		change(&p, &s)
		talk := Want(p, reviews()["fail"], s, toReview, codehost.Limits{}).Talk
		if talk == nil {
			return 0, 0, false
		}

		return len(talk.New), talk.Most, talk.MakeSummary
	}
	for name, test := range map[string]struct {
		change  func(*PullRequest, *policy.Publish)
		posts   int
		most    int
		summary bool
	}{
		"high and worse":         {func(*PullRequest, *policy.Publish) {}, 2, 20, true},
		"drafts":                 {func(p *PullRequest, _ *policy.Publish) { p.Draft = true }, 0, 20, false},
		"drafts, when asked for": {func(p *PullRequest, s *policy.Publish) { p.Draft, s.Drafts = true, true }, 2, 20, true},
		"forks":                  {func(p *PullRequest, _ *policy.Publish) { p.Fork = true }, 2, 5, true},
		"merged":                 {func(p *PullRequest, _ *policy.Publish) { p.State = codehost.Merged }, 0, 0, false},
		"another least severity": {func(_ *PullRequest, s *policy.Publish) { s.CommentsMin = "low" }, 3, 20, true},
		"no comments":            {func(_ *PullRequest, s *policy.Publish) { s.Comments = policy.PublishNone }, 0, 20, true},
		"no summary":             {func(_ *PullRequest, s *policy.Publish) { s.Summary = policy.PublishNone }, 2, 20, false},
	} {
		got, most, summary := posts(test.change)
		assert.Equal(t, test.posts, got, name)
		assert.Equal(t, test.most, most, name)
		assert.Equal(t, test.summary, summary, name)
	}
}

// The rules file of the base may have less said, and changes neither check nor verdict.
func TestTheRulesFileIsQuieter(t *testing.T) {
	t.Parallel()
	r := *reviews()["fail"]
	loud := Want(pullRequestAt(headSHA), &r, policy.DefaultPublish(), toReview, codehost.Limits{})
	r.Publish = rule.Publish{NoComments: true, NoSummary: true}
	quiet := Want(pullRequestAt(headSHA), &r, policy.DefaultPublish(), toReview, codehost.Limits{})
	assert.Empty(t, quiet.Talk.New)
	assert.False(t, quiet.Talk.MakeSummary)
	assert.Equal(t, loud.Check, quiet.Check)
	assert.Equal(t, loud.Annotations, quiet.Annotations)
	assert.Equal(t, loud.HideCheck, quiet.HideCheck)
}

func TestClosing(t *testing.T) {
	t.Parallel()
	closing := func(r *review.Review, x Thread) string {
		return Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, codehost.Limits{}).Talk.Closing(x)
	}
	x := Thread{Fingerprint: "f", Path: "a.go", RuleID: "security/x"}
	assert.Equal(t, "**No longer found** at `89abcdef0123`.", closing(completed(), x))

	r := completed()
	r.Suppressed = []finding.Finding{{Fingerprint: "f"}}
	assert.Contains(t, closing(r, x), "**Suppressed**")
	r = completed()
	r.Observed = []finding.Finding{{Fingerprint: "f"}}
	assert.Contains(t, closing(r, x), "**Observed only**")

	for name, skip := range map[string]finding.Skip{
		"the file":       {File: "a.go", Reason: finding.SkipFileTooLarge},
		"the rule in it": {File: "a.go", RuleID: "security/x", Reason: finding.SkipRuleStopped},
		"the rules file": {File: ".prwarden/rules.yml", Reason: finding.SkipRulesFileInvalid},
	} {
		r = completed()
		r.Skips = []finding.Skip{skip}
		assert.Empty(t, closing(r, x), "%s was not looked at", name)
	}
	r.Skips = []finding.Skip{{File: "b.go", Reason: finding.SkipBinary}, {File: "a.go", RuleID: "security/y"}}
	assert.NotEmpty(t, closing(r, x))
	assert.Empty(t, closing(r, Thread{Fingerprint: "f"}), "nobody knows where it was")
	r = completed()
	r.Truncated = true
	assert.Empty(t, closing(r, x))
}

// What somebody decided about has no comment and no annotation, which other check runs
// can't lose.
func TestSetAside(t *testing.T) {
	t.Parallel()
	d := Want(pullRequestAt(headSHA), reviews()["set aside"], policy.DefaultPublish(), toReview, codehost.Limits{})
	assert.Equal(t, codehost.Success, d.Check.Verdict)
	assert.Regexp(t, `^rev_01\.[0-9a-f]{8}$`, d.Check.ReviewID)
	assert.Len(t, d.Annotations, 1)
	assert.Empty(t, d.Talk.New)
	assert.Contains(t, d.Talk.Closing(Thread{Fingerprint: fmt.Sprintf("%032x", 2), Path: "x"}), "**Set aside** as accepted")
}

// TestHostileTexts looks at what hosts would read as more than text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		for _, s := range []string{prose(text), prose("a " + text)} {
			assert.NotContains(t, s, "\n")
			assert.NotContains(t, s, "<")
			assert.NotRegexp(t, `(^|[^\\])[\x60\[\]!*_]`, s, "only escaped")
			assert.NotRegexp(t, `[@#!$%&~]\w`, strings.NewReplacer("&lt;", "", "&gt;", "", "&amp;", "").Replace(s))
			assert.NotRegexp(t, `^[/#>+=-]`, s)
			assert.True(t, utf8.ValidString(s))
		}
		for _, s := range []string{code(text), block(text)} {
			fence := s[:len(s)-len(strings.TrimLeft(s, "`"))]
			inner := strings.TrimSuffix(strings.TrimPrefix(s, fence), fence)
			assert.NotContains(t, inner, fence, "the fence ends where we end it")
			assert.NotContains(t, strings.Trim(inner, "\n"), "\n")
			assert.NotContains(t, s, "\u202e")
			assert.NotContains(t, s, "\x1b")
		}
	}
}

// What a stranger writes can't make a marker of ours.
func TestNoMarkerIsForged(t *testing.T) {
	t.Parallel()
	d := Want(pullRequestAt(headSHA), reviews()["hostile"], policy.DefaultPublish(), toReview, codehost.Limits{Body: 65536})
	require.NotEmpty(t, d.Talk.New)
	for _, c := range d.Talk.New {
		assert.Equal(t, c.Fingerprint, codehost.FingerprintIn(c.Body))
		assert.False(t, IsClosed(c.Body))
		assert.True(t, IsClosed(closedBody(c.Fingerprint, "Gone.", c.Body)))
		assert.Equal(t, c.Fingerprint, codehost.FingerprintIn(closedBody(c.Fingerprint, "Gone.", c.Body)))
	}
	assert.True(t, codehost.IsSummary(d.Talk.Summary))
}

func TestSummaryFits(t *testing.T) {
	t.Parallel()
	for name, r := range reviews() {
		for limit := 450; limit < 3000; limit += 97 {
			d := Want(pullRequestAt(headSHA), r, policy.DefaultPublish(), toReview, codehost.Limits{Summary: limit, Body: limit})
			assert.LessOrEqual(t, utf8.RuneCountInString(d.Check.Summary), limit, name)
			if d.Talk != nil {
				assert.LessOrEqual(t, utf8.RuneCountInString(d.Talk.Summary), limit, name)
			}
		}
	}
}

func FuzzProse(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []string{prose(text), code(text)} {
			assert.True(t, utf8.ValidString(s))
			assert.NotContains(t, s, "\n")
		}
		assert.Equal(t, 2, strings.Count(block(text), "\n"))
	})
}
