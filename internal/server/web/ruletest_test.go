package web

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	hit := func(line, column, endLine, endColumn int32) *prwardenv1.TestRuleResponse_Hit {
		return &prwardenv1.TestRuleResponse_Hit{Line: line, Column: column, EndLine: endLine, EndColumn: endColumn}
	}
	for name, c := range map[string]struct {
		text string
		hits []*prwardenv1.TestRuleResponse_Hit
		want []piece
	}{
		"no hit": {"a\nb\n", nil, []piece{{"a\nb\n", false}}},
		"two lines": {"a x\nx\n", []*prwardenv1.TestRuleResponse_Hit{hit(1, 3, 1, 4), hit(2, 1, 2, 2)}, []piece{
			{"a ", false}, {"x", true}, {"\n", false}, {"x", true}, {"\n", false},
		}},
		"many bytes": {"äö x", []*prwardenv1.TestRuleResponse_Hit{hit(1, 3, 1, 5)}, []piece{
			{"ä", false}, {"ö", true}, {" x", false},
		}},
		"over lines": {"ab\ncd", []*prwardenv1.TestRuleResponse_Hit{hit(1, 2, 2, 2)}, []piece{
			{"a", false}, {"b\nc", true}, {"d", false},
		}},
		"overlap": {"abc", []*prwardenv1.TestRuleResponse_Hit{hit(1, 1, 1, 3), hit(1, 2, 1, 4)}, []piece{
			{"ab", true}, {"c", false},
		}},
		"outside": {"ab", []*prwardenv1.TestRuleResponse_Hit{hit(7, 2, 9, 9)}, []piece{{"a", false}, {"b", true}}},
		"empty":   {"", nil, nil},
	} {
		assert.Equal(t, c.want, pieces(c.text, c.hits), name)
	}
}

// Every part of a rule is in the rules file that the editor shows.
func TestRuleYAML(t *testing.T) {
	t.Parallel()
	f := ruleForm{
		ID: "no-print", Pattern: `fmt\.Print(ln|f)?\(`, Message: "Use the logger: it's 'better'.", Severity: "high",
		Mode: "observe", Languages: "go, c++", Include: "cmd/**\n", References: "https://example.com/",
		Match: []string{"fmt.Print(1)\n\tx"}, State: "off",
	}
	text := f.yaml()
	assert.Equal(t, `version: 1
rules:
  - id: no-print
    type: regex
    pattern: fmt\.Print(ln|f)?\(
    message: 'Use the logger: it''s ''better''.'
    severity: high
    paths:
      include:
        - cmd/**
    cases:
      match:
        - |-
          fmt.Print(1)
          	x
    references:
      - https://example.com/
    languages:
      - go
      - c++
    enabled: false
    mode: observe
`, text)

	var back prwardenv1.BatchRulesRequest
	require.NoError(t, fromYAML(text, &back))
	assert.Equal(t, f.Match, back.GetRules()[0].GetCases().GetMatch())

	odd := "a\u202eb\\ \"c\" \u2066 \x1b\nd"
	text, err := toYAML(&prwardenv1.BatchRulesRequest{Rules: []*prwardenv1.Rule{{Message: odd}}})
	require.NoError(t, err)
	assert.False(t, strings.ContainsFunc(text, hidden), text)
	require.NoError(t, fromYAML(text, &back))
	assert.Equal(t, odd, back.GetRules()[0].GetMessage())
	require.ErrorContains(t, fromYAML("version: 1\nrule: 2\n", &back), `unknown field "rule"`)
	require.ErrorContains(t, fromYAML("version: [1\n", &back), "line 1")
}
