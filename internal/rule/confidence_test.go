package rule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

func TestConfidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		confidence rule.Confidence
		severity   rule.Severity
		wrong      string // "" for nothing
	}{
		"none":             {"", rule.Critical, ""},
		"high":             {rule.ConfidenceHigh, rule.Critical, ""},
		"medium":           {rule.ConfidenceMedium, rule.High, ""},
		"low":              {rule.ConfidenceLow, rule.Medium, ""},
		"low and critical": {rule.ConfidenceLow, rule.Critical, "low is for rules of at most severity medium"},
		"low and high":     {rule.ConfidenceLow, rule.High, "and this one is high; give it a milder severity"},
		"another word":     {"sure", rule.Low, `"sure" is not a confidence; use high, medium or low`},
		"a severity":       {"critical", rule.Low, `"critical" is not a confidence`},
	} {
		r := valid()
		r.Confidence, r.Severity = c.confidence, c.severity
		err := rule.Validate(t.Context(), r)
		if c.wrong == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, "confidence: ", name)
		assert.ErrorContains(t, err, c.wrong, name)
	}
}

// In a file it is as over the API, and medium goes without saying.
func TestConfidenceInFiles(t *testing.T) {
	t.Parallel()
	read := func(keys string) (rule.Rule, error) {
		f, err := rule.ParseFile(t.Context(),
			[]byte("version: 1\nrules:\n- {id: a, type: regex, pattern: x, message: m, "+keys+"}\n"))
		if err != nil {
			return rule.Rule{}, err
		}
		return f.Rules[0], nil
	}
	_, err := read("severity: high, confidence: low")
	assert.ErrorContains(t, err, "confidence: low is for rules of at most severity medium")
	none, err := read("severity: low")
	require.NoError(t, err)
	medium, err := read("severity: low, confidence: medium")
	require.NoError(t, err)
	low, err := read("severity: low, confidence: low")
	require.NoError(t, err)

	assert.Equal(t, rule.ConfidenceMedium, none.Sureness())
	assert.False(t, none.IsUnsure())
	assert.True(t, low.IsUnsure())
	digest := func(r rule.Rule) string { return rule.Digest([]rule.Rule{r}) }
	assert.Equal(t, digest(none), digest(medium))
	assert.NotEqual(t, digest(none), digest(low))
	assert.Equal(t, none.Document().Etag(), medium.Document().Etag())
	assert.True(t, strings.Contains(string(low.Document().JSON()), `"confidence":"low"`))
}
