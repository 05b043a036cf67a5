package publish

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/codehost/bitbucketserver"
	"github.com/prwarden/prwarden/internal/codehost/gitea"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketserverfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
)

var faultSeeds = flag.Uint64("faults.seeds", 120, "pull requests of the test of faults below plans")

// troubled is a pull request of a host of which many calls go wrong.
type troubled struct {
	*rand.Rand
	*testing.T
	host   codehost.Host
	fake   hosttest.Fake
	faults *hosttest.Faults
	known  Known

	// By fingerprint: what has a comment, what a person resolved, and what one deleted.
	posted, resolved, deleted map[string]bool
}

// fault is what goes wrong with a request; nil for nothing.
func (w *troubled) fault(*http.Request) *hosttest.Fault {
	switch w.IntN(16) {
	case 0:
		return &hosttest.Fault{Status: http.StatusInternalServerError}
	case 1:
		return &hosttest.Fault{Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "1"}}
	case 2:
		return &hosttest.Fault{Cut: true}
	case 3:
		return &hosttest.Fault{Cut: true, Done: true}
	case 4:
		return &hosttest.Fault{Cut: true, Late: time.Duration(1+w.IntN(10)) * time.Millisecond}
	}

	return nil
}

// round observes and takes the steps of a plan, until one fails. What a call does late
// is over when the next round observes: a publisher's lease lasts as long. It tells
// whether there was nothing to do.
func (w *troubled) round(want Desired) bool {
	defer w.faults.Close()
	p, err := w.host.PullRequest(w.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo}, hosttest.Number)
	if err != nil {
		return false
	}
	have, err := w.host.Observe(w.Context(), p)
	if err != nil {
		return false
	}

	w.noDoubles(have)
	w.known = Reconcile(w.known, have)
	steps := Plan(want, have, w.known, w.host.Limits())
	for _, s := range steps {
		w.known = w.known.with(w.known.about(want, s))
		err := w.host.Do(w.Context(), p, s)
		if s.Check.Verdict == codehost.Outdated && codehost.FaultOf(err) == codehost.Stale {
			err = nil // the commit of an old check is not there any more
		}
		if err != nil {
			require.NotEqual(w, codehost.BadLine, codehost.FaultOf(err), "%v", err)
			return false
		}
		w.known = w.known.with(w.known.taken(want, s))
	}

	return len(steps) == 0
}

// noDoubles checks that nothing was ever there twice: Plan would remove it.
func (w *troubled) noDoubles(have codehost.Observed) {
	seen := map[string]bool{}
	for _, c := range have.Comments {
		assert.False(w, seen[c.Fingerprint], "a second comment on %s", c.Fingerprint)
		seen[c.Fingerprint] = true
	}
	assert.LessOrEqual(w, len(have.Summaries), 1)
}

// some are some of the findings.
func (w *troubled) some() (found []int) {
	for i := range 6 {
		if w.IntN(2) != 0 {
			found = append(found, i)
		}
	}

	return found
}

// desired is what should be at a head with some findings.
func (w *troubled) desired(head string, found ...int) Desired {
	talk := &Talk{
		Present: map[string]string{}, Most: 20, Closing: func(Thread) string { return "Not found at " + head },
		Summary: codehost.SummaryMarker + "\n" + head,
	}
	var annotations []codehost.Annotation
	for _, i := range found {
		fingerprint := fmt.Sprintf("%032x", i+1)
		body := codehost.Marker(fingerprint) + "\nhere"
		talk.Present[fingerprint], talk.MakeSummary = body, true
		talk.New = append(talk.New, Comment{RuleID: "rule", LineComment: codehost.LineComment{
			Fingerprint: fingerprint, Path: hosttest.Path, OldPath: hosttest.Path, Line: i + 1, Body: body,
		}})
		annotations = append(annotations, codehost.Annotation{
			Fingerprint: fingerprint, Path: hosttest.Path, Line: i + 1, EndLine: i + 1, Severity: "high", RuleID: "rule", Message: "x",
		})
	}
	verdict := codehost.Success
	if talk.MakeSummary {
		verdict = codehost.Failure
	}

	return Desired{Talk: talk, Annotations: annotations, Check: codehost.Check{
		SHA: head, ReviewID: "rev_" + head, Verdict: verdict, Title: "At " + head, URL: "https://prwarden.example.com/" + head,
	}}
}

// push publishes a head with some findings.
func (w *troubled) push(number int, found ...int) {
	want := w.begin(number, found...)
	for rounds := 0; !w.round(want); rounds++ {
		require.Less(w, rounds, 2000)
	}
	w.check(want)
}

// begin makes a head, and returns what should be at it.
func (w *troubled) begin(number int, found ...int) Desired {
	head := strings.Repeat(fmt.Sprintf("%04x", number), 10)
	w.fake.Push(head, w.IntN(2) == 0)

	return w.desired(head, found...)
}

// onLines are the comments on findings that people see, by fingerprint.
func (w *troubled) onLines() map[string]hosttest.Comment {
	seen := map[string]hosttest.Comment{}
	for _, c := range w.fake.Comments() {
		if codehost.IsSummary(c.Body) {
			continue
		}
		fingerprint := codehost.FingerprintIn(c.Body)
		assert.NotContains(w, seen, fingerprint, "two comments")
		seen[fingerprint] = c
	}

	return seen
}

// people have somebody resolve or delete some comments that are open.
func (w *troubled) people() {
	seen := w.onLines()
	for _, fingerprint := range slices.Sorted(maps.Keys(seen)) {
		c := seen[fingerprint]
		switch n := w.IntN(12); {
		case c.Closed:
		case n == 0:
			w.fake.Close(c.Ref, hosttest.Writer)
			w.resolved[fingerprint] = true
		case n == 1:
			w.fake.Delete(c.Ref)
			w.deleted[fingerprint] = true
			delete(w.posted, fingerprint)
		}
	}
}

// check checks what people see at the end.
func (w *troubled) check(want Desired) {
	seen := w.onLines()
	for fingerprint, c := range seen {
		_, present := want.Talk.Present[fingerprint]
		assert.Equal(w, !present || w.resolved[fingerprint], c.Closed, fingerprint)
		assert.False(w, w.deleted[fingerprint], "%s is back", fingerprint)
		w.posted[fingerprint] = true
	}
	for fingerprint := range want.Talk.Present {
		assert.True(w, w.posted[fingerprint] || w.deleted[fingerprint], fingerprint)
	}
	for fingerprint := range w.posted {
		assert.Contains(w, seen, fingerprint)
	}
	summaries := len(w.fake.Comments()) - len(seen)
	assert.LessOrEqual(w, summaries, 1)
	assert.True(w, summaries == 1 || len(w.posted) == 0)
	require.NotNil(w, w.fake.Check(want.Check.SHA))
	assert.Equal(w, want.Check.Verdict, w.fake.Check(want.Check.SHA).Verdict)
	if w.host.Limits().AnnotationsPerCall > 0 {
		assert.Equal(w, len(want.Annotations), w.fake.Annotations(want.Check.SHA))
	}
}

// fakes are fakes of hosts, and how to open those.
var fakes = []func(*testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host){
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		return giteafake.New(t), openGitea
	},
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		fake := giteafake.New(t)
		fake.Forgejo = true
		return fake, openGitea
	},
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		return gitlabfake.New(t), openGitLab
	},
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		fake := gitlabfake.New(t)
		fake.Strict = true
		return fake, openGitLab
	},
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		return bitbucketfake.New(t), func(s *httptest.Server) codehost.Host { return openBitbucket(t, s.URL) }
	},
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		return bitbucketserverfake.New(t), openBitbucketServer
	},
	func(t *testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host) {
		return githubfake.New(true), func(s *httptest.Server) codehost.Host { return openGitHub(t, s.URL) }
	},
}

func openGitHub(t *testing.T, url string) codehost.Host {
	h, err := github.New(github.Options{
		URL: url, AppID: githubfake.AppID, Installation: githubfake.Installation, PrivateKey: githubfake.PrivateKey(),
	})
	require.NoError(t, err)

	return h
}

func openBitbucket(t *testing.T, url string) codehost.Host {
	h, err := bitbucket.New(bitbucket.Options{
		Client: http.DefaultClient, APIURL: url, Token: bitbucketfake.Email + ":" + hosttest.Token,
	})
	require.NoError(t, err)

	return h
}

func openBitbucketServer(s *httptest.Server) codehost.Host {
	return bitbucketserver.New(bitbucketserver.Options{Client: s.Client(), URL: s.URL, Token: hosttest.Token})
}

func openGitea(s *httptest.Server) codehost.Host {
	return gitea.New(gitea.Options{Client: s.Client(), URL: s.URL, Token: hosttest.Token})
}

func openGitLab(s *httptest.Server) codehost.Host {
	return gitlab.New(gitlab.Options{Client: s.Client(), URL: s.URL, Token: hosttest.Token})
}

// newTroubled makes one on a fake.
func newTroubled(
	t *testing.T, on func(*testing.T) (hosttest.Fake, func(*httptest.Server) codehost.Host), seed uint64,
) *troubled {
	t.Helper()
	fake, open := on(t)
	w := &troubled{
		Rand: rand.New(rand.NewPCG(seed, 1)), T: t, fake: fake, faults: hosttest.NewFaults(fake),
		posted: map[string]bool{}, resolved: map[string]bool{}, deleted: map[string]bool{},
	}
	server := httptest.NewServer(w.faults)
	t.Cleanup(server.Close)
	w.host = open(server)

	return w
}

// TestFaultsBelowPlans publishes pushes at a fake host of which a third of the calls
// fail, are cut off before or after they were worked off, or take effect late.
func TestFaultsBelowPlans(t *testing.T) {
	t.Parallel()
	for seed := range *faultSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newTroubled(t, fakes[seed%uint64(len(fakes))], seed)
			w.faults.Random(w.fault)
			for push := range 6 {
				if w.IntN(4) == 0 {
					w.known = Known{} // the database was lost
					clear(w.deleted)
				}
				w.push(2*push+1, w.some()...)
				w.people()

				// The next one comes before this one is published.
				want := w.begin(2*push+2, w.some()...)
				for range w.IntN(4) {
					w.round(want)
				}
			}
		})
	}
}

// A thread that we opened again, for which the answer was lost, is ours to close again,
// also when that needs a second attempt: it is not taken for one that a person opened.
func TestReopenedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ on, reads int }{
		"gitea": {on: 0}, "gitlab": {on: 2},
		"bitbucket": {on: 4, reads: 1}, // how the thread is, after a call that failed
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTroubled(t, fakes[test.on], 0)
			calls := 0
			fromResolving := func(q *http.Request) bool { // the second of the two calls of a step
				path := q.URL.Path
				if calls > 0 || hosttest.Writes(q) && (strings.HasSuffix(path, "resolve") || strings.Contains(path, "/discussions/")) {
					calls++
				}

				return calls > 0
			}
			w.push(1, 0)
			w.push(2)

			w.faults.Next(hosttest.Fault{Match: fromResolving, Cut: true, Done: true, Again: test.reads})
			w.push(3, 0)
			require.Equal(t, 1+test.reads, calls)
			assert.Equal(t, ThreadOpen, w.known.Threads[0].State)

			calls = 0
			w.faults.Next(hosttest.Fault{Match: fromResolving, Status: http.StatusInternalServerError})
			w.push(4)
			require.Equal(t, 1, calls)
			assert.Equal(t, ThreadFixed, w.known.Threads[0].State)
		})
	}
}
