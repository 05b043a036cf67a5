// Package gitlabfake is a GitLab 19 that keeps its state in memory. Each rule says how
// it is known: a page is one of docs.gitlab.com, a path is one in the source of GitLab.
package gitlabfake

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// Fake is a GitLab. What is exported is set before the first request.
type Fake struct {
	Strict bool // as before 18.3, no status is put into the state that it is in
	Token  bool // as before 19.0, deliveries are not signed but tell the secret
	OAuth  bool // the token is one of OAuth

	mux *http.ServeMux

	mu        sync.Mutex
	token     string
	readOnly  bool
	role      int // of our account
	projects  []*project
	oldNames  map[string]*project
	requests  []*request // of the first project
	commits   map[string]bool
	pipelines []*pipeline
	statuses  []*status
	notes     []*note
	lastID    int64
	sent      int // deliveries
}

type project struct {
	id   int64
	name string
}

// request is a merge request.
type request struct {
	number      int
	state       codehost.State
	head        string
	draft, fork bool
	unprepared  bool // GitLab has not looked at its commits yet
	labels      []string
	updated     time.Time
}

type pipeline struct {
	id       int64
	sha, ref string
	request  int // whose it is; 0 for one of a branch
}

type status struct {
	id                     int64
	pipeline               *pipeline
	name, state, text, url string
	author                 string
	retried                bool // a newer one of its name is in the pipeline
}

type note struct {
	id           int64
	discussion   string
	author, body string
	path         string // "" below the merge request
	line         int
	resolver     string
	system       bool
	reactions    []string
}

var _ hosttest.Fake = (*Fake)(nil)

// start is when the merge request of a new fake changed.
var start = time.Date(2026, time.November, 1, 10, 0, 0, 0, time.UTC)

// branch is where the head of the merge request is.
const branch = "page"

// New makes a fake.
func New(testing.TB) *Fake {
	f := &Fake{
		mux: http.NewServeMux(), token: hosttest.Token, lastID: 1000, role: 30,
		projects: []*project{{42, hosttest.Repo}}, oldNames: map[string]*project{},
		commits: map[string]bool{hosttest.Head: true, hosttest.Base: true},
	}
	f.requests = []*request{{number: hosttest.Number, state: codehost.Open, head: hosttest.Head, updated: start}}
	for pattern, call := range f.calls() {
		f.handle(pattern, call)
	}

	return f
}

// SetRole gives our account another role in all projects.
func (f *Fake) SetRole(role int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.role = role
}

// Unprepare has GitLab not look at the commits of the merge request yet.
func (f *Fake) Unprepare() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[0].unprepared = true
}

// Run runs a pipeline of the merge request for its head.
func (f *Fake) Run() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pipelines = append(f.pipelines, &pipeline{
		id: f.id(), sha: f.requests[0].head, ref: "refs/merge-requests/7/head", request: hosttest.Number,
	})
}

// Refs are those of the pipelines that have a status of ours.
func (f *Fake) Refs() (refs []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.statuses {
		refs = append(refs, s.pipeline.ref)
	}

	return slices.Compact(refs)
}

// Push makes a commit the head, of which GitLab writes a note.
func (f *Fake) Push(sha string, force bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests[0]
	if force {
		delete(f.commits, r.head)
	}
	r.head = sha
	f.commits[sha] = true
	r.updated = r.updated.Add(time.Second)
	f.add(&note{author: hosttest.Stranger, body: "added 1 commit", system: true})
}

// Rename gives the project another name.
func (f *Fake) Rename(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.oldNames[f.projects[0].name] = f.projects[0]
	f.projects[0].name = name
}

// SetState closes, merges or reopens the merge request.
func (f *Fake) SetState(s codehost.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[0].state = s
}

// SetDraft says more of the merge request.
func (f *Fake) SetDraft(draft, fork bool, labels ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests[0]
	r.draft, r.fork, r.labels = draft, fork, labels
}

// Write has somebody write a note, which begins a discussion.
func (f *Fake) Write(c hosttest.Comment) codehost.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(&note{author: c.Author, body: c.Body, path: c.Path, line: c.Line})
}

// add keeps a note. One without a discussion begins its own.
func (f *Fake) add(n *note) codehost.Ref {
	n.id = f.id()
	if n.discussion == "" {
		n.discussion = fmt.Sprintf("%040x", n.id)
	}
	f.notes = append(f.notes, n)

	return ref(n.id)
}

func (f *Fake) id() int64 {
	f.lastID++
	return f.lastID
}

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

// Reply adds a note to the discussion of another.
func (f *Fake) Reply(to codehost.Ref, author string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.note(string(to)); n != nil {
		f.add(&note{author: author, body: "I don't think so", path: n.path, line: n.line, discussion: n.discussion})
	}
}

// Close has somebody resolve a discussion.
func (f *Fake) Close(c codehost.Ref, by string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.note(string(c)); n != nil {
		n.resolver = by
	}
}

// Delete has somebody delete a note.
func (f *Fake) Delete(c codehost.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = slices.DeleteFunc(f.notes, func(n *note) bool { return ref(n.id) == c })
}

// Leave leaves nothing: every call is of one note, which is there or not.
func (f *Fake) Leave(int) {}

// AddRepositories adds ones that our account may write to.
func (f *Fake) AddRepositories(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		id := f.id()
		f.projects = append(f.projects, &project{id, fmt.Sprint("acme/team/r", id)})
	}
}

// AddPulls adds open merge requests.
func (f *Fake) AddPulls(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range n {
		at := start.Add(time.Duration(i+1) * time.Minute)
		f.requests = append(f.requests, &request{number: 100 + i, state: codehost.Open, head: hosttest.Head, updated: at})
	}
}

// Revoke makes the token worthless.
func (f *Fake) Revoke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = "another"
}

// Restrict lets the token only read.
func (f *Fake) Restrict() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readOnly = true
}

// Comments are those that people wrote.
func (f *Fake) Comments() []hosttest.Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []hosttest.Comment
	for _, n := range f.notes {
		if !n.system {
			out = append(out, hosttest.Comment{
				Ref: ref(n.id), Author: n.author, Path: n.path, Line: n.line, Body: n.body, Closed: n.resolver != "",
			})
		}
	}

	return out
}

// Check is the last status of our name.
func (f *Fake) Check(sha string) *codehost.Check {
	f.mu.Lock()
	defer f.mu.Unlock()
	verdicts := map[string]codehost.Verdict{
		"pending": codehost.Pending, "success": codehost.Success, "failed": codehost.Failure,
		"canceled": codehost.Outdated,
	}
	for _, s := range slices.Backward(f.statuses) {
		if s.pipeline.sha == sha && s.name == "prwarden" {
			return &codehost.Check{Ref: ref(s.id), SHA: sha, Verdict: verdicts[s.state], Title: s.text, URL: s.url}
		}
	}

	return nil
}

// Annotations are none: GitLab takes them from files of a pipeline only.
func (f *Fake) Annotations(string) int { return 0 }

// Reactions are those to a note, in the words of prwarden.
func (f *Fake) Reactions(c codehost.Ref) (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	words := map[string]codehost.Reaction{
		"eyes": codehost.Seen, "thumbsup": codehost.Done, "thumbsdown": codehost.Refused,
	}
	if n := f.note(string(c)); n != nil {
		for _, name := range n.reactions {
			all = append(all, string(words[name]))
		}
	}

	return all
}

func (f *Fake) note(id string) *note {
	for _, n := range f.notes {
		if string(ref(n.id)) == id {
			return n
		}
	}

	return nil
}

func (f *Fake) request(number string) *request {
	for _, r := range f.requests {
		if strconv.Itoa(r.number) == number {
			return r
		}
	}

	return nil
}
