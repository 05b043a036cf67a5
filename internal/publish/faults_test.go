package publish

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/codehost/bitbucketserver"
	"github.com/prwarden/prwarden/internal/codehost/gitea"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/bitbucketserverfake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
)

// troubled is a pull request of a host of which many calls go wrong.
type troubled struct {
	*rand.Rand
	*testing.T
	host   codehost.Host
	fake   hosttest.Fake
	faults *hosttest.Faults
	known  Known
	posted map[string]bool // by fingerprint
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

// desired is what should be at a head.
func (w *troubled) desired(head string) Desired {
	talk := &Talk{
		Present: map[string]string{}, Most: 20, Closing: func(Thread) string { return "Not found at " + head },
		Summary: codehost.SummaryMarker + "\n" + head,
	}
	var annotations []codehost.Annotation
	for i := range 6 {
		fingerprint := fmt.Sprintf("%032x", i+1)
		if w.IntN(2) == 0 {
			continue
		}
		body := codehost.Marker(fingerprint) + "\nhere"
		talk.Present[fingerprint], talk.MakeSummary = body, true
		talk.New = append(talk.New, Comment{RuleID: "rule", LineComment: codehost.LineComment{
			Fingerprint: fingerprint, Path: hosttest.Path, OldPath: hosttest.Path, Line: i + 1, Body: body,
		}})
		w.posted[fingerprint] = true
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

// check checks what people see at the end.
func (w *troubled) check(want Desired) {
	seen, summaries := map[string]int{}, 0
	for _, c := range w.fake.Comments() {
		if codehost.IsSummary(c.Body) {
			summaries++
			continue
		}
		fingerprint := codehost.FingerprintIn(c.Body)
		seen[fingerprint]++
		_, present := want.Talk.Present[fingerprint]
		assert.Equal(w, !present, c.Closed, fingerprint)
		assert.True(w, w.posted[fingerprint])
	}
	for fingerprint := range w.posted {
		assert.Equal(w, 1, seen[fingerprint], "comments on %s", fingerprint)
	}
	assert.Equal(w, min(1, len(w.posted)), summaries)
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

// TestFaultsBelowPlans publishes pushes at a fake host of which a third of the calls
// fail, are cut off before or after they were worked off, or take effect late.
func TestFaultsBelowPlans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			fake, open := fakes[seed%6](t)
			w := &troubled{
				Rand: rand.New(rand.NewPCG(seed, 1)), T: t, fake: fake, faults: hosttest.NewFaults(fake), posted: map[string]bool{},
			}
			server := httptest.NewServer(w.faults)
			t.Cleanup(server.Close)
			w.host = open(server)

			w.faults.Random(w.fault)
			for push := range 6 {
				head := strings.Repeat(fmt.Sprintf("%04x", push+1), 10)
				fake.Push(head, w.IntN(2) == 0)
				want := w.desired(head)
				if w.IntN(4) == 0 {
					w.known = Known{} // the database was lost
				}
				rounds := 0
				for !w.round(want) {
					rounds++
					require.Less(t, rounds, 2000)
				}
				w.check(want)
			}
		})
	}
}
