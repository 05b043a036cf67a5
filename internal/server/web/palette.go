package web

import (
	"strings"
	"unicode/utf8"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// goesTo is a place that the palette leads to.
type goesTo struct{ label, detail, path string }

// goGroup is places of one kind.
type goGroup struct {
	title  string
	places []goesTo
}

// mostPlaces is how many places of a kind are listed.
const mostPlaces = 8

// leastQuery is how many characters the server looks for at least: fewer are in almost
// everything, and it reads all rules for them.
const leastQuery = 2

// goPage lists where a person may go, by words. The palette shows the same list.
func (h *Handler) goPage(v *visit) error {
	words := strings.Fields(v.r.URL.Query().Get("q"))
	query := strings.Join(words[:min(len(words), 5)], " ") // as many as a search takes
	groups := []goGroup{{"Pages", pagesOf(v, query)}, {"Organizations", organizationsOf(v, query)}}
	if utf8.RuneCountInString(query) >= leastQuery {
		found, err := h.foundPlaces(v, query)
		if err != nil {
			return err
		}
		groups = append(groups, found...)
	}

	return h.show(v, "Go to", "go", goBody(v, query, groups))
}

// hasWords reports whether a text has all words of a query.
func hasWords(text, query string) bool {
	text = strings.ToLower(text)
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}

	return true
}

func pagesOf(v *visit, query string) (out []goesTo) {
	for _, e := range append(entries(v, false), entries(v, true)...) {
		if hasWords(e.label, query) {
			out = append(out, goesTo{e.label, "", v.here(e.path)})
		}
	}
	if hasWords("Account", query) {
		out = append(out, goesTo{"Account", "", "/account"})
	}

	return out
}

func organizationsOf(v *visit, query string) (out []goesTo) {
	for _, m := range v.account.Memberships {
		if m.Organization != v.org && hasWords(m.Organization, query) && len(out) < mostPlaces {
			out = append(out, goesTo{m.Organization, string(m.Role), "/o/" + m.Organization + "/"})
		}
	}

	return out
}

// foundPlaces are those that the server looks for.
func (h *Handler) foundPlaces(v *visit, query string) (out []goGroup, err error) {
	if v.has(auth.ReviewsRead) {
		repos, err := h.calls.reviews.ListRepositories(v.ctx(), &prwardenv1.ListRepositoriesRequest{
			Query: &query, PageSize: new(int32(mostPlaces)),
		})
		if err != nil {
			return nil, err
		}
		list := goGroup{title: "Repositories"}
		for _, r := range repos.GetRepositories() {
			list.places = append(list.places, goesTo{shown(r.GetRepo()), "", v.here("/repositories/" + r.GetRepo())})
		}
		reviews, err := h.calls.reviews.ListReviews(v.ctx(), &prwardenv1.ListReviewsRequest{
			Query: &query, PageSize: new(int32(mostPlaces)),
		})
		if err != nil {
			return nil, err
		}
		found := goGroup{title: "Reviews"}
		for _, r := range reviews.GetReviews() {
			found.places = append(found.places, goesTo{
				titleOf(r), shown(r.GetRepo()) + " #" + number(r.GetPrNumber()), v.here("/reviews/" + r.GetReviewId()),
			})
		}
		out = append(out, list, found)
	}
	if v.has(auth.RulesRead) {
		rules, err := h.rulePlaces(v, query)
		if err != nil {
			return nil, err
		}
		out = append(out, goGroup{"Rules", rules})
	}

	return out, nil
}

func (h *Handler) rulePlaces(v *visit, query string) (out []goesTo, err error) {
	for _, set := range []string{"custom", "default"} {
		if len(out) == mostPlaces {
			break
		}
		got, err := h.calls.rules.ListRules(v.ctx(), &prwardenv1.ListRulesRequest{Name: set})
		if err != nil {
			return nil, err
		}
		for _, r := range got.GetRules() {
			if len(out) < mostPlaces && hasWords(fullID(r.GetId()), query) {
				out = append(out, goesTo{fullID(r.GetId()), "", v.here("/rules/" + fullID(r.GetId()))})
			}
		}
	}

	return out, nil
}
