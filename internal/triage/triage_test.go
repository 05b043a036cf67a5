package triage_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
)

var now = time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)

// world is all that a service knows, of one repository.
type world struct {
	policy   policy.Policy
	rules    []rule.Rule
	own      []rule.Rule
	findings []finding.Finding

	set     []triage.Change
	ruleIDs map[string]string
	listed  triage.Filter
	list    []triage.Decided
}

func (w *world) Latest(context.Context, string, string, int32, []string) ([]finding.Finding, error) {
	return w.findings, nil
}

func (w *world) SetTriage(_ context.Context, _ string, c triage.Change, findings map[string]finding.Finding) (int, error) {
	w.set, w.ruleIDs = append(w.set, c), map[string]string{}
	for fingerprint, f := range findings {
		w.ruleIDs[fingerprint] = f.RuleID
	}
	if c.Reason == "as before" {
		return 0, nil
	}

	return len(c.Fingerprints), nil
}

func (w *world) UndoTriage(context.Context, string, string) (int, error) { return 3, nil }

func (w *world) ListTriage(_ context.Context, _ string, f triage.Filter) ([]triage.Decided, error) {
	w.listed = f

	return w.list[:min(len(w.list), f.Limit)], nil
}

func (w *world) Now() time.Time { return now }

func (w *world) RulesFor(context.Context, string, string) (rule.Set, error) {
	return rule.Set{Rules: w.rules}, nil
}

func (w *world) FileRules(context.Context, string, string) ([]rule.Rule, error) { return w.own, nil }

func (w *world) Policy(context.Context, string) (policy.Policy, error) { return w.policy, nil }

func newWorld() (*world, *triage.Service) {
	w := &world{
		policy: policy.Default(),
		rules: []rule.Rule{
			{ID: "security/eval", Severity: rule.High, Origin: rule.OriginDefault},
			{ID: "security/worse", Severity: rule.Critical, Origin: rule.OriginDefault},
			{ID: "secrets/key", Severity: rule.High, Origin: rule.OriginDefault, Redact: true},
			{ID: "own", Severity: rule.Low, Origin: rule.OriginCustom, Redact: true},
		},
		own: []rule.Rule{
			{ID: "style/x", Severity: rule.Low, Origin: rule.OriginRulesFile},
			{ID: "security/worse", Severity: rule.Low, Origin: rule.OriginRulesFile},
		},
	}
	for fingerprint, id := range map[string]string{
		"0a": "security/eval", "0b": "security/worse", "0c": "secrets/key", "0d": "custom/own", "0e": "style/x",
		"0f": "custom/gone", "1a": rule.MetaRulesFileChanged,
	} {
		w.findings = append(w.findings, finding.Finding{RuleID: id, Fingerprint: fingerprint, Severity: rule.Low})
	}

	return w, triage.NewService(w, w, w)
}

// good is a change that the default policy allows.
func good(fingerprints ...string) triage.Change {
	return triage.Change{
		Repo: "acme/shop", PRNumber: 7, Fingerprints: fingerprints, Decision: finding.Accepted, Reason: "checked",
		Until: "2026-12-31",
	}
}

// only leaves a world with the findings of a change, as a store answers.
func (w *world) only(c triage.Change) {
	var found []finding.Finding
	for _, f := range w.findings {
		if strings.Contains(strings.Join(c.Fingerprints, " "), f.Fingerprint) {
			found = append(found, f)
		}
	}
	w.findings = found
}

func TestSet(t *testing.T) {
	t.Parallel()
	w, s := newWorld()
	c := good("0a", "0e", "1a")
	w.only(c)
	id, n, err := s.Set(t.Context(), "acme", c)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	assert.Regexp(t, `^trg_[0-9a-z]{26}$`, id)
	c.ID = id
	assert.Equal(t, []triage.Change{c}, w.set)
	assert.Equal(t, map[string]string{"0a": "security/eval", "0e": "style/x", "1a": rule.MetaRulesFileChanged}, w.ruleIDs)

	c = good("0a")
	c.Reason = "as before"
	id, n, err = s.Set(t.Context(), "acme", c)
	require.NoError(t, err)
	assert.Empty(t, id, "nothing can be undone")
	assert.Zero(t, n)

	c = triage.Change{Repo: "acme/shop", Fingerprints: []string{"ff"}, Decision: finding.Open}
	_, n, err = s.Set(t.Context(), "acme", c)
	require.NoError(t, err, "what is taken back need not be there any more")
	assert.Equal(t, 1, n)
}

func TestSetAsksThePolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*policy.Policy)
		of     string
		made   func(*triage.Change)
		want   string // "" when it may be
	}{
		"a finding":                    {of: "0a"},
		"a severe one":                 {of: "0b", want: "security/worse is critical"},
		"a secret":                     {of: "0c", want: "finds secrets"},
		"a rule that is hidden":        {of: "0d", want: "custom/own finds secrets"},
		"of the repository's own file": {of: "0e"},
		"of a rule that is gone":       {of: "0f", want: "no rule custom/gone any more"},
		"about the rules file":         {of: "1a"},
		"secrets are allowed":          {of: "0c", change: func(p *policy.Policy) { p.Suppression.Secrets = true }},
		"also of no rule":              {of: "0f", change: func(p *policy.Policy) { p.Suppression.Secrets = true }},
		"nobody may": {
			of: "0a", change: func(p *policy.Policy) { p.Suppression.Allowed = false }, want: "allows nobody",
		},
		"locked": {
			of: "0a", change: func(p *policy.Policy) { p.Locked.Rules = []string{"security/*"} }, want: "has locked",
		},
		"made more severe": {
			of: "0a", change: func(p *policy.Policy) {
				p.Override = map[string]policy.Override{"security/eval": {Severity: "critical"}}
			}, want: "security/eval is critical",
		},
		"no end":          {of: "0a", made: func(c *triage.Change) { c.Until = "" }, want: "it has no end, which is required here."},
		"an end far away": {of: "0a", made: func(c *triage.Change) { c.Until = "2028-01-01" }, want: "more than 366 days"},
		"no end is fine": {
			of: "0a", made: func(c *triage.Change) { c.Until = "" },
			change: func(p *policy.Policy) { p.Suppression.RequireEnd = false },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld()
			change := good(c.of)
			w.only(change)
			if c.change != nil {
				c.change(&w.policy)
			}
			if c.made != nil {
				c.made(&change)
			}
			_, _, err := s.Set(t.Context(), "acme", change)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, errs.PermissionDenied, errs.KindOf(err))
			assert.Equal(t, errs.ReasonTriageNotAllowed, errs.ReasonOf(err))
			assert.ErrorContains(t, err, c.want)
			assert.Empty(t, w.set)
		})
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	w, s := newWorld()
	w.findings = nil
	_, _, err := s.Set(t.Context(), "acme", good("0a"))
	assert.Equal(t, errs.ReasonFindingNotFound, errs.ReasonOf(err))

	for field, change := range map[string]func(*triage.Change){
		"repo":            func(c *triage.Change) { c.Repo = "x" },
		"pr_number":       func(c *triage.Change) { c.PRNumber = -1 },
		"fingerprints":    func(c *triage.Change) { c.Fingerprints = nil },
		"fingerprints[0]": func(c *triage.Change) { c.Fingerprints = []string{"zz"} },
		"fingerprints[1]": func(c *triage.Change) { c.Fingerprints = []string{"0a", "0a"} },
		"decision":        func(c *triage.Change) { c.Decision = "maybe" },
		"reason":          func(c *triage.Change) { c.Reason = " \n" },
		"until":           func(c *triage.Change) { c.Until = "2026-11-19" },
	} {
		c := good("0a")
		change(&c)
		_, _, err := s.Set(t.Context(), "acme", c)
		var e *errs.Error
		require.ErrorAs(t, err, &e, field)
		require.Len(t, e.Fields, 1, field)
		assert.Equal(t, field, e.Fields[0].Field)
	}
	for _, change := range []func(*triage.Change){
		func(c *triage.Change) { c.Reason = strings.Repeat("ü", triage.MaxReason+1) },
		func(c *triage.Change) { c.Reason = "a\x00" },
		func(c *triage.Change) { c.Reason = "a\xff" },
		func(c *triage.Change) { c.Until = "2026-13-01" },
		func(c *triage.Change) { c.Decision = finding.Open },
	} {
		c := good("0a")
		change(&c)
		_, _, err := s.Set(t.Context(), "acme", c)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%v", c)
	}
	assert.Empty(t, w.set)

	c := good("0a")
	c.Until, c.Reason = "2026-11-20", strings.Repeat("ü", triage.MaxReason)
	_, _, err = s.Set(t.Context(), "acme", c)
	assert.Equal(t, errs.NotFound, errs.KindOf(err), "today and 1,000 characters are fine")
}

func TestList(t *testing.T) {
	t.Parallel()
	w, s := newWorld()
	for _, f := range []string{"0a", "0b", "0c"} {
		w.list = append(w.list, triage.Decided{Fingerprint: f, ChangeID: "trg_a", Triage: finding.Triage{At: now}})
	}
	in := triage.ListInput{
		Repo: "acme/shop", Decision: finding.Accepted, RuleID: "own", ExpiringBefore: "2027-01-01", PageSize: 2,
	}
	list, next, err := s.List(t.Context(), "acme", in)
	require.NoError(t, err)
	assert.Len(t, list, 2)
	require.NotEmpty(t, next)
	assert.Equal(t, triage.Filter{
		Repo: "acme/shop", Decision: finding.Accepted, RuleID: "custom/own", ExpiringBefore: "2027-01-01", Limit: 3,
	}, w.listed)

	in.PageToken = next
	_, _, err = s.List(t.Context(), "acme", in)
	require.NoError(t, err)
	assert.Equal(t, list[1].Cursor(), w.listed.After)
	in.Repo = "acme/else"
	_, _, err = s.List(t.Context(), "acme", in)
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), "the token is of other filters")
	_, _, err = s.List(t.Context(), "acme", triage.ListInput{ExpiringBefore: "2027-02-30"})
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, _, err = s.List(t.Context(), "acme", triage.ListInput{PageSize: triage.MaxPageSize + 1})
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}
