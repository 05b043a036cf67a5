package bitbucketserverfake

import (
	"net/http"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// calls are those that there are.
func (f *Fake) calls() map[string]func(*http.Request) answer {
	const at = "/latest/projects/{project}/repos/{slug}"
	const repo, pull = "/api" + at, "/api" + at + "/pull-requests/{n}"
	const report = "/insights" + at + "/commits/{sha}/reports/{key}"
	return map[string]func(*http.Request) answer{
		"GET /api/latest/repos":                  f.getRepos,
		"GET /api/latest/users":                  f.getUsers,
		"GET " + repo + "/pull-requests":         f.getPulls,
		"GET " + pull:                            f.getPull,
		"GET " + pull + "/activities":            f.getActivities,
		"POST " + pull + "/comments":             f.postComment,
		"GET " + pull + "/comments/{id}":         f.getComment,
		"PUT " + pull + "/comments/{id}":         f.putComment,
		"DELETE " + pull + "/comments/{id}":      f.deleteComment,
		"GET " + repo + "/commits/{sha}/builds":  f.getBuild,
		"POST " + repo + "/commits/{sha}/builds": f.postBuild,
		"GET " + report:                          f.getReport,
		"PUT " + report:                          f.putReport,
		"DELETE " + report:                       f.deleteReport,
		"GET " + report + "/annotations":         f.getAnnotations,
		"POST " + report + "/annotations":        f.postAnnotations,
		"PUT /comment-likes" + at + "/pull-requests/{n}/comments/{id}/reactions/{emoticon}": f.putReaction,
	}
}

// getRepos lists by permission ([rest], /api/latest/repos); that the token's own permission
// counts is an assumption.
func (f *Fake) getRepos(q *http.Request) answer {
	of := f.repos
	if q.URL.Query().Get("permission") == "REPO_WRITE" && f.readOnly {
		of = nil
	}

	return list(q, of, showRepo)
}

// getUsers filters by a part of the name, and by what they may do in a repository, also by
// groups ([rest], /api/latest/users).
func (f *Fake) getUsers(q *http.Request) answer {
	query := q.URL.Query()
	var of []string
	for _, name := range []string{hosttest.Account, hosttest.Writer, hosttest.Reader, hosttest.Stranger} {
		writes := name == hosttest.Account || name == hosttest.Writer
		right := query.Get("permission.1") == "" ||
			writes && query.Get("permission.1.projectKey") != "" && query.Get("permission.1.repositorySlug") != ""
		if strings.Contains(name, query.Get("filter")) && right {
			of = append(of, name)
		}
	}

	return list(q, of, showUser)
}

// repository is that of a request. All have pull requests of the same numbers.
func (f *Fake) repository(q *http.Request) *repo {
	return f.repo(strings.ToLower(q.PathValue("project")) + "/" + q.PathValue("slug"))
}

// getPulls has them in the order of their numbers: that no order goes by when they changed is
// an assumption, the harder case.
func (f *Fake) getPulls(q *http.Request) answer {
	var open []*pull
	for _, p := range f.pulls {
		if q.URL.Query().Get("state") == "OPEN" && p.state == codehost.Open {
			open = append(open, p)
		}
	}
	return list(q, open, func(p *pull) object { return f.showPull(p, f.repository(q)) })
}

func (f *Fake) getPull(q *http.Request) answer {
	p := f.pull(q.PathValue("n"))
	if p == nil {
		return notFound()
	}

	return answer{http.StatusOK, f.showPull(p, f.repository(q))}
}

// showPull has whole hashes, and times in milliseconds ([rest], pull request).
func (f *Fake) showPull(p *pull, r *repo) object {
	state := map[codehost.State]string{codehost.Open: "OPEN", codehost.Closed: "DECLINED", codehost.Merged: "MERGED"}
	source := r
	if p.fork {
		source = &repo{77, "~" + hosttest.Stranger + "/web"}
	}
	end := func(r *repo, branch, sha string) object {
		return object{"id": "refs/heads/" + branch, "displayId": branch, "latestCommit": sha, "repository": showRepo(r)}
	}

	return object{
		"id": p.number, "version": 3, "title": hosttest.Title, "state": state[p.state], "draft": p.draft,
		"author":      object{"user": showUser(hosttest.Stranger), "role": "AUTHOR"},
		"fromRef":     end(source, "page", p.head),
		"toRef":       end(r, hosttest.Branch, hosttest.Base),
		"createdDate": start.UnixMilli(), "updatedDate": p.updated.UnixMilli(),
		"links": object{"self": []object{{"href": "https://bitbucket.example.com/projects/ACME/repos/web/pull-requests/7"}}},
	}
}

func (f *Fake) getBuild(q *http.Request) answer {
	b := f.builds[q.PathValue("sha")]
	if b == nil || b.Key != q.URL.Query().Get("key") {
		return notFound()
	}

	return answer{http.StatusOK, b}
}

// postBuild writes over the status of the same key, whoever wrote it. Key, state and address
// are required ([rest], builds); that a text has at most 255 characters is an assumption.
func (f *Fake) postBuild(q *http.Request) answer {
	var in build
	states := []string{"INPROGRESS", "SUCCESSFUL", "FAILED", "CANCELLED", "UNKNOWN"}
	switch {
	case !f.commits[q.PathValue("sha")]:
		return notFound()
	case !body(q, &in), in.Key == "", in.URL == "", !slices.Contains(states, in.State), len([]rune(in.Description)) > 255:
		return problem(http.StatusBadRequest, "The build status is not valid.")
	}
	f.builds[q.PathValue("sha")] = &in

	return answer{http.StatusNoContent, nil}
}

// PostBuild has somebody else write over our build status.
func (f *Fake) PostBuild(sha, state string) {
	f.change(func() { f.builds[sha] = &build{Key: "prwarden", State: state, Description: "forged", URL: "https://x"} })
}

// report is that of a request; nil for none. Others than ours aren't asked for.
func (f *Fake) report(q *http.Request) *report {
	if q.PathValue("key") != "prwarden" {
		return nil
	}

	return f.reports[q.PathValue("sha")]
}

func (f *Fake) getReport(q *http.Request) answer {
	r := f.report(q)
	if r == nil {
		return notFound()
	}

	return answer{http.StatusOK, r}
}

// putReport has limits ([rest], insights), and keeps the annotations that are there: an
// assumption, for which reports are deleted when they are to begin anew.
func (f *Fake) putReport(q *http.Request) answer {
	var in report
	switch {
	case !f.commits[q.PathValue("sha")]:
		return notFound()
	case !body(q, &in), in.Title == "", in.Data == nil, len(in.Data) > 6, len([]rune(in.Title)) > 450,
		len([]rune(in.Details)) > 2000, !slices.Contains([]string{"", "PASS", "FAIL"}, in.Result):
		return problem(http.StatusBadRequest, "The report is not valid.")
	}
	f.reports[q.PathValue("sha")] = &in

	return answer{http.StatusOK, in}
}

// deleteReport deletes the annotations with it, and is content when there is none ([rest],
// insights).
func (f *Fake) deleteReport(q *http.Request) answer {
	delete(f.reports, q.PathValue("sha"))
	delete(f.annotations, q.PathValue("sha"))

	return answer{http.StatusNoContent, nil}
}

func (f *Fake) getAnnotations(q *http.Request) answer {
	if f.report(q) == nil {
		return notFound()
	}
	all := make([]object, f.annotations[q.PathValue("sha")])

	return answer{http.StatusOK, object{"totalCount": len(all), "annotations": all}}
}

// postAnnotations looks for no doubles, and takes 1,000 in a report ([rest], insights).
func (f *Fake) postAnnotations(q *http.Request) answer {
	var in struct {
		Annotations []struct {
			Message  string `json:"message"`
			Severity string `json:"severity"`
			Type     string `json:"type"`
			Line     int    `json:"line"`
		} `json:"annotations"`
	}
	if f.report(q) == nil {
		return notFound()
	}
	bad := !body(q, &in) || len(in.Annotations)+f.annotations[q.PathValue("sha")] > 1000
	for _, a := range in.Annotations {
		bad = bad || a.Message == "" || len([]rune(a.Message)) > 2000 || a.Line < 0 ||
			!slices.Contains([]string{"LOW", "MEDIUM", "HIGH"}, a.Severity) ||
			!slices.Contains([]string{"VULNERABILITY", "CODE_SMELL", "BUG"}, a.Type)
	}
	if bad {
		return problem(http.StatusBadRequest, "The annotations are not valid.")
	}
	f.annotations[q.PathValue("sha")] += len(in.Annotations)

	return answer{http.StatusNoContent, nil}
}
