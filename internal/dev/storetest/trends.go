package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/triage"
)

// trend reads the trends of two days.
func trend(t *testing.T, h Harness, repo string) stats.Trend {
	t.Helper()
	got, err := h.Store.Trend(t.Context(), acme, stats.TrendFilter{Since: day1, Until: day2, Repo: repo})
	require.NoError(t, err)

	return got
}

// high are findings of the severity high, counted and judged.
func high(names ...string) finding.Result {
	o := found(named(names...)...)
	o.Judge(rule.High, policy.Default().Tolerates)

	return o
}

func trends(t *testing.T, h Harness) {
	assert.Equal(t, stats.Trend{}, trend(t, h, ""))
	finishOf(t, h, newReview(acme, "rev_1"), high("a", "b", "c"))
	h.Clock.Advance(time.Hour - time.Second)
	finishOf(t, h, newReview(acme, "rev_2"), high("a", "b")) // c after an hour
	h.Clock.Advance(24*time.Hour - time.Second)
	finishOf(t, h, newReview(acme, "rev_3"), high("d")) // a, b after 25 hours
	n := newReview(acme, "rev_4")
	n.Repo = "acme/site"
	finishOf(t, h, n, high("a"))

	got := trend(t, h, "")
	assert.Equal(t, []stats.Day{
		{Day: day1, Severity: rule.High, Found: 3, Fixed: 1}, {Day: day2, Severity: rule.High, Found: 2, Fixed: 2},
	}, got.Days)
	assert.Equal(t, []stats.Change{
		{Day: day1, Severity: rule.High, Change: 2}, {Day: day2, Severity: rule.High, Change: 0},
	}, got.Changes, "three and one less; one less and another one")
	assert.Equal(t, 2, got.Open[rule.High])
	assert.EqualValues(t, 51*60*60, got.FixSeconds)
	assert.Equal(t, []time.Duration{25 * time.Hour, 25 * time.Hour}, []time.Duration{got.Median, got.P90})

	got = trend(t, h, "acme/site")
	assert.Equal(t, 1, got.Open[rule.High])
	assert.Equal(t, []stats.Change{{Day: day2, Severity: rule.High, Change: 1}}, got.Changes)
	assert.Zero(t, got.Median)

	// What comes back begins anew.
	finishOf(t, h, newReview(acme, "rev_5"), high("c", "d"))
	h.Clock.Advance(time.Minute - time.Second)
	finishOf(t, h, newReview(acme, "rev_6"), high("d"))
	got = trend(t, h, "acme/shop")
	assert.EqualValues(t, 51*60*60+60, got.FixSeconds)
	assert.Equal(t, 25*time.Hour, got.P90)

	// What is set aside is open no more, until that is taken back.
	changes := func() int64 {
		all := trend(t, h, "acme/shop").Changes
		return all[len(all)-1].Change
	}
	before := changes()
	decide(t, h, "trg_1", 7, finding.WontFix, "d")
	assert.Equal(t, before-1, changes())
	assert.Zero(t, trend(t, h, "acme/shop").Open[rule.High])
	decide(t, h, "trg_2", 7, finding.Open, "d")
	assert.Equal(t, before, changes())
}

func countedDecisions(t *testing.T, h Harness) {
	finishOf(t, h, newReview(acme, "rev_1"), high("a", "b", "c"))
	want := func(day string, accepted, falsePositive, wontFix int64) {
		t.Helper()
		got := numbers(t, h, acme, stats.Filter{Since: day, Until: day})
		require.NotEmpty(t, got)
		assert.Equal(t, []int64{accepted, falsePositive, wontFix},
			[]int64{got[0].Accepted, got[0].FalsePositive, got[0].WontFix})
	}
	decide(t, h, "trg_1", 7, finding.Accepted, "a", "b")
	decide(t, h, "trg_2", 0, finding.FalsePositive, "c")
	want(day1, 2, 1, 0)

	h.Clock.Advance(15 * time.Hour)
	decide(t, h, "trg_3", 7, finding.WontFix, "b")
	want(day1, 1, 1, 0)
	want(day2, 0, 0, 1)
	_, err := h.Store.UndoTriage(t.Context(), acme, "trg_3")
	require.NoError(t, err)
	want(day1, 2, 1, 0)
	want(day2, 0, 0, 0)
	decide(t, h, "trg_4", 0, finding.Open, "c")
	want(day1, 2, 0, 0)

	// They count for the rule that the finding is of, whatever the repository.
	site := newReview(acme, "rev_2")
	site.Repo = "acme/site"
	finishOf(t, h, site, found(ofRule("custom/wrong", rule.Low, named("w"))...))
	_, err = h.Store.SetTriage(t.Context(), acme, triage.Change{
		ID: "trg_5", Repo: site.Repo, Fingerprints: []string{"w"}, Decision: finding.FalsePositive, Reason: "checked",
		Until: "2026-12-31",
	}, map[string]finding.Finding{"w": {RuleID: "custom/wrong", Severity: rule.Low}})
	require.NoError(t, err)
	assert.Equal(t, []stats.Rule{{RuleID: "custom/wrong", Found: 1, FalsePositive: 1}},
		numbers(t, h, acme, stats.Filter{RuleID: "custom/wrong"}))
	assert.Zero(t, numbers(t, h, acme, stats.Filter{RuleID: "security/no-eval"})[0].FalsePositive)
}

func leftBehind(t *testing.T, h Harness) {
	finishOf(t, h, newReview(acme, "rev_1"), high("a", "b"))
	h.Clock.Advance(time.Minute)
	finishOf(t, h, newReview(acme, "rev_2"), high("a"))
	h.Clock.Advance(time.Hour)
	n := newReview(acme, "rev_3")
	n.PRNumber = 8
	finishOf(t, h, n, high("z"))
	got := trend(t, h, "")
	require.Positive(t, got.Median)
	require.Equal(t, 2, got.Open[rule.High])

	// The reviews of the first pull request go, and with them what is known of its
	// findings; the numbers stay.
	_, err := review.Steps(t.Context(), func() (int, bool, error) {
		return h.Store.PurgeReviews(t.Context(), 30*time.Minute, h.Clock.Now())
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"rev_3"}, ids(list(t, h, acme, review.Filter{Limit: 9})))
	after := trend(t, h, "")
	assert.Equal(t, got.Days, after.Days)
	assert.Equal(t, got.FixSeconds, after.FixSeconds)
	assert.Zero(t, after.Median)
	assert.Equal(t, 1, after.Open[rule.High])
	assert.Equal(t, []stats.Change{{Day: day1, Severity: rule.High, Change: 1}}, after.Changes)
}
