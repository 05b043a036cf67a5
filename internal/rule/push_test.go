package rule_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
)

// noRules is a store of an organization without rules.
type noRules struct{ rule.Store }

func (noRules) RuleEtags(context.Context, string) (map[string]rule.Stored, string, error) {
	return nil, "0", nil
}

func rulesToPush(n int) (rules []rule.Rule) {
	for i := range n {
		rules = append(rules, rule.Rule{
			ID: fmt.Sprintf("a/r%d", i), Type: rule.TypeRegex, Pattern: "zzz9", Message: "No.", Severity: rule.Low,
		})
	}
	return rules
}

// largeRules are rules that have so many bytes as JSON together.
func largeRules(size int) []rule.Rule {
	rules := rulesToPush(size/16_000 + 1)
	for i := range rules {
		text := strings.Repeat("<", min(16_000, size)-len(rules[i].Document().JSON())-len(`,"cases":{"no_match":[""]}`))
		rules[i].Cases.NoMatch = []string{text}
		size -= len(rules[i].Document().JSON())
	}
	return rules
}

// A push of all that an organization may have is one document, and a plan knows
// the bound.
func TestTheSizeOfAllRules(t *testing.T) {
	t.Parallel()
	plan := func(rules []rule.Rule) error {
		turn := func(context.Context) (func(), error) { return func() {}, nil }
		_, err := rule.NewService(noRules{}, nil, nil).PushRules(
			t.Context(), "acme", rule.Push{Rules: rules, DryRun: true}, turn)
		return err
	}
	most := largeRules(rule.MaxRulesSize)
	require.NoError(t, plan(most))
	assert.Less(t, len(rule.CompactJSON(rule.DocumentsOf(most))), 16<<20-500)
	err := plan(largeRules(rule.MaxRulesSize + 1))
	assert.Equal(t, errs.ReasonRuleQuota, errs.ReasonOf(err), "%v", err)
}

// An etag that can be none is refused, also when nothing would be changed.
func TestAnEtagThatIsNone(t *testing.T) {
	t.Parallel()
	push := rule.Push{Etag: strings.Repeat("é", rule.MaxEtag+1)}
	_, err := rule.NewService(noRules{}, nil, nil).PushRules(t.Context(), "acme", push, nil)
	assert.ErrorContains(t, err, "etag")
	push.Etag = push.Etag[len("é"):]
	_, err = rule.NewService(noRules{}, nil, nil).PushRules(t.Context(), "acme", push, nil)
	assert.NoError(t, err)
}

// Whoever tries patterns all the time makes each turn of a push wait.
func TestAPushTakesFewTurns(t *testing.T) {
	t.Parallel()
	taken, open := 0, 0
	turn := func(context.Context) (func(), error) {
		taken++
		open++
		return func() { open-- }, nil
	}
	plan, err := rule.NewService(noRules{}, nil, nil).PushRules(
		t.Context(), "acme", rule.Push{Rules: rulesToPush(2000), DryRun: true}, turn)
	require.NoError(t, err)
	assert.Equal(t, 2000, plan.Count(rule.ActionCreate))
	assert.Less(t, taken, 1000)
	assert.Zero(t, open)
}

func TestAPushThatGetsNoTurnMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := func(ctx context.Context) (func(), error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		_, err := rule.NewService(noRules{}, nil, nil).PushRules(
			t.Context(), "acme", rule.Push{Rules: rulesToPush(1), DryRun: true}, turn)
		assert.Equal(t, errs.ReasonUnavailable, errs.ReasonOf(err), "%v", err)
	})
}
