package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/structure"
)

// orgRule returns a rule of an organization, to be created.
func orgRule(id string) rule.Rule {
	return rule.Rule{ID: id, Type: rule.TypeRegex, Pattern: "x", Message: "No x.", Severity: rule.Warning,
		Scope: rule.ScopeOrg, Mode: rule.ModeEnforce, Confidence: rule.ConfidenceMedium}
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
			Conditions: match.Conditions{
				Entropy: &match.Entropy{Min: 2.5, Group: 1}, Checksum: "gitlab", Stopwords: []string{"a"}, Allow: []string{"b"},
			},
			Taint: rule.Taint{
				Sources: []structure.Condition{{Pattern: "s"}}, Sinks: []structure.Condition{{Pattern: "k($X)", Focus: "X"}},
				Sanitizers: []structure.Condition{{Any: []structure.Condition{{Pattern: "c"}}}},
			},
			Structure: structure.Condition{
				Any:   []structure.Condition{{Pattern: "f($X)"}},
				Not:   &structure.Condition{Has: &structure.Condition{Pattern: "<g>"}},
				Where: map[string]structure.Test{"X": {Entropy: &structure.Entropy{Min: 2.5}}}, Focus: "X",
			},
			Supersedes: []string{"other"},
			Fix:        new(""),
			Words:      map[string]string{"doesnt": "doesn't", "atleast": "at least"},
			Confidence: rule.ConfidenceHigh,
			Paths:      rule.Paths{Include: []string{"**/*.go", "a b"}, Exclude: []string{"cmd/**"}},
			Cases:      rule.Cases{Match: []string{"fmt.Print(\"x\")\n\x00\t<&>", ""}, NoMatch: []string{"log.Print()"}},
			Languages:  []string{"python", "c++"},
			In:         []rule.Place{rule.InCode, rule.InString},
			Skip:       []string{"generated", "test"},
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
	for i := range rule.MaxRulesSize/rule.MaxAllCases + 1 {
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
