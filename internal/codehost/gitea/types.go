package gitea

import (
	"math"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

type user struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (u *user) id() string { return strconv.FormatInt(u.ID, 10) }

type repository struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	Private  bool   `json:"private"`
}

func (r repository) plain() codehost.Repository {
	return codehost.Repository{ID: strconv.FormatInt(r.ID, 10), Name: r.FullName, Private: r.Private}
}

type branch struct {
	Ref    string      `json:"ref"`
	SHA    string      `json:"sha"`
	RepoID int64       `json:"repo_id"`
	Repo   *repository `json:"repo"` // of a head whose fork was deleted: none
}

type pullRequest struct {
	Number int64  `json:"number"`
	Title  string `json:"title"`
	User   *user  `json:"user"`
	State  string `json:"state"`
	Merged bool   `json:"merged"`
	Draft  bool   `json:"draft"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
	HTMLURL   string    `json:"html_url"`
	Head      branch    `json:"head"`
	Base      branch    `json:"base"`
	MergeBase string    `json:"merge_base"`
	UpdatedAt time.Time `json:"updated_at"`
}

// number is one of a pull request; 0 when it can't be one.
func number(n int64) int32 {
	if n < 1 || n > math.MaxInt32 {
		return 0
	}

	return int32(n)
}

func (p *pullRequest) plain() codehost.PullRequest {
	out := codehost.PullRequest{
		Number: number(p.Number), Title: p.Title, State: codehost.Open, HeadSHA: p.Head.SHA, BaseSHA: p.Base.SHA,
		BaseRef: p.Base.Ref, MergeBase: p.MergeBase, Draft: p.Draft, URL: p.HTMLURL, UpdatedAt: p.UpdatedAt,
		Fork: p.Head.Repo == nil || p.Head.RepoID != p.Base.RepoID,
	}

	if p.Base.Repo != nil {
		out.Repository = p.Base.Repo.plain()
	}
	if p.User != nil {
		out.Author, out.AuthorID = p.User.Login, p.User.id()
	}
	switch {
	case p.Merged:
		out.State = codehost.Merged
	case p.State != "open":
		out.State = codehost.Closed
	}
	for _, label := range p.Labels {
		out.Labels = append(out.Labels, label.Name)
	}

	return out
}

type status struct {
	ID          int64  `json:"id"`
	State       string `json:"status"` // that is its name in answers
	Description string `json:"description"`
	TargetURL   string `json:"target_url"`
	Context     string `json:"context"`
	Creator     *user  `json:"creator"`
}

type review struct {
	ID       int64  `json:"id"`
	User     *user  `json:"user"`
	State    string `json:"state"`
	Comments int    `json:"comments_count"`
}

// comment is one on a line or below.
type comment struct {
	ID       int64  `json:"id"`
	Body     string `json:"body"`
	User     *user  `json:"user"`
	Resolver *user  `json:"resolver"`
	Path     string `json:"path"`
	Line     uint64 `json:"position"`
	OldLine  uint64 `json:"original_position"`
}

// by tells whether an account wrote something.
func by(u *user, account user) bool { return u != nil && u.ID == account.ID }
