package scan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func unsure(r *rule.Rule) { r.Confidence = rule.ConfidenceLow }

func counting(p policy.Policy) *policy.Policy {
	p.LowConfidence = policy.LowCounted
	return &p
}

// Findings of low confidence are apart and fail nothing, unless the policy counts them.
func TestLowConfidence(t *testing.T) {
	t.Parallel()
	const text = "key = tok_a\ntodo\n// prwarden:ignore custom/todo -- known until 2026-07-01\ntodo\n"
	rules := []rule.Rule{
		regex("todo", "todo", unsure, severity(rule.Medium)), regex("token", "tok_[a-z]", redact, unsure, severity(rule.Low)),
		regex("key", "key", severity(rule.Low)),
	}
	scanned := func(by *policy.Policy) *scan.Result {
		got, err := try(t, &pull{files: []scan.File{file("a", text)}}, rules, setup{request: scan.Request{Policy: by}})
		require.NoError(t, err)
		return got
	}

	hidden := scanned(nil)
	assert.Equal(t, []string{"a:1 custom/key"}, places(hidden))
	assert.Equal(t, []string{"a:1 custom/token", "a:2 custom/todo"}, observed(hidden))
	assert.Equal(t, "key = ****", hidden.Findings[0].Snippet, "what is hidden masks all the same")
	assert.Equal(t, rule.ConfidenceMedium, hidden.Findings[0].Confidence)
	assert.Equal(t, rule.ConfidenceLow, hidden.Observed[0].Confidence)
	assert.Equal(t, 1, hidden.Summary.AtLeast(rule.Info))
	hidden.Judge(rule.Medium, none)
	assert.Equal(t, finding.Pass, hidden.Verdict.Outcome)
	assert.Empty(t, finding.WithoutLow(hidden.Observed))

	counted := scanned(counting(lenient))
	assert.Empty(t, counted.Observed)
	assert.Equal(t, []string{"a:1 custom/key", "a:1 custom/token", "a:2 custom/todo"}, places(counted))
	assert.Equal(t, hidden.Suppressed, counted.Suppressed)
	assert.NotEqual(t, hidden.RulesDigest, counted.RulesDigest)
	counted.Judge(rule.Medium, none)
	assert.Equal(t, finding.Fail, counted.Verdict.Outcome)
}

// A rule of low confidence that was stopped leaves nothing out that could fail.
func TestLowConfidenceStopped(t *testing.T) {
	t.Parallel()
	text := "first\n" + strings.Repeat(strings.Repeat("a", 100)+"\n", 1000)
	for _, by := range []*policy.Policy{&lenient, counting(lenient)} {
		got, err := try(t, &pull{files: []scan.File{file("1", text)}},
			[]rule.Rule{regex("slow", `first|(?s)a.*z|a`, multiline, unsure, severity(rule.Medium))},
			setup{request: scan.Request{Policy: by}})
		require.NoError(t, err)
		require.Len(t, got.Skips, 1)
		got.Summary = finding.NewSummary()
		got.Judge(rule.Info, none)
		assert.Equal(t, !by.CountsLow(), got.Verdict.NotLookedAt == 0)
	}
}

// A repository can't hide what its organization has locked: it has no say about the
// confidence of rules, and a rule of low confidence of its own silences none.
func TestLowConfidenceIsNoWayRoundLocks(t *testing.T) {
	t.Parallel()
	by := lenient
	by.Locked = policy.Locked{Rules: []string{"security/eval"}, Rulesets: []string{}}
	eval := rule.Rule{
		ID: "security/eval", Type: rule.TypeRegex, Pattern: `eval\(`, Message: "No.", Severity: rule.Medium,
		Origin: rule.OriginDefault,
	}
	own := regex("own", `eval`, unsure, severity(rule.Low))
	own.Origin, own.Supersedes = rule.OriginRulesFile, []string{"security/eval"}
	base := &rule.File{Rules: []rule.Rule{own}, Overrides: []rule.Override{{ID: "security/eval", Severity: rule.Low}}}
	got, err := try(t, &pull{files: []scan.File{file("a.js", "eval(x)\n")}}, []rule.Rule{eval},
		setup{request: scan.Request{Policy: &by, File: base}})
	require.NoError(t, err)
	assert.Equal(t, []string{"a.js:1 security/eval"}, places(got))
	assert.Equal(t, rule.Medium, got.Findings[0].Severity)
	assert.Equal(t, []string{"a.js:1 custom/own"}, observed(got))

	_, err = rule.ParseFile(t.Context(),
		[]byte("version: 1\noverride:\n  security/eval: {confidence: low}\n"))
	assert.ErrorContains(t, err, `unknown key "confidence"`)
}
