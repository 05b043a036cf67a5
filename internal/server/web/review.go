package web

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

const (
	// findingsPageSize is how many findings of a review a page shows.
	findingsPageSize = 300

	// eagerFindings is with how many findings files are on a page from the beginning.
	// Those of the other files come when they are scrolled to.
	eagerFindings = 60
)

// filter is which findings of a review are shown, as the address says.
type filter struct {
	State    string
	Severity string // the least
	Rule     string
	File     string
	At       string // fingerprint of a finding that is shown whatever the filters say
	Page     int    // from 1
}

func filterOf(q url.Values) filter {
	number, _ := strconv.Atoi(q.Get("page"))

	return filter{
		State: cmp.Or(q.Get("state"), "open"), Severity: q.Get("severity"), Rule: q.Get("rule"), File: q.Get("file"),
		At: q.Get("at"), Page: max(number, 1),
	}
}

// query is the filter as the end of an address.
func (f filter) query() string {
	q := url.Values{}
	for name, value := range map[string]string{
		"state": f.State, "severity": f.Severity, "rule": f.Rule, "file": f.File, "at": f.At,
	} {
		if value != "" && (name != "state" || value != "open") {
			q.Set(name, value)
		}
	}
	if f.Page > 1 {
		q.Set("page", strconv.Itoa(f.Page))
	}
	if len(q) == 0 {
		return ""
	}

	return "?" + q.Encode()
}

// with is another filter; the finding that was asked for is of no concern to it.
func (f filter) with(change func(*filter)) string {
	f.At, f.Page = "", 1
	change(&f)

	return cmp.Or(f.query(), "?")
}

// shows reports whether a finding is shown: as one of those that the filters leave, or
// as the one that was asked for.
func (f filter) shows(x *prwardenv1.Finding) bool {
	return f.At != "" && x.GetFingerprint() == f.At || f.leaves(x)
}

// leaves reports whether the filters leave a finding.
func (f filter) leaves(x *prwardenv1.Finding) bool {
	decided := x.GetTriage() != nil
	switch {
	case f.State == "open" && decided, f.State == "decided" && !decided,
		f.State == "new" && x.GetState() != prwardenv1.Finding_new,
		f.State == "existing" && x.GetState() != prwardenv1.Finding_existing,
		f.Rule != "" && f.Rule != x.GetRuleId(), f.File != "" && f.File != x.GetFile():
		return false
	}
	least := slices.Index(severities, f.Severity)

	return least < 0 || slices.Index(severities, x.GetSeverity().String()) <= least
}

// listOf are the findings of a review of which a state is a part.
func (f filter) listOf(r *prwardenv1.Review) []*prwardenv1.Finding {
	switch f.State {
	case "fixed":
		return r.GetFixed()
	case "suppressed":
		return r.GetSuppressed()
	case "observed":
		return r.GetObserved()
	case "skipped":
		return nil
	}

	return r.GetFindings()
}

// kind is listOf for a call.
func (f filter) kind() prwardenv1.ListFindingsRequest_Kind {
	if k := prwardenv1.ListFindingsRequest_Kind_value[f.State]; k > 1 {
		return prwardenv1.ListFindingsRequest_Kind(k)
	}

	return prwardenv1.ListFindingsRequest_reported
}

// reviewView is what the page of a review shows.
type reviewView struct {
	*prwardenv1.Review
	Filter filter
	Tabs   []tab
	Tree   []*fileView // all that have findings that are shown, on whichever page
	Files  []*fileView // those of this page
	Total  int         // findings that are shown, on all pages
	Pages  int
	Source sourceState
	Now    time.Time
	Names  map[string]string // of people and keys, by how reviews call them

	Done, Total2 int32 // files that a running review looked at, of how many
}

// fileView is a file with the findings that are shown.
type fileView struct {
	Path     string
	Number   int // among the files that have such findings, from 0
	Findings []*prwardenv1.Finding
	Counts   []counted            // without the finding that was asked for, where the filters leave it out
	Diff     *prwardenv1.FileDiff // nil without
	Lazy     bool

	Whole   bool  // all lines are shown
	Lines   bool  // only some lines are shown, to be put into another page
	Unfolds int32 // the first line that can be unfolded before these
	Down    bool  // whether there are lines behind these

	Gone sourceState // why lines that were asked for are not there

	First int  // how many of its findings are on pages before this one
	Split bool // whether others are on another page
}

func (f *fileView) id() string   { return "f" + strconv.Itoa(f.Number) }
func (f *fileView) dir() string  { return shown(strings.TrimSuffix(f.Path, path.Base(f.Path))) }
func (f *fileView) base() string { return shown(path.Base(f.Path)) }

// worst is the worst severity of the findings.
func (f *fileView) worst() string {
	for _, c := range f.Counts {
		if c.N > 0 {
			return c.Severity
		}
	}

	return "info"
}

// add puts a finding into the file.
func (f *fileView) add(x *prwardenv1.Finding, counts bool) {
	if f.Counts == nil {
		f.Counts = countsOf(nil)
	}
	f.Findings = append(f.Findings, x)
	if i := slices.Index(severities, x.GetSeverity().String()); i >= 0 && counts {
		f.Counts[i].N++
	}
}

func (h *Handler) reviewPage(v *visit) error {
	view, err := h.reviewView(v)
	if err != nil {
		return err
	}
	title := view.title()

	return h.showStatus(v, http.StatusOK, page{
		Title: title, Section: "reviews", Refresh: !view.final(),
	}, reviewBody(h, v, view))
}

// reviewView reads a review and divides its findings into files and pages.
func (h *Handler) reviewView(v *visit) (*reviewView, error) {
	got, err := h.calls.reviews.GetReview(v.ctx(), &prwardenv1.GetReviewRequest{ReviewId: v.r.PathValue("id")})
	if err != nil {
		return nil, err
	}
	r := &reviewView{Review: got.GetReview(), Filter: filterOf(v.r.URL.Query()), Now: h.Now()}
	if r.GetStatus() == prwardenv1.Review_in_progress {
		r.Done, r.Total2 = h.progress(v.ctx(), r.GetReviewId())
	}
	if r.GetStatus() != prwardenv1.Review_complete {
		return r, nil
	}

	if r.Names, err = h.namesOf(v); err != nil {
		return nil, err
	}
	r.Tabs = r.tabs()
	r.divide()
	h.addSource(v, r)

	return r, nil
}

// tabs are the states with their counts, as the review tells them.
func (r *reviewView) tabs() (tabs []tab) {
	open, all := sumOf(countsOf(r.GetOpen())), sumOf(countsOf(r.GetSummary()))
	fresh := int(r.GetNewTotal())
	for _, t := range []tab{
		{Value: "open", Label: "Open", N: open},
		{Value: "new", Label: "New", N: fresh},
		{Value: "existing", Label: "Existing", N: all - fresh},
		{Value: "fixed", Label: "Fixed", N: int(r.GetFixedTotal())},
		{Value: "suppressed", Label: "Suppressed", N: int(r.GetSuppressedTotal())},
		{Value: "decided", Label: "Decided", N: all - open},
		{Value: "observed", Label: "Observed", N: len(r.GetObserved())},
		{Value: "skipped", Label: "Not looked at", N: len(r.GetSkipped())},
	} {
		t.On = t.Value == r.Filter.State
		if t.N > 0 || t.On || t.Value != "observed" {
			tabs = append(tabs, t)
		}
	}

	return tabs
}

// divide finds the findings that are shown, their files, and what is on this page.
func (r *reviewView) divide() {
	n, at := 0, 0 // at is the number of the finding that was asked for
	files := map[string]*fileView{}
	for _, x := range r.Filter.listOf(r.Review) {
		if !r.Filter.shows(x) {
			continue
		}
		f := files[x.GetFile()]
		if f == nil {
			f = &fileView{Path: x.GetFile(), Number: len(r.Tree)}
			files[f.Path], r.Tree = f, append(r.Tree, f)
		}
		counts := r.Filter.leaves(x)
		f.add(x, counts)
		if counts {
			r.Total++
		}
		if n++; x.GetFingerprint() == r.Filter.At {
			at = n
		}
	}
	r.Pages = max((n+findingsPageSize-1)/findingsPageSize, 1)
	if at > 0 {
		r.Filter.Page = (at-1)/findingsPageSize + 1
	}
	r.Filter.Page = min(r.Filter.Page, r.Pages)

	r.Files = pageOf(r.Tree, (r.Filter.Page-1)*findingsPageSize, r.Filter.Page*findingsPageSize)
	eager := 0
	for _, f := range r.Files {
		holds := slices.ContainsFunc(f.Findings, func(x *prwardenv1.Finding) bool {
			return x.GetFingerprint() == r.Filter.At
		})
		if f.Lazy = eager >= eagerFindings && !holds; !f.Lazy {
			eager += len(f.Findings)
		}
	}
}

// pageOf are the files with the findings from one number to another. A file that is
// on two pages is on each with its findings there.
func pageOf(files []*fileView, from, to int) (out []*fileView) {
	n := 0
	for _, f := range files {
		first, last := max(from-n, 0), min(to-n, len(f.Findings))
		n += len(f.Findings)
		if first >= last {
			continue
		}
		if last-first == len(f.Findings) {
			out = append(out, f)
			continue
		}
		part := &fileView{Path: f.Path, Number: f.Number, First: first, Split: true}
		for _, x := range f.Findings[first:last] {
			part.add(x, true)
		}
		out = append(out, part)
	}

	return out
}

func (r *reviewView) final() bool {
	return r.GetStatus() != prwardenv1.Review_queued && r.GetStatus() != prwardenv1.Review_in_progress
}

// title is what the pull request is called.
func (r *reviewView) title() string { return titleOf(r) }

// link is the address of a page of the review.
func (r *reviewView) link(v *visit, rest string) string {
	return v.here("/reviews/" + r.GetReviewId() + rest)
}

// fileLink is where the changes of a file are by themselves.
func (r *reviewView) fileLink(v *visit, f *fileView, more string) string {
	only := r.Filter
	only.File, only.Page = f.Path, 1

	if f.Split {
		more += "&skip=" + strconv.Itoa(f.First) + "&take=" + strconv.Itoa(len(f.Findings))
	}

	return r.link(v, "/files/"+strconv.Itoa(f.Number)+only.query()+more)
}

func (h *Handler) sarif(v *visit) error {
	log, err := h.calls.reviews.GetSarif(v.ctx(), &prwardenv1.GetSarifRequest{ReviewId: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", log.GetContentType())
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+v.r.PathValue("id")+`.sarif"`)
	_, _ = v.w.Write(log.GetData()) // the browser may be gone

	return nil
}

func (h *Handler) cancelReview(v *visit) error {
	id := v.r.PathValue("id")
	if _, err := h.calls.reviews.CancelReview(v.ctx(), &prwardenv1.CancelReviewRequest{ReviewId: id}); err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "The review is canceled."})
	h.redirect(v, v.here("/reviews/"+id))

	return nil
}

// scanAgain starts a review of the same pull request that is asked for in the same way.
func (h *Handler) scanAgain(v *visit) error {
	if err := v.caller.Require(auth.ReviewsWrite); err != nil {
		return err
	}
	got, err := h.calls.reviews.GetReview(v.ctx(), &prwardenv1.GetReviewRequest{ReviewId: v.r.PathValue("id")})
	if err != nil {
		return err
	}
	r := got.GetReview()
	req := &prwardenv1.CreateReviewRequest{Repo: r.GetRepo(), PrNumber: r.GetPrNumber()}
	if r.GetRuleset() != r.GetRepo() {
		req.Ruleset = given(r.GetRuleset())
	}
	if r.GetVerdict() != nil {
		req.FailOn = r.GetVerdict().Threshold
	}
	if r.GetBaseFoundBy() == prwardenv1.Base_requested {
		req.HeadSha, req.BaseRef = r.HeadSha, r.BaseRef
		if r.BaseRef == nil {
			req.BaseSha = r.BaseSha
		}
	}
	made, err := h.calls.reviews.CreateReview(v.ctx(), req)
	if err != nil {
		return err
	}
	h.redirect(v, v.here("/reviews/"+made.GetReviewId()))

	return nil
}
