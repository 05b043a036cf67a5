package stats_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
)

// store has n rules, of which each found one less than the one before.
type store struct {
	n     int
	asked []stats.Filter
	trend stats.Trend
}

func (s *store) Trend(context.Context, string, stats.TrendFilter) (stats.Trend, error) {
	return s.trend, nil
}

func (s *store) RuleStats(_ context.Context, _ string, f stats.Filter) (rules []stats.Rule, err error) {
	s.asked = append(s.asked, f)
	for i := range s.n {
		r := stats.Rule{RuleID: fmt.Sprintf("custom/r%03d", i), Found: int64(s.n - i)}
		if (f.After == stats.Cursor{} || r.Found < f.After.Found) && len(rules) < f.Limit {
			rules = append(rules, r)
		}
	}

	return rules, nil
}

func now() time.Time { return time.Date(2026, 11, 23, 0, 30, 0, 0, time.FixedZone("CET", 3600)) }

func TestPagesAreOfTheSameDays(t *testing.T) {
	t.Parallel()
	s, clock := &store{n: 3}, now()
	service := stats.NewService(s, func() time.Time { return clock })
	first, err := service.Rules(t.Context(), "acme", stats.RulesInput{PageSize: 2})
	require.NoError(t, err)
	clock = clock.Add(24 * time.Hour)
	second, err := service.Rules(t.Context(), "acme", stats.RulesInput{PageSize: 2, PageToken: first.Next})
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-10-24", "2026-11-22"}, []string{second.Since, second.Until})
	assert.Equal(t, second.Since, s.asked[1].Since)
	assert.Len(t, second.Rules, 1)
}

func TestRulesPageByPage(t *testing.T) {
	t.Parallel()
	s := &store{n: 5}
	service := stats.NewService(s, now)
	in := stats.RulesInput{PageSize: 2, Repo: "acme/shop", RuleID: "no-eval", MinSeverity: rule.High, ByRepository: true}
	var ids []string
	for {
		p, err := service.Rules(t.Context(), "acme", in)
		require.NoError(t, err)
		for _, r := range p.Rules {
			ids = append(ids, r.RuleID)
		}
		if in.PageToken = p.Next; p.Next == "" {
			break
		}

		// A token belongs to its filters.
		other := in
		other.Repo = "acme/site"
		_, err = service.Rules(t.Context(), "acme", other)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}

	assert.Equal(t, []string{"custom/r000", "custom/r001", "custom/r002", "custom/r003", "custom/r004"}, ids)
	assert.Equal(t, stats.Filter{
		Since: "2026-10-24", Until: "2026-11-22", Repo: "acme/shop", RuleID: "custom/no-eval", MinSeverity: rule.High,
		ByRepository: true, Limit: 3,
	}, s.asked[0])
	assert.Equal(t, stats.Cursor{Found: 4, RuleID: "custom/r001"}, s.asked[1].After)
}

func TestRulesWindow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		since, until string
		from, to     string // "" where it is refused
		field        string
	}{
		"by itself":          {from: "2026-10-24", to: "2026-11-22"},
		"since":              {since: "2026-11-01", from: "2026-11-01", to: "2026-11-22"},
		"until":              {until: "2026-03-01", from: "2026-01-31", to: "2026-03-01"},
		"a day":              {since: "2026-02-28", until: "2026-02-28", from: "2026-02-28", to: "2026-02-28"},
		"the longest":        {since: "2025-10-19", from: "2025-10-19", to: "2026-11-22"},
		"too long":           {since: "2025-10-18", field: "since"},
		"backwards":          {since: "2026-02-02", until: "2026-02-01", field: "since"},
		"no day":             {since: "2026-02-30", field: "since"},
		"no day at the end":  {until: "yesterday", field: "until"},
		"after today, empty": {since: "2027-01-01", field: "since"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := stats.NewService(&store{}, now).Rules(t.Context(), "acme",
				stats.RulesInput{Since: tc.since, Until: tc.until})
			assert.Equal(t, []string{tc.from, tc.to}, []string{p.Since, p.Until})
			if tc.field == "" {
				require.NoError(t, err)
				return
			}
			var e *errs.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tc.field, e.Fields[0].Field)
		})
	}
}

func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	for _, in := range []stats.RulesInput{{PageSize: -1}, {PageSize: 1001}, {PageToken: "x"}, {PageToken: "e30"}} {
		_, err := stats.NewService(&store{}, now).Rules(t.Context(), "acme", in)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%+v", in)
	}
}

// Each list is given as `rule:fingerprint`; the severity follows from the rule.
func TestOf(t *testing.T) {
	t.Parallel()
	of := func(all ...string) (findings []finding.Finding) {
		for _, one := range all {
			f := finding.Finding{RuleID: one[:1], Fingerprint: one, File: "f", Severity: rule.High}
			if one[0] == 'b' {
				f.Severity = rule.Low
			}
			findings = append(findings, f)
		}

		return findings
	}
	result := func(reported, suppressed []finding.Finding) finding.Result {
		return finding.Result{Findings: reported, Suppressed: suppressed}
	}
	tests := map[string]struct {
		previous, current finding.Result
		want              []stats.Count
	}{
		"nothing":  {want: []stats.Count{}},
		"the same": {result(of("a1"), of("a2")), result(of("a1"), of("a2")), []stats.Count{}},
		"a first review": {finding.Result{}, result(of("b1", "a1", "a2"), of("a3")), []stats.Count{
			{RuleID: "a", Severity: rule.High, Found: 3, Suppressed: 1}, {RuleID: "b", Severity: rule.Low, Found: 1},
		}},
		"fixed":      {result(of("a1", "b1"), of("a2")), finding.Result{}, []stats.Count{{RuleID: "a", Severity: rule.High, Fixed: 1}, {RuleID: "b", Severity: rule.Low, Fixed: 1}}},
		"suppressed": {result(of("a1"), nil), result(nil, of("a1")), []stats.Count{{RuleID: "a", Severity: rule.High, Suppressed: 1}}},
		"costs": {result(of("a1"), nil), finding.Result{Findings: of("a1"), RuleCosts: []finding.RuleCost{
			{RuleID: "b", Severity: rule.Low, Work: 3 << 20},
		}}, []stats.Count{{RuleID: "b", Severity: rule.Low, Work: 3 << 20}}},
		"the suppression ended": {result(nil, of("a1")), result(of("a1"), nil), []stats.Count{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, stats.Of(tc.previous, tc.current, finding.Compare(tc.previous, tc.current)))
		})
	}
}
