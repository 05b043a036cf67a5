package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// reviewRoutes are the pages of reviews.
func (h *Handler) reviewRoutes() {
	h.person("GET /o/{org}/reviews", h.reviewsPage)
	h.person("GET /o/{org}/reviews/events", h.reviewsEvents)
	h.person("GET /o/{org}/reviews/new", h.newReviewPage)
	h.person("POST /o/{org}/reviews/new", h.createReview)
	h.person("GET /o/{org}/reviews/{id}", h.reviewPage)
	h.person("GET /o/{org}/reviews/{id}/files/{n}", h.filePage)
	h.person("GET /o/{org}/reviews/{id}/events", h.reviewEvents)
	h.person("GET /o/{org}/reviews/{id}/sarif", h.sarif)
	h.person("POST /o/{org}/reviews/{id}/cancel", h.cancelReview)
	h.person("POST /o/{org}/reviews/{id}/again", h.scanAgain)
	h.person("POST /o/{org}/reviews/{id}/triage", h.triageFindings)
	h.person("POST /o/{org}/undo", h.undoTriage)
}

// reviewsPageSize is how many reviews a page lists.
const reviewsPageSize = 50

// reviewsFilter is what the address of the list says.
type reviewsFilter struct {
	Query  string
	Status string // which tab
	Repo   string
	By     string // who created them, such as `user:usr_01k9`
	Since  string // how many days ago at most; "" for any time
	Page   string // token of this page; "" for the first

	// Seen is the time after which reviews are new, in microseconds since 1970; "" for a
	// list with the newest. The rows of a page stay the same with it.
	Seen string
}

// sinceDays are how old reviews may be.
var sinceDays = []choice{
	{"", "Any time"}, {"1", "Last 24 hours"}, {"7", "Last 7 days"}, {"30", "Last 30 days"}, {"90", "Last 90 days"},
}

func reviewsFilterOf(q url.Values) reviewsFilter {
	return reviewsFilter{
		Query: strings.TrimSpace(q.Get("q")), Status: q.Get("status"), Repo: q.Get("repo"), By: q.Get("by"),
		Since: q.Get("since"), Page: q.Get("page"), Seen: q.Get("seen"),
	}
}

// query is the filter as an address has it.
func (f reviewsFilter) query() string {
	q := url.Values{}
	for name, value := range map[string]string{
		"q": f.Query, "status": f.Status, "repo": f.Repo, "by": f.By, "since": f.Since, "page": f.Page, "seen": f.Seen,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return ""
	}

	return "?" + q.Encode()
}

// with is the address of the list with one thing changed, on the first page and with
// the newest.
func (f reviewsFilter) with(v *visit, change func(*reviewsFilter)) string {
	f.Page, f.Seen = "", ""
	change(&f)

	return v.here("/reviews" + f.query())
}

// filtered reports whether the address asks for a part of the reviews.
func (f reviewsFilter) filtered() bool { return f.Query+f.Status+f.Repo+f.By+f.Since != "" }

// live reports whether new reviews belong into the list.
func (f reviewsFilter) live() bool { return f.Page == "" && (f.Status == "" || f.Status == "running") }

// since is the time from which reviews are listed; nil for any.
func (f reviewsFilter) since(now time.Time) *timestamppb.Timestamp {
	days, err := strconv.Atoi(f.Since)
	if err != nil || days < 1 || days > 366 {
		return nil
	}

	return timestamppb.New(now.AddDate(0, 0, -days))
}

// seen is the time after which reviews are new; nil for none.
func (f reviewsFilter) seen() *timestamppb.Timestamp {
	at, err := strconv.ParseInt(f.Seen, 10, 64)
	if err != nil || at < 0 {
		return nil
	}

	return timestamppb.New(time.UnixMicro(at))
}

// request asks for the page of the list.
func (f reviewsFilter) request(now time.Time) *prwardenv1.ListReviewsRequest {
	req := &prwardenv1.ListReviewsRequest{
		PageSize: new(int32(reviewsPageSize)), PageToken: given(f.Page), Query: given(f.Query), Repo: given(f.Repo),
		CreatedBy: given(f.By), Since: f.since(now), Until: f.seen(),
	}
	narrow(req, f.Status)

	return req
}

// countSince asks how many reviews there are from a time on.
func (f reviewsFilter) countSince(at *timestamppb.Timestamp) *prwardenv1.CountReviewsRequest {
	return &prwardenv1.CountReviewsRequest{
		Query: given(f.Query), Repo: given(f.Repo), CreatedBy: given(f.By), Since: at,
	}
}

// reviewsView is what the list of reviews shows.
type reviewsView struct {
	reviewsFilter
	Rows   []*prwardenv1.ListedReview
	Tabs   []tab
	Fresh  tab               // how many are newer than the rows
	Names  map[string]string // of who may have created them
	Next   string            // token of the next page; "" on the last
	Server string            // where the API is
	Now    time.Time
}

// tab is a link to a part of what a page shows.
type tab struct {
	Value, Label string
	N            int
	More         bool // there may be more than N
	On           bool
}

// maxCount is what reviews are counted up to.
const maxCount = 1000

// count says how many there are.
func (t tab) count() string {
	switch {
	case t.N >= maxCount:
		return "1,000+"
	case t.More:
		return strconv.Itoa(t.N) + "+"
	}

	return strconv.Itoa(t.N)
}

// tabsOf are the parts of the list with their counts.
func (r reviewsView) tabsOf(c *prwardenv1.CountReviewsResponse) []tab {
	tabs := []tab{
		{Value: "", Label: "All", N: int(c.GetAll())},
		{Value: "fail", Label: "Failed checks", N: int(c.GetFailed())},
		{Value: "pass", Label: "Passed", N: int(c.GetPassed())},
		{Value: "incomplete", Label: "Incomplete", N: int(c.GetIncomplete())},
		{Value: "running", Label: "Running", N: int(c.GetRunning())},
		{Value: "error", Label: "Not scanned", N: int(c.GetNotScanned())},
	}
	for i := range tabs {
		tabs[i].On, tabs[i].More = tabs[i].Value == r.Status, c.GetPartial()
	}

	return tabs
}

// narrow has a request list what is in a tab.
func narrow(req *prwardenv1.ListReviewsRequest, status string) {
	switch status {
	case "fail":
		req.Verdict = prwardenv1.Verdict_fail.Enum()
	case "pass":
		req.Verdict = prwardenv1.Verdict_pass.Enum()
	case "incomplete":
		req.Verdict = prwardenv1.Verdict_incomplete.Enum()
	case "running":
		req.Standing = prwardenv1.ListReviewsRequest_running.Enum()
	case "error":
		req.Standing = prwardenv1.ListReviewsRequest_not_scanned.Enum()
	}
}

func (h *Handler) reviewsPage(v *visit) error {
	view := reviewsView{reviewsFilter: reviewsFilterOf(v.r.URL.Query()), Server: h.origin(v.r), Now: h.Now()}
	list, err := h.calls.reviews.ListReviews(v.ctx(), view.request(view.Now))
	if err != nil {
		return err
	}
	counts, err := h.calls.reviews.CountReviews(v.ctx(), view.countSince(view.since(view.Now)))
	if err != nil {
		return err
	}
	if view.Names, err = h.namesOf(v); err != nil {
		return err
	}

	view.Rows, view.Next, view.Tabs = list.GetReviews(), list.GetNextPageToken(), view.tabsOf(counts)
	if err := h.addFresh(v, &view); err != nil {
		return err
	}

	return h.show(v, "Reviews", "reviews", reviewsBody(v, view))
}

// addFresh counts what is newer than the list, or begins to: from its newest review on.
func (h *Handler) addFresh(v *visit, view *reviewsView) error {
	if at := view.seen(); at != nil {
		n, err := h.calls.reviews.CountReviews(v.ctx(), view.countSince(at))
		view.Fresh = tab{N: int(n.GetAll()), More: n.GetPartial()}

		return err
	}

	newest := view.Now
	if view.Status == "" && view.Page == "" && len(view.Rows) > 0 {
		newest = view.Rows[0].GetCreatedAt().AsTime().Add(time.Microsecond)
	}
	view.Seen = strconv.FormatInt(newest.UnixMicro(), 10)

	return nil
}

// given is a value for a field that is not always there; nil for "".
func given(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}

// newReview is the form to start a review.
type newReview struct {
	Repo, Number, Head, Base string
	Problem                  string
}

func (h *Handler) newReviewPage(v *visit) error {
	if err := v.caller.Require(auth.ReviewsWrite); err != nil {
		return err
	}
	q := v.r.URL.Query()

	return h.show(v, "New review", "reviews", newReviewBody(v, newReview{Repo: q.Get("repo"), Number: q.Get("number")}))
}

func (h *Handler) createReview(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := func(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }
	f := newReview{Repo: in("repo"), Number: in("number"), Head: in("head"), Base: in("base")}
	number, err := strconv.ParseInt(strings.TrimPrefix(f.Number, "#"), 10, 32)
	if err != nil {
		f.Problem = "The number of the pull request must be a whole number from 1."
		return h.showStatus(v, http.StatusBadRequest, page{Title: "New review", Section: "reviews"}, newReviewBody(v, f))
	}
	made, err := h.calls.reviews.CreateReview(v.ctx(), &prwardenv1.CreateReviewRequest{
		Repo: f.Repo, PrNumber: int32(number), HeadSha: given(f.Head), BaseRef: given(f.Base),
	})
	if err != nil {
		p := problemOf(v.ctx(), err)
		f.Problem = p.Text

		return h.showStatus(v, p.Code, page{Title: "New review", Section: "reviews"}, newReviewBody(v, f))
	}
	h.redirect(v, v.here("/reviews/"+made.GetReviewId()))

	return nil
}

// severities are all of them, the worst first.
var severities = []string{"critical", "high", "medium", "warning", "low", "info"}

// counted is how many findings have a severity.
type counted struct {
	Severity string
	N        int
}

// countsOf are the counts of a summary, the worst first.
func countsOf(s *prwardenv1.SeveritySummary) []counted {
	return []counted{
		{"critical", int(s.GetCritical())},
		{"high", int(s.GetHigh())},
		{"medium", int(s.GetMedium())},
		{"warning", int(s.GetWarning())},
		{"low", int(s.GetLow())},
		{"info", int(s.GetInfo())},
	}
}

func sumOf(counts []counted) (sum int) {
	for _, c := range counts {
		sum += c.N
	}

	return sum
}

// part is a rectangle of a bar, of 100 in all.
type part struct{ class, x, width string }

// partsOf divides a bar in proportion to counts.
func partsOf(counts []counted) (out []part) {
	sum, x := sumOf(counts), 0.0
	for _, c := range counts {
		if c.N == 0 {
			continue
		}
		width := 100 * float64(c.N) / float64(sum)
		out = append(out, part{"s-" + c.Severity, fmt.Sprintf("%.2f", x), fmt.Sprintf("%.2f", width)})
		x += width
	}

	return out
}

// took is how long a review was worked on; "" for what has not ended.
func took(r *prwardenv1.ListedReview) string {
	if r.GetStartedAt() == nil || r.GetCompletedAt() == nil {
		return ""
	}

	return lasted(r.GetCompletedAt().AsTime().Sub(r.GetStartedAt().AsTime()))
}

// lasted says a time in the unit that fits.
func lasted(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}

	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// tryReview are lines that review a pull request.
func tryReview(server string) string {
	return "export PRWARDEN_API_KEY=…\nprwarden review OWNER/REPOSITORY NUMBER --server " + server
}

// titled is a review, whole or in a list.
type titled interface {
	GetHeadTitle() string
	GetRepo() string
	GetPrNumber() int32
}

// titleOf is what the pull request of a review is called; without a title its number.
func titleOf(r titled) string {
	if t := r.GetHeadTitle(); t != "" {
		return shown(t)
	}

	return shown(r.GetRepo()) + " #" + strconv.Itoa(int(r.GetPrNumber()))
}
