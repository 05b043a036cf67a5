package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// orgRule returns a rule of an organization, to be created.
func orgRule(id string) rule.Rule {
	return rule.Rule{ID: id, Type: rule.TypeRegex, Pattern: "x", Message: "No x.", Severity: rule.Warning,
		Scope: rule.ScopeOrg, Mode: rule.ModeEnforce}
}

// repoRule returns a rule of a repository, to be created.
func repoRule(id, repo string) rule.Rule {
	r := orgRule(id)
	r.Scope, r.Repo = rule.ScopeRepo, repo
	return r
}

func addRule(t *testing.T, h Harness, org string, r rule.Rule) rule.Rule {
	t.Helper()
	out, err := h.Store.CreateRule(t.Context(), org, r, 100)
	require.NoError(t, err)
	return out
}

func storedRule(t *testing.T, h Harness) {
	for i, r := range []rule.Rule{
		orgRule("no-x"),
		{
			ID: "style/no-print", Type: rule.TypeRegex, Pattern: `\bfmt\.Print(ln|f)?\("ü'\x{1F600}`,
			Message:  "Use the logger – 'really'.",
			Severity: rule.Critical, Scope: rule.ScopeRepo, Repo: repo, Multiline: true, Redact: true,
			Paths:      rule.Paths{Include: []string{"**/*.go", "a b"}, Exclude: []string{"cmd/**"}},
			Cases:      rule.Cases{Match: []string{"fmt.Print(\"x\")\n\x00\t<&>", ""}, NoMatch: []string{"log.Print()"}},
			Languages:  []string{"python", "c++"},
			References: []string{"https://cwe.mitre.org/data/definitions/532.html"},
			Disabled:   true, Mode: rule.ModeObserve,
		},
	} {
		got := addRule(t, h, acme, r)
		want := r
		want.CreatedAt, want.UpdatedAt, want.CreatedBy = h.Clock.Stored(), h.Clock.Stored(), "system"
		want.UpdatedBy, want.Etag = want.CreatedBy, r.Document().Etag()
		want.Origin = []rule.Origin{rule.OriginCustom, rule.OriginRepository}[i]
		assert.Equal(t, want, got)
		h.Clock.Advance(time.Hour)
		got, err := h.Store.GetRule(t.Context(), acme, r.FullID())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := h.Store.GetRule(t.Context(), acme, "no-x")
	wantError(t, err, errs.NotFound, errs.ReasonRuleNotFound) // not the full id

	for _, s := range rule.Severities() {
		r := orgRule("severity-" + s.String())
		r.Severity = s
		assert.Equal(t, s, addRule(t, h, acme, r).Severity)
	}
}

func changedRule(t *testing.T, h Harness) {
	before := addRule(t, h, acme, orgRule("no-x"))
	addRule(t, h, other, orgRule("no-x"))
	h.Clock.Advance(time.Hour)

	after := repoRule("no-x", repo)
	after.Pattern, after.Disabled, after.Mode = "y", true, rule.ModeObserve
	ctx := as(t, audit.Key, "key_a")
	_, err := h.Store.UpdateRule(ctx, acme, after, "another")
	wantError(t, err, errs.Aborted, errs.ReasonEtagMismatch)
	_, err = h.Store.UpdateRule(ctx, acme, orgRule("no-y"), before.Etag)
	wantError(t, err, errs.NotFound, errs.ReasonRuleNotFound)
	got, err := h.Store.UpdateRule(ctx, acme, after, before.Etag)
	require.NoError(t, err)

	want := after
	want.UpdatedBy = "key:key_a"
	want.Origin, want.Etag = rule.OriginRepository, after.Document().Etag()
	want.CreatedAt, want.CreatedBy, want.UpdatedAt = before.CreatedAt, "system", h.Clock.Stored()
	assert.Equal(t, want, got)
	stored, err := h.Store.GetRule(t.Context(), acme, "custom/no-x")
	require.NoError(t, err)
	assert.Equal(t, want, stored)
	_, err = h.Store.UpdateRule(ctx, acme, after, before.Etag)
	wantError(t, err, errs.Aborted, errs.ReasonEtagMismatch)
	foreign, err := h.Store.GetRule(t.Context(), other, "custom/no-x")
	require.NoError(t, err)
	assert.Equal(t, "x", foreign.Pattern)
}

func takenRuleID(t *testing.T, h Harness) {
	addRule(t, h, acme, orgRule("no-x"))
	addRule(t, h, acme, repoRule("style/y", repo))

	for _, r := range []rule.Rule{
		orgRule("no-x"), orgRule("custom/no-x"), repoRule("no-x", repo), repoRule("style/y", "acme/site"), orgRule("style/y"),
	} {
		_, err := h.Store.CreateRule(t.Context(), acme, r, 100)
		wantError(t, err, errs.AlreadyExists, errs.ReasonRuleExists)
		_, err = h.Store.CreateRule(t.Context(), acme, r, 2)
		wantError(t, err, errs.AlreadyExists, errs.ReasonRuleExists) // says more than the quota
	}
	addRule(t, h, other, orgRule("no-x"))
	r, err := h.Store.GetRule(t.Context(), acme, "custom/no-x")
	require.NoError(t, err)
	assert.Equal(t, "no-x", r.ID)
}

func ruleQuota(t *testing.T, h Harness) {
	const quota = 3
	add := func(r rule.Rule) error {
		_, err := h.Store.CreateRule(t.Context(), acme, r, quota)
		return err
	}
	require.NoError(t, add(orgRule("a")))
	require.NoError(t, add(repoRule("b", repo)), "both scopes count")
	require.NoError(t, add(orgRule("c")))
	require.Error(t, add(orgRule("a")), "a refused rule is not counted")

	for range 2 {
		wantError(t, add(orgRule("d")), errs.FailedPrecondition, errs.ReasonRuleQuota)
	}
	_, err := h.Store.GetRule(t.Context(), acme, "custom/d")
	wantError(t, err, errs.NotFound, errs.ReasonRuleNotFound)
	require.NoError(t, h.Store.DeleteRule(t.Context(), acme, "custom/b"))
	_, err = h.Store.GetRule(t.Context(), acme, "custom/b")
	wantError(t, err, errs.NotFound, errs.ReasonRuleNotFound)
	wantError(t, h.Store.DeleteRule(t.Context(), acme, "custom/b"), errs.NotFound, errs.ReasonRuleNotFound)
	wantError(t, h.Store.DeleteRule(t.Context(), other, "custom/a"), errs.NotFound, errs.ReasonRuleNotFound)
	require.NoError(t, add(orgRule("b")), "the id and the place are free again")
	wantError(t, add(orgRule("d")), errs.FailedPrecondition, errs.ReasonRuleQuota)
	_, err = h.Store.CreateRule(t.Context(), other, orgRule("a"), quota)
	require.NoError(t, err)
}

// Rules are read whole, so their texts are bounded in sum.
func rulesSize(t *testing.T, h Harness) {
	var b rule.Batch
	for i := range rule.MaxRulesSize / rule.MaxAllCases {
		r := orgRule(fmt.Sprintf("r%d", i))
		r.Cases.NoMatch = []string{strings.Repeat("x", rule.MaxAllCases/2), strings.Repeat("y", rule.MaxAllCases/2)}
		b.Create = append(b.Create, r)
	}
	b.Etag, b.Quota = "0", 1000
	_, err := h.Store.ApplyRules(t.Context(), acme, b)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonRuleQuota)
	b.Create = b.Create[:len(b.Create)-10]
	etag, err := h.Store.ApplyRules(t.Context(), acme, b)
	require.NoError(t, err, "nothing was changed before")

	r := b.Create[0]
	for i := range 10 {
		r.ID = fmt.Sprintf("s%d", i)
		if _, err = h.Store.CreateRule(t.Context(), acme, r, 1000); err != nil {
			break
		}
	}
	wantError(t, err, errs.FailedPrecondition, errs.ReasonRuleQuota)
	_, err = h.Store.CreateRule(t.Context(), other, r, 1000)
	require.NoError(t, err, "another organization has its own")
	_, now, err := h.Store.RuleEtags(t.Context(), acme)
	require.NoError(t, err)
	assert.NotEqual(t, etag, now)
}

func fullIDs(rules []rule.Rule) []string {
	out := []string{}
	for _, r := range rules {
		out = append(out, r.FullID())
	}

	return out
}

func listedRules(t *testing.T, h Harness) {
	for _, id := range []string{"b", "style/z", "a", "aaa/b", "custom/c"} {
		addRule(t, h, acme, orgRule(id))
	}
	addRule(t, h, acme, repoRule("b/y", repo))
	addRule(t, h, acme, repoRule("a/y", repo))
	addRule(t, h, acme, repoRule("c/y", "acme/site"))

	got, err := h.Store.ListRules(t.Context(), acme, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"aaa/b", "custom/a", "custom/b", "custom/c", "style/z"}, fullIDs(got))

	for _, r := range got {
		one, err := h.Store.GetRule(t.Context(), acme, r.FullID())
		require.NoError(t, err)
		assert.Equal(t, one, r)
	}
	for repo, want := range map[string][]string{repo: {"a/y", "b/y"}, "acme/site": {"c/y"}, "acme/none": {}} {
		got, err = h.Store.ListRules(t.Context(), acme, repo)
		require.NoError(t, err)
		assert.Equal(t, want, fullIDs(got), repo)
	}
}

func countedRules(t *testing.T, h Harness) {
	want := func(org string, orgRules int, byRepo map[string]int) {
		t.Helper()
		n, m, err := h.Store.CountRules(t.Context(), org)
		require.NoError(t, err)
		assert.Equal(t, orgRules, n)
		assert.Equal(t, byRepo, m)
	}
	want(acme, 0, map[string]int{})
	addRule(t, h, acme, orgRule("a"))
	addRule(t, h, acme, orgRule("b"))
	addRule(t, h, acme, repoRule("c", repo))
	addRule(t, h, acme, repoRule("d", "acme/site"))
	addRule(t, h, acme, repoRule("e", "acme/site"))
	want(acme, 2, map[string]int{repo: 1, "acme/site": 2})

	finish(t, h, "rev_a", finding.Result{RulesFileValid: true, RulesFile: []rule.Rule{fileRule("x"), fileRule("y"),
		fileRule("z")}})
	want(acme, 2, map[string]int{repo: 4, "acme/site": 2})
	require.NoError(t, h.Store.DeleteRule(t.Context(), acme, "custom/c"))
	want(acme, 2, map[string]int{repo: 3, "acme/site": 2})
	finish(t, h, "rev_b", finding.Result{RulesFileValid: true})
	want(acme, 2, map[string]int{"acme/site": 2})

	want(other, 0, map[string]int{})
}

func rulesApart(t *testing.T, h Harness) {
	for i, org := range []string{acme, other} {
		r := orgRule("same")
		r.Message = fmt.Sprintf("message %d", i)
		addRule(t, h, org, r)
		addRule(t, h, org, repoRule(fmt.Sprintf("only-%d", i), repo))
	}
	got, err := h.Store.GetRule(t.Context(), other, "custom/same")
	require.NoError(t, err)
	assert.Equal(t, "message 1", got.Message)
	_, err = h.Store.GetRule(t.Context(), other, "custom/only-0")
	wantError(t, err, errs.NotFound, errs.ReasonRuleNotFound)
	list, err := h.Store.ListRules(t.Context(), other, repo)
	require.NoError(t, err)
	assert.Equal(t, []string{"custom/only-1"}, fullIDs(list))
	require.NoError(t, h.Store.DeleteRule(t.Context(), other, "custom/same"))
	_, err = h.Store.GetRule(t.Context(), acme, "custom/same")
	require.NoError(t, err)
}

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
		assert.Equal(t, r.Document().Etag(), byID[r.FullID()])
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
