// Package bitbucketfake is Bitbucket Cloud that keeps its state in memory. Each rule says
// how it is known: [rest] is developer.atlassian.com/cloud/bitbucket/rest, and an
// assumption is one that no document confirms.
package bitbucketfake

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Email is that of the account whose API token hosttest.Token is.
const Email = "prwarden@example.com"

// Fake is Bitbucket Cloud.
type Fake struct {
	NoSize bool // lists don't say how long they are; set before the first request

	mux *http.ServeMux

	mu          sync.Mutex
	token       string
	lacks       map[string]bool // scopes
	noAdmin     bool
	repos       []*repo
	oldNames    map[string]*repo
	pulls       []*pull // of the first repository
	commits     map[string]bool
	statuses    map[string]*status
	reports     map[string]*report
	annotations map[string][]string // identifiers, by commit
	comments    []*comment
	lastID      int64
	sent        int // deliveries
}

type repo struct{ id, name string }

type pull struct {
	number      int
	state       codehost.State
	head        string
	draft, fork bool
	updated     time.Time
}

type status struct {
	Key         string `json:"key"`
	State       string `json:"state"`
	Name        string `json:"name"`
	Description string `json:"description"`
	URL         string `json:"url"`
	author      string
}

type report struct {
	Title   string   `json:"title"`
	Details string   `json:"details"`
	Type    string   `json:"report_type"`
	Result  string   `json:"result"`
	Link    string   `json:"link"`
	Data    []object `json:"data"`
}

type comment struct {
	id, parent   int64
	author, body string
	path         string
	line         int
	resolver     string
	deleted      bool
}

var _ hosttest.Fake = (*Fake)(nil)

// start is when the pull request of a new fake changed.
var start = time.Date(2026, time.November, 1, 10, 0, 0, 0, time.UTC)

// New makes a fake.
func New(testing.TB) *Fake {
	f := &Fake{
		mux: http.NewServeMux(), token: hosttest.Token, lastID: 1000, lacks: map[string]bool{},
		repos: []*repo{{hosttest.RepoID, hosttest.Repo}}, oldNames: map[string]*repo{},
		commits:  map[string]bool{hosttest.Head: true, hosttest.Base: true},
		statuses: map[string]*status{}, reports: map[string]*report{}, annotations: map[string][]string{},
	}
	f.pulls = []*pull{{number: hosttest.Number, state: codehost.Open, head: hosttest.Head, updated: start}}
	for pattern, c := range f.calls() {
		f.handle(pattern, c.scope, c.answer)
	}

	return f
}

// Operations are the calls that a fake answers.
func Operations() []string { return slices.Sorted(maps.Keys(new(Fake).calls())) }

// NoAdmin takes the administration of the repository from our account.
func (f *Fake) NoAdmin() { f.change(func() { f.noAdmin = true }) }

func (f *Fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// Push makes a commit the head.
func (f *Fake) Push(sha string, force bool) {
	f.change(func() {
		p := f.pulls[0]
		if force {
			delete(f.commits, p.head)
		}
		p.head, f.commits[sha], p.updated = sha, true, p.updated.Add(time.Second)
	})
}

// Rename gives the repository another name.
func (f *Fake) Rename(name string) {
	f.change(func() {
		f.oldNames[f.repos[0].name] = f.repos[0]
		f.repos[0].name = name
	})
}

// Take gives a name to a new repository.
func (f *Fake) Take(name string) {
	f.change(func() { f.repos = append(f.repos, &repo{f.text(), name}) })
}

// SetState closes, merges or reopens the pull request.
func (f *Fake) SetState(s codehost.State) { f.change(func() { f.pulls[0].state = s }) }

// SetDraft says more of the pull request, which has no labels here.
func (f *Fake) SetDraft(draft, fork bool, _ ...string) {
	f.change(func() { f.pulls[0].draft, f.pulls[0].fork = draft, fork })
}

// Write has somebody write a comment.
func (f *Fake) Write(c hosttest.Comment) (out codehost.Ref) {
	f.change(func() { out = f.add(&comment{author: c.Author, body: c.Body, path: c.Path, line: c.Line}) })
	return out
}

// add keeps a comment.
func (f *Fake) add(c *comment) codehost.Ref {
	c.id = f.id()
	f.comments = append(f.comments, c)
	return ref(c.id)
}

func (f *Fake) id() int64 {
	f.lastID++
	return f.lastID
}

func (f *Fake) text() string { return strconv.FormatInt(f.id(), 10) }

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

// Reply answers a comment. An answer has the place of the first comment ([rest], comment).
func (f *Fake) Reply(to codehost.Ref, author string) {
	f.change(func() {
		if c := f.comment(string(to)); c != nil {
			f.add(&comment{author: author, body: "I don't think so", path: c.path, line: c.line, parent: c.id})
		}
	})
}

// Close has somebody resolve a thread.
func (f *Fake) Close(c codehost.Ref, by string) {
	f.change(func() {
		if c := f.comment(string(c)); c != nil {
			c.resolver = by
		}
	})
}

// Delete has somebody delete a comment. It stays in the list ([rest], comment: deleted).
func (f *Fake) Delete(c codehost.Ref) {
	f.change(func() {
		if c := f.comment(string(c)); c != nil {
			c.deleted, c.body = true, ""
		}
	})
}

// Leave does nothing: there are no unsent reviews of ours.
func (f *Fake) Leave(int) {}

// AddRepositories adds ones that our account may write to.
func (f *Fake) AddRepositories(n int) {
	f.change(func() {
		for range n {
			id := f.text()
			f.repos = append(f.repos, &repo{id, "acme/r" + id})
		}
	})
}

// AddPulls adds open pull requests.
func (f *Fake) AddPulls(n int) {
	f.change(func() {
		for i := range n {
			at := start.Add(time.Duration(i+1) * time.Minute)
			f.pulls = append(f.pulls, &pull{number: 100 + i, state: codehost.Open, head: hosttest.Head, updated: at})
		}
	})
}

// Revoke makes the token worthless.
func (f *Fake) Revoke() { f.change(func() { f.token = "another" }) }

// Restrict lets the token only read pull requests. Scopes of API tokens imply no others
// (support.atlassian.com/bitbucket-cloud/docs/api-token-permissions).
func (f *Fake) Restrict() {
	f.change(func() { f.lacks[readRepositories], f.lacks[writePulls] = true, true })
}

// Comments are those that people see.
func (f *Fake) Comments() (out []hosttest.Comment) {
	f.change(func() {
		for _, c := range f.comments {
			if !c.deleted {
				out = append(out, hosttest.Comment{
					Ref: ref(c.id), Author: c.author, Path: c.path, Line: c.line, Body: codehost.ShowMarkers(c.body),
					Closed: c.resolver != "",
				})
			}
		}
	})

	return out
}

// Check is what the status shows. A status doesn't say why it failed, but our report does.
func (f *Fake) Check(sha string) (out *codehost.Check) {
	f.change(func() {
		s := f.statuses[sha]
		if s == nil {
			return
		}
		out = &codehost.Check{SHA: sha, Title: s.Description, URL: s.URL, Verdict: map[string]codehost.Verdict{
			"INPROGRESS": codehost.Pending, "SUCCESSFUL": codehost.Success, "FAILED": codehost.Failure,
			"STOPPED": codehost.Outdated,
		}[s.State]}
		if r := f.reports[sha]; r != nil && strings.Contains(fmt.Sprint(r.Data), "value:error") {
			out.Verdict = codehost.Broken
		}
	})

	return out
}

// Annotations is how many the report of a commit has.
func (f *Fake) Annotations(sha string) (n int) {
	f.change(func() { n = len(f.annotations[sha]) })
	return n
}

// Reactions are none: Bitbucket Cloud doesn't have them.
func (f *Fake) Reactions(codehost.Ref) []string { return nil }

func (f *Fake) comment(id string) *comment {
	for _, c := range f.comments {
		if string(ref(c.id)) == id && !c.deleted {
			return c
		}
	}

	return nil
}

func (f *Fake) pull(number string) *pull {
	for _, p := range f.pulls {
		if strconv.Itoa(p.number) == number {
			return p
		}
	}

	return nil
}
