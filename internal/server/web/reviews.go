package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// reviewRoutes are the pages of reviews.
func (h *Handler) reviewRoutes() {
	h.person("GET /o/{org}/reviews", h.reviewsPage)
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

// reviewsView is what the list of reviews shows.
type reviewsView struct {
	Query  string
	Status string // which tab
	Rows   []reviewRow
	Tabs   []tab
	Page   string // token of this page; "" for the first
	Next   string // token of the next page; "" on the last
	Server string // where the API is
	Now    time.Time
}

// reviewRow is a review in the list, with how far it is.
type reviewRow struct {
	*prwardenv1.ListedReview
	Done, Total int32
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
	q := v.r.URL.Query()
	view := reviewsView{
		Query: strings.TrimSpace(q.Get("q")), Status: q.Get("status"), Page: q.Get("page"),
		Server: h.origin(v.r), Now: h.Now(),
	}
	req := &prwardenv1.ListReviewsRequest{
		PageSize: new(int32(reviewsPageSize)), PageToken: given(view.Page), Query: given(view.Query),
	}
	narrow(req, view.Status)
	list, err := h.calls.reviews.ListReviews(v.ctx(), req)
	if err != nil {
		return err
	}
	counts, err := h.calls.reviews.CountReviews(v.ctx(), &prwardenv1.CountReviewsRequest{Query: req.Query})
	if err != nil {
		return err
	}

	view.Next, view.Tabs = list.GetNextPageToken(), view.tabsOf(counts)
	for _, r := range list.GetReviews() {
		view.Rows = append(view.Rows, reviewRow{ListedReview: r})
	}
	h.addProgress(v, view.Rows)

	return h.show(v, "Reviews", "reviews", reviewsBody(v, view))
}

// given is a value for a field that is not always there; nil for "".
func given(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}

// maxProgress is of how many running reviews a list says how far they are.
const maxProgress = 5

// addProgress finds out how far running reviews are. What can't be found out is
// shown without.
func (h *Handler) addProgress(v *visit, rows []reviewRow) {
	asked := 0
	for i := range rows {
		r := &rows[i]
		if r.GetStatus() != prwardenv1.Review_in_progress || asked == maxProgress {
			continue
		}
		asked++
		r.Done, r.Total = h.progress(v.ctx(), r.GetReviewId())
	}
}

// progress returns how many files of a review were looked at, and of how many.
func (h *Handler) progress(ctx context.Context, id string) (done, total int32) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := h.calls.reviews.WatchReview(ctx, &prwardenv1.WatchReviewRequest{ReviewId: id})
	if err != nil {
		return 0, 0
	}
	u, err := stream.Recv()
	if err != nil {
		return 0, 0
	}

	return u.GetFilesDone(), u.GetFilesTotal()
}

// link is the address of the list with other filters.
func (r reviewsView) link(v *visit, status, page string) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": r.Query, "status": status, "page": page} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return v.here("/reviews")
	}

	return v.here("/reviews?" + q.Encode())
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

// title is what the pull request is called: its number when nothing is known.
func (r reviewRow) title() string { return titleOf(r) }

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
