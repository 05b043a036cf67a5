package web

import (
	"net/url"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// repoList is what the list of repositories shows.
type repoList struct {
	Query, Page, Next string
	Rows              []*prwardenv1.Repository
	Server            string
}

func (r repoList) link(v *visit, page string) string {
	q := url.Values{}
	if r.Query != "" {
		q.Set("q", r.Query)
	}
	if page != "" {
		q.Set("page", page)
	}

	return v.here("/repositories?" + q.Encode())
}

func (h *Handler) repositoriesPage(v *visit) error {
	q := v.r.URL.Query()
	view := repoList{Query: strings.TrimSpace(q.Get("q")), Page: q.Get("page"), Server: h.origin(v.r)}
	got, err := h.calls.reviews.ListRepositories(v.ctx(), &prwardenv1.ListRepositoriesRequest{
		Query: given(view.Query), PageToken: given(view.Page),
	})
	if err != nil {
		return err
	}
	view.Rows, view.Next = got.GetRepositories(), got.GetNextPageToken()

	return h.show(v, "Repositories", "repositories", repoListBody(h, v, view))
}

// repoView is what the page of a repository shows.
type repoView struct {
	*prwardenv1.Repository
	Groups  []*prwardenv1.FindingGroup // the rules with most open findings
	Reviews reviewsView
	Rules   *prwardenv1.Ruleset // its own; nil for none
}

func (r repoView) filter() findingsFilter { return findingsFilter{Group: "rule", Repo: r.GetRepo()} }

func (h *Handler) repositoryPage(v *visit) error {
	name := v.r.PathValue("repo")
	found, err := h.calls.reviews.ListRepositories(v.ctx(), &prwardenv1.ListRepositoriesRequest{
		Query: given(name), PageSize: new(int32(200)),
	})
	if err != nil {
		return err
	}
	view := repoView{Reviews: reviewsView{Now: h.Now()}}
	for _, r := range found.GetRepositories() {
		if r.GetRepo() == name {
			view.Repository = r
		}
	}
	if view.Repository == nil {
		return errNoPage
	}
	groups, err := h.calls.reviews.SearchFindings(v.ctx(), &prwardenv1.SearchFindingsRequest{
		Repo: &name, GroupBy: prwardenv1.Grouping_rule.Enum(), PageSize: new(int32(topOf)),
	})
	if err != nil {
		return err
	}
	view.Groups = groups.GetGroups()
	reviews, err := h.calls.reviews.ListReviews(v.ctx(), &prwardenv1.ListReviewsRequest{
		Repo: &name, PageSize: new(int32(topOf)),
	})
	if err != nil {
		return err
	}
	view.Reviews.Rows = reviews.GetReviews()
	if v.has(auth.RulesRead) {
		rulesets, err := h.calls.rules.ListRulesets(v.ctx(), &prwardenv1.ListRulesetsRequest{})
		if err != nil {
			return err
		}
		for _, s := range rulesets.GetRulesets() {
			if s.GetName() == name {
				view.Rules = s
			}
		}
	}

	return h.show(v, name, "repositories", repoBody(v, view))
}
