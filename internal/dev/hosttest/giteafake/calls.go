package giteafake

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Operations are the calls that a fake answers.
func Operations() []string { return slices.Sorted(maps.Keys(new(Fake).calls())) }

// calls are those that there are.
func (f *Fake) calls() map[string]func(*http.Request) answer {
	const repo = "/repos/{owner}/{repo}"
	return map[string]func(*http.Request) answer{
		"GET /version":               f.getVersion,
		"GET /user":                  f.getUser,
		"GET /user/repos":            f.getRepos,
		"GET /repositories/{id}":     f.getRepo,
		"GET " + repo + "/pulls":     f.getPulls,
		"GET " + repo + "/pulls/{n}": f.getPull,
		"GET " + repo + "/collaborators/{user}/permission":             f.getPermission,
		"GET " + repo + "/statuses/{sha}":                              f.getStatuses,
		"POST " + repo + "/statuses/{sha}":                             f.postStatus,
		"GET " + repo + "/issues/{n}/comments":                         f.getComments,
		"POST " + repo + "/issues/{n}/comments":                        f.postComment,
		"PATCH " + repo + "/issues/comments/{id}":                      f.patchComment,
		"DELETE " + repo + "/issues/comments/{id}":                     f.deleteComment,
		"POST " + repo + "/issues/comments/{id}/reactions":             f.postReaction,
		"GET " + repo + "/pulls/{n}/reviews":                           f.getReviews,
		"POST " + repo + "/pulls/{n}/reviews":                          f.postReview,
		"DELETE " + repo + "/pulls/{n}/reviews/{review}":               f.deleteReview,
		"GET " + repo + "/pulls/{n}/reviews/{review}/comments":         f.getReviewComments,
		"DELETE " + repo + "/pulls/{n}/reviews/{review}/comments/{id}": f.deleteReviewComment,
		"POST " + repo + "/pulls/comments/{id}/resolve":                f.resolve,
		"POST " + repo + "/pulls/comments/{id}/unresolve":              f.resolve,
	}
}

func (f *Fake) getVersion(*http.Request) answer {
	if f.Forgejo { // its version names the Gitea that it is like
		return plain(http.StatusOK, object{"version": "13.0.2+gitea-1.22.0"})
	}

	return plain(http.StatusOK, object{"version": "1.26.0"})
}

func (f *Fake) getUser(*http.Request) answer { return plain(http.StatusOK, showUser(hosttest.Account)) }

func (f *Fake) getRepos(q *http.Request) answer { return list(q, f.repos, showRepo) }

func (f *Fake) getRepo(q *http.Request) answer {
	for _, r := range f.repos {
		if strconv.FormatInt(r.id, 10) == q.PathValue("id") {
			return plain(http.StatusOK, showRepo(r))
		}
	}

	return notFound()
}

// getPulls sorts as asked; other orders than these two aren't asked for.
func (f *Fake) getPulls(q *http.Request) answer {
	var open []*pull
	for _, p := range f.pulls {
		if q.URL.Query().Get("state") != "open" || p.state == codehost.Open {
			open = append(open, p)
		}
	}
	slices.SortFunc(open, func(a, b *pull) int {
		if q.URL.Query().Get("sort") == "recentupdate" {
			return b.updated.Compare(a.updated)
		}
		return cmp.Compare(b.number, a.number)
	})

	return list(q, open, func(p *pull) object { return f.showPull(p, f.repository(q)) })
}

// repository is that of a request. All have pull requests of the same numbers.
func (f *Fake) repository(q *http.Request) *repo {
	for _, r := range f.repos {
		if r.name == q.PathValue("owner")+"/"+q.PathValue("repo") {
			return r
		}
	}

	return f.repos[0] // in another case
}

func (f *Fake) getPull(q *http.Request) answer {
	p := f.pull(q.PathValue("n"))
	if p == nil {
		return notFound()
	}

	return plain(http.StatusOK, f.showPull(p, f.repository(q)))
}

// showPull has the head of a fork under the fork's id, and `state` for closed and merged
// alike (services/convert/pull.go).
func (f *Fake) showPull(p *pull, r *repo) object {
	base := object{
		"label": hosttest.Branch, "ref": hosttest.Branch, "sha": hosttest.Base, "repo_id": r.id, "repo": showRepo(r),
	}
	head := object{"label": "page", "ref": "page", "sha": p.head, "repo_id": r.id, "repo": showRepo(r)}
	if p.fork {
		head["repo_id"], head["repo"] = 77, showRepo(&repo{77, hosttest.Stranger + "/web"})
	}
	state := "open"
	if p.state != codehost.Open {
		state = "closed"
	}
	labels := []object{}
	for _, l := range p.labels {
		labels = append(labels, object{"id": 1, "name": l})
	}

	return object{
		"id": 5000 + p.number, "number": p.number, "title": hosttest.Title, "user": showUser(hosttest.Stranger),
		"state": state, "merged": p.state == codehost.Merged, "draft": p.draft, "labels": labels, "head": head, "base": base,
		"merge_base": hosttest.Base, "html_url": "https://gitea.example.com/acme/web/pulls/7",
		"updated_at": p.updated.Format(time.RFC3339),
	}
}

// getPermission answers only those who administer the repository (probed;
// routers/api/v1/repo/collaborators.go, GetRepoPermissions).
func (f *Fake) getPermission(q *http.Request) answer {
	login := q.PathValue("user")
	switch {
	case f.noAdmin:
		return problem(http.StatusForbidden, "Only admins can query all permissions, repo admins can query all repo "+
			"permissions, collaborators can query only their own")
	case hosttest.People[login] == "":
		return notFound()
	}
	permission, known := map[string]string{hosttest.Writer: "write", hosttest.Reader: "read"}[login]
	if !known {
		permission = "none"
	}

	return plain(http.StatusOK, object{"user": showUser(login), "permission": permission, "role_name": permission})
}

// getStatuses has the newest first, by seconds (models/git/commit_status.go, ToOrders).
// Here all are of one second, so the order says nothing.
func (f *Fake) getStatuses(q *http.Request) answer {
	var of []*status
	for _, s := range f.statuses {
		if s.sha == q.PathValue("sha") {
			of = append(of, s)
		}
	}

	return list(q, of, showStatus)
}

// showStatus calls the state `status` (modules/structs/status.go).
func showStatus(s *status) object {
	return object{"id": s.id, "status": s.state, "target_url": s.url, "description": s.text, "context": s.context,
		"creator": showUser(s.author)}
}

// postStatus knows these states (modules/commitstatus), and answers 500 for a commit
// that is not there (probed).
func (f *Fake) postStatus(q *http.Request) answer {
	var in struct {
		State       string `json:"state"`
		TargetURL   string `json:"target_url"`
		Description string `json:"description"`
		Context     string `json:"context"`
	}
	if !body(q, &in) {
		return problem(http.StatusUnprocessableEntity, "bad JSON")
	}
	states := []string{"pending", "success", "error", "failure", "warning", "skipped"}
	if !f.commits[q.PathValue("sha")] || !slices.Contains(states, in.State) {
		return broken()
	}

	s := &status{f.id(), q.PathValue("sha"), in.Context, in.State, in.Description, in.TargetURL, hosttest.Account}
	f.statuses = append(f.statuses, s)
	return plain(http.StatusCreated, showStatus(s))
}

// PostStatus has somebody else write a status of our context.
func (f *Fake) PostStatus(author, sha, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses = append(f.statuses, &status{f.id(), sha, "prwarden", state, "by " + author, "", author})
}
