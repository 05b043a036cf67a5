package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// search lists what is found as `repo#number fingerprint`, page by page.
func search(t *testing.T, h Harness, f review.Search, limit int) []string {
	t.Helper()
	if f.Decision == "" {
		f.Decision = finding.Open
	}
	f.Limit = limit
	got := []string{}
	for {
		found, err := h.Store.SearchFindings(t.Context(), acme, f)
		require.NoError(t, err)
		for _, one := range found {
			got = append(got, fmt.Sprintf("%s#%d %s", one.Repo, one.PRNumber, one.Finding.Fingerprint))
			f.After = one.FoundPlace
		}
		if len(found) < limit {
			return got
		}
	}
}

// groups counts what is found as `key count pulls`, page by page.
func groups(t *testing.T, h Harness, f review.Search, by review.Group, limit int) []string {
	t.Helper()
	if f.Decision == "" {
		f.Decision = finding.Open
	}
	f.Limit = limit
	got := []string{}
	for {
		found, err := h.Store.CountFindings(t.Context(), acme, f, by)
		require.NoError(t, err)
		for _, g := range found {
			n := g.Summary.AtLeast(rule.Info)
			got = append(got, fmt.Sprintf("%s%s%q %d %d", g.RuleID, g.Repo, g.File, n, g.PullRequests))
		}
		if f.Skip += limit; len(found) < limit || by == review.ByNothing {
			return got
		}
	}
}

// inPulls finishes reviews of some pull requests: of acme/shop#7 two, and one of each
// other.
func inPulls(t *testing.T, h Harness) {
	add := func(id, repo string, number int32, o finding.Result) {
		n := newReview(acme, id)
		n.Repo, n.PRNumber = repo, number
		o.Judge(rule.High, policy.Default().Tolerates)
		finishOf(t, h, n, o)
	}
	add("rev_1", "acme/shop", 7, found(named("gone", "a")...))
	odd := ofRule("custom/x", rule.Low, named("c"))
	odd[0].File = "caf\xe9 Ü"
	o := found(append(named("a", "b"), odd...)...)
	o.Suppressed = by(finding.Suppression{Line: 1}, named("s"))
	o.Observed = named("o")
	o.HeadTitle = "Add a cart"
	o.Summary = finding.Summary{rule.High: 2, rule.Low: 1}
	add("rev_2", "acme/shop", 7, o)
	add("rev_3", "acme/shop", 8, found(named("a")...))
	add("rev_4", "acme/site", 7, found(named("a", `C:\dir%_`)...))
	n := newReview(other, "rev_other")
	finishOf(t, h, n, found(named("theirs")...))
}

func searchedFindings(t *testing.T, h Harness) {
	inPulls(t, h)
	latest := []string{
		"acme/shop#7 a", "acme/shop#7 b", "acme/shop#7 c", "acme/shop#8 a", "acme/site#7 a", `acme/site#7 C:\dir%_`,
	}
	words := func(words ...string) review.Search { return review.Search{Words: words} }
	tests := map[string]struct {
		filter review.Search
		want   []string
	}{
		"all":            {review.Search{}, latest},
		"a repository":   {review.Search{Repo: "acme/site"}, latest[4:]},
		"severe":         {review.Search{MinSeverity: rule.Medium, Repo: "acme/site"}, latest[4:]},
		"more severe":    {review.Search{MinSeverity: rule.Critical}, []string{}},
		"a rule":         {review.Search{RuleID: "custom/x"}, latest[2:3]},
		"a file":         {review.Search{File: "caf\xe9 Ü"}, latest[2:3]},
		"existing":       {review.Search{State: finding.StateExisting}, latest[:1]},
		"words":          {words("custom", "acme/shop"), latest[2:3]},
		"in any case":    {words("caf"), latest[2:3]},
		"other bytes":    {words("Ü"), latest[2:3]},
		"no wildcards":   {words(`c:\dir%_`), latest[5:]},
		"nor this":       {words("%_"), latest[5:]},
		"the message":    {words("m", "site"), latest[4:]},
		"none":           {words("zz\x00"), []string{}},
		"not set aside":  {review.Search{Decision: finding.Accepted}, []string{}},
		"no such state":  {review.Search{State: finding.StateFixed}, []string{}},
		"of nobody else": {review.Search{File: "theirs"}, []string{}},
	}
	for name, tc := range tests {
		for _, limit := range []int{1, 2, 100} {
			assert.Equal(t, tc.want, search(t, h, tc.filter, limit), "%s, %d at once", name, limit)
		}
	}

	found, err := h.Store.SearchFindings(t.Context(), acme, review.Search{Decision: finding.Open, Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "rev_2 Add a cart", found[0].ReviewID+" "+found[0].HeadTitle)
	assert.Equal(t, get(t, h, acme, "rev_2").Findings[0], found[0].Finding)
}

func groupedFindings(t *testing.T, h Harness) {
	inPulls(t, h)
	for _, limit := range []int{1, 2, 100} {
		byRule := groups(t, h, review.Search{}, review.ByRule, limit)
		assert.Equal(t, []string{`security/no-eval"" 5 3`, `custom/x"" 1 1`}, byRule)
		assert.Equal(t, []string{`acme/shop"" 4 2`, `acme/site"" 2 1`}, groups(t, h, review.Search{}, review.ByRepo, limit))
		assert.Equal(t, []string{
			`acme/shop"a" 2 2`, `acme/shop"b" 1 1`, `acme/shop"caf\xe9 Ü" 1 1`, `acme/site"C:\\dir%_" 1 1`, `acme/site"a" 1 1`,
		}, groups(t, h, review.Search{}, review.ByFile, limit))
	}
	assert.Equal(t, []string{`"" 6 3`}, groups(t, h, review.Search{}, review.ByNothing, 1))
	assert.Equal(t, []string{`acme/site"" 2 1`}, groups(t, h, review.Search{Repo: "acme/site"}, review.ByRepo, 9))
	assert.Empty(t, groups(t, h, review.Search{RuleID: "custom/none"}, review.ByNothing, 9))
}

// oneCount compares what is open in all places that say it.
func oneCount(t *testing.T, h Harness, ids ...string) {
	t.Helper()
	total := 0
	for _, id := range ids {
		r := get(t, h, acme, id)
		open, listed := finding.Summary{}, 0
		for _, f := range r.Findings {
			if f.Triage == nil {
				open[f.Severity]++
			}
		}
		for _, s := range rule.Severities() {
			assert.Equal(t, open[s], r.Open[s], "%s: %s", id, s)
		}
		assert.Equal(t, finding.Decide(open.AtLeast(r.FailOn), 0), r.Verdict.Outcome, id)
		prints, _ := pages(t, h, id, review.FindingFilter{Kind: finding.KindReported, Decision: finding.Open, Limit: 10})
		listed = len(prints)
		assert.Equal(t, open.AtLeast(rule.Info), listed, id)
		total += listed
	}
	assert.Len(t, search(t, h, review.Search{}, 10), total)
}

func onlyOneCount(t *testing.T, h Harness) {
	inPulls(t, h)
	latest := []string{"rev_2", "rev_3", "rev_4"}
	oneCount(t, h, latest...)
	decide(t, h, "trg_1", 0, finding.Accepted, "a")
	oneCount(t, h, latest...)
	assert.Equal(t, []string{"acme/shop#7 a", "acme/shop#8 a"}, search(t, h, review.Search{Decision: finding.Accepted}, 1))
	assert.Equal(t, 1, get(t, h, acme, "rev_2").Open[rule.High])

	// What is decided counts in the next review, too, and in no older one.
	n := newReview(acme, "rev_5")
	n.PRNumber = 8
	o := found(named("a", "z")...)
	o.Judge(rule.High, policy.Default().Tolerates)
	finishOf(t, h, n, o)
	oneCount(t, h, "rev_2", "rev_4", "rev_5")
	_, err := h.Store.UndoTriage(t.Context(), acme, "trg_1")
	require.NoError(t, err)
	oneCount(t, h, "rev_2", "rev_4", "rev_5")
}

// A review that ends late is not the latest one when a younger one is.
func latestFinished(t *testing.T, h Harness) {
	create(t, h, acme, "rev_1")
	older := claim(t, h)
	h.Clock.Advance(time.Second)
	finishOf(t, h, newReview(acme, "rev_2"), found(named("b")...))
	require.NoError(t, h.Store.Finish(t.Context(), older, found(named("a")...)))
	assert.Equal(t, []string{"acme/shop#7 b"}, search(t, h, review.Search{}, 9))
}

func listedRepositories(t *testing.T, h Harness) {
	inPulls(t, h)
	n := newReview(acme, "rev_5")
	n.Repo = "acme/Api"
	accept(t, h, n)
	h.Clock.Advance(time.Second)
	list := func(f review.RepositoryFilter, limit int) (got []string) {
		f.Limit = limit
		for {
			some, err := h.Store.ListRepositories(t.Context(), acme, f)
			require.NoError(t, err)
			for _, r := range some {
				got = append(got, fmt.Sprintf("%s %d %d %d %s", r.Repo, r.Reviews, r.Open[rule.High], r.Open[rule.Low], r.Last.ID))
				f.After = r.Repo
				assert.Equal(t, state(t, h, acme, r.Last.ID), r.Last)
			}
			if len(some) < limit {
				return got
			}
		}
	}
	all := []string{"acme/Api 1 0 0 rev_5", "acme/shop 3 3 1 rev_3", "acme/site 1 2 0 rev_4"}
	for _, limit := range []int{1, 2, 9} {
		assert.Equal(t, all, list(review.RepositoryFilter{}, limit))
	}
	assert.Equal(t, all[:1], list(review.RepositoryFilter{Words: []string{"acme", "api"}}, 9))
	assert.Empty(t, list(review.RepositoryFilter{Words: []string{"theirs%"}}, 9))

	decide(t, h, "trg_1", 0, finding.FalsePositive, "a")
	assert.Equal(t, []string{"acme/shop 3 1 1 rev_3"}, list(review.RepositoryFilter{Words: []string{"shop"}}, 9))
}
