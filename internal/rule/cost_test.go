package rule_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

func TestCost(t *testing.T) {
	t.Parallel()
	const (
		weak = "The pattern has no run of three or more known characters that is in every match and rare in code, " +
			"so it is tried everywhere. "
		paths   = "Add a word to the pattern that every match has, or restrict the rule with paths."
		noPaths = "Add a word to the pattern that every match has."
	)

	for name, tt := range map[string]struct {
		rule   rule.Rule
		weak   bool
		advice string
	}{
		"cheap":             {rule.Rule{Pattern: `fmt\.Print(ln|f)?\(`}, false, ""},
		"common, but cheap": {rule.Rule{Pattern: `return`}, false, ""},
		"weak":              {rule.Rule{Pattern: `[a-z]+\s*$`}, true, weak + paths},
		"weak with paths":   {rule.Rule{Pattern: `x`, Paths: rule.Paths{Include: []string{"a"}}}, true, weak + noPaths},
		"weak on files":     {rule.Rule{Pattern: `(?m)[a-z]+$`, Multiline: true}, true, weak + paths},
		"a short text": {
			rule.Rule{Pattern: `""`}, false, `The rule is looked for by "\"\"", which is short or common in code. ` + paths,
		},
		"classes": {
			rule.Rule{Pattern: `\d+\s`}, false,
			"The characters that the rule is looked for by are few or common in code. " + paths,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := tt.rule.Cost()
			require.NoError(t, err)
			assert.Equal(t, tt.weak, c.Weak)
			assert.Equal(t, tt.advice != "", c.PerMiB > rule.Costly)
			assert.Positive(t, c.PerMiB)
			assert.Equal(t, tt.advice, c.Advice)
		})
	}

	_, err := rule.Rule{Pattern: "("}.Cost()
	require.Error(t, err)
}

// The documentation shows what rules cost.
func TestDocumentedCosts(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `(.+?)` \\| .+ \\| ([0-9.,]+) \\|$").FindAllStringSubmatch(string(guide), -1)
	require.Len(t, rows, 5)

	for _, row := range rows {
		c, err := rule.Rule{Pattern: strings.ReplaceAll(row[1], `\|`, "|")}.Cost()
		require.NoError(t, err)
		micros, err := strconv.ParseFloat(strings.ReplaceAll(row[2], ",", ""), 64)
		require.NoError(t, err)
		assert.InEpsilon(t, micros, float64(c.PerMiB)/float64(time.Microsecond), 0.25, row[0])
	}

	api, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	example := regexp.MustCompile(`(?s)\n(\{"id": "trailing-blanks".*?)\n` + "```").FindStringSubmatch(string(api))
	require.NotEmpty(t, example)
	var answer struct {
		Pattern      string
		MatchingCost struct {
			MicrosecondsPerMiB int64 `json:"microseconds_per_mib"`
			Weak               bool
			Advice             string
		} `json:"matching_cost"`
	}
	require.NoError(t, json.Unmarshal([]byte(example[1]), &answer))
	c, err := rule.Rule{Pattern: answer.Pattern}.Cost()
	require.NoError(t, err)
	assert.Equal(t, c.PerMiB.Microseconds(), answer.MatchingCost.MicrosecondsPerMiB)
	assert.Equal(t, c.Weak, answer.MatchingCost.Weak)
	assert.Equal(t, c.Advice, answer.MatchingCost.Advice)
}
