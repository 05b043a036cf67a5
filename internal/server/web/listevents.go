package web

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// lookInterval is how often a stream looks whether there are new reviews.
const lookInterval = 3 * time.Second

// freshWords say how many reviews are newer than the list.
func (r reviewsView) freshWords() string {
	if r.Fresh.N == 1 && !r.Fresh.More {
		return "1 new review"
	}

	return r.Fresh.count() + " new reviews"
}

// creators are the people to choose from, but oneself.
func creators(v *visit, r reviewsView) []choice {
	all := people(r.Names)
	for i := range all {
		all[i].label = "By " + all[i].label
	}

	return slices.DeleteFunc(all, func(c choice) bool { return c.value == "user:"+v.caller.UserID })
}

// labelOf is what a choice is called; its value when it is none of them.
func labelOf(all []choice, value string) string {
	for _, c := range all {
		if c.value == value {
			return c.label
		}
	}

	return shown(value)
}

// liveRows has the script load the rows again when one of them changes, and say how many
// are new. The rows stay those that there are.
func liveRows(v *visit, r reviewsView) templ.Attributes {
	if !r.live() {
		return nil
	}

	return templ.Attributes{
		"data-events": v.here("/reviews/events" + r.query()), "data-parts": "#fresh #rows",
		"data-from": v.here("/reviews" + r.query()),
	}
}

// reviewsEvents streams that something about the reviews of a list has changed, or that
// there are new ones.
func (h *Handler) reviewsEvents(v *visit) error {
	f := reviewsFilterOf(v.r.URL.Query())
	if f.seen() == nil {
		return errs.Invalid("seen", "must be a time in microseconds since 1970")
	}
	if err := overload.FromContext(v.ctx()).Watch(v.ctx()); err != nil {
		return err
	}
	before, err := h.stateOf(v, f)
	if err != nil {
		return err
	}

	out := openEvents(v)
	if !out.send("data: changed\n\n") { // something may have happened since the page was made
		return nil
	}
	recheck, look := time.NewTicker(recheckInterval), time.NewTicker(lookInterval)
	defer recheck.Stop()
	defer look.Stop()
	for {
		select {
		case <-v.ctx().Done():
			return nil
		case <-h.Stopping:
			return nil
		case <-recheck.C:
			if h.hasEnded(v) {
				return nil
			}
			continue
		case <-look.C:
		}

		now, err := h.stateOf(v, f)
		if err != nil || now == before { // it may be back the next time
			continue
		}
		before = now
		if !out.send("data: changed\n\n") {
			return nil
		}
	}
}

// stateOf says how far the reviews of a list are that are not final, and how many are
// newer.
func (h *Handler) stateOf(v *visit, f reviewsFilter) (string, error) {
	n, err := h.calls.reviews.CountReviews(v.ctx(), f.countSince(f.seen()))
	if err != nil {
		return "", err
	}
	f.Status = "running" // the others stay as they are
	list, err := h.calls.reviews.ListReviews(v.ctx(), f.request(h.Now()))
	if err != nil {
		return "", err
	}
	out := []string{number(n.GetAll())}
	for _, r := range list.GetReviews() {
		out = append(out, r.GetReviewId(), r.GetStatus().String(), number(r.GetFilesDone()))
	}

	return strings.Join(out, " "), nil
}
