package publish_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/store"
)

// githubLimits are like GitHub's, but for the calls.
var githubLimits = codehost.Limits{
	AnnotationsPerCall: 50, Annotations: 1000, CommentsPerCall: 30, Body: 65536, Title: 255, Summary: 65535,
}

// scene is a database and a code host, on a clock that tests may move.
type scene struct {
	t       *testing.T
	store   *store.Store
	host    *publish.ModelHost
	hosts   connection.Hosts // of publishers, that of host
	ahead   atomic.Int64
	reviews atomic.Int64
}

func newScene(t *testing.T, l codehost.Limits) *scene {
	t.Helper()

	return newSceneAt(t, l, "")
}

// newSceneAt is a scene in a database; "" for a new SQLite one.
func newSceneAt(t *testing.T, l codehost.Limits, database string) *scene {
	t.Helper()
	s := &scene{t: t, host: publish.NewModelHost(l)}
	s.hosts = s.host
	if database == "" {
		database = "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	}
	db, err := store.Open(t.Context(), store.Options{Database: database, Now: s.now})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Migrate(t.Context()))
	o := organization.NewDefault()
	o.Name = "acme"
	require.NoError(t, db.CreateOrganization(t.Context(), o))
	s.store = db

	return s
}

func (s *scene) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *scene) advance(d time.Duration) { s.ahead.Add(int64(d)) }

func sha(n int) string { return fmt.Sprintf("%040x", n) }

// push gives a pull request a head, of which the host and the database know.
func (s *scene) push(number int32, head string) codehost.PullRequest {
	s.t.Helper()
	p := codehost.PullRequest{
		Repository: codehost.Repository{ID: "42", Name: "acme/shop"}, Number: number, State: codehost.Open, HeadSHA: head,
		BaseRef: "main", BaseSHA: sha(0), UpdatedAt: s.now(),
	}
	s.host.Push(p)
	s.keep(p)

	return p
}

func (s *scene) keep(p codehost.PullRequest) {
	s.t.Helper()
	require.NoError(s.t, s.store.UpsertPullRequest(context.Background(), publish.PullRequest{
		PullRequest: p, Organization: "acme", Connection: "con_a",
	}))
}

// create queues a review of a head.
func (s *scene) create(number int32, head string) string {
	s.t.Helper()
	id := fmt.Sprintf("rev_%06d", s.reviews.Add(1))
	_, err := s.store.CreateReview(context.Background(), review.NewReview{
		ID: id, Organization: "acme", Repo: "acme/shop", PRNumber: number, Ruleset: "acme/shop",
		Commits: finding.Commits{Head: head, BaseRef: "main"}, CreatedBy: "connection:con_a",
	}, review.MaxQueued)
	require.NoError(s.t, err)

	return id
}

// claim takes the next review.
func (s *scene) claim() review.Claim {
	s.t.Helper()
	c, err := s.store.Claim(context.Background(), review.Claiming{Worker: "w", Lease: time.Hour})
	require.NoError(s.t, err)
	require.NotNil(s.t, c)

	return *c
}

// finish completes a claimed review with findings of these fingerprints, which are high.
func (s *scene) finish(c review.Claim, fingerprints ...string) {
	s.t.Helper()
	result := finding.Result{HeadSHA: c.Commits.Head, BaseSHA: sha(0), Summary: finding.NewSummary()}
	for i, f := range fingerprints {
		result.Findings = append(result.Findings, finding.Finding{
			RuleID: "security/x", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: hosttest.Path, Line: i + 1, EndLine: i + 1, Column: 1, EndColumn: 2,
			Message: "Do not.", Snippet: "eval()", Fingerprint: f,
		})
		result.Summary[rule.High]++
	}
	result.Judge(rule.High, func(string) bool { return false })
	require.NoError(s.t, s.store.Finish(context.Background(), c, result))
}

// review reviews a head at once.
func (s *scene) review(number int32, head string, fingerprints ...string) {
	s.t.Helper()
	s.create(number, head)
	s.finish(s.claim(), fingerprints...)
}

// options are those of a publisher that does not wait for long.
func (s *scene) options() publish.Options {
	return publish.Options{Name: "test", Poll: 5 * time.Millisecond, Now: s.store.Now}
}

// publisher starts one.
func (s *scene) publisher(o publish.Options) *publish.Publisher {
	s.t.Helper()
	p := publish.NewPublisher(s.store, s.hosts, o)
	s.store.OnPublication(p.Wake)
	p.Start()
	s.t.Cleanup(func() { assert.NoError(s.t, p.Stop(context.Background())) })

	return p
}

func (s *scene) publication(number int32) publish.Publication {
	s.t.Helper()
	p, err := s.store.GetPullRequest(context.Background(), publish.Key{
		Organization: "acme", Repo: "acme/shop", Number: number,
	})
	require.NoError(s.t, err)

	return p.Publication
}

// until waits for something to become true of a publication.
func (s *scene) until(number int32, what string, is func(publish.Publication) bool) publish.Publication {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return is(s.publication(number)) }, 20*time.Second, 2*time.Millisecond, what)

	return s.publication(number)
}

func (s *scene) untilDone(number int32) publish.Publication {
	s.t.Helper()

	return s.until(number, "it is published", func(p publish.Publication) bool { return !p.Pending })
}

func TestAReviewIsPublished(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	head := s.push(7, sha(1)).HeadSHA
	s.create(7, head)
	require.Empty(t, s.untilDone(7).Problem)
	assert.Equal(t, codehost.Pending, s.host.Result(7).Check.Verdict)

	s.finish(s.claim(), "f1", "f2")
	require.Empty(t, s.untilDone(7).Problem)
	r := s.host.Result(7)
	assert.Equal(t, codehost.Failure, r.Check.Verdict)
	assert.Equal(t, 2, r.Annotations)
	assert.Equal(t, []string{"f1", "f2"}, r.Open)
	assert.Contains(t, r.Summary, "Fail: 2 findings")
	assert.Len(t, r.History, 2, "the check is made once and changed once")

	// One is fixed, a person deletes the other, and a third comes.
	s.host.Remove(7, "f2")
	s.review(7, s.push(7, sha(2)).HeadSHA, "f2", "f3")
	s.untilDone(7)
	r = s.host.Result(7)
	assert.Equal(t, []string{"f3"}, r.Open)
	assert.Equal(t, []string{"f1"}, r.Closed)
	assert.Equal(t, 1, r.Summaries)

	// The first comes back, and the pull request is merged then.
	s.review(7, s.push(7, sha(3)).HeadSHA, "f1")
	s.untilDone(7)
	r = s.host.Result(7)
	assert.Equal(t, []string{"f1"}, r.Open)
	assert.Equal(t, []string{"f3"}, r.Closed)
	p := s.push(7, sha(4))
	p.State = codehost.Merged
	s.host.Push(p)
	s.review(7, p.HeadSHA)
	s.untilDone(7)
	r = s.host.Result(7)
	assert.Equal(t, codehost.Success, r.Check.Verdict)
	assert.Equal(t, []string{"f1"}, r.Open, "nobody is told of anything after that")
	assert.Empty(t, s.host.Wrong(7))
}

func TestAForcePushEndsTheOldCheck(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.create(7, s.push(7, sha(1)).HeadSHA)
	s.untilDone(7)
	s.create(7, s.push(7, sha(2)).HeadSHA)
	s.untilDone(7)
	history := s.host.Result(7).History
	last := history[len(history)-1]
	assert.Equal(t, codehost.Outdated, last.Verdict)
	assert.Equal(t, sha(1), last.SHA)
	assert.Equal(t, codehost.Pending, s.host.Result(7).Check.Verdict)

	s.finish(s.claim(), "f1") // of the old head, whose scan ends as it does
	s.untilDone(7)
	assert.Equal(t, codehost.Pending, s.host.Result(7).Check.Verdict)
	assert.Empty(t, s.host.Result(7).Posted)
}

// A head that was scanned gets its own results again when it is pushed back.
func TestAHeadThatComesBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.create(7, s.push(7, sha(1)).HeadSHA)
	s.untilDone(7)
	s.create(7, s.push(7, sha(2)).HeadSHA)
	s.untilDone(7) // the first check is out of date
	s.finish(s.claim(), "f1")
	s.finish(s.claim(), "f2")
	s.untilDone(7)
	require.Equal(t, []string{"f2"}, s.host.Result(7).Open)

	s.push(7, sha(1))
	s.untilDone(7)
	r := s.host.Result(7)
	assert.Equal(t, codehost.Failure, r.Check.Verdict)
	assert.Equal(t, []string{"f1"}, r.Open)
	assert.Equal(t, []string{"f2"}, r.Closed)
	assert.Contains(t, r.Summary, sha(1)[:12])
	assert.Empty(t, s.host.Wrong(7))
}

func TestAFailedReviewIsAnError(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.create(7, s.push(7, sha(1)).HeadSHA)
	require.NoError(t, s.store.Fail(t.Context(), s.claim(), review.Failure{Code: "x", Message: "The clone is broken."}))
	s.untilDone(7)
	r := s.host.Result(7)
	assert.Equal(t, codehost.Broken, r.Check.Verdict)
	assert.Equal(t, "The review failed: The clone is broken.", r.Check.Title)
}

// of returns a fault that the first n writing calls have.
func of(n int, e *codehost.Error) func(bool) publish.Trouble {
	var calls atomic.Int64
	e.Err = fmt.Errorf("model: %s", e.Fault)

	return func(write bool) publish.Trouble {
		if write && calls.Add(1) <= int64(n) {
			return publish.Trouble{Err: e}
		}

		return publish.Trouble{}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault    codehost.Error
		times    int
		advance  time.Duration // after the first end
		problem  string
		reported []string
		verdict  codehost.Verdict // in the end
	}{
		"an outage passes": {
			fault: codehost.Error{Fault: codehost.Passing}, times: 1, advance: time.Minute, verdict: codehost.Failure,
		},
		"no answer": {
			fault: codehost.Error{Fault: codehost.Unknown}, times: 1, advance: time.Minute, verdict: codehost.Failure,
		},
		"too many calls": {
			fault: codehost.Error{Fault: codehost.Limited, After: time.Hour}, times: 1, advance: time.Hour,
			verdict: codehost.Failure,
		},
		"a credential that is refused once": {
			fault: codehost.Error{Fault: codehost.Revoked}, times: 1, verdict: codehost.Failure,
		},
		"a credential that is refused": {
			fault: codehost.Error{Fault: codehost.Revoked}, times: 2, advance: 11 * time.Minute,
			problem:  "The connection con_a is broken.",
			reported: []string{"broken: The host does not accept the credentials. Give the connection new ones."},
		},
		"a missing permission": {
			fault: codehost.Error{Fault: codehost.Forbidden, Scope: "checks: write"}, times: 1,
			problem:  "For the check the connection lacks checks: write.",
			reported: []string{"active: For the check the connection lacks checks: write."},
		},
		"a repository that moved": {
			fault: codehost.Error{Fault: codehost.Moved}, times: 1, verdict: codehost.Failure,
		},
		"a commit that is gone": {
			fault: codehost.Error{Fault: codehost.Gone}, times: 2,
			problem: "The code host doesn't know the commit or the pull request any more: model: gone.",
		},
		"a refusal": {
			fault: codehost.Error{Fault: codehost.Invalid}, times: 1,
			problem: "The code host refused the check: model: invalid.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, codehost.Limits{CommentsPerCall: 30, Title: 140})
			s.host.Fault = of(test.times, &test.fault)
			head := s.push(7, sha(1)).HeadSHA
			s.review(7, head, "f1")
			s.publisher(s.options())
			if test.advance > 0 {
				s.until(7, "it failed", func(p publish.Publication) bool { return p.Failures == 1 })
				s.advance(test.advance)
			}
			if test.reported != nil && test.advance > 0 {
				s.until(7, "it failed again", func(p publish.Publication) bool { return p.Failures == 2 })
			} else {
				s.untilDone(7)
			}
			assert.Equal(t, test.problem, s.publication(7).Problem)
			assert.Equal(t, test.reported, s.host.Reported())
			assert.Equal(t, test.verdict, s.host.Result(7).Check.Verdict)
			assert.Empty(t, s.host.Wrong(7))
		})
	}
}

func TestPublishingIsGivenUpAfterADay(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	var down atomic.Bool
	down.Store(true)
	s.host.Fault = func(bool) publish.Trouble {
		if down.Load() {
			return publish.Trouble{Err: &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("away")}}
		}

		return publish.Trouble{}
	}
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1")
	s.publisher(s.options())
	for i := 1; s.publication(7).Pending; i++ {
		s.until(7, "it failed", func(p publish.Publication) bool { return p.Failures >= i || !p.Pending })
		s.advance(time.Hour)
		require.Less(t, i, 30)
	}
	assert.Contains(t, s.publication(7).Problem, "Publishing was given up after it failed for 24h0m0s")

	down.Store(false) // what comes later is published
	s.review(7, s.push(7, sha(2)).HeadSHA, "f1")
	require.Empty(t, s.untilDone(7).Problem)
	assert.Equal(t, []string{"f1"}, s.host.Result(7).Open)
}

// One line that can't be commented on does not keep the others from it.
func TestABadLineIsFoundByHalves(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.host.Refuse = func(step codehost.Step) error {
		for _, c := range step.Comments {
			if c.Fingerprint == "f3" {
				return &codehost.Error{Fault: codehost.BadLine, Err: fmt.Errorf("not in the diff")}
			}
		}

		return nil
	}
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1", "f2", "f3", "f4", "f5")
	s.publisher(s.options())
	require.Empty(t, s.untilDone(7).Problem)
	r := s.host.Result(7)
	assert.Equal(t, []string{"f1", "f2", "f4", "f5"}, r.Open)
	assert.Contains(t, r.Summary, "a.go:3")

	s.review(7, s.push(7, sha(2)).HeadSHA, "f3")
	s.untilDone(7)
	assert.Empty(t, s.host.Result(7).Open, "it is not tried again")
}

func TestABrokenConnectionIsNotCalled(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	require.NoError(t, s.host.Report(t.Context(), connection.Connection{State: connection.Suspended}))
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1")
	s.publisher(s.options())
	p := s.until(7, "it failed", func(p publish.Publication) bool { return p.Failures == 1 })
	assert.Equal(t, "The connection con_a is suspended.", p.Problem)
	assert.Zero(t, s.host.Calls())

	require.NoError(t, s.host.Report(t.Context(), connection.Connection{State: connection.Active}))
	s.advance(11 * time.Minute)
	require.Empty(t, s.untilDone(7).Problem)
}

// A pull request with 1,000 findings keeps within what GitHub takes.
func TestAThousandFindings(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	head := s.push(7, sha(1)).HeadSHA
	s.create(7, head)
	s.untilDone(7)
	s.host.Count()
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("f%d", i))
	}
	s.finish(s.claim(), many...)
	require.Empty(t, s.untilDone(7).Problem)
	r := s.host.Result(7)
	assert.Equal(t, 1000, r.Annotations)
	assert.Len(t, r.Open, 20)
	assert.Empty(t, s.host.Wrong(7))
	reads, writes := s.host.Count()
	assert.LessOrEqual(t, writes, 24, "with the one that made the check there are 25")
	assert.LessOrEqual(t, reads, 2)
}

// onWait is a context that hears when somebody begins to wait for its end.
type onWait struct {
	context.Context
	waits func()
}

func (c onWait) Done() <-chan struct{} {
	c.waits()

	return c.Context.Done()
}

// The step that is being taken ends only once the publisher was told to stop, and waits.
func TestStopWaitsForTheStep(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1")
	began, goOn := make(chan struct{}), make(chan struct{})
	s.host.Refuse = func(codehost.Step) error {
		select {
		case <-began:
		default:
			close(began)
			<-goOn
		}

		return nil
	}
	p := publish.NewPublisher(s.store, s.host, s.options())
	p.Start()
	<-began
	require.NoError(t, p.Stop(onWait{Context: context.Background(), waits: func() { close(goOn) }}))
	require.NoError(t, p.Stop(context.Background()), "twice is once")
	assert.True(t, s.publication(7).Pending, "the rest is for the next publisher, at once")
	s.publisher(s.options())
	require.Empty(t, s.untilDone(7).Problem)
	assert.Equal(t, 1, s.host.Result(7).Posted["f1"])
}
