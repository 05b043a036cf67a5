package bitbucket

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

const uuidCharacters = "0123456789abcdefABCDEF-"

// bare is a UUID without braces.
func bare(uuid string) string { return strings.Trim(uuid, "{}") }

// braced is a UUID as Bitbucket writes it.
func braced(uuid string) string { return "{" + bare(uuid) + "}" }

type user struct {
	UUID     string `json:"uuid"`
	Nickname string `json:"nickname"`
	Name     string `json:"display_name"`
}

func (u *user) id() string { return bare(u.UUID) }

// login is a name for people to read. Nobody is recognised by it: anybody can choose it.
func (u *user) login() string { return cmp.Or(u.Nickname, u.Name, u.UUID) }

type repository struct {
	UUID     string `json:"uuid"`
	FullName string `json:"full_name"`
	Private  bool   `json:"is_private"`
}

func (r *repository) plain() codehost.Repository {
	return codehost.Repository{ID: bare(r.UUID), Name: r.FullName, Private: r.Private}
}

type commit struct {
	Hash string `json:"hash"`
}

type endpoint struct {
	Branch struct {
		Name string `json:"name"`
	} `json:"branch"`
	Commit     commit      `json:"commit"`     // its hash is shortened
	Repository *repository `json:"repository"` // none of a fork that was deleted
}

type pullRequest struct {
	ID          int64    `json:"id"`
	Title       string   `json:"title"`
	Author      *user    `json:"author"`
	State       string   `json:"state"`
	Draft       bool     `json:"draft"`
	Source      endpoint `json:"source"`
	Destination endpoint `json:"destination"`
	Links       struct {
		HTML struct {
			Href string `json:"href"`
		} `json:"html"`
	} `json:"links"`
	UpdatedOn time.Time `json:"updated_on"`
}

// number is one of a pull request; 0 when it can't be one.
func number(n int64) int32 {
	if n < 1 || n > math.MaxInt32 {
		return 0
	}

	return int32(n)
}

// plain has no commits: their hashes are shortened.
func (p *pullRequest) plain() codehost.PullRequest {
	out := codehost.PullRequest{
		Number: number(p.ID), Title: p.Title, State: codehost.Closed, BaseRef: p.Destination.Branch.Name, Draft: p.Draft,
		Fork: true, URL: p.Links.HTML.Href, UpdatedAt: p.UpdatedOn,
	}
	switch p.State {
	case "OPEN":
		out.State = codehost.Open
	case "MERGED":
		out.State = codehost.Merged
	}
	if into := p.Destination.Repository; into != nil {
		out.Repository = into.plain()
		out.Fork = p.Source.Repository == nil || p.Source.Repository.UUID != into.UUID
	}
	if p.Author != nil {
		out.Author, out.AuthorID = p.Author.login(), p.Author.id()
	}

	return out
}

type status struct {
	Key         string `json:"key"`
	State       string `json:"state"`
	Name        string `json:"name"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Author      *user  `json:"author,omitempty"`
}

type report struct {
	Title    string  `json:"title"`
	Details  string  `json:"details"`
	Type     string  `json:"report_type"`
	Reporter string  `json:"reporter"`
	Result   string  `json:"result"`
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
	ID       string `json:"external_id"`
	Type     string `json:"annotation_type"`
	Summary  string `json:"summary"`
	Details  string `json:"details,omitempty"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
}

// comment is one on a line or below.
type comment struct {
	ID      int64 `json:"id"`
	Content struct {
		Raw string `json:"raw"`
	} `json:"content"`
	User    *user     `json:"user"`
	Deleted bool      `json:"deleted"`
	Pending bool      `json:"pending"` // in a review that was not sent
	Inline  *struct{} `json:"inline"`
	Parent  *struct {
		ID int64 `json:"id"`
	} `json:"parent"`
	Resolution *struct {
		User *user `json:"user"`
	} `json:"resolution"`
}

// by tells whether an account did something.
func by(u *user, account user) bool { return u != nil && u.UUID != "" && u.id() == account.id() }
