// Package giteafake is a Gitea that keeps its state in memory. Each rule says how it is
// known: `probed` is what a real Gitea 1.26 did, and a path is one in the source of
// Gitea 1.26.0.
package giteafake

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

// Fake is a Gitea, or a Forgejo.
type Fake struct {
	Forgejo bool // set before the first request

	mux *http.ServeMux

	mu       sync.Mutex
	token    string
	readOnly bool
	noAdmin  bool
	repos    []*repo
	oldNames map[string]*repo
	pulls    []*pull // of the first repository
	commits  map[string]bool
	statuses []*status
	reviews  []*review
	comments []*comment
	lastID   int64
	sent     int // deliveries
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
	labels      []string
	updated     time.Time
}

type status struct {
	id                             int64
	sha, context, state, text, url string
	author                         string
}

type review struct {
	id     int64
	author string
	sent   bool
	commit string
}

type comment struct {
	id           int64
	review       int64 // 0 below the pull request
	author, body string
	path         string
	line         int
	resolver     string
	reactions    []string
	number       int // of the pull request
}

var _ hosttest.Fake = (*Fake)(nil)

// start is when the pull request of a new fake changed.
var start = time.Date(2026, time.November, 1, 10, 0, 0, 0, time.UTC)

// New makes a fake.
func New(testing.TB) *Fake {
	f := &Fake{
		mux: http.NewServeMux(), token: hosttest.Token, lastID: 1000,
		repos: []*repo{{42, hosttest.Repo}}, oldNames: map[string]*repo{},
		commits: map[string]bool{hosttest.Head: true, hosttest.Base: true},
	}
	f.pulls = []*pull{{number: hosttest.Number, state: codehost.Open, head: hosttest.Head, updated: start}}
	for pattern, call := range f.calls() {
		f.handle(pattern, call)
	}
	return f
}

// NoAdmin takes the administration of the repository from our account.
func (f *Fake) NoAdmin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noAdmin = true
}

// Push makes a commit the head.
func (f *Fake) Push(sha string, force bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pulls[0]
	if force {
		delete(f.commits, p.head)
	}
	p.head = sha
	f.commits[sha] = true
	p.updated = p.updated.Add(time.Second)
}

// Rename gives the repository another name.
func (f *Fake) Rename(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.oldNames[f.repos[0].name] = f.repos[0]
	f.repos[0].name = name
}

// SetState closes, merges or reopens the pull request.
func (f *Fake) SetState(s codehost.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pulls[0].state = s
}

// SetDraft says more of the pull request.
func (f *Fake) SetDraft(draft, fork bool, labels ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pulls[0]
	p.draft, p.fork, p.labels = draft, fork, labels
}

// Write has somebody write a comment. One on a line is a review of its own.
func (f *Fake) Write(c hosttest.Comment) codehost.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	made := &comment{author: c.Author, body: c.Body, path: c.Path, line: c.Line}
	if c.Path != "" {
		r := &review{id: f.id(), author: c.Author, sent: true, commit: f.pulls[0].head}
		f.reviews = append(f.reviews, r)
		made.review = r.id
	}

	return f.add(made)
}

// add keeps a comment.
func (f *Fake) add(c *comment) codehost.Ref {
	c.id, c.number = f.id(), hosttest.Number
	f.comments = append(f.comments, c)
	return ref(c.id)
}

func (f *Fake) id() int64 {
	f.lastID++
	return f.lastID
}

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

// Reply adds a comment to the review of the one that it answers, on the same line (probed;
// services/pull/review.go, CreateCodeComment).
func (f *Fake) Reply(to codehost.Ref, author string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.comment(string(to)); c != nil {
		f.add(&comment{author: author, body: "I don't think so", path: c.path, line: c.line, review: c.review})
	}
}

// Close has somebody resolve a thread.
func (f *Fake) Close(c codehost.Ref, by string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.comment(string(c)); c != nil {
		c.resolver = by
	}
}

// Delete has somebody delete a comment.
func (f *Fake) Delete(c codehost.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(func(one *comment) bool { return ref(one.id) == c })
}

func (f *Fake) remove(which func(*comment) bool) {
	var kept []*comment
	for _, c := range f.comments {
		if !which(c) {
			kept = append(kept, c)
		}
	}
	f.comments = kept
}

// Leave leaves a review behind as a client does that hangs up (probed: 118 of 300
// comments were there).
func (f *Fake) Leave(comments int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.unsent(hosttest.Account, f.pulls[0].head)
	for i := range comments {
		body := codehost.Marker(fmt.Sprintf("%032x", 900+i)) + "\nleft"
		f.add(&comment{author: hosttest.Account, body: body, path: hosttest.Path, line: i + 1, review: r.id})
	}
}

// Begin has a person begin a review with our account.
func (f *Fake) Begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.unsent(hosttest.Account, f.pulls[0].head)
	f.add(&comment{author: hosttest.Account, body: "hm", path: hosttest.Path, line: 1, review: r.id})
}

// BeginAs has somebody begin a review that is never sent.
func (f *Fake) BeginAs(author string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reviews = append(f.reviews, &review{id: f.id(), author: author, commit: f.pulls[0].head})
}

// Take gives a name to a new repository.
func (f *Fake) Take(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repos = append(f.repos, &repo{f.id(), name})
}

// unsent is the review that an account has begun, or a new one.
func (f *Fake) unsent(author, commit string) *review {
	for _, r := range f.reviews {
		if !r.sent && r.author == author {
			return r
		}
	}
	r := &review{id: f.id(), author: author, commit: commit}
	f.reviews = append(f.reviews, r)
	return r
}

// AddRepositories adds ones that our account may write to.
func (f *Fake) AddRepositories(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		id := f.id()
		f.repos = append(f.repos, &repo{id, fmt.Sprint("acme/r", id)})
	}
}

// AddPulls adds open pull requests.
func (f *Fake) AddPulls(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range n {
		at := start.Add(time.Duration(i+1) * time.Minute)
		f.pulls = append(f.pulls, &pull{number: 100 + i, state: codehost.Open, head: hosttest.Head, updated: at})
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

// Comments are those that people see.
func (f *Fake) Comments() []hosttest.Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []hosttest.Comment
	for _, c := range f.comments {
		if r := f.review(c.review); r == nil || r.sent {
			body, closed := strings.CutSuffix(c.body, "\n<!-- prwarden:closed -->")
			out = append(out, hosttest.Comment{
				Ref: ref(c.id), Author: c.author, Path: c.path, Line: c.line, Body: body, Closed: closed || c.resolver != "",
			})
		}
	}

	return out
}

// Check is the last status of our context (models/git/commit_status.go).
func (f *Fake) Check(sha string) *codehost.Check {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.statuses) - 1; i >= 0; i-- {
		if s := f.statuses[i]; s.sha == sha && s.context == "prwarden" {
			return &codehost.Check{Ref: ref(s.id), SHA: sha, Verdict: codehost.Verdict(s.state), Title: s.text, URL: s.url}
		}
	}

	return nil
}

// Annotations are none: Gitea has no check runs.
func (f *Fake) Annotations(string) int { return 0 }

// Reactions are those to a comment.
func (f *Fake) Reactions(c codehost.Ref) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.comment(string(c)); c != nil {
		return append([]string(nil), c.reactions...)
	}

	return nil
}

func (f *Fake) comment(id string) *comment {
	for _, c := range f.comments {
		if string(ref(c.id)) == id {
			return c
		}
	}

	return nil
}

func (f *Fake) review(id int64) *review {
	for _, r := range f.reviews {
		if r.id == id {
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
