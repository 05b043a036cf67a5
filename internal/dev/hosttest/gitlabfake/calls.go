package gitlabfake

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Operations are the calls that a fake answers.
func Operations() []string { return slices.Sorted(maps.Keys(new(Fake).calls())) }

// calls are those that there are.
func (f *Fake) calls() map[string]func(*http.Request) answer {
	const (
		project = "/projects/{id}"
		request = project + "/merge_requests/{n}"
	)
	return map[string]func(*http.Request) answer{
		"GET /user":                              f.getUser,
		"GET /personal_access_tokens/self":       f.getToken,
		"GET /projects":                          f.getProjects,
		"GET " + project:                         func(q *http.Request) answer { return f.getProject(q) },
		"GET " + project + "/members/all/{user}": f.getMember,
		"GET " + project + "/merge_requests":     f.getRequests,
		"GET " + request:                         f.getRequest,
		"GET " + project + "/repository/commits/{sha}/statuses": f.getStatuses,
		"POST " + project + "/statuses/{sha}":                   f.postStatus,
		"GET " + request + "/discussions":                       f.getDiscussions,
		"POST " + request + "/discussions":                      f.postDiscussion,
		"PUT " + request + "/discussions/{discussion}":          f.putDiscussion,
		"POST " + request + "/notes":                            f.postNote,
		"PUT " + request + "/notes/{note}":                      f.putNote,
		"DELETE " + request + "/notes/{note}":                   f.deleteNote,
		"POST " + request + "/notes/{note}/award_emoji":         f.postEmoji,
	}
}

func (f *Fake) getUser(*http.Request) answer { return plain(http.StatusOK, showUser(hosttest.Account)) }

// getToken answers for personal, group and project tokens of any scope
// (lib/api/personal_access_tokens/self_information.rb).
func (f *Fake) getToken(*http.Request) answer {
	if f.OAuth {
		return problem(http.StatusBadRequest,
			"Bad request - This endpoint requires token type to be a personal access token")
	}
	scopes := []string{"api"}
	if f.readOnly {
		scopes = []string{"read_api"}
	}

	return plain(http.StatusOK, object{"id": 5, "name": "prwarden", "scopes": scopes, "active": true, "revoked": false})
}

// getProjects has those in which our account has a role, also by a group (api/projects).
func (f *Fake) getProjects(q *http.Request) answer {
	least, _ := strconv.Atoi(q.URL.Query().Get("min_access_level"))
	if q.URL.Query().Get("membership") != "true" || f.role < least {
		return list(q, []*project{}, showProject)
	}

	return list(q, f.projects, showProject)
}

func (f *Fake) getProject(q *http.Request) answer {
	return plain(http.StatusOK, showProject(f.project(q.PathValue("id"))))
}

// getMember knows members by their number only (api/members).
func (f *Fake) getMember(q *http.Request) answer {
	for name, level := range map[string]int{hosttest.Writer: 30, hosttest.Reader: 20, hosttest.Account: f.role} {
		if hosttest.People[name] == q.PathValue("user") {
			member := showUser(name)
			member["access_level"] = level
			return plain(http.StatusOK, member)
		}
	}

	return problem(http.StatusNotFound, "Not found")
}

// getRequests sorts as asked; other orders than these two aren't asked for. It leaves
// out what only a single one has (api/merge_requests).
func (f *Fake) getRequests(q *http.Request) answer {
	var open []*request
	for _, r := range f.requests {
		if q.URL.Query().Get("state") != "opened" || r.state == codehost.Open {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b *request) int {
		if q.URL.Query().Get("order_by") == "updated_at" {
			return b.updated.Compare(a.updated)
		}
		return cmp.Compare(b.number, a.number)
	})

	return list(q, open, func(r *request) object {
		shown := f.showRequest(r)
		delete(shown, "diff_refs")
		delete(shown, "head_pipeline")
		return shown
	})
}

func (f *Fake) getRequest(q *http.Request) answer {
	r := f.request(q.PathValue("n"))
	if r == nil {
		return notFound("Merge Request")
	}

	return plain(http.StatusOK, f.showRequest(r))
}

// showRequest has no commits until GitLab has looked at them (api/merge_requests, empty
// API fields for new merge requests).
func (f *Fake) showRequest(r *request) object {
	states := map[codehost.State]string{codehost.Open: "opened", codehost.Closed: "closed", codehost.Merged: "merged"}
	shown := object{
		"id": 5000 + r.number, "iid": r.number, "project_id": 42, "source_project_id": 42, "target_project_id": 42,
		"source_branch": branch, "target_branch": hosttest.Branch, "title": hosttest.Title, "state": states[r.state],
		"draft": r.draft, "author": showUser(hosttest.Stranger), "labels": append([]string{}, r.labels...),
		"sha": r.head, "web_url": fmt.Sprint("https://gitlab.example.com/acme/web/-/merge_requests/", r.number),
		"updated_at": r.updated.Format(time.RFC3339Nano), "head_pipeline": nil,
		"diff_refs": object{"base_sha": hosttest.Base, "start_sha": hosttest.Base, "head_sha": r.head},
	}
	if r.fork {
		shown["source_project_id"] = 77
	}
	if r.unprepared {
		shown["sha"], shown["diff_refs"] = nil, nil
	}
	for _, p := range f.pipelines { // of a fork, a branch of ours has nothing to do with it
		if p.sha == r.head && (p.request == r.number || p.ref == branch && !r.fork) {
			shown["head_pipeline"] = object{"id": p.id, "project_id": 42, "sha": p.sha, "ref": p.ref}
		}
	}

	return shown
}

// getStatuses has the newest of a name in each pipeline (lib/api/commit_statuses.rb).
func (f *Fake) getStatuses(q *http.Request) answer {
	if !f.commits[q.PathValue("sha")] {
		return notFound("Commit")
	}
	name := q.URL.Query().Get("name")
	var of []*status
	for _, s := range f.statuses {
		if s.pipeline.sha == q.PathValue("sha") && !s.retried && (name == "" || s.name == name) {
			of = append(of, s)
		}
	}

	return list(q, of, showStatus)
}

// showStatus calls the state `status` (api/commits, list commit statuses).
func showStatus(s *status) object {
	return object{
		"id": s.id, "sha": s.pipeline.sha, "ref": s.pipeline.ref, "status": s.state, "name": s.name,
		"target_url": s.url, "description": s.text, "author": showUser(s.author), "pipeline_id": s.pipeline.id,
	}
}

// newStatus is what a call that sets a status has.
type newStatus struct {
	State       string `json:"state"`
	Ref         string `json:"ref"`
	Name        string `json:"name"`
	TargetURL   string `json:"target_url"`
	Description string `json:"description"`
	PipelineID  int64  `json:"pipeline_id"`
}

// postStatus takes texts of at most 255 characters (api/commits), and states of the list
// in lib/api/commit_statuses.rb.
func (f *Fake) postStatus(q *http.Request) answer {
	var in newStatus
	switch {
	case !body(q, &in) || in.State == "":
		return missing("state")
	case !slices.Contains([]string{"pending", "running", "success", "failed", "canceled", "skipped"}, in.State):
		return plain(http.StatusBadRequest, object{"error": "state does not have a valid value"})
	case max(utf8.RuneCountInString(in.Description), len(in.TargetURL), len(in.Ref)) > 255:
		return plain(http.StatusBadRequest, object{
			"message": object{"description": []string{"is too long (maximum is 255 characters)"}},
		})
	case f.role < 30: // at least the Developer role (user/permissions)
		return problem(http.StatusForbidden, "Forbidden")
	case !f.commits[q.PathValue("sha")]:
		return notFound("Commit")
	}
	p, found := f.pipelineFor(q.PathValue("sha"), in)
	if !found {
		return notFound("References for commit")
	}

	return f.putStatus(p, in)
}

// pipelineFor is the newest pipeline of a commit, or of the one and a branch, or one
// that is made for the branch. Without any the branch is one that has the commit, which
// that of a fork has not (app/services/ci/create_commit_status_service.rb).
func (f *Fake) pipelineFor(sha string, in newStatus) (*pipeline, bool) {
	for _, p := range slices.Backward(f.pipelines) {
		if p.sha == sha && (in.Ref == "" || p.ref == in.Ref) && (in.PipelineID == 0 || p.id == in.PipelineID) {
			return p, true
		}
	}
	if in.Ref == "" && !f.requests[0].fork {
		in.Ref = branch
	}
	if in.Ref == "" || in.PipelineID != 0 {
		return nil, false
	}
	p := &pipeline{id: f.id(), sha: sha, ref: in.Ref}
	f.pipelines = append(f.pipelines, p)

	return p, true
}

// putStatus changes a status of ours that waits, else makes a new one
// (app/services/ci/create_commit_status_service.rb). Before 18.3 one that waits can't be
// made to wait (gitlab-org/gitlab MR 198626).
func (f *Fake) putStatus(p *pipeline, in newStatus) answer {
	var s *status
	for _, one := range f.statuses {
		if one.pipeline == p && one.name == in.Name && one.author == hosttest.Account && one.state == "pending" {
			s = one
		}
	}
	if s != nil && in.State == s.state && f.Strict {
		return plain(http.StatusBadRequest, object{"message": "Cannot transition status via :enqueue from :pending " +
			`(Reason(s): Status cannot transition via "enqueue")`})
	}
	if s == nil {
		s = f.addStatus(p, hosttest.Account, in)
	}
	s.state, s.text, s.url = in.State, in.Description, in.TargetURL

	return plain(http.StatusCreated, showStatus(s))
}

// addStatus makes a status, and the one before of its name a former one.
func (f *Fake) addStatus(p *pipeline, author string, in newStatus) *status {
	for _, one := range f.statuses {
		one.retried = one.retried || one.pipeline == p && one.name == in.Name
	}
	s := &status{id: f.id(), pipeline: p, name: in.Name, state: in.State, text: in.Description, author: author}
	f.statuses = append(f.statuses, s)

	return s
}

// PostStatus has somebody else write a status of our name.
func (f *Fake) PostStatus(author, sha, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in := newStatus{State: state, Name: "prwarden", Description: "by " + author}
	if p, found := f.pipelineFor(sha, in); found {
		f.addStatus(p, author, in)
	}
}
