package stats

import (
	"context"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// TrendFilter selects a window of days.
type TrendFilter struct {
	Since, Until string // first and last day, `YYYY-MM-DD` in UTC
	Repo         string // "" for all
}

// Trend is what a store knows of a window.
type Trend struct {
	Days       []Day           // by day and severity
	Open       finding.Summary // what is open now
	Changes    []Change        // of what was open, from the first day of the window until now
	FixSeconds int64           // of all that was fixed in the window
	Median     time.Duration   // of those of them that are still known; 0 for none
	P90        time.Duration   // 9 of 10 of these took at most so long
}

// Day is what was found and fixed on a day.
type Day struct {
	Day          string
	Severity     rule.Severity
	Found, Fixed int64
}

// Change is by how much a day changed what is open.
type Change struct {
	Day      string
	Severity rule.Severity
	Change   int64
}

// Bucket is the length of the parts of a window.
type Bucket string

// The lengths. A week begins on Monday.
const (
	ByDay  Bucket = "day"
	ByWeek Bucket = "week"
)

// TrendsInput says which trends are wanted. Zero fields select all.
type TrendsInput struct {
	Since, Until string // `YYYY-MM-DD` in UTC; "" for the last DefaultWindow days until today
	Repo         string
	Bucket       Bucket // "" for ByDay
}

// Trends are how findings came and went in a window.
type Trends struct {
	Since, Until string
	Buckets      []Part
	Found, Fixed int64
	Mean         time.Duration // of fixing; 0 when nothing was fixed
	Median, P90  time.Duration // see Trend
}

// Part is a bucket of a window.
type Part struct {
	Since, Until string
	Found, Fixed finding.Summary
	Open         finding.Summary // at its end
}

// Trends returns how findings came and went. The errors are those of
// StatsService.GetTrends in the API.
func (s *Service) Trends(ctx context.Context, org string, in TrendsInput) (Trends, error) {
	since, until, err := s.window(in.Since, in.Until)
	if err != nil {
		return Trends{}, err
	}
	t, err := s.store.Trend(ctx, org, TrendFilter{Since: since, Until: until, Repo: in.Repo})
	if err != nil {
		return Trends{}, err
	}

	out := Trends{Since: since, Until: until, Buckets: parts(since, until, in.Bucket), Median: t.Median, P90: t.P90}
	for _, d := range t.Days {
		i := slices.IndexFunc(out.Buckets, func(p Part) bool { return d.Day <= p.Until })
		out.Buckets[i].Found[d.Severity] += int(d.Found)
		out.Buckets[i].Fixed[d.Severity] += int(d.Fixed)
		out.Found += d.Found
		out.Fixed += d.Fixed
	}
	if out.Fixed > 0 {
		out.Mean = time.Duration(t.FixSeconds/out.Fixed) * time.Second
	}
	for i := range out.Buckets {
		p := &out.Buckets[i]
		for _, severity := range rule.Severities() {
			p.Open[severity] = t.Open[severity]
		}
		for _, c := range t.Changes { // what came later was not there yet
			if c.Day > p.Until {
				p.Open[c.Severity] = max(p.Open[c.Severity]-int(c.Change), 0)
			}
		}
	}

	return out, nil
}

// parts cuts a window into buckets; the first and the last week may be shorter.
func parts(since, until string, by Bucket) (all []Part) {
	day, _ := time.Parse(time.DateOnly, since) // window has checked both
	for day.Format(time.DateOnly) <= until {
		end := day
		if by == ByWeek {
			end = day.AddDate(0, 0, (7-int(day.Weekday()))%7) // Sunday is 0
		}
		all = append(all, Part{
			Since: day.Format(time.DateOnly), Until: min(end.Format(time.DateOnly), until),
			Found: finding.NewSummary(), Fixed: finding.NewSummary(), Open: finding.NewSummary(),
		})
		day = end.AddDate(0, 0, 1)
	}

	return all
}
