package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// topOf is how many rules and repositories the page of trends lists.
const topOf = 10

// trendsView is what the page of trends shows.
type trendsView struct {
	*prwardenv1.GetTrendsResponse
	Days   int
	Repo   string
	Repos  []string // to choose from
	Noisy  []*prwardenv1.RuleStats
	Worst  []*prwardenv1.FindingGroup // repositories with most open findings
	Found  chart
	Fixed  chart
	Open   chart
	Server string
}

// link is the address of the page for another number of days.
func (t trendsView) link(v *visit, days int) string {
	q := url.Values{"days": {strconv.Itoa(days)}}
	if t.Repo != "" {
		q.Set("repo", t.Repo)
	}

	return v.here("/trends?" + q.Encode())
}

// empty reports whether there is nothing to draw.
func (t trendsView) empty() bool { return t.Found.Max+t.Fixed.Max+t.Open.Max == 0 }

func (h *Handler) trendsPage(v *visit) error {
	view := trendsView{Days: window(v), Repo: v.r.URL.Query().Get("repo"), Server: h.origin(v.r)}
	since, bucket := h.firstDay(view.Days), prwardenv1.GetTrendsRequest_week
	if view.Days == windows[0] {
		bucket = prwardenv1.GetTrendsRequest_day
	}
	var err error
	if view.GetTrendsResponse, err = h.calls.stats.GetTrends(v.ctx(), &prwardenv1.GetTrendsRequest{
		Since: &since, Repo: given(view.Repo), Bucket: &bucket,
	}); err != nil {
		return err
	}
	rules, err := h.calls.stats.ListRuleStats(v.ctx(), &prwardenv1.ListRuleStatsRequest{
		Since: &since, Repo: given(view.Repo), PageSize: new(int32(1000)),
	})
	if err != nil {
		return err
	}
	view.Noisy = noisiest(rules.GetRules())
	worst, err := h.calls.reviews.SearchFindings(v.ctx(), &prwardenv1.SearchFindingsRequest{
		GroupBy: prwardenv1.Grouping_repo.Enum(), PageSize: new(int32(topOf)), Repo: given(view.Repo),
	})
	if err != nil {
		return err
	}
	view.Worst = worst.GetGroups()
	repos, err := h.calls.reviews.ListRepositories(v.ctx(), &prwardenv1.ListRepositoriesRequest{PageSize: new(int32(200))})
	if err != nil {
		return err
	}
	for _, r := range repos.GetRepositories() {
		view.Repos = append(view.Repos, r.GetRepo())
	}
	view.draw()

	return h.show(v, "Trends", "trends", trendsBody(v, view))
}

// draw makes the charts. What was found and fixed has one scale, to be compared.
func (t *trendsView) draw() {
	t.Found = newChart("Found", t.GetBuckets(), (*prwardenv1.TrendBucket).GetFound)
	t.Fixed = newChart("Fixed", t.GetBuckets(), (*prwardenv1.TrendBucket).GetFixed)
	t.Open = newChart("Open at the end", t.GetBuckets(), (*prwardenv1.TrendBucket).GetOpen)
	most := max(t.Found.Max, t.Fixed.Max)
	t.Found.scale(most)
	t.Fixed.scale(most)
	t.Open.scale(t.Open.Max)
}

// noise is how many of a rule's findings people set aside.
func noise(r *prwardenv1.RuleStats) int32 {
	return r.GetSuppressed() + r.GetFalsePositive() + r.GetWontFix()
}

// noisiest are the rules of whose findings people set most aside.
func noisiest(rules []*prwardenv1.RuleStats) []*prwardenv1.RuleStats {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r *prwardenv1.RuleStats) bool { return noise(r) == 0 })
	slices.SortStableFunc(rules, func(a, b *prwardenv1.RuleStats) int { return cmp.Compare(noise(b), noise(a)) })

	return rules[:min(len(rules), topOf)]
}

// chart is a picture of counts by severity, a bar for each bucket.
type chart struct {
	Title string
	Max   int // of all bars
	Top   int // the end of the scale
	Bars  []chartBar
	From  string // first and last day
	To    string
}

// chartBar is a bar of a chart: a place of 100 by 100 for all bars.
type chartBar struct {
	Label    string
	X, Width string
	Parts    []chartPart

	counts []counted
}

type chartPart struct{ class, y, height string }

func newChart(
	title string, buckets []*prwardenv1.TrendBucket, pick func(*prwardenv1.TrendBucket) *prwardenv1.SeveritySummary,
) chart {
	c := chart{Title: title}
	step := 100 / float64(max(len(buckets), 1))
	for i, b := range buckets {
		counts := countsOf(pick(b))
		c.Max = max(c.Max, sumOf(counts))
		c.Bars = append(c.Bars, chartBar{
			Label: period(b) + ": " + countWords(counts), counts: counts,
			X: fmt.Sprintf("%.3f", float64(i)*step+step*0.12), Width: fmt.Sprintf("%.3f", step*0.76),
		})
	}
	if len(buckets) > 0 {
		c.From, c.To = dayWords(buckets[0].GetSince()), dayWords(buckets[len(buckets)-1].GetUntil())
	}

	return c
}

// scale sets the heights of the bars, the most severe findings at the bottom.
func (c *chart) scale(most int) {
	c.Top = roundUp(most)
	for i := range c.Bars {
		b, y := &c.Bars[i], 100.0
		for _, n := range b.counts {
			if n.N == 0 {
				continue
			}
			height := 100 * float64(n.N) / float64(c.Top)
			y -= height
			b.Parts = append(b.Parts, chartPart{"s-" + n.Severity, fmt.Sprintf("%.2f", y), fmt.Sprintf("%.2f", height)})
		}
	}
}

// roundUp is the next of 1, 2, 5, 10, 20, 50 and so on.
func roundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, f := range []int{1, 2, 5} {
			if unit*f >= n {
				return unit * f
			}
		}
	}
}

// period is the days of a bucket.
func period(b *prwardenv1.TrendBucket) string {
	if b.GetSince() == b.GetUntil() {
		return dayWords(b.GetSince())
	}

	return dayWords(b.GetSince()) + " to " + dayWords(b.GetUntil())
}

// dayWords is a day in short; as it is when it can't be read.
func dayWords(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}

	return t.Format("2 Jan")
}

func countWords(counts []counted) string {
	text := strconv.Itoa(sumOf(counts))
	for i, c := range slices.DeleteFunc(slices.Clone(counts), func(c counted) bool { return c.N == 0 }) {
		if i == 0 {
			text += ", of them"
		}
		text += fmt.Sprintf(" %d %s", c.N, c.Severity)
	}

	return text
}

// spanWords say a time in the unit that fits; "–" for none.
func spanWords(seconds *int32) string {
	if seconds == nil {
		return "–"
	}
	d := time.Duration(*seconds) * time.Second
	switch {
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour", "hours")
	}

	return plural(int(d.Hours()/24), "day", "days")
}

func percentWords(percent *int32) string {
	if percent == nil {
		return "–"
	}

	return number(*percent) + " %"
}
