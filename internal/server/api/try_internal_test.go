package api

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestTheRulesOfATrialAreCheckedForAWhile(t *testing.T) {
	t.Parallel()
	rules := []rule.Rule{{ID: "a", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low}}
	h := NewRules(nil, nil, nil, true)
	require.NoError(t, h.checkTrial(t.Context(), rules, maxCheck))

	err := h.checkTrial(t.Context(), rules, 0)
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	assert.ErrorContains(t, err, "rules: take more than 0s to run their cases")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, h.checkTrial(ctx, rules, maxCheck), context.Canceled, "who called is gone")
}
