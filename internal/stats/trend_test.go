package stats_test

import (
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

// inParts returns `since until found fixed open` of high findings.
func inParts(t stats.Trends) (all []string) {
	for _, p := range t.Buckets {
		all = append(all, fmt.Sprintf("%s %s %d %d %d", p.Since, p.Until, p.Found[rule.High], p.Fixed[rule.High], p.Open[rule.High]))
	}

	return all
}

func TestTrends(t *testing.T) {
	t.Parallel()
	s := stats.NewService(&store{trend: stats.Trend{
		Days: []stats.Day{
			{Day: "2026-11-13", Severity: rule.High, Found: 5},
			{Day: "2026-11-15", Severity: rule.High, Found: 2, Fixed: 1}, {Day: "2026-11-15", Severity: rule.Low, Found: 7},
			{Day: "2026-11-16", Severity: rule.High, Fixed: 3},
		},
		Open: finding.Summary{rule.High: 4},
		Changes: []stats.Change{
			{Day: "2026-11-13", Severity: rule.High, Change: 5}, {Day: "2026-11-15", Severity: rule.High, Change: 1},
			{Day: "2026-11-16", Severity: rule.High, Change: -3}, {Day: "2026-11-20", Severity: rule.High, Change: 1},
		},
		FixSeconds: 10, Median: time.Second, P90: time.Minute,
	}}, now)
	in := stats.TrendsInput{Since: "2026-11-13", Until: "2026-11-17"}
	days, err := s.Trends(t.Context(), "acme", in)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"2026-11-13 2026-11-13 5 0 5", "2026-11-14 2026-11-14 0 0 5", "2026-11-15 2026-11-15 2 1 6",
		"2026-11-16 2026-11-16 0 3 3", "2026-11-17 2026-11-17 0 0 3",
	}, inParts(days))
	assert.Equal(t, []int64{14, 4}, []int64{days.Found, days.Fixed})
	assert.Equal(t, []time.Duration{2 * time.Second, time.Second, time.Minute}, []time.Duration{days.Mean, days.Median, days.P90})

	in.Bucket = stats.ByWeek // the 16th is a Monday
	weeks, err := s.Trends(t.Context(), "acme", in)
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-11-13 2026-11-15 7 1 6", "2026-11-16 2026-11-17 0 3 3"}, inParts(weeks))

	_, err = s.Trends(t.Context(), "acme", stats.TrendsInput{Since: "2026-11-30", Until: "2026-11-01"})
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	month, err := stats.NewService(&store{}, now).Trends(t.Context(), "acme", stats.TrendsInput{})
	require.NoError(t, err)
	assert.Len(t, month.Buckets, 30)
}
