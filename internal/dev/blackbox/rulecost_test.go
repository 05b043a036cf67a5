package blackbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// What a rule costs is shown when it is saved, when it is read and when it is
// tried, with advice when that is much.
func TestRuleCost(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	rpc := s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, c.token))
	for name, tt := range map[string]struct {
		pattern string
		paths   map[string]any
		weak    bool
		advice  string // a part of it; "" for none
	}{
		"strong":          {`frobnicate\(`, nil, false, ""},
		"dear":            {`\d+\s`, nil, false, "or restrict the rule with paths"},
		"dear by a text":  {`\bif\b`, nil, false, `looked for by "if"`},
		"weak":            {`[a-z]+\s*$`, nil, true, "is tried everywhere"},
		"weak with paths": {`[a-z]+\s*$`, map[string]any{"include": []string{"*.go"}}, true, "that every match has."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := "cost/" + strings.ReplaceAll(name, " ", "-")
			rule := map[string]any{"id": id, "type": "regex", "pattern": tt.pattern, "message": "m", "severity": "low"}
			if tt.paths != nil {
				rule["paths"] = tt.paths
			}
			a := c.do(t, "POST", "/v1/rules", rule)
			require.Equal(t, 201, a.status, a.body)
			cost, ok := a.decode(t)["matching_cost"].(map[string]any)
			require.True(t, ok, a.body)
			assert.Equal(t, tt.weak, cost["weak"])
			if tt.advice == "" {
				assert.ElementsMatch(t, []string{"microseconds_per_mib", "weak"}, keys(cost))
				assert.InDelta(t, 1, cost["microseconds_per_mib"], 0)
			} else {
				assert.Greater(t, cost["microseconds_per_mib"], 50.0)
				assert.Contains(t, cost["advice"], tt.advice)
			}
			assert.Equal(t, a.decode(t), c.do(t, "GET", "/v1/rules/"+id, nil).decode(t))

			got, err := rpc.rules.GetRule(ctx, &prwardenv1.GetRuleRequest{Id: id})
			require.NoError(t, err)
			over := got.GetRule().GetMatchingCost()
			assert.InDelta(t, cost["microseconds_per_mib"], over.GetMicrosecondsPerMib(), 0)
			assert.Equal(t, tt.weak, over.GetWeak())
			assert.Equal(t, tt.advice == "", over.Advice == nil)
			made, err := rpc.rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{Rule: &prwardenv1.Rule{
				Id: id + "-2", Type: prwardenv1.Rule_regex.Enum(), Pattern: tt.pattern, Message: "m",
				Severity: prwardenv1.Severity_low.Enum(),
				Paths:    got.GetRule().GetPaths(),
				// the server's to say, as created_at
				MatchingCost: &prwardenv1.MatchingCost{MicrosecondsPerMib: 77, Weak: !tt.weak},
			}})
			require.NoError(t, err)
			assert.True(t, proto.Equal(over, made.GetRule().GetMatchingCost()), made)

			if tt.paths == nil { // a dry run has none
				a = c.do(t, "POST", "/v1/rules:test", map[string]any{"pattern": tt.pattern, "text": "x"})
				require.Equal(t, 200, a.status, a.body)
				assert.Equal(t, cost, a.decode(t)["matching_cost"])
				tried, err := rpc.rules.TestRule(ctx, &prwardenv1.TestRuleRequest{Pattern: tt.pattern, Text: "x"})
				require.NoError(t, err)
				assert.True(t, proto.Equal(over, tried.GetMatchingCost()), tried)
			}
		})
	}

	a := c.do(t, "GET", "/v1/rules/secrets/private-key", nil)
	require.Equal(t, 200, a.status)
	assert.Contains(t, a.decode(t), "matching_cost", "of default rules too")
	a = c.do(t, "GET", "/v1/rulesets/default/rules", nil)
	require.Equal(t, 200, a.status)
	assert.NotContains(t, a.body, "matching_cost")
}
