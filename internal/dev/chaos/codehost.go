package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/dev/program"
)

// codeHost is a fake of a code host with one pull request, for an organization of its own. It writes down all that
// people could have seen there.
type codeHost struct {
	hosttest.Fake
	organization string
	kind         codehost.Kind
	app          bool   // a GitHub App: it has check runs
	repository   string // folder
	connection   string // identifier
	faults       *hosttest.Faults
	server       *httptest.Server

	mu      sync.Mutex
	heads   []string         // that there were, in order
	planted map[string][]int // lines with a finding, by commit
	sent    []delivery
	made    map[string][]codehost.Ref   // our comments that there ever were, by what their markers name
	shown   map[string][]codehost.Check // what the check of a commit has said, in order
}

// delivery is one that was sent.
type delivery struct {
	header http.Header
	body   []byte
}

// newCodeHosts makes the hosts of a run. Each has limits of its own to how fast it may be written to, so there are
// several of a kind.
func newCodeHosts(ctx context.Context, s settings) (all []*codeHost, err error) {
	for n := range 8 {
		h := &codeHost{
			organization: fmt.Sprintf("host%d", n), kind: codehost.GitHub,
			planted: map[string][]int{}, made: map[string][]codehost.Ref{}, shown: map[string][]codehost.Check{},
		}
		switch n % 4 {
		case 0, 1:
			h.app = n != 1
			h.Fake = githubfake.New(h.app)
		default:
			fake := giteafake.New(nil)
			h.kind, h.Fake = codehost.Gitea, fake
			if fake.Forgejo = n%4 == 3; fake.Forgejo {
				h.kind = codehost.Forgejo
			}
		}
		h.faults = hosttest.NewFaults(h)
		h.server = httptest.NewServer(h.faults)
		all = append(all, h)

		h.repository = filepath.Join(s.dir, "hosts", h.organization, hosttest.Repo+".git")
		if err := program.MakeRepository(ctx, h.repository, commitOf("main", "", 0, nil)); err != nil {
			return all, err
		}
	}

	return all, nil
}

// ServeHTTP has the fake answer, and looks at what people see afterwards.
func (h *codeHost) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Fake.ServeHTTP(w, q)
	if !hosttest.Writes(q) {
		return
	}

	for _, c := range h.ours() {
		name := markerOf(c)
		if !slices.Contains(h.made[name], c.Ref) {
			h.made[name] = append(h.made[name], c.Ref)
		}
	}
	for sha := range h.planted {
		c, seen := h.Check(sha), h.shown[sha]
		if c != nil && (len(seen) == 0 || seen[len(seen)-1] != *c) {
			h.shown[sha] = append(seen, *c)
		}
	}
}

// ours are the comments of our account.
func (h *codeHost) ours() []hosttest.Comment {
	return slices.DeleteFunc(h.Comments(), func(c hosttest.Comment) bool { return c.Author != hosttest.Account })
}

// markerOf is what the marker of a comment names.
func markerOf(c hosttest.Comment) string {
	if codehost.IsSummary(c.Body) {
		return "the summary"
	}
	return codehost.FingerprintIn(c.Body)
}

// doubles are how many comments there were too many.
func (h *codeHost) doubles() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, refs := range h.made {
		n += len(refs) - 1
	}
	return n
}

// candidates are the lines that may have a finding. Each is always the same, so that the comment on it stays.
var candidates = []int{3, 13, 23, 33, 43, 53, 63, 73, 83, 93}

// commitOf is a commit for git fast-import, which changes some lines into findings of the default ruleset.
func commitOf(branch, parent string, number int, findings []int) string {
	var text strings.Builder
	for line := 1; line <= hosttest.Lines; line++ {
		if slices.Contains(findings, line) {
			fmt.Fprintf(&text, "defer client%d.Lock()\n", line)
		} else {
			fmt.Fprintf(&text, "client%d.Use(step)\n", line)
		}
	}
	message := fmt.Sprint("change ", number)

	return fmt.Sprintf("commit refs/%s\ncommitter Dev <dev@example.com> 1750000000 +0000\ndata %d\n%s\n%s"+
		"M 644 inline %s\ndata %d\n%s\n", branchPath(branch), len(message), message, parent, hosttest.Path,
		text.Len(), text.String())
}

func branchPath(branch string) string {
	if branch == "main" {
		return "heads/main"
	}
	return branch
}

// push gives the pull request another head: mostly a new commit with other findings, sometimes one that it had before.
func (h *codeHost) push(ctx context.Context, r *rand.Rand) error {
	h.mu.Lock()
	heads := slices.Clone(h.heads)
	h.mu.Unlock()
	if len(heads) > 1 && r.IntN(8) == 0 {
		h.head(heads[r.IntN(len(heads))], nil)
		return nil
	}

	findings := slices.DeleteFunc(slices.Clone(candidates), func(int) bool { return r.IntN(2) == 0 })
	ref := fmt.Sprintf("pull/%d/head", hosttest.Number)
	stream := commitOf(ref, "from refs/heads/main^0\n", len(heads)+1, findings)
	if _, err := program.Git(ctx, h.repository, stream, "fast-import", "--quiet", "--force"); err != nil {
		return err
	}
	sha, err := program.Git(ctx, h.repository, "", "rev-parse", "refs/"+ref)
	if err == nil {
		h.head(sha, findings)
	}
	return err
}

// head makes a commit the head. findings are those of a new one.
func (h *codeHost) head(sha string, findings []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.planted[sha]; !known {
		h.planted[sha] = findings
	}
	h.heads = append(h.heads, sha)
	h.Push(sha, false)
}

// delivery makes a delivery of an event, and keeps it to be sent again.
func (h *codeHost) delivery(e hosttest.Event) delivery {
	header, body := h.Deliver(e, webhookSecret)
	d := delivery{header, body}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, d)
	return d
}

// again is one of the deliveries that were sent, every second one under a new identifier, as a person or a host makes
// it who sends it anew.
func (h *codeHost) again(r *rand.Rand) (d delivery, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sent) == 0 {
		return d, false
	}
	d = h.sent[r.IntN(len(h.sent))]
	if r.IntN(2) == 0 {
		return d, true
	}

	header, id := d.header.Clone(), fmt.Sprintf("again-%016x", r.Uint64())
	for name := range header {
		if strings.HasSuffix(name, "-Delivery") {
			header.Set(name, id)
		}
	}
	return delivery{header, d.body}, true
}

// trouble chooses what goes wrong with a request: one in ten that writes, and one in thirty others. What a host does
// without saying so happens at once or at most so much later.
func trouble(r *rand.Rand, late time.Duration) func(*http.Request) *hosttest.Fault {
	statuses := []int{500, 502, 503, 504}
	return func(q *http.Request) *hosttest.Fault {
		status := statuses[r.IntN(len(statuses))]
		later := between(r, time.Millisecond, late)
		n := r.IntN(300)
		switch {
		case n < 4:
			return &hosttest.Fault{Status: status}
		case n < 8:
			return &hosttest.Fault{Cut: true}
		case n < 9:
			return &hosttest.Fault{Hang: true}
		case !hosttest.Writes(q):
			return nil
		case n < 13:
			return &hosttest.Fault{Status: status, Done: true}
		case n < 17:
			return &hosttest.Fault{Cut: true, Done: true}
		case n < 22:
			return &hosttest.Fault{Status: status, Late: later}
		case n < 28:
			return &hosttest.Fault{Cut: true, Late: later}
		case n < 30:
			return &hosttest.Fault{Hang: true, Late: later}
		}
		return nil
	}
}
