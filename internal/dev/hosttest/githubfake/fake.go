// Package githubfake is a GitHub for tests: it keeps state and answers as GitHub does.
// Each of its rules says how that is known: "doc" is GitHub's OpenAPI document or
// GraphQL schema, an owner/name#number a public issue.
package githubfake

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// The App, its only installation, and accounts.
const (
	AppID        = 1234
	Installation = 5678
	Slug         = "prwarden"
	ManifestCode = "c0de-0f-the-manifest"

	// WebhookSecret is that of an App that was made of a manifest.
	WebhookSecret = "0123456789abcdef0123456789abcdef01234567"

	owner     = "acme"
	botID     = 900
	userID    = 901 // of hosttest.Account, for a token
	firstID   = 3_000_000_000
	headRepo  = 43 // a fork
	mergeBase = "3333333333333333333333333333333333333333"
)

// key is the App's private one. It takes a moment to make.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}

	return k
})

// PrivateKey is the App's, PEM.
func PrivateKey() string {
	return string(pem.EncodeToMemory(&pem.Block{
		Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key()),
	}))
}

// person has an account.
type person struct {
	id         int64
	permission string // to the repository
}

// comment is one on a line or below the pull request.
type comment struct {
	id        int64
	author    string // as hosttest calls them
	body      string
	path      string
	line      int
	minimized bool
	thread    *thread
	pending   bool // of a review that was not sent
	reactions []string
}

// thread begins with a comment on a line.
type thread struct {
	id         string
	resolved   bool
	resolvedBy string
	replies    []string // their authors
}

// run is a check run.
type run struct {
	id                                int64
	sha, name, externalID, url        string
	status, conclusion, title, digest string
	annotations                       int
}

// status is a commit status.
type status struct {
	id                              int64
	sha, context, state, title, url string
	author                          string // "" for ours
}

// token is one of the installation.
type token struct {
	expires  time.Time
	readOnly bool
}

// delivery is one that the App's log has.
type delivery struct {
	id     int64
	guid   string
	code   int
	at     time.Time
	redone bool
}

// Fake is a GitHub with one repository and one pull request.
type Fake struct {
	app        bool // our account is that of the App
	mux        *http.ServeMux
	operations []string

	mu          sync.Mutex
	next        int64
	name        string
	old         []string // names that the repository had
	head        string
	base        string
	commits     map[string]bool
	state       codehost.State
	draft, fork bool
	labels      []string
	people      map[string]person
	comments    []*comment
	pendingID   int64 // of a review that was not sent; 0 for none
	runs        []*run
	statuses    []*status
	tokens      map[string]token
	minted      int
	generation  int // of tokens
	revoked     bool
	restricted  bool
	suspended   bool
	removed     bool
	converted   bool // the code of the manifest was exchanged
	permissions map[string]string
	scopes      string // of a classic token
	repos       int    // more of them
	pulls       int
	deliveries  []*delivery
	events      int // that were made
}

// New makes a fake whose client is an App, or the owner of hosttest.Token.
func New(app bool) *Fake {
	f := &Fake{
		app: app, next: firstID, name: hosttest.Repo, head: hosttest.Head, base: hosttest.Branch,
		commits: map[string]bool{hosttest.Head: true, hosttest.Base: true},
		state:   codehost.Open, tokens: map[string]token{}, scopes: "repo, read:org",
		people: map[string]person{
			hosttest.Account: {userID, "write"}, hosttest.Writer: {id(hosttest.Writer), "write"},
			hosttest.Reader: {id(hosttest.Reader), "read"}, hosttest.Stranger: {id(hosttest.Stranger), "none"},
		},
		permissions: map[string]string{
			"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write",
			"statuses": "write", "issues": "read", "merge_queues": "read",
		},
	}
	if app {
		f.people[hosttest.Account] = person{botID, "write"}
	}

	f.mux = f.routes()
	return f
}

// id is that of an account.
func id(name string) int64 {
	n, err := strconv.ParseInt(hosttest.People[name], 10, 64)
	if err != nil {
		panic(err)
	}

	return n
}

// id is a new one. They are beyond 32 bits, as GitHub's are.
func (f *Fake) id() int64 {
	f.next++
	return f.next
}

// login is what an account is called at GitHub.
func (f *Fake) login(name string) string {
	if f.app && name == hosttest.Account {
		return Slug + "[bot]"
	}

	return name
}

// named is the account with a login; "" for none.
func (f *Fake) named(login string) string {
	for name := range f.people {
		if f.login(name) == login {
			return name
		}
	}

	return ""
}

// Write has somebody write a comment.
func (f *Fake) Write(c hosttest.Comment) codehost.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.add(c.Author, c.Path, c.Line, c.Body).ref()
}

// add adds a comment, and a thread to one on a line.
func (f *Fake) add(author, path string, line int, body string) *comment {
	c := &comment{id: f.id(), author: author, path: path, line: line, body: body}
	if path != "" {
		c.thread = &thread{id: fmt.Sprintf("PRRT_%d", c.id)}
	}

	f.comments = append(f.comments, c)
	return c
}

// node is the ID that GraphQL has for a comment.
func (c *comment) node() string {
	if c.path != "" {
		return fmt.Sprintf("PRRC_%d", c.id)
	}

	return fmt.Sprintf("IC_%d", c.id)
}

func (c *comment) ref() codehost.Ref { return codehost.Ref(fmt.Sprintf("%d/%s", c.id, c.node())) }

// find is a comment; nil for none.
func (f *Fake) find(match func(*comment) bool) *comment {
	if i := slices.IndexFunc(f.comments, match); i >= 0 {
		return f.comments[i]
	}

	return nil
}

func (f *Fake) byRef(r codehost.Ref) *comment {
	return f.find(func(c *comment) bool { return c.ref() == r || fmt.Sprint(c.id) == string(r) })
}

// Comments are those that people see.
func (f *Fake) Comments() []hosttest.Comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []hosttest.Comment{}
	for _, c := range f.comments {
		if !c.pending {
			all = append(all, hosttest.Comment{
				Ref: c.ref(), Author: c.author, Path: c.path, Line: c.line, Body: c.body,
				Closed: c.minimized || c.thread != nil && c.thread.resolved,
			})
		}
	}

	return all
}

// Resolved tells whether a thread is resolved.
func (f *Fake) Resolved(c codehost.Ref) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byRef(c).thread.resolved
}

// Reactions are ours to a comment.
func (f *Fake) Reactions(c codehost.Ref) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.byRef(c).reactions)
}

// latest is the run that GitHub shows at a commit: the last of a name.
func (f *Fake) latest(sha string) *run {
	for _, r := range slices.Backward(f.runs) {
		if r.sha == sha {
			return r
		}
	}

	return nil
}

// Check is what people see at a commit.
func (f *Fake) Check(sha string) *codehost.Check {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.app {
		for _, s := range slices.Backward(f.statuses) {
			if s.sha == sha {
				return &codehost.Check{SHA: sha, Verdict: codehost.Verdict(s.state), Title: s.title, URL: s.url}
			}
		}
		return nil
	}

	r := f.latest(sha)
	if r == nil {
		return nil
	}

	review, broken := strings.CutSuffix(r.externalID, ":error")
	verdict := map[string]codehost.Verdict{
		"": codehost.Pending, "success": codehost.Success, "failure": codehost.Failure, "cancelled": codehost.Outdated,
	}[r.conclusion]
	if broken && verdict == codehost.Failure {
		verdict = codehost.Broken
	}

	return &codehost.Check{
		SHA: sha, ReviewID: review, Verdict: verdict, Title: r.title, Summary: r.digest, URL: r.url,
	}
}

// Annotations is how many the check of a commit shows.
func (f *Fake) Annotations(sha string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.latest(sha); r != nil {
		return r.annotations
	}

	return 0
}

// Unfinished is how many check runs are in progress.
func (f *Fake) Unfinished() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.runs {
		if r.status != "completed" {
			n++
		}
	}

	return n
}
