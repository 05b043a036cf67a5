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
		"can't be read":                {Type: "structure", Conditions: "a: ["},
		`"aside" is none of those`:     {Type: "structure", Conditions: "aside: x"},
		`"pattern" is none of those`:   {Type: "structure", Conditions: "pattern: x"},
		"of type regex, which are in,": {Type: "regex", Conditions: "not: x"},
		"more than one YAML":           {Type: "regex", Conditions: "in: [code]\n---\nin: [string]"},
		"can't be read: proto":         {Type: "regex", Conditions: "in: {}"},
	} {
		_, err := wrong.rule()
		assert.ErrorContains(t, err, want)
	}
}

// Each type of rules has its own details in the form.
func TestDetailsOfEachType(t *testing.T) {
	t.Parallel()
	for kind, text := range map[string]string{
		"regex": `allow:
  - ^a
checksum: github
entropy:
  group: 1
  min: 2.5
in:
  - code
stopwords:
  - example
supersedes:
  - b
`,
		"taint": `sanitizers:
  - clean($$$)
sinks:
  - focus: Q
    pattern: db.query($Q)
sources:
  - request.args
`,
		"spelling": `words:
  not: knot
  pattern: patterns
`,
	} {
		f := ruleForm{Type: kind, Conditions: text, State: "on"}
		r, err := f.rule()
		require.NoError(t, err, kind)
		assert.Equal(t, kind, r.GetType().String())
		assert.Equal(t, text, conditionText(r))
		assert.Equal(t, text, formOf(r).Conditions)
	}
}
