// Package bitbucketserverfake is a Bitbucket Data Center that keeps its state in memory.
// Each rule says how it is known: [rest] is developer.atlassian.com/server/bitbucket/rest,
// and an assumption is one that no document confirms.
package bitbucketserverfake

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Fake is a Bitbucket Data Center.
type Fake struct {
	NoName bool // the header with the name is taken out

	mux *http.ServeMux

	mu          sync.Mutex
	token       string
	readOnly    bool
	repos       []*repo
	oldNames    map[string]*repo
	pulls       []*pull // of the first repository
	commits     map[string]bool
	builds      map[string]*build
	reports     map[string]*report
	annotations map[string]int
	comments    []*comment
	lastID      int64
	sent        int // deliveries
	changes     int // that somebody else makes to comments at the next changes of ours
}

type repo struct {
	id   int64
	name string
}

type pull struct {
	number      int
	state       codehost.State
	head        string
	draft, fork bool
	updated     time.Time
}

type build struct {
	Key         string `json:"key"`
	State       string `json:"state"`
	Name        string `json:"name"`
	Description string `json:"description"`
	URL         string `json:"url"`
}

type report struct {
	Title   string   `json:"title"`
	Details string   `json:"details"`
	Result  string   `json:"result,omitempty"`
	Link    string   `json:"link,omitempty"`
	Data    []object `json:"data"`
}

type comment struct {
	id, parent   int64
	version      int
	author, body string
	path         string
	line         int
	resolver     string
	reactions    []string
}

var _ hosttest.Fake = (*Fake)(nil)

// start is when the pull request of a new fake changed.
var start = time.Date(2026, time.November, 1, 10, 0, 0, 0, time.UTC)

// New makes a fake.
func New(testing.TB) *Fake {
	f := &Fake{
		mux: http.NewServeMux(), token: hosttest.Token, lastID: 1000,
		repos: []*repo{{number(hosttest.RepoID), hosttest.Repo}}, oldNames: map[string]*repo{},
		commits: map[string]bool{hosttest.Head: true, hosttest.Base: true},
		builds:  map[string]*build{}, reports: map[string]*report{}, annotations: map[string]int{},
	}
	f.pulls = []*pull{{number: hosttest.Number, state: codehost.Open, head: hosttest.Head, updated: start}}
	for pattern, call := range f.calls() {
		f.handle(pattern, call)
	}

	return f
}

func (f *Fake) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// Interfere has somebody else change a comment before our next changes, n times.
func (f *Fake) Interfere(n int) { f.change(func() { f.changes = n }) }

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
func (f *Fake) Take(name string) { f.change(func() { f.repos = append(f.repos, &repo{f.id(), name}) }) }

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

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

// Reply answers a comment.
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
			c.version++
		}
	})
}

// Delete has somebody delete a comment.
func (f *Fake) Delete(c codehost.Ref) { f.change(func() { f.remove(string(c)) }) }

func (f *Fake) remove(id string) {
	var kept []*comment
	for _, c := range f.comments {
		if string(ref(c.id)) != id {
			kept = append(kept, c)
		}
	}
	f.comments = kept
}

// Leave does nothing: there are no unsent reviews of ours.
func (f *Fake) Leave(int) {}

// AddRepositories adds ones that our account may write to.
func (f *Fake) AddRepositories(n int) {
	f.change(func() {
		for range n {
			id := f.id()
			f.repos = append(f.repos, &repo{id, fmt.Sprint("acme/r", id)})
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

// Restrict lets the token only read.
func (f *Fake) Restrict() { f.change(func() { f.readOnly = true }) }

// Comments are those that people see.
func (f *Fake) Comments() (out []hosttest.Comment) {
	f.change(func() {
		for _, c := range f.comments {
			out = append(out, hosttest.Comment{
				Ref: ref(c.id), Author: c.author, Path: c.path, Line: c.line, Body: codehost.ShowMarkers(c.body),
				Closed: c.resolver != "",
			})
		}
	})

	return out
}

// Check is what the build status shows. It doesn't say why it failed, but our report does.
func (f *Fake) Check(sha string) (out *codehost.Check) {
	f.change(func() {
		b := f.builds[sha]
		if b == nil {
			return
		}
		out = &codehost.Check{SHA: sha, Title: b.Description, URL: b.URL, Verdict: map[string]codehost.Verdict{
			"INPROGRESS": codehost.Pending, "SUCCESSFUL": codehost.Success, "FAILED": codehost.Failure,
			"CANCELLED": codehost.Outdated,
		}[b.State]}
		if r := f.reports[sha]; r != nil && strings.Contains(fmt.Sprint(r.Data), "value:error") {
			out.Verdict = codehost.Broken
		}
	})

	return out
}

// Annotations is how many the report of a commit has.
func (f *Fake) Annotations(sha string) (n int) {
	f.change(func() { n = f.annotations[sha] })
	return n
}

// Reactions are those to a comment, by the words that we have for them.
func (f *Fake) Reactions(c codehost.Ref) (out []string) {
	words := map[string]codehost.Reaction{
		"eyes": codehost.Seen, "thumbsup": codehost.Done, "thumbsdown": codehost.Refused,
	}
	f.change(func() {
		if c := f.comment(string(c)); c != nil {
			for _, emoticon := range c.reactions {
				out = append(out, string(words[emoticon]))
			}
		}
	})

	return out
}

func (f *Fake) comment(id string) *comment {
	for _, c := range f.comments {
		if string(ref(c.id)) == id {
			return c
		}
	}

	return nil
}

func (f *Fake) repo(name string) *repo {
	for _, r := range f.repos {
		if r.name == name {
			return r
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
