package web

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// sourceState says why a page has no source; "" when it does.
type sourceState string

// addSource reads the changed lines of the files that a page shows from the
// beginning. Where that fails, the snippets of findings are shown.
func (h *Handler) addSource(v *visit, r *reviewView) {
	if r.Filter.State == "fixed" { // of the head before, which no diff has
		return
	}
	var eager []*fileView
	for _, f := range r.Files {
		if !f.Lazy && len(eager) < maxDiffFiles {
			eager = append(eager, f)
		}
	}
	r.Source = h.readDiff(v, r.GetReviewId(), eager)
}

// maxDiffFiles is how many files one call of GetDiff reads.
const maxDiffFiles = 64

// readDiff reads the changed lines of files, and says why there are none.
func (h *Handler) readDiff(v *visit, id string, files []*fileView) sourceState {
	if len(files) == 0 {
		return ""
	}
	if !h.Source {
		return sourceWords(prwardenv1.GetDiffResponse_disabled)
	}
	if err := v.caller.Require(auth.SourceRead); err != nil {
		return sourceState("These are the lines of the findings only. " + problemOf(v.ctx(), err).Text)
	}
	req := &prwardenv1.GetDiffRequest{ReviewId: id}
	byPath := map[string]*fileView{}
	for _, f := range files {
		req.Files = append(req.Files, f.Path)
		byPath[f.Path] = f
	}

	for {
		got, err := h.calls.reviews.GetDiff(v.ctx(), req)
		if err != nil {
			return sourceState("The changed lines can't be read now: " + problemOf(v.ctx(), err).Text)
		}
		for _, d := range got.GetFiles() {
			if f := byPath[d.GetFile()]; f != nil {
				f.Diff = d
			}
		}
		if req.PageToken = given(got.GetNextPageToken()); req.PageToken == nil {
			return sourceWords(got.GetAvailability())
		}
	}
}

// sourceWords says why there is no source.
func sourceWords(a prwardenv1.GetDiffResponse_Availability) sourceState {
	switch a {
	case prwardenv1.GetDiffResponse_available:
		return ""
	case prwardenv1.GetDiffResponse_gone:
		return "The commits of this review are gone from the code host, so only the lines of the findings are shown."
	case prwardenv1.GetDiffResponse_disabled:
		return "The operator of this server has switched source off, so only the lines of the findings are shown."
	case prwardenv1.GetDiffResponse_too_large:
		return "The pull request is too large to be compared here, so only the lines of the findings are shown."
	}

	return "Only the lines of the findings are shown."
}

// filePage is a file by itself: what a page loads when the file comes near, and what
// a link leads to.
func (h *Handler) filePage(v *visit) error {
	q := v.r.URL.Query()
	number, _ := strconv.Atoi(v.r.PathValue("n"))
	r := &reviewView{Review: &prwardenv1.Review{ReviewId: v.r.PathValue("id")}, Filter: filterOf(q), Now: h.Now()}
	f := &fileView{Path: r.Filter.File, Number: number, Counts: countsOf(nil)}
	if f.Path == "" {
		return errNoPage
	}
	if q.Has("from") {
		return h.linesPage(v, r, f)
	}

	var err error
	if r.Names, err = h.namesOf(v); err != nil {
		return err
	}
	if err := h.addFindings(v, r, f); err != nil {
		return err
	}
	if r.Filter.State != "fixed" {
		r.Source = h.readDiff(v, r.GetReviewId(), []*fileView{f})
	}
	if q.Has("whole") && f.Diff != nil {
		if err := h.readWhole(v, r.GetReviewId(), f); err != nil {
			return err
		}
	}
	if q.Has("part") {
		return h.writePart(v, fileBody(h, v, r, f))
	}

	return h.show(v, f.Path, "reviews", filePageBody(h, v, r, f))
}

// addFindings reads the findings of a file, or those of them that are on a page.
func (h *Handler) addFindings(v *visit, r *reviewView, f *fileView) error {
	q := v.r.URL.Query()
	skip, _ := strconv.Atoi(q.Get("skip"))
	take, err := strconv.Atoi(q.Get("take"))
	if err != nil {
		take = findingsPageSize
	}
	f.First, f.Split = skip, q.Has("take")

	req := &prwardenv1.ListFindingsRequest{
		ReviewId: r.GetReviewId(), Kind: r.Filter.kind().Enum(), File: &f.Path, PageSize: new(int32(1000)),
		RuleId: given(r.Filter.Rule),
	}
	for {
		list, err := h.calls.reviews.ListFindings(v.ctx(), req)
		if err != nil {
			return err
		}
		for _, x := range list.GetFindings() {
			if !r.Filter.shows(x) {
				continue
			}
			if skip--; skip < 0 && len(f.Findings) < take {
				f.add(x, true)
			}
		}
		if req.PageToken = given(list.GetNextPageToken()); req.PageToken == nil || len(f.Findings) >= take {
			return nil
		}
	}
}

// writePart answers with a part of a page, which the script puts in its place.
func (h *Handler) writePart(v *visit, part templ.Component) error {
	var out bytes.Buffer
	if err := part.Render(v.ctx(), &out); err != nil {
		return err
	}

	return h.write(v, http.StatusOK, out.Bytes())
}

const (
	// unfoldLines is how many lines are unfolded at once.
	unfoldLines = 20

	// wholeLines is up to how many lines a whole file is shown, and askLines how many
	// of them one call reads.
	wholeLines, askLines = 2000, 200
)

// linesPage shows lines of a file that the diff leaves out.
func (h *Handler) linesPage(v *visit, r *reviewView, f *fileView) error {
	from, to, err := linesOf(v.r.URL.Query())
	if err != nil {
		return err
	}
	hunks, why, err := h.readLines(v, r.GetReviewId(), f.Path, from, to)
	if err != nil {
		return err
	}
	f.Gone = why
	f.Diff = &prwardenv1.FileDiff{File: f.Path, Hunks: hunks}
	first, _ := strconv.Atoi(v.r.URL.Query().Get("first"))
	f.Lines, f.Unfolds = true, int32(min(max(first, 1), from))
	if v.r.URL.Query().Has("down") && len(hunks) > 0 {
		_, end := ends(hunks[len(hunks)-1])
		f.Down = end > int32(to)
	}

	return h.show(v, f.Path, "reviews", linesBody(h, v, r, f))
}

// linesOf are the first and the last line that an address asks for.
func linesOf(q url.Values) (from, to int, err error) {
	first, err := strconv.ParseInt(q.Get("from"), 10, 32)
	if err != nil || first < 1 || first > math.MaxInt32-unfoldLines {
		return 0, 0, errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "from: %q is not the number of a line.",
			errs.Cut(q.Get("from"), 20))
	}
	last, _ := strconv.ParseInt(q.Get("to"), 10, 32) // some lines are shown whatever it says

	return int(first), int(min(max(last, first), first+unfoldLines-1)), nil
}

// readLines reads lines of a file at head, and says why there are none.
func (h *Handler) readLines(
	v *visit, id, file string, from, to int,
) (hunks []*prwardenv1.Hunk, why sourceState, err error) {
	got, err := h.calls.reviews.GetDiff(v.ctx(), &prwardenv1.GetDiffRequest{
		ReviewId: id, Files: []string{file}, From: new(int32(from)), To: new(int32(to)),
	})
	if err != nil {
		return nil, "", err
	}
	if len(got.GetFiles()) == 0 {
		return nil, sourceWords(got.GetAvailability()), nil
	}

	return got.GetFiles()[0].GetHunks(), sourceWords(got.GetAvailability()), nil
}

// readWhole reads all lines of a file, up to the most that are shown, in the place of
// its changes.
func (h *Handler) readWhole(v *visit, id string, f *fileView) error {
	var all []*prwardenv1.Hunk
	f.Diff.Truncated = true
	for from := 1; from < wholeLines && f.Diff.GetTruncated(); from += askLines {
		hunks, why, err := h.readLines(v, id, f.Path, from, from+askLines-1)
		if err != nil {
			return err
		}
		if why != "" { // the changes, which were read before, stay
			f.Gone, f.Diff.Truncated = why, false

			return nil
		}
		all = append(all, hunks...)
		end := int32(0)
		if len(hunks) > 0 {
			_, end = ends(hunks[len(hunks)-1])
		}
		f.Diff.Truncated = end >= int32(from+askLines)
	}
	f.Whole, f.Diff.Hunks = true, joined(all)

	return nil
}

// joined are hunks of which those that follow each other are made one.
func joined(hunks []*prwardenv1.Hunk) (out []*prwardenv1.Hunk) {
	for _, k := range hunks {
		if len(out) > 0 {
			last := out[len(out)-1]
			if _, end := ends(last); end == k.GetNewStart() {
				last.Lines = append(last.Lines, k.GetLines()...)
				continue
			}
		}
		out = append(out, k)
	}

	return out
}

// ends are the numbers behind the last line of a hunk, on both sides.
func ends(k *prwardenv1.Hunk) (before, after int32) {
	before, after = k.GetOldStart(), k.GetNewStart()
	for _, l := range k.GetLines() {
		if l.GetKind() != prwardenv1.DiffLine_added {
			before++
		}
		if l.GetKind() != prwardenv1.DiffLine_removed {
			after++
		}
	}

	return before, after
}

// snippets are hunks of the lines of findings, where there is no source.
func snippets(findings []*prwardenv1.Finding) (out []*prwardenv1.Hunk) {
	sorted := slices.SortedStableFunc(slices.Values(findings), func(a, b *prwardenv1.Finding) int {
		return cmp.Compare(a.GetLine(), b.GetLine())
	})
	for i, x := range sorted {
		if i > 0 && sorted[i-1].GetLine() == x.GetLine() {
			continue
		}
		line := &prwardenv1.DiffLine{Kind: prwardenv1.DiffLine_context.Enum(), Text: shown(x.GetSnippet())}
		out = append(out, &prwardenv1.Hunk{NewStart: x.GetLine(), Lines: []*prwardenv1.DiffLine{line}})
	}

	return joined(out)
}

// rows is the table of the changed lines of a file, with its findings.
func rows(h *Handler, v *visit, r *reviewView, f *fileView) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		t := newTable(f, r.Filter.State == "fixed")
		t.card = func(x *prwardenv1.Finding) error { return card(h, v, r, x).Render(ctx, &t.out) }
		t.unfold = func(query string) string { return r.fileLink(v, f, query) }
		t.whole = f.Whole
		if f.Lines {
			t.start, t.tail, t.whole = f.Unfolds, f.Down, true
		}
		if err := t.write(); err != nil {
			return err
		}
		_, err := w.Write(t.out.Bytes())

		return err
	})
}
