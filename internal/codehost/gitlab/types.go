package gitlab

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

type user struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

func (u user) id() string { return strconv.FormatInt(u.ID, 10) }

type project struct {
	ID         int64  `json:"id"`
	Name       string `json:"path_with_namespace"`
	Visibility string `json:"visibility"` // private, internal or public
}

func (p project) plain() codehost.Repository {
	return codehost.Repository{ID: strconv.FormatInt(p.ID, 10), Name: p.Name, Private: p.Visibility != "public"}
}

// diffRefs are the commits between which GitLab shows a merge request.
type diffRefs struct {
	Base  string `json:"base_sha"`  // where the head branched off
	Start string `json:"start_sha"` // head of the target branch, when that was looked at
	Head  string `json:"head_sha"`
}

type pipeline struct {
	ID        int64  `json:"id"`
	ProjectID int64  `json:"project_id"`
	SHA       string `json:"sha"`
}

type mergeRequest struct {
	Number          int64     `json:"iid"`
	ProjectID       int64     `json:"project_id"`
	SourceProjectID int64     `json:"source_project_id"` // 0 for a fork that was deleted
	SourceBranch    string    `json:"source_branch"`
	TargetBranch    string    `json:"target_branch"`
	Title           string    `json:"title"`
	State           string    `json:"state"`
	Draft           bool      `json:"draft"`
	Author          user      `json:"author"`
	Labels          []string  `json:"labels"`
	SHA             string    `json:"sha"`
	URL             string    `json:"web_url"`
	UpdatedAt       time.Time `json:"updated_at"`
	DiffRefs        diffRefs  `json:"diff_refs"`     // of a single one, not in lists
	Pipeline        *pipeline `json:"head_pipeline"` // likewise; nil for none
}

// isFork tells whether the head is in another project.
func (m *mergeRequest) isFork() bool { return m.SourceProjectID != m.ProjectID }

// shows tells whether the merge request has a pipeline of a commit in its own project.
func (m *mergeRequest) shows(sha string) bool {
	return m.Pipeline != nil && m.Pipeline.SHA == sha && m.Pipeline.ProjectID == m.ProjectID
}

// number is one of a merge request; 0 when it can't be one.
func number(n int64) int32 {
	if n < 1 || n > math.MaxInt32 {
		return 0
	}

	return int32(n)
}

// plain is a merge request of a repository. One that is being merged is open still.
func (m *mergeRequest) plain(r codehost.Repository) codehost.PullRequest {
	p := codehost.PullRequest{
		Repository: r, Number: number(m.Number), State: codehost.Open, Title: m.Title, Author: m.Author.Username,
		AuthorID: m.Author.id(), HeadSHA: cmp.Or(m.DiffRefs.Head, m.SHA), BaseSHA: m.DiffRefs.Start, BaseRef: m.TargetBranch,
		Draft: m.Draft, Fork: m.isFork(), Labels: m.Labels, URL: m.URL, UpdatedAt: m.UpdatedAt, MergeBase: m.DiffRefs.Base,
	}
	switch m.State {
	case "merged":
		p.State = codehost.Merged
	case "closed":
		p.State = codehost.Closed
	}

	return p
}

type status struct {
	ID          int64  `json:"id"`
	State       string `json:"status"` // that is its name in answers
	Name        string `json:"name"`
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`
	Author      user   `json:"author"`
}

// discussion is a thread, or a note that is none.
type discussion struct {
	ID    string `json:"id"`
	Notes []note `json:"notes"`
}

type note struct {
	ID         int64  `json:"id"`
	Type       string `json:"type"`
	Body       string `json:"body"`
	Author     user   `json:"author"`
	System     bool   `json:"system"` // written by GitLab itself
	Resolved   bool   `json:"resolved"`
	ResolvedBy *user  `json:"resolved_by"`
}

// diffNote is the type of a note on a line.
const diffNote = "DiffNote"
