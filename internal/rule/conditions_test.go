package rule_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestValidateConditions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*rule.Rule)
		want   string // field
	}{
		"none":                {func(*rule.Rule) {}, ""},
		"too much":            {func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{Min: 8.1} }, "entropy.min"},
		"below nothing":       {func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{Min: -1} }, "entropy.min"},
		"no number":           {func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{Min: math.NaN()} }, "entropy.min"},
		"a group":             {func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{Min: 1, Group: 1} }, ""},
		"no such group":       {func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{Group: 2} }, "entropy.group"},
		"a checksum":          {func(r *rule.Rule) { r.Conditions.Checksum, r.Cases.Match = "github", nil }, ""},
		"no such checksum":    {func(r *rule.Rule) { r.Conditions.Checksum = "GitHub" }, "checksum"},
		"a wrong checksum":    {func(r *rule.Rule) { r.Conditions.Checksum = "github" }, "cases.match[0]"},
		"an empty word":       {func(r *rule.Rule) { r.Conditions.Stopwords = []string{"a", " "} }, "stopwords[1]"},
		"a long word":         {func(r *rule.Rule) { r.Conditions.Stopwords = []string{strings.Repeat("a", 101)} }, "stopwords[0]"},
		"many words":          {func(r *rule.Rule) { r.Conditions.Stopwords = make([]string, 101) }, "stopwords"},
		"what is no pattern":  {func(r *rule.Rule) { r.Conditions.Allow = []string{"("} }, "allow[0]"},
		"what allows all":     {func(r *rule.Rule) { r.Conditions.Allow = []string{"a*"} }, "allow[0]"},
		"what is no id":       {func(r *rule.Rule) { r.Supersedes = []string{"A"} }, "supersedes[0]"},
		"itself":              {func(r *rule.Rule) { r.Supersedes = []string{r.FullID()} }, "supersedes[0]"},
		"a place in a line":   {func(r *rule.Rule) { r.Pattern = "a(?P<at>b)" }, "pattern"},
		"a place to mask":     {func(r *rule.Rule) { r.Pattern, r.Multiline, r.Redact = "a(?P<at>b)", true, true }, "pattern"},
		"one of whole files":  {func(r *rule.Rule) { r.Supersedes, r.Multiline = []string{"b"}, true }, "supersedes"},
		"a case of no effect": {func(r *rule.Rule) { r.Conditions.Stopwords = []string{"KEY"} }, "cases.match[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := valid()
			r.Pattern, r.Cases = "(key)", rule.Cases{Match: []string{"key"}}
			c.change(&r)
			err := rule.Validate(t.Context(), r)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var invalid *errs.Error
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, c.want, invalid.Fields[0].Field)
		})
	}
}

func TestParseConditions(t *testing.T) {
	t.Parallel()
	parse := func(fields string) ([]rule.Rule, error) {
		f, err := rule.ParseFile(t.Context(), []byte(
			"version: 1\nrules: [{id: a, type: regex, pattern: (x), message: m, severity: low, "+fields+"}]"))
		if err != nil {
			return nil, err
		}
		return f.Rules, nil
	}

	rules, err := parse("entropy: {min: 2.5, group: 1}, checksum: gitlab, stopwords: [a], allow: ['^b'], supersedes: [c]")
	require.NoError(t, err)
	assert.Equal(t, match.Conditions{
		Entropy: &match.Entropy{Min: 2.5, Group: 1}, Checksum: "gitlab", Stopwords: []string{"a"}, Allow: []string{"^b"},
	}, rules[0].Conditions)
	assert.Equal(t, []string{"c"}, rules[0].Supersedes)
	rules, err = parse("entropy: {}")
	require.NoError(t, err)
	assert.NotNil(t, rules[0].Conditions.Entropy)

	for fields, want := range map[string]string{
		"entropy: {min: much}":  "rules[0].entropy.min: must be a number",
		"entropy: {group: 0.5}": "rules[0].entropy.group: must be a whole number",
		"entropy: {least: 1}":   "unknown key",
		"entropy: 3":            "rules[0].entropy: must be a mapping",
		"entropy: {group: 2}":   "rules[0].entropy.group: must be a group",
		"stopwords: a":          "rules[0].stopwords: must be a list",
		"checksum: crc":         `rules[0].checksum: "crc" is no checksum; one of github, gitlab, grafana`,
	} {
		_, err := parse(fields)
		assert.ErrorContains(t, err, want, fields)
	}
}
