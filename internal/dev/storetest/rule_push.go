package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/rule"
)

// exportedRules returns the rules of acme and their etag, as both queries have them.
func exportedRules(t *testing.T, h Harness) ([]rule.Rule, string) {
	t.Helper()
	rules, etag, err := h.Store.ExportRules(t.Context(), acme)
	require.NoError(t, err)
	byID, same, err := h.Store.RuleEtags(t.Context(), acme)
	require.NoError(t, err)
	assert.Equal(t, etag, same)
	assert.Len(t, byID, len(rules))
	for _, r := range rules {
		stored := rule.Stored{Etag: r.Document().Etag(), Size: len(r.Document().JSON())}
		assert.Equal(t, stored, byID[r.FullID()])
	}
	return rules, etag
}

func pushedRules(t *testing.T, h Harness) {
	const quota = 300
	ctx := as(t, audit.Key, "key_a")
	addRule(t, h, other, orgRule("r0000"))
	apply := func(b rule.Batch) string {
		t.Helper()
		b.Quota = quota
		etag, err := h.Store.ApplyRules(ctx, acme, b)
		require.NoError(t, err)
		return etag
	}
	export := func() ([]rule.Rule, string) { return exportedRules(t, h) }

	var pushed []rule.Rule
	for i := range 250 {
		r := orgRule(fmt.Sprintf("r%04d", i))
		if i%2 == 1 {
			r = repoRule(r.ID, repo)
		}
		pushed = append(pushed, r)
	}
	before, etag := export()
	assert.Empty(t, before)
	apply(rule.Batch{Create: pushed, Etag: etag})
	stored, etag := export()
	assert.Equal(t, rule.DocumentsOf(pushed), rule.DocumentsOf(stored))
	begun := h.Clock.Stored()

	h.Clock.Advance(time.Hour)
	changed := slices.Clone(pushed[:150])
	for i := range changed {
		changed[i].Pattern = "y"
	}
	var gone []string
	for _, r := range pushed[200:] {
		gone = append(gone, r.FullID())
	}
	last := apply(rule.Batch{Create: []rule.Rule{orgRule("new")}, Update: changed, Delete: gone, Etag: etag})
	assert.NotEqual(t, etag, last)
	stored, now := export()
	assert.Equal(t, last, now)
	want := append([]rule.Rule{orgRule("new")}, slices.Concat(changed, pushed[150:200])...)
	assert.Equal(t, rule.DocumentsOf(want), rule.DocumentsOf(stored))
	assert.Equal(t, begun, stored[1].CreatedAt)
	assert.Equal(t, h.Clock.Stored(), stored[1].UpdatedAt)
	assert.Equal(t, begun, stored[200].UpdatedAt, "it was not changed")
	some, err := h.Store.GetRules(ctx, acme, []string{"custom/new", "custom/none", "custom/r0001"})
	require.NoError(t, err)
	assert.ElementsMatch(t, []rule.Rule{stored[0], stored[2]}, some)

	_, err = h.Store.ApplyRules(ctx, acme, rule.Batch{Delete: gone[:1], Etag: etag, Quota: quota})
	wantError(t, err, errs.Aborted, errs.ReasonEtagMismatch)
	more := make([]rule.Rule, 100)
	for i := range more {
		more[i] = orgRule(fmt.Sprintf("more%d", i))
	}
	_, err = h.Store.ApplyRules(ctx, acme, rule.Batch{Create: more, Update: pushed[:1], Etag: last, Quota: quota})
	wantError(t, err, errs.FailedPrecondition, errs.ReasonRuleQuota)
	after, now := export()
	assert.Equal(t, stored, after, "all or nothing")
	assert.Equal(t, last, now)

	events := events(t, h, acme, audit.Filter{Action: audit.RulePush})
	require.Len(t, events, 2, "one for each push")
	assert.Equal(t, []audit.Field{
		{Name: "created", After: "1"}, {Name: "updated", After: "150"}, {Name: "deleted", After: "50"},
	}, events[0].Fields)
	foreign, _, err := h.Store.ExportRules(ctx, other)
	require.NoError(t, err)
	assert.Len(t, foreign, 1)
}

// Whoever changes rules may be told that another was first, and nothing else.
func rulesRace(t *testing.T, h Harness) {
	const callers, rounds = 8, 10
	addRule(t, h, acme, orgRule("no-x"))
	together(t, callers, func(ctx context.Context, caller int) error {
		for i := range rounds {
			r := orgRule("no-x")
			r.Pattern = fmt.Sprintf("x%d-%d", caller, i)
			stored, etag, err := h.Store.RuleEtags(ctx, acme)
			switch {
			case err != nil:
			case caller == 0:
				_, err = h.Store.CreateRule(ctx, acme, orgRule("no-x"), 10)
			case caller == 1:
				err = h.Store.DeleteRule(ctx, acme, r.FullID())
			case caller%2 == 0:
				_, err = h.Store.UpdateRule(ctx, acme, r, stored[r.FullID()].Etag)
			case len(stored) == 0:
				_, err = h.Store.ApplyRules(ctx, acme, rule.Batch{Create: []rule.Rule{r}, Etag: etag, Quota: 10})
			default:
				_, err = h.Store.ApplyRules(ctx, acme, rule.Batch{Update: []rule.Rule{r}, Etag: etag, Quota: 10})
			}
			switch errs.KindOf(err) {
			case errs.AlreadyExists, errs.NotFound, errs.Aborted:
			default:
				return err
			}
		}

		return nil
	})

	_, etag, err := h.Store.RuleEtags(t.Context(), acme)
	require.NoError(t, err)
	versions, err := h.Store.RuleHistory(t.Context(), acme, "custom/no-x", 0, callers*rounds)
	require.NoError(t, err)
	assert.Equal(t, etag, fmt.Sprint(len(versions)), "one for each change")
	assert.Len(t, events(t, h, acme, audit.Filter{}), len(versions))
}

func ruleHistory(t *testing.T, h Harness) {
	ctx := as(t, audit.Key, "key_a")
	history := func(org string, before int64, limit int) []rule.Version {
		versions, err := h.Store.RuleHistory(ctx, org, "custom/no-x", before, limit)
		require.NoError(t, err)
		return versions
	}
	assert.Empty(t, history(acme, 0, 10))
	first := addRule(t, h, acme, orgRule("no-x"))
	begun := h.Clock.Stored()
	addRule(t, h, acme, orgRule("other"))
	h.Clock.Advance(time.Hour)

	after := orgRule("no-x")
	after.Pattern, after.Disabled, after.Cases.Match = "y", true, []string{"y"}
	_, err := h.Store.UpdateRule(ctx, acme, after, first.Etag)
	require.NoError(t, err)
	changed := h.Clock.Stored()
	_, etag, err := h.Store.RuleEtags(ctx, acme)
	require.NoError(t, err)
	_, err = h.Store.ApplyRules(ctx, acme, rule.Batch{Update: []rule.Rule{orgRule("no-x")}, Etag: etag, Quota: 10})
	require.NoError(t, err)
	require.NoError(t, h.Store.DeleteRule(ctx, acme, "custom/no-x"))

	was, is := orgRule("no-x").Document(), after.Document()
	want := []rule.Version{
		{Seq: 5, At: changed, By: "key:key_a", Action: rule.ActionDelete},
		{Seq: 4, At: changed, By: "key:key_a", Action: rule.ActionUpdate, Rule: &was},
		{Seq: 3, At: changed, By: "key:key_a", Action: rule.ActionUpdate, Rule: &is},
		{Seq: 1, At: begun, By: "system", Action: rule.ActionCreate, Rule: &was},
	}
	assert.Equal(t, want, history(acme, 0, 10))
	assert.Equal(t, want[1:3], history(acme, 5, 2))
	assert.Empty(t, history(other, 0, 10))
}
