package bitbucketfake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// The scopes of API tokens.
const (
	userScope        = "read:user:bitbucket"
	readRepositories = "read:repository:bitbucket"
	readPulls        = "read:pullrequest:bitbucket"
	writePulls       = "write:pullrequest:bitbucket"
)

type call struct {
	scope  string
	answer func(*http.Request) answer
}

// calls are those that there are, with their scopes ([rest], each call).
func (f *Fake) calls() map[string]call {
	const repo = "/repositories/{workspace}/{slug}"
	const commit, comment = repo + "/commit/{sha}", repo + "/pullrequests/{n}/comments/{id}"
	return map[string]call{
		"GET /user":                                 {userScope, f.getUser},
		"GET /repositories/{workspace}":             {readRepositories, f.getRepos},
		"GET " + repo:                               {readRepositories, f.getRepo},
		"GET " + repo + "/pullrequests":             {readPulls, f.getPulls},
		"GET " + repo + "/pullrequests/{n}":         {readPulls, f.getPull},
		"GET " + repo + "/pullrequests/{n}/commits": {readPulls, f.getCommits},
		"GET /workspaces/{workspace}/permissions/repositories/{slug}": {readRepositories, f.getPermissions},
		"GET " + commit: {readRepositories, f.getCommit},
		"GET " + commit + "/statuses/build/{key}":          {readRepositories, f.getStatus},
		"POST " + commit + "/statuses/build":               {readRepositories, f.postStatus},
		"GET " + commit + "/reports/{report}":              {readRepositories, f.getReport},
		"PUT " + commit + "/reports/{report}":              {readRepositories, f.putReport},
		"DELETE " + commit + "/reports/{report}":           {readRepositories, f.deleteReport},
		"GET " + commit + "/reports/{report}/annotations":  {readRepositories, f.getAnnotations},
		"POST " + commit + "/reports/{report}/annotations": {readRepositories, f.postAnnotations},
		"GET " + repo + "/pullrequests/{n}/comments":       {readPulls, f.getComments},
		"POST " + repo + "/pullrequests/{n}/comments":      {writePulls, f.postComment},
		"GET " + comment:                 {readPulls, f.getComment},
		"PUT " + comment:                 {writePulls, f.putComment},
		"DELETE " + comment:              {writePulls, f.deleteComment},
		"POST " + comment + "/resolve":   {writePulls, f.resolve},
		"DELETE " + comment + "/resolve": {writePulls, f.reopen},
	}
}

func (f *Fake) getUser(*http.Request) answer {
	return answer{http.StatusOK, showUser(hosttest.Account)}
}

func (f *Fake) getRepos(q *http.Request) answer {
	var of []*repo
	for _, r := range f.repos {
		if strings.HasPrefix(r.name, q.PathValue("workspace")+"/") {
			of = append(of, r)
		}
	}

	return list(f, q, 100, of, showRepo)
}

func (f *Fake) getRepo(q *http.Request) answer {
	return answer{http.StatusOK, showRepo(f.repository(q))}
}

// getPulls has at most 50 on a page: an assumption. Other orders aren't asked for.
func (f *Fake) getPulls(q *http.Request) answer {
	var open []*pull
	for _, p := range f.pulls {
		if q.URL.Query().Get("state") == "OPEN" && p.state == codehost.Open {
			open = append(open, p)
		}
	}
	slices.SortFunc(open, func(a, b *pull) int { return b.updated.Compare(a.updated) })

	return list(f, q, 50, open, func(p *pull) object { return f.showPull(p, f.repository(q)) })
}

func (f *Fake) getPull(q *http.Request) answer {
	p := f.pull(q.PathValue("n"))
	if p == nil {
		return notFound()
	}

	return answer{http.StatusOK, f.showPull(p, f.repository(q))}
}

// showPull has shortened hashes (support.atlassian.com/bitbucket-cloud/docs/event-payloads).
func (f *Fake) showPull(p *pull, r *repo) object {
	state := map[codehost.State]string{codehost.Open: "OPEN", codehost.Closed: "DECLINED", codehost.Merged: "MERGED"}
	source := r
	if p.fork {
		source = &repo{"77", hosttest.Stranger + "/web"}
	}
	end := func(r *repo, branch, sha string) object {
		return object{"branch": object{"name": branch}, "commit": object{"hash": sha[:12]}, "repository": showRepo(r)}
	}

	return object{
		"type": "pullrequest", "id": p.number, "title": hosttest.Title, "author": showUser(hosttest.Stranger),
		"state": state[p.state], "draft": p.draft, "source": end(source, "page", p.head),
		"destination": end(r, hosttest.Branch, hosttest.Base), "updated_on": p.updated.Format(time.RFC3339Nano),
		"links": object{"html": link("https://bitbucket.org/%s/pull-requests/%d", r.name, p.number)},
	}
}

// getCommits has the newest first: an assumption, on which nothing depends.
func (f *Fake) getCommits(q *http.Request) answer {
	p := f.pull(q.PathValue("n"))
	if p == nil {
		return notFound()
	}

	commits := []string{p.head, strings.Repeat("3", 40)}

	return list(f, q, 100, commits, func(sha string) object { return object{"hash": sha} })
}

// getPermissions are those that count, also by groups, and only for administrators
// ([rest], workspaces). `q` filters by the user.
func (f *Fake) getPermissions(q *http.Request) answer {
	if f.noAdmin {
		return problem(http.StatusForbidden, "You must be an admin of the repository to view its permissions.")
	}
	var of []string
	for _, name := range []string{hosttest.Account, hosttest.Writer, hosttest.Reader} {
		filter := fmt.Sprintf("user.uuid=%q", braced(hosttest.People[name]))
		if by := q.URL.Query().Get("q"); by == "" || by == filter {
			of = append(of, name)
		}
	}

	return list(f, q, 100, of, func(name string) object {
		permission := map[string]string{hosttest.Account: "admin", hosttest.Writer: "write", hosttest.Reader: "read"}[name]
		return object{"type": "repository_permission", "user": showUser(name), "permission": permission}
	})
}

// commitOf is the whole hash of a commit of the repository; "" for none. The commits of
// a fork are not in it: an assumption, the harder case.
func (f *Fake) commitOf(q *http.Request) string {
	short := q.PathValue("sha")
	for sha := range f.commits {
		isOfFork := f.pulls[0].fork && sha == f.pulls[0].head
		if len(short) >= 7 && strings.HasPrefix(sha, short) && !isOfFork {
			return sha
		}
	}

	return ""
}

func (f *Fake) getCommit(q *http.Request) answer {
	sha := f.commitOf(q)
	if sha == "" {
		return problem(http.StatusNotFound, "Commit not found")
	}

	return answer{http.StatusOK, object{"type": "commit", "hash": sha}}
}

func showStatus(s *status) object {
	return object{"type": "build", "key": s.Key, "state": s.State, "name": s.Name, "description": s.Description,
		"url": s.URL, "author": showUser(s.author)}
}

func (f *Fake) getStatus(q *http.Request) answer {
	s := f.statuses[f.commitOf(q)]
	if s == nil || s.Key != q.PathValue("key") {
		return notFound()
	}

	return answer{http.StatusOK, showStatus(s)}
}

// postStatus writes over the status of the same key, which only its author can
// (developer.atlassian.com/cloud/bitbucket/bitbucket-api-changes-commit-status). Key, state
// and address are required; that a text has at most 255 characters is an assumption.
func (f *Fake) postStatus(q *http.Request) answer {
	var in status
	sha := f.commitOf(q)
	states := []string{"INPROGRESS", "SUCCESSFUL", "FAILED", "STOPPED"}
	switch {
	case sha == "":
		return problem(http.StatusNotFound, "Commit not found")
	case !body(q, &in), in.Key == "", in.URL == "", !slices.Contains(states, in.State), len([]rune(in.Description)) > 255:
		return problem(http.StatusBadRequest, "Bad request")
	}
	if old := f.statuses[sha]; old != nil && old.author != hosttest.Account {
		return problem(http.StatusForbidden, "Only the creator of a build status can change it.")
	}
	in.author = hosttest.Account
	f.statuses[sha] = &in

	return answer{http.StatusCreated, showStatus(&in)}
}

// PostStatus has somebody else write a status with our key first.
func (f *Fake) PostStatus(author, sha, state string) {
	f.change(func() {
		f.statuses[sha] = &status{Key: "prwarden", State: state, Description: "by " + author, author: author}
	})
}

// report is that of a request; nil for none. Others than ours aren't asked for.
func (f *Fake) report(q *http.Request) *report {
	if q.PathValue("report") != "prwarden" {
		return nil
	}

	return f.reports[f.commitOf(q)]
}

func (f *Fake) getReport(q *http.Request) answer {
	r := f.report(q)
	if r == nil {
		return notFound()
	}

	return answer{http.StatusOK, r}
}

// putReport takes at most 10 fields ([rest], reports) and keeps the annotations that are
// there: an assumption, for which reports are deleted when they are to begin anew.
func (f *Fake) putReport(q *http.Request) answer {
	var in report
	sha := f.commitOf(q)
	switch {
	case sha == "":
		return problem(http.StatusNotFound, "Commit not found")
	case !body(q, &in), in.Title == "", in.Details == "", len(in.Data) > 10, len([]rune(in.Details)) > 2000,
		!slices.Contains([]string{"SECURITY", "COVERAGE", "TEST", "BUG"}, in.Type),
		!slices.Contains([]string{"PASSED", "FAILED", "PENDING"}, in.Result):
		return problem(http.StatusBadRequest, "The provided Report object is malformed or incomplete.")
	}
	f.reports[sha] = &in

	return answer{http.StatusOK, in}
}

// deleteReport deletes the annotations with it ([rest], reports).
func (f *Fake) deleteReport(q *http.Request) answer {
	if f.report(q) == nil {
		return notFound()
	}
	delete(f.reports, f.commitOf(q))
	delete(f.annotations, f.commitOf(q))

	return answer{http.StatusNoContent, nil}
}

func (f *Fake) getAnnotations(q *http.Request) answer {
	if f.report(q) == nil {
		return notFound()
	}

	return list(f, q, 100, f.annotations[f.commitOf(q)], func(id string) object { return object{"external_id": id} })
}

// postAnnotations takes 1 to 100, and 1,000 in a report; one with an identifier that is
// there is written over ([rest], reports).
func (f *Fake) postAnnotations(q *http.Request) answer {
	var in []struct {
		ID       string `json:"external_id"`
		Type     string `json:"annotation_type"`
		Summary  string `json:"summary"`
		Details  string `json:"details"`
		Severity string `json:"severity"`
		Line     int    `json:"line"`
	}
	if f.report(q) == nil {
		return notFound()
	}
	if !body(q, &in) || len(in) < 1 || len(in) > 100 {
		return problem(http.StatusBadRequest, "Bad request")
	}
	ids := slices.Clone(f.annotations[f.commitOf(q)])
	for _, a := range in {
		if a.ID == "" || a.Line < 1 || len([]rune(a.Summary)) > 450 || len([]rune(a.Details)) > 2000 ||
			!slices.Contains([]string{"VULNERABILITY", "CODE_SMELL", "BUG"}, a.Type) ||
			!slices.Contains([]string{"CRITICAL", "HIGH", "MEDIUM", "LOW"}, a.Severity) {
			return problem(http.StatusBadRequest, "Bad request")
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) > 1000 {
		return problem(http.StatusBadRequest, "Bad request")
	}
	f.annotations[f.commitOf(q)] = ids

	return answer{http.StatusOK, in}
}
