package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Conditions of the form are those of a rules file, and come back as they were.
func TestConditionsOfTheForm(t *testing.T) {
	t.Parallel()
	const text = `any:
  - f($X)
  - focus: A
    pattern: g($A)
not_inside: with mock($$$)
where:
  X:
    any:
      - is: string
      - not:
          has: h($$$)
`
	f := ruleForm{Type: "structure", Conditions: text, State: "on"}
	r, err := f.rule()
	require.NoError(t, err)
	assert.Equal(t, "with mock($$$)", r.GetNotInside().GetPattern())
	assert.Equal(t, "A", r.GetAny()[1].GetFocus())
	assert.Equal(t, "h($$$)", r.GetWhere()["X"].GetAny()[1].GetNot().GetHas().GetPattern())
	assert.Equal(t, text, conditionText(r))
	assert.Contains(t, f.yaml(), "type: structure")

	for want, wrong := range map[string]ruleForm{
		"can't be read":  {Type: "structure", Conditions: "a: [", State: "on"},
		"unknown field":  {Type: "structure", Conditions: "aside: x", State: "on"},
		"must not have":  {Type: "structure", Conditions: "pattern: x", State: "on"},
		"type structure": {Type: "regex", Conditions: "not: x", State: "on"},
	} {
		_, err := wrong.rule()
		assert.ErrorContains(t, err, want)
	}
}
