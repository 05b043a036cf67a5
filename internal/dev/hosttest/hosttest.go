// Package hosttest is the suite that each code host passes, on a fake of it. A fake
// keeps state and answers as the real host does; each of its rules says how that is known.
package hosttest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// What a new fake has: one repository with one open pull request, which adds a file of
// 100 lines, and these people and commits.
const (
	Repo     = "acme/web"
	RepoID   = "42"
	Number   = 7
	Branch   = "main"
	Title    = "Add a page"
	Path     = "src/página.go"
	Lines    = 100
	Account  = "prwarden"
	Writer   = "walter" // may write to the repository
	Reader   = "rita"   // may only read it
	Stranger = "mallory"
	Head     = "1111111111111111111111111111111111111111"
	Base     = "2222222222222222222222222222222222222222"
	Token    = "t0ken-of-the-acc0unt"
	Secret   = "whsec_c2VjcmV0IG9mIHRoZSB3ZWJob29rIG9mIGEgdGVzdC4=" // in the form of Standard Webhooks
)

// People are the identifiers of those who are there.
var People = map[string]string{Account: "1", Writer: "11", Reader: "12", Stranger: "13"}

// Fixture is a host and how to make a fake of it.
type Fixture struct {
	Traits Traits

	// New makes a fake.
	New func(t testing.TB) Fake

	// Open opens the host at the address of its fake, with the credentials of Account.
	Open func(t testing.TB, url string, fake Fake) codehost.Host
}

// Traits is in what hosts differ.
type Traits struct {
	Annotations bool    // checks have them
	Replies     bool    // threads can have answers of other people
	Unsent      bool    // a review that was cut off stays behind unsent
	Closes      bool    // people can close a thread
	ByID        bool    // calls name a repository by its ID, so its name can change meanwhile
	NoLabels    bool    // pull requests have none
	NoReactions bool    // comments have none
	Events      []Event // that deliveries tell of
}

// Fake is a fake of a code host. Its methods other than ServeHTTP do what people do at
// the host, and read back what is there; all can be called at any time.
type Fake interface {
	http.Handler

	// Push makes a commit the head of the pull request. By force, the one before isn't
	// known any more.
	Push(sha string, force bool)

	// Rename gives the repository another name; the old one leads to it.
	Rename(name string)

	// SetState closes, merges or reopens the pull request.
	SetState(s codehost.State)

	// SetDraft says whether the pull request is a draft, and from a fork, and its labels.
	SetDraft(draft, fork bool, labels ...string)

	// Write has somebody write a comment, on a line unless Path is empty.
	Write(c Comment) codehost.Ref

	// Reply has somebody answer the thread of a comment on a line.
	Reply(to codehost.Ref, author string)

	// Close has somebody resolve or minimise the thread of a comment on a line.
	Close(c codehost.Ref, by string)

	// Delete has somebody delete a comment.
	Delete(c codehost.Ref)

	// Leave leaves a review of ours with comments behind that was not sent.
	Leave(comments int)

	// AddRepositories adds ones that our account may write to, and AddPulls open pull
	// requests that changed one minute after the other.
	AddRepositories(n int)
	AddPulls(n int)

	// Revoke makes the token worthless, and Restrict lets it only read.
	Revoke()
	Restrict()

	// Comments are all comments that people see, the oldest first.
	Comments() []Comment

	// Check is what people see at a commit; nil for none.
	Check(sha string) *codehost.Check

	// Annotations is how many the check of a commit shows.
	Annotations(sha string) int

	// Reactions are those of our account to a comment.
	Reactions(c codehost.Ref) []string

	// Deliver makes the delivery of an event, signed with a secret.
	Deliver(e Event, secret string) (http.Header, []byte)
}

// Comment is a comment that people see.
type Comment struct {
	Ref    codehost.Ref
	Author string
	Path   string // "" for one below the pull request
	Line   int
	Body   string
	Closed bool
}

// Event is something that a host delivers.
type Event string

// The events.
const (
	Opened        Event = "opened"
	Pushed        Event = "pushed"
	Reopened      Event = "reopened"
	Retargeted    Event = "retargeted"
	Ready         Event = "ready"
	Labeled       Event = "labeled"
	Closed        Event = "closed"
	Commented     Event = "commented"      // by Writer, below the pull request
	LineCommented Event = "line_commented" // by Writer, on a line
	CommentEdited Event = "comment_edited"
	OwnComment    Event = "own_comment" // by Account
	Renamed       Event = "renamed"
	Rerun         Event = "rerun"
	MergeGroup    Event = "merge_group"
	Other         Event = "other" // something that is not for us
)

// bed is a host, its fake and what is between them.
type bed struct {
	codehost.Host

	fake   Fake
	faults *Faults
}

// start makes a fake and opens the host at it.
func (f Fixture) start(t testing.TB) *bed {
	t.Helper()
	fake := f.New(t)
	faults := NewFaults(fake)
	server := httptest.NewServer(faults)
	t.Cleanup(faults.Close) // after the server, whose requests may begin late work
	t.Cleanup(server.Close)

	return &bed{Host: f.Open(t, server.URL, fake), fake: fake, faults: faults}
}

// repository is that of a fake as a webhook tells of it.
func repository() codehost.Repository { return codehost.Repository{ID: RepoID, Name: Repo} }

// pull reads the pull request.
func (b *bed) pull(t testing.TB) codehost.PullRequest {
	t.Helper()
	p, err := b.PullRequest(t.Context(), repository(), Number)
	require.NoError(t, err)
	return p
}

// observe reads what of ours is there.
func (b *bed) observe(t testing.TB) codehost.Observed {
	t.Helper()
	o, err := b.Observe(t.Context(), b.pull(t))
	require.NoError(t, err)
	return o
}

// do takes a step that must succeed.
func (b *bed) do(t testing.TB, s codehost.Step) {
	t.Helper()
	require.NoError(t, b.Do(t.Context(), b.pull(t), s))
}
