package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func observe(r *rule.Rule) { r.Mode = rule.ModeObserve }

// observed returns the observed findings as places has those that are reported.
func observed(r *scan.Result) []string {
	return places(&scan.Result{Result: finding.Result{Findings: r.Observed}})
}

// none tolerates nothing.
func none(string) bool { return false }

// Findings of observed rules are as they would be otherwise, in a list of their own
// that fails nothing. What such rules match is masked all the same.
func TestObservedRules(t *testing.T) {
	t.Parallel()
	files := func() *pull {
		return &pull{files: []scan.File{
			file("a", "key = tok_a\ntodo\n// prwarden:ignore custom/note -- known until 2026-07-01\nnote\nnote\n"),
		}}
	}
	rules := func(change ...func(*rule.Rule)) []rule.Rule {
		return []rule.Rule{
			regex("todo", "todo", append(change, severity(rule.Critical))...), regex("note", "note", change...),
			regex("token", "tok_[a-z]", append(change, redact)...), regex("key", "key", severity(rule.Low)),
		}
	}

	enforced := run(t, files(), rules()...)
	got := run(t, files(), rules(observe)...)
	assert.Equal(t, []string{"a:1 custom/token", "a:2 custom/todo", "a:5 custom/note"}, observed(got))
	assert.Equal(t, []string{"a:1 custom/key"}, places(got))
	assert.Equal(t, "key = ****", got.Findings[0].Snippet)
	assert.Equal(t, enforced.Suppressed, got.Suppressed, "a comment accepts them too")
	assert.Equal(t, append(got.Findings, got.Observed...), enforced.Findings, "with the same fingerprints")
	assert.Equal(t, enforced.LookedAt, got.LookedAt)
	assert.NotEqual(t, enforced.RulesDigest, got.RulesDigest)

	assert.Equal(t, 1, got.Summary.AtLeast(rule.Info))
	got.Judge(rule.Medium, none)
	assert.Equal(t, finding.Pass, got.Verdict.Outcome)
}

// Many observed findings hide no others, and are counted for truncation.
func TestObservedHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	p := &pull{files: []scan.File{file("a", strings.Repeat("todo\n", 20)+"fix\n")}}
	got, err := try(t, p, []rule.Rule{regex("todo", "todo", observe, severity(rule.Critical)), regex("fix", "fix")},
		setup{limit: 5})
	require.NoError(t, err)
	assert.Equal(t, []string{"a:21 custom/fix"}, places(got))
	assert.Len(t, got.Observed, 5)
	assert.True(t, got.Truncated)
}

// An observed rule that was stopped leaves nothing out that could fail.
func TestObservedRuleStopped(t *testing.T) {
	t.Parallel()
	text := "first\n" + strings.Repeat(strings.Repeat("a", 100)+"\n", 1000)
	for _, change := range []func(*rule.Rule){observe, multiline} {
		got := run(t, &pull{files: []scan.File{file("1", text)}},
			regex("slow", `first|(?s)a.*z|a`, multiline, severity(rule.Critical), change))
		require.Len(t, got.Skips, 1)
		isObserved := got.Skips[0].Observed
		if isObserved {
			require.Empty(t, got.Findings)
		}
		got.Findings, got.Summary = nil, finding.NewSummary()
		got.Judge(rule.Info, none)
		assert.Equal(t, isObserved, got.Skips[0].Tolerated)
		assert.Equal(t, isObserved, got.Verdict.NotLookedAt == 0)
	}
}

// A file that is in UTF-16, or only says so, has each observed finding once.
func TestObservedInUTF16(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("\xff\xfe")
	for _, c := range "todo\ntodo\n" {
		fmt.Fprintf(&text, "%c\x00", c)
	}
	got := run(t, &pull{files: []scan.File{file("a", text.String())}}, regex("todo", "todo", observe))
	assert.Equal(t, []string{"a:1 custom/todo", "a:2 custom/todo"}, observed(got))
	assert.False(t, got.Truncated)
}
