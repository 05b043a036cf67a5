package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// named returns findings with these fingerprints, in files of the same names.
func named(names ...string) []finding.Finding {
	out := make([]finding.Finding, 0, len(names))
	for i, name := range names {
		out = append(out, finding.Finding{
			RuleID: "security/no-eval", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: name,
			Line: i + 1, EndLine: i + 1, Column: 1, EndColumn: 5,
			UTF16Column: 1, UTF16EndColumn: 5, Message: "m", Snippet: "s", Fingerprint: name, LineHash: name + ":1",
		})
	}

	return out
}

// by returns findings as a comment suppresses them.
func by(s finding.Suppression, findings []finding.Finding) []finding.Finding {
	for i := range findings {
		findings[i].Suppression = &s
	}

	return findings
}

func found(findings ...finding.Finding) finding.Result {
	return finding.Result{Findings: findings, Summary: finding.Summary{rule.High: len(findings)}}
}

// states returns `fingerprint state` of each finding.
func states(findings []finding.Finding) []string {
	out := make([]string, 0, len(findings))
	for _, f := range findings {
		out = append(out, f.Fingerprint+" "+string(f.State))
	}

	return out
}

// What is new, existing or fixed is finding.Compare's; here it is stored.
func comparedStates(t *testing.T, h Harness) {
	until := finding.Suppression{Reason: "caf\xe9 \x00 ok", Until: "2027-01-31", Line: 3}
	o := found(named("a", "b", "c", "d")...)
	o.Suppressed = by(until, named("s", "u"))
	o.Observed = named("o", "p")
	first := finish(t, h, "rev_1", o)
	assert.Equal(t, []string{"a new", "b new", "c new", "d new"}, states(first.Findings))
	assert.Equal(t, []string{"s new", "u new"}, states(first.Suppressed))
	assert.Equal(t, []string{"o new", "p new"}, states(first.Observed))
	assert.Equal(t, &until, first.Suppressed[0].Suppression)
	assert.Nil(t, first.Findings[0].Suppression)
	assert.Empty(t, first.Fixed)
	assert.Empty(t, first.PreviousID)

	h.Clock.Advance(time.Second)
	o = found(named("a", "u", "e")...)
	o.Suppressed = by(finding.Suppression{Line: 1}, named("c", "s", "x"))
	o.Observed = named("o", "q")
	second := finish(t, h, "rev_2", o)
	assert.Equal(t, "rev_1", second.PreviousID)
	assert.Equal(t, []string{"a existing", "u new", "e new"}, states(second.Findings))
	assert.Equal(t, []string{"c existing", "s existing", "x new"}, states(second.Suppressed))
	assert.Equal(t, []string{"o existing", "q new"}, states(second.Observed))
	assert.Equal(t, []string{"b fixed", "d fixed"}, states(second.Fixed))
	want := first.Findings[1]
	want.State = finding.StateFixed
	assert.Equal(t, want, second.Fixed[0], "as it was there")

	h.Clock.Advance(time.Second)
	o = found(named("b", "e")...)
	o.Skips = []finding.Skip{{File: "u", Reason: "binary"}}
	third := finish(t, h, "rev_3", o)
	assert.Equal(t, []string{"b new", "e existing"}, states(third.Findings), "only the last one counts")
	assert.Equal(t, []string{"a fixed"}, states(third.Fixed))
}

func previousReview(t *testing.T, h Harness) {
	end := func(id string, change func(*review.NewReview), o *finding.Result) {
		t.Helper()
		n := newReview(acme, id)
		change(&n)
		accept(t, h, n)
		h.Clock.Advance(time.Second)
		c := claim(t, h)
		require.Equal(t, id, c.ReviewID)
		if o == nil {
			require.NoError(t, h.Store.Fail(t.Context(), c, review.Failure{Code: "x", Message: "y"}))
			return
		}
		require.NoError(t, h.Store.Finish(t.Context(), c, *o))
	}
	a, b := found(named("a")...), found(named("b")...)
	same := func(*review.NewReview) {}
	end("rev_first", same, &a)
	end("rev_another_number", func(n *review.NewReview) { n.PRNumber = 8 }, &b)
	end("rev_another_ruleset", func(n *review.NewReview) { n.Ruleset = "default" }, &b)
	end("rev_another_repo", func(n *review.NewReview) { n.Repo = "acme/site" }, &b)
	end("rev_another_organization", func(n *review.NewReview) { n.Organization = other }, &b)
	end("rev_failed", same, nil)

	// A younger one that ended earlier is not before this one.
	create(t, h, acme, "rev_older")
	older := claim(t, h)
	h.Clock.Advance(time.Second)
	end("rev_younger", same, &b)
	require.NoError(t, h.Store.Finish(t.Context(), older, a))

	for id, previous := range map[string]string{
		"rev_first": "", "rev_another_number": "", "rev_another_ruleset": "", "rev_another_repo": "",
		"rev_failed": "", "rev_younger": "rev_first", "rev_older": "rev_first",
	} {
		assert.Equal(t, previous, state(t, h, acme, id).PreviousID, id)
	}
	assert.Empty(t, state(t, h, other, "rev_another_organization").PreviousID)
	r := get(t, h, acme, "rev_older")
	assert.Equal(t, []string{"a existing"}, states(r.Findings))

	end("rev_last", same, &b)
	assert.Equal(t, "rev_younger", state(t, h, acme, "rev_last").PreviousID)

	// Of created ones at the same time, the identifiers decide.
	h.Clock.Advance(time.Second)
	finish(t, h, "rev_y", b)
	finish(t, h, "rev_z", b)
	assert.Equal(t, "rev_last", state(t, h, acme, "rev_y").PreviousID)
	assert.Equal(t, "rev_y", state(t, h, acme, "rev_z").PreviousID)
}

func mostCompared(t *testing.T, h Harness) {
	o := outcome(review.MaxFindings)
	finish(t, h, "rev_1", o)
	h.Clock.Advance(time.Second)
	names := func(format string) (out []string) {
		for i := range review.MaxFindings {
			out = append(out, fmt.Sprintf(format, i))
		}

		return out
	}
	second := found(named(names("new %05d")...)...)
	second.Suppressed = by(finding.Suppression{Reason: "r", Line: 1}, named(names("suppressed %05d")...))
	r := finish(t, h, "rev_2", second)
	require.Equal(t, names("new %05d new"), states(r.Findings))
	require.Equal(t, names("suppressed %05d new"), states(r.Suppressed))
	require.Equal(t, names("%032x fixed"), states(r.Fixed))
}

func keptCommits(t *testing.T, h Harness) {
	for id, c := range map[string]finding.Commits{
		"rev_sha": {Head: strings.Repeat("a", 40), Base: strings.Repeat("b", 40)},
		"rev_ref": {Head: strings.Repeat("a", 40), BaseRef: "release/ü"},
		"rev_own": {},
	} {
		n := newReview(acme, id)
		n.Commits, n.FailOn, n.RequireBase = c, rule.Low, c.Head == ""
		accept(t, h, n)
		r := state(t, h, acme, id)
		assert.Equal(t, c, r.Commits)
		assert.Equal(t, rule.Low, r.FailOn)
		assert.Equal(t, c.Head, r.HeadSHA, "known from the begin")
		assert.Equal(t, c.Base, r.BaseSHA)

		claimed := claim(t, h)
		assert.Equal(t, c, claimed.Commits)
		assert.Equal(t, rule.Low, claimed.FailOn)
		assert.Equal(t, c.Head == "", claimed.RequireBase)
		o := outcome(0)
		o.HeadSHA = strings.Repeat("a", 40)
		if c.Base != "" {
			o.BaseSHA = c.Base
		}
		require.NoError(t, h.Store.Finish(t.Context(), claimed, o))
		r = state(t, h, acme, id)
		assert.Equal(t, c, r.Commits)
		assert.Equal(t, o.BaseSHA, r.BaseSHA)
	}
}

// pages reads all pages of a review's findings.
func pages(t *testing.T, h Harness, id string, f review.FindingFilter) (prints []string, sizes []int) {
	t.Helper()

	for {
		page, err := h.Store.ListFindings(t.Context(), acme, id, f)
		require.NoError(t, err)
		sizes = append(sizes, len(page.Findings))
		for _, found := range page.Findings {
			prints = append(prints, found.Fingerprint)
		}
		if page.Next == 0 {
			return prints, sizes
		}
		f.After = page.Next
	}
}

func findingPages(t *testing.T, h Harness) {
	finish(t, h, "rev_1", found(named("f0", "f1", "f2", "f3", "f4")...))
	h.Clock.Advance(time.Second)
	o := found(named("a", "b", "c", "d", "e", "g")...)
	o.Suppressed = by(finding.Suppression{Reason: "why", Until: "2030-01-01", Line: 9}, named("s0", "s1", "s2"))
	o.Observed = named("o0", "o1")
	r := finish(t, h, "rev_2", o)

	prints, sizes := pages(t, h, "rev_2", review.FindingFilter{Kind: finding.KindReported, Limit: 2})
	assert.Equal(t, []string{"a", "b", "c", "d", "e", "g"}, prints)
	assert.Equal(t, []int{2, 2, 2}, sizes, "no empty page at the end")
	prints, sizes = pages(t, h, "rev_2", review.FindingFilter{Kind: finding.KindSuppressed, Limit: 2})
	assert.Equal(t, []string{"s0", "s1", "s2"}, prints)
	assert.Equal(t, []int{2, 1}, sizes)
	prints, sizes = pages(t, h, "rev_2", review.FindingFilter{Kind: finding.KindFixed, Limit: 4})
	assert.Equal(t, []string{"f0", "f1", "f2", "f3", "f4"}, prints)
	assert.Equal(t, []int{4, 1}, sizes)

	for kind, want := range map[finding.Kind][]finding.Finding{
		finding.KindReported: r.Findings, finding.KindSuppressed: r.Suppressed, finding.KindFixed: r.Fixed,
		finding.KindObserved: r.Observed,
	} {
		page, err := h.Store.ListFindings(t.Context(), acme, "rev_2", review.FindingFilter{Kind: kind, Limit: 100})
		require.NoError(t, err)
		assert.Equal(t, review.FindingPage{Findings: want}, page, "as in the review")
	}
}

func findingFilters(t *testing.T, h Harness) {
	all := []finding.Finding{}
	for i, f := range []struct {
		rule, file string
		severity   rule.Severity
	}{
		{"custom/a", "x.go", rule.Critical}, {"custom/a", "y.go", rule.Info}, {"custom/b", "caf\xe9", rule.Medium},
		{"custom/b", "caf\xff", rule.Warning}, {"custom/b", "caf\uFFFD", rule.Low}, {"custom/c", "x.go", rule.High},
	} {
		all = append(all, finding.Finding{RuleID: f.rule, File: f.file, Severity: f.severity, Line: 1,
			Confidence:  rule.ConfidenceMedium,
			Fingerprint: fmt.Sprint(i)})
	}
	finish(t, h, "rev_1", found(all[0], all[2]))
	h.Clock.Advance(time.Second)
	finish(t, h, "rev_2", found(all...))
	tests := map[string]struct {
		filter review.FindingFilter
		want   []string
	}{
		"all":                {review.FindingFilter{}, []string{"0", "1", "2", "3", "4", "5"}},
		"severity":           {review.FindingFilter{MinSeverity: rule.Medium}, []string{"0", "2", "5"}},
		"most severity":      {review.FindingFilter{MinSeverity: rule.Critical}, []string{"0"}},
		"rule":               {review.FindingFilter{RuleID: "custom/b"}, []string{"2", "3", "4"}},
		"file":               {review.FindingFilter{File: "x.go"}, []string{"0", "5"}},
		"file, as shown":     {review.FindingFilter{File: "caf\uFFFD"}, []string{"2", "3", "4"}},
		"file, not its part": {review.FindingFilter{File: "x"}, nil},
		"file, quoted":       {review.FindingFilter{File: `x' OR 1=1 --`}, nil},
		"new":                {review.FindingFilter{State: finding.StateNew}, []string{"1", "3", "4", "5"}},
		"existing":           {review.FindingFilter{State: finding.StateExisting}, []string{"0", "2"}},
		"fixed":              {review.FindingFilter{State: finding.StateFixed}, nil},
		"several": {review.FindingFilter{RuleID: "custom/a", File: "x.go", State: finding.StateExisting,
			MinSeverity: rule.High}, []string{"0"}},
		"another kind": {review.FindingFilter{Kind: finding.KindSuppressed}, nil},
	}
	for name, tc := range tests {
		if tc.filter.Kind == "" {
			tc.filter.Kind = finding.KindReported
		}
		for _, limit := range []int{1, 2, 100} {
			tc.filter.Limit = limit
			got, _ := pages(t, h, "rev_2", tc.filter)
			assert.Equal(t, tc.want, got, "%s, %d at once", name, limit)
		}
	}
}
