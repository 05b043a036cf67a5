package scan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// TestSurvey compares what is hidden of lines that were surveyed with what is
// hidden of lines that were not, in files made of what the default rules must
// and must not match.
func TestSurvey(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	weak := rule.Rule{ID: "weak", Type: rule.TypeRegex, Pattern: `^[^ ]*$`, Message: "m", Severity: rule.Low, Redact: true}
	weak.Paths.Include = []string{"weak/**"}
	short := rule.Rule{ID: "short", Type: rule.TypeRegex, Pattern: `(?i)ask$`, Message: "m", Severity: rule.Low, Redact: true}
	rules = append(rules, weak, short)
	texts := []string{"", "\r", "\r\r", "tas\u212A", "a task\r", "at \"ask", strings.Repeat("task ", match.MaxLine/4)}
	for _, r := range rules {
		texts = slices.Concat(texts, r.Cases.Match, r.Cases.NoMatch)
	}
	s := NewScanner(nil, Options{})
	set, err := s.AddRules(rule.Digest(rules), rules)
	require.NoError(t, err)
	plan, err := s.plan(Request{Rules: set}, nil)
	require.NoError(t, err)
	group := plan.groups[0]
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a seed makes it repeatable
	plain, hidden := 0, 0
	for i := range 400 {
		var text strings.Builder
		for range 1 + random.IntN(10) {
			text.WriteString(texts[random.IntN(len(texts))] + "\n")
		}
		lines := match.SplitLines([]byte(text.String()))
		file := group.hits.File([]string{"a.go", "a.py", ".env", "weak/a"}[i%4])
		asked := func() *masker {
			return &masker{views: []view{{group: group, hitting: file, masking: file}}, lines: lines, out: &fileResult{}}
		}
		surveyed, other := asked(), asked()
		var list []match.LineRange
		for n := 1; n <= lines.Count(); n += 1 + random.IntN(4) {
			list = append(list, match.LineRange{First: n, Last: min(n+random.IntN(4), lines.Count())})
		}
		require.NoError(t, surveyed.survey(t.Context(), runs(list)))
		for n := 1; n <= lines.Count(); n++ {
			got, err := surveyed.line(t.Context(), n)
			require.NoError(t, err)
			want, err := other.line(t.Context(), n)
			require.NoError(t, err)
			require.Equal(t, want.hidden, got.hidden, "line %d of %q", n, text.String())
			if surveyed.isPlain(n) {
				plain++
			}
			hidden += len(want.hidden)
		}
	}
	assert.Greater(t, plain, 100, "lines that were asked for together")
	assert.Greater(t, hidden, 100)
}

func TestRuns(t *testing.T) {
	t.Parallel()
	got := runs([]match.LineRange{{First: 1, Last: 3}, {First: 2, Last: 5}, {First: 2, Last: 5}, {First: 6, Last: 6}, {First: 8, Last: 90}, {First: 9, Last: 91}, {First: 92, Last: 92}})
	assert.Equal(t, []match.LineRange{{First: 1, Last: 6}, {First: 8, Last: 90}, {First: 91, Last: 92}}, got)
	assert.Empty(t, runs(nil))
}
