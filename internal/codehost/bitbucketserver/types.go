package bitbucketserver

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

type user struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// id is the number of a user, or the name of one who has none.
func (u *user) id() string {
	if u.ID == 0 {
		return u.Name
	}

	return strconv.FormatInt(u.ID, 10)
}

type repository struct {
	ID      int64  `json:"id"`
	Slug    string `json:"slug"`
	Public  bool   `json:"public"`
	Project struct {
		Key string `json:"key"`
	} `json:"project"`
}

// plain has the key of the project as it is in addresses that git clones.
func (r *repository) plain() codehost.Repository {
	return codehost.Repository{
		ID: strconv.FormatInt(r.ID, 10), Name: strings.ToLower(r.Project.Key) + "/" + r.Slug, Private: !r.Public,
	}
}

type branch struct {
	DisplayID    string      `json:"displayId"`
	LatestCommit string      `json:"latestCommit"`
	Repository   *repository `json:"repository"`
}

type pullRequest struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"`
	State  string `json:"state"`
	Draft  bool   `json:"draft"`
	Author *struct {
		User *user `json:"user"`
	} `json:"author"`
	FromRef     branch `json:"fromRef"`
	ToRef       branch `json:"toRef"`
	UpdatedDate int64  `json:"updatedDate"` // milliseconds since 1970
	Links       struct {
		Self []struct {
			Href string `json:"href"`
		} `json:"self"`
	} `json:"links"`
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
		Number: number(p.ID), Title: p.Title, State: codehost.Closed, HeadSHA: p.FromRef.LatestCommit,
		BaseSHA: p.ToRef.LatestCommit, BaseRef: p.ToRef.DisplayID, Draft: p.Draft, Fork: true,
		UpdatedAt: time.UnixMilli(p.UpdatedDate).UTC(),
	}
	switch p.State {
	case "OPEN":
		out.State = codehost.Open
	case "MERGED":
		out.State = codehost.Merged
	}
	if into := p.ToRef.Repository; into != nil {
		out.Repository = into.plain()
		out.Fork = p.FromRef.Repository == nil || p.FromRef.Repository.ID != into.ID
	}
	if p.Author != nil && p.Author.User != nil {
		out.Author, out.AuthorID = p.Author.User.Name, p.Author.User.id()
	}
	if len(p.Links.Self) > 0 {
		out.URL = p.Links.Self[0].Href
	}

	return out
}

type build struct {
	Key         string `json:"key"`
	State       string `json:"state"`
	Name        string `json:"name"`
	Description string `json:"description"`
	URL         string `json:"url"`
}

type report struct {
	Title    string  `json:"title"`
	Details  string  `json:"details"`
	Reporter string  `json:"reporter"`
	Result   string  `json:"result,omitempty"` // none while it is pending
	Link     string  `json:"link,omitempty"`
	Data     []field `json:"data"`
}

// field is one of a report. Others' have values of other types.
type field struct {
	Title string `json:"title"`
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// field is the text of a field of a report; "" for none.
func (r *report) field(title string) string {
	for _, f := range r.Data {
		if text, ok := f.Value.(string); ok && f.Title == title {
			return text
		}
	}

	return ""
}

type annotation struct {
	ID       string `json:"externalId"`
	Type     string `json:"type"`
	Message  string `json:"message"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
}

// comment is the first of a thread, or an answer in it.
type comment struct {
	ID       int64     `json:"id"`
	Version  int       `json:"version"`
	Text     string    `json:"text"`
	Author   *user     `json:"author"`
	State    string    `json:"state"`
	Answers  []comment `json:"comments"`
	Resolved bool      `json:"threadResolved"`
	Resolver *user     `json:"threadResolver"`
}

// by tells whether an account did something. Names are unique in a Bitbucket.
func by(u *user, account user) bool { return u != nil && u.Name != "" && u.Name == account.Name }
