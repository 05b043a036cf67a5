package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/store"
)

const (
	acme = "acme"
	repo = "acme/shop"
)

// head is a commit for a digit.
func head(digit string) string { return strings.Repeat(digit, 40) }

// world is an inbox on a real database, of one connection to a code host that the test
// plays.
type world struct {
	connection.Hosts
	codehost.Host

	mu         sync.Mutex
	connection connection.Connection
	installed  codehost.Installation
	reports    []string
	pulls      map[int32]codehost.PullRequest
	err        error // of each call of the host
	calls      int
	commands   []codehost.Comment
	checks     []string
	ended      []inbox.Outcome

	store   *store.Store
	reviews *review.Service
	inbox   *inbox.Inbox
	worker  *inbox.Worker
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		connection: connection.Connection{
			ID: "con_a", Organization: acme, Kind: codehost.Gitea, Account: "acme", State: connection.Active,
		},
		pulls: map[int32]codehost.PullRequest{},
	}
	s, err := store.Open(t.Context(), store.Options{Database: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	o := organization.NewDefault()
	o.Name = acme
	require.NoError(t, s.CreateOrganization(t.Context(), o))

	w.store = s
	w.reviews = review.NewService(s, organizations{}, review.NewNotifier(), available{}, 1)
	w.inbox = inbox.New(s)
	w.worker = inbox.NewWorker(w.inbox, &inbox.Handler{
		Hosts: w, PullRequests: s, Scans: inbox.NewScans(w.reviews), Commands: w,
		Policies: policies{}, Links: func(string, string) string { return "" },
	}, inbox.WorkerOptions{OnEnd: w.end})
	w.worker.Start()
	t.Cleanup(func() { assert.NoError(t, w.worker.Stop(context.Background())) })

	return w
}

type organizations struct{ review.Organizations }

func (organizations) Allowed(string, string) bool { return true }
func (organizations) MaxQueued(string) int        { return 100 }

type policies struct{}

func (policies) Policy(context.Context, string) (policy.Policy, error) { return policy.Default(), nil }

type available struct{ review.Scanner }

func (available) Available() bool { return true }

func (w *world) end(o inbox.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, o)
}

func (w *world) Open(context.Context, string) (connection.Connection, codehost.Host, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.connection, w, nil
}

func (w *world) For(_ context.Context, _, name string) (string, error) {
	if name != repo {
		return "", nil
	}

	return w.connection.ID, nil
}

func (w *world) Report(_ context.Context, c connection.Connection) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connection.State, w.connection.Reason, w.connection.Installation = c.State, c.Reason, c.Installation
	w.reports = append(w.reports, fmt.Sprintf("%s %s: %s", c.ID, c.State, c.Reason))

	return nil
}

func (w *world) PullRequest(_ context.Context, r codehost.Repository, number int32) (codehost.PullRequest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	p, ok := w.pulls[number]
	switch {
	case w.err != nil:
		return p, w.err
	case !ok:
		return p, &codehost.Error{Fault: codehost.Gone, Err: errors.New("there is none")}
	}
	if p.Repository.Name == "" {
		p.Repository = codehost.Repository{ID: r.ID, Name: repo}
	}

	return p, nil
}

func (w *world) OpenPullRequests(
	context.Context, codehost.Repository, time.Time,
) (list []codehost.PullRequest, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pulls {
		list = append(list, p)
	}

	return list, w.err
}

func (w *world) Installed(context.Context) (codehost.Installation, error) {
	if w.installed.ID == 0 {
		return w.installed, &codehost.Error{Fault: codehost.Gone, Err: errors.New("there is none")}
	}

	return w.installed, nil
}

func (w *world) Access(context.Context) (codehost.Access, error) {
	return codehost.Access{ID: "bot"}, nil
}

func (w *world) Handle(
	_ context.Context, _ connection.Connection, _ codehost.Host, p codehost.PullRequest, c codehost.Comment,
) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.Body += " at " + p.HeadSHA[:1]
	w.commands = append(w.commands, c)

	return nil
}

// set makes the host say something of a pull request.
func (w *world) set(number int32, change func(*codehost.PullRequest)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.pulls[number]
	if !ok {
		p = codehost.PullRequest{Number: number, State: codehost.Open, BaseRef: "main", HeadSHA: head("a")}
	}
	change(&p)
	p.UpdatedAt = time.Now()
	w.pulls[number] = p
}

// tell delivers hints and waits until they are worked off.
func (w *world) tell(t *testing.T, id string, hints ...codehost.Hint) inbox.Outcome {
	t.Helper()
	<-time.After(time.Millisecond)
	before := w.attempts()
	status, err := w.inbox.Accept(t.Context(), w.connection, id, hints)
	require.NoError(t, err)
	require.Equal(t, inbox.Accepted, status)
	synctest.Wait()
	for w.attempts() == before {
		<-time.After(time.Second)
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.ended[len(w.ended)-1]
}

func (w *world) attempts() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return len(w.ended)
}

func hint(number int32) codehost.Hint {
	return codehost.Hint{Kind: codehost.HintPullRequest, Repository: codehost.Repository{ID: "42", Name: repo}, Number: number}
}

// made lists the reviews of a pull request, oldest first.
func (w *world) made(t *testing.T, number int32) (list []string) {
	t.Helper()
	reviews, _, err := w.reviews.List(t.Context(), acme, review.ListInput{Selection: review.Selection{PRNumber: number}})
	require.NoError(t, err)
	for _, r := range reviews {
		assert.Equal(t, "connection:con_a", r.CreatedBy)
		assert.Equal(t, repo, r.Repo)
		list = append([]string{r.Commits.Head[:1] + " " + r.Commits.BaseRef + " " + string(r.Status)}, list...)
	}

	return list
}

func TestPushesAreScanned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(p *codehost.PullRequest) { p.Draft, p.Fork, p.Title = true, true, "Grüße" })
		require.Equal(t, inbox.Done, w.tell(t, "opened", hint(7)))
		assert.Equal(t, []string{"a main queued"}, w.made(t, 7))
		kept, err := w.store.GetPullRequest(t.Context(), publish.Key{Organization: acme, Repo: repo, Number: 7})
		require.NoError(t, err)
		assert.Equal(t, "Grüße", kept.Title)

		require.Equal(t, inbox.Done, w.tell(t, "labeled", hint(7)))
		assert.Len(t, w.made(t, 7), 1, "the head was scanned")

		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("b") })
		w.tell(t, "pushed", hint(7))
		assert.Equal(t, []string{"a main canceled", "b main queued"}, w.made(t, 7))

		w.set(7, func(p *codehost.PullRequest) { p.BaseRef = "next" })
		w.tell(t, "retargeted", hint(7))
		assert.Equal(t, []string{"a main canceled", "b main canceled", "b next queued"}, w.made(t, 7))

		w.set(7, func(p *codehost.PullRequest) { p.State = codehost.Closed })
		w.tell(t, "closed", hint(7))
		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("c") })
		w.tell(t, "pushed-closed", hint(7))
		require.Len(t, w.made(t, 7), 3)

		w.set(7, func(p *codehost.PullRequest) { p.State, p.HeadSHA = codehost.Open, head("b") })
		w.tell(t, "reopened", hint(7))
		assert.Equal(t, "b next queued", w.made(t, 7)[3], "once more")

		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA, p.BaseRef = head("a"), "main" })
		w.tell(t, "pushed-back", hint(7))
		assert.Equal(t, "a main queued", w.made(t, 7)[4], "what was canceled is no scan")
	})
}

// The API of a host may lag behind a push that a delivery tells of, and a delivery may be
// an old one.
func TestTheHeadOfADelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		pushed := hint(7)
		pushed.HeadSHA = head("b")
		require.Equal(t, inbox.Waiting, w.tell(t, "pushed", pushed))
		assert.Empty(t, w.made(t, 7), "the head before the push is not scanned")

		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("b") })
		<-time.After(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"b main queued"}, w.made(t, 7))

		pushed.HeadSHA = head("c")
		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("d") })
		require.Equal(t, inbox.Waiting, w.tell(t, "old", pushed))
		<-time.After(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"b main canceled", "d main queued"}, w.made(t, 7), "the API is believed in the end")
	})
}

func TestReviewsOfOthersStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		commits := finding.Commits{Head: head("a"), BaseRef: "main"}
		made, err := w.reviews.Create(t.Context(), acme, review.CreateInput{Repo: repo, PRNumber: 7, Commits: commits})
		require.NoError(t, err)
		w.set(7, func(*codehost.PullRequest) {})
		w.tell(t, "opened", hint(7))
		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("b") })
		w.tell(t, "pushed", hint(7))

		all, _, err := w.reviews.List(t.Context(), acme, review.ListInput{})
		require.NoError(t, err)
		require.Len(t, all, 3)
		theirs, err := w.reviews.Get(t.Context(), acme, made.ReviewID)
		require.NoError(t, err)
		assert.Equal(t, review.Queued, theirs.Status)
	})
}

func TestChecksAreRunAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		w.set(8, func(p *codehost.PullRequest) { p.HeadSHA = head("b") })
		w.tell(t, "7", hint(7))
		again := hint(7)
		again.Kind = codehost.HintRerun
		w.tell(t, "r1", again)
		w.tell(t, "r2", again)
		assert.Len(t, w.made(t, 7), 3)

		fork := codehost.Hint{Kind: codehost.HintRerun, Repository: again.Repository, HeadSHA: head("b")}
		w.tell(t, "r3", fork)
		assert.Equal(t, []string{"b main queued"}, w.made(t, 8))
		fork.HeadSHA = head("f")
		assert.Equal(t, inbox.Ignored, w.tell(t, "r4", fork))
	})
}

func TestCommentsAreHandedOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		comment := hint(7)
		comment.Kind = codehost.HintComment
		comment.Comment = codehost.Comment{ID: "1", AuthorID: "bot", Body: "/prwarden rescan"}
		assert.Equal(t, inbox.Ignored, w.tell(t, "ours", comment))
		comment.Comment.AuthorID = "ann"
		assert.Equal(t, inbox.Done, w.tell(t, "theirs", comment))
		require.Len(t, w.commands, 1)
		assert.Equal(t, "/prwarden rescan at a", w.commands[0].Body)
		assert.Equal(t, []string{"a main queued"}, w.made(t, 7), "it is known from now on, so it is scanned")

		comment.Comment.Body = "nothing for us"
		status, err := w.inbox.Accept(t.Context(), w.connection, "talk", []codehost.Hint{comment})
		require.NoError(t, err)
		assert.Equal(t, inbox.NotForUs, status)
	})
}

func TestInstallations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		w.connection.AppID, w.connection.Installation = 1, 5
		about := codehost.Hint{Kind: codehost.HintInstallation, Account: "stranger"}
		assert.Equal(t, inbox.Ignored, w.tell(t, "1", about))
		assert.Equal(t, []string{
			`con_a active: The App has an installation by the account "stranger", which is ignored: the connection is for "acme".`,
		}, w.reports)
		assert.Equal(t, inbox.Ignored, w.tell(t, "1b", about))
		require.Len(t, w.reports, 1, "it is said once")
		w.reports = nil

		w.installed = codehost.Installation{ID: 5, Suspended: true}
		about = codehost.Hint{Kind: codehost.HintInstallation, Account: "Acme"}
		assert.Equal(t, inbox.Done, w.tell(t, "2", about))
		assert.Equal(t, inbox.Waiting, w.tell(t, "3", hint(7)), "nothing is called meanwhile")
		assert.Zero(t, w.calls)

		w.installed.Suspended = false
		assert.Equal(t, inbox.Done, w.tell(t, "4", about))
		<-time.After(time.Minute)
		synctest.Wait()
		assert.Len(t, w.made(t, 7), 1, "what waited goes on")
		w.installed.ID = 0
		assert.Equal(t, inbox.Done, w.tell(t, "5", about))
		require.Len(t, w.reports, 3)
		assert.Contains(t, w.reports[2], "con_a broken: The App was uninstalled")
		assert.Zero(t, w.connection.Installation)

		w.installed.ID = 6
		assert.Equal(t, inbox.Done, w.tell(t, "6", about))
		assert.Equal(t, connection.Active, w.connection.State, "installed again")
		assert.Equal(t, int64(6), w.connection.Installation)
	})
}

func TestFaultsOfTheHost(t *testing.T) {
	t.Parallel()
	fault := func(f codehost.Fault, after time.Duration) error {
		return &codehost.Error{Fault: f, After: after, Err: errors.New("of the host")}
	}
	for name, tc := range map[string]struct {
		err  error
		want inbox.Outcome
	}{
		"gone": {fault(codehost.Gone, 0), inbox.Ignored}, "invalid": {fault(codehost.Invalid, 0), inbox.Failed},
		"passing": {fault(codehost.Passing, 0), inbox.Waiting}, "limited": {fault(codehost.Limited, 30*time.Minute), inbox.Waiting},
		"forbidden": {fault(codehost.Forbidden, 0), inbox.Waiting}, "any": {errors.New("any"), inbox.Waiting},
		"no database": {errs.New(errs.Unavailable, errs.ReasonUnavailable, "away"), inbox.Waiting},
		"not allowed": {errs.New(errs.PermissionDenied, errs.ReasonRepositoryNotAllowed, "no"), inbox.Ignored},
		"revoked":     {fault(codehost.Revoked, 0), inbox.Waiting}, "moved": {fault(codehost.Moved, 0), inbox.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.set(7, func(*codehost.PullRequest) {})
				w.err = tc.err
				require.Equal(t, tc.want, w.tell(t, "d", hint(7)))
				<-time.After(25 * time.Minute)
				synctest.Wait()
				w.mu.Lock()
				calls := w.calls
				w.err = nil
				w.mu.Unlock()
				switch {
				case tc.want != inbox.Waiting, name == "limited":
					assert.Equal(t, 1, calls, "it is left alone")
				case name == "revoked":
					require.NotEmpty(t, w.reports)
					assert.Contains(t, w.reports[0], "con_a broken")
					assert.Equal(t, 2, calls, "nothing of a broken connection is called")
					require.NoError(t, w.Report(t.Context(), connection.Connection{ID: "con_a", State: connection.Active}))
				default:
					assert.Greater(t, calls, 5)
				}
				<-time.After(2 * time.Hour)
				synctest.Wait()
				if tc.want == inbox.Waiting {
					assert.Equal(t, []string{"a main queued"}, w.made(t, 7), "nothing that was accepted is lost")
				} else {
					assert.Empty(t, w.made(t, 7))
				}
			})
		})
	}
}

// However a delivery is repeated, there is one scan of a head.
func TestReplays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		w.tell(t, "d", hint(7))
		for range 50 {
			status, err := w.inbox.Accept(t.Context(), w.connection, "d", []codehost.Hint{hint(7)})
			require.NoError(t, err)
			assert.Equal(t, inbox.Duplicate, status)
		}
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				_, err := w.inbox.Accept(t.Context(), w.connection, fmt.Sprintf("d%d", i), []codehost.Hint{hint(7)})
				assert.NoError(t, err)
			})
		}
		all.Wait()
		<-time.After(time.Minute)
		synctest.Wait()
		assert.Len(t, w.made(t, 7), 1)
		assert.LessOrEqual(t, w.calls, 101)
	})
}

func (w *world) Limits() codehost.Limits {
	return codehost.Limits{Summary: 1000, CallsPerMinute: 2, CallsPerHour: 3}
}

func (w *world) Do(_ context.Context, p codehost.PullRequest, s codehost.Step) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks = append(w.checks, fmt.Sprintf("%s #%d %s %s", s.Action, p.Number, s.Check.SHA[:1], s.Check.Verdict))

	return w.err
}

func TestMergeQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(*codehost.PullRequest) {})
		w.tell(t, "opened", hint(7))
		group := codehost.Hint{
			Kind: codehost.HintMergeGroup, Repository: hint(7).Repository, HeadSHA: head("c"), BaseSHA: head("d"),
			Ref: "refs/heads/gh-readonly-queue/main/pr-7-" + head("d"),
		}
		assert.Equal(t, inbox.Waiting, w.tell(t, "group", group))
		assert.Equal(t, []string{"a main queued", "c  queued"}, w.made(t, 7))
		w.set(7, func(p *codehost.PullRequest) { p.HeadSHA = head("b") })
		w.tell(t, "pushed", hint(7))
		assert.Equal(t, []string{"a main canceled", "c  queued", "b main queued"}, w.made(t, 7))

		c, err := w.store.Claim(t.Context(), review.Claiming{Worker: "w", Lease: time.Hour})
		require.NoError(t, err)
		require.Equal(t, finding.Commits{Head: head("c"), Base: head("d")}, c.Commits)
		result := finding.Result{HeadSHA: head("c"), BaseSHA: head("d"), BaseFoundBy: finding.BaseRequested}
		result.Judge(review.DefaultFailOn, func(string) bool { return false })
		require.NoError(t, w.store.Finish(t.Context(), *c, result))
		<-time.After(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"set_check #7 c pending", "set_check #7 c success"}, w.checks)

		group.HeadSHA = head("e")
		w.tell(t, "next", group)
		group.Kind = codehost.HintMergeGroupGone
		assert.Equal(t, inbox.Done, w.tell(t, "gone", group))
		assert.Equal(t, "e  canceled", w.made(t, 7)[3])
		<-time.After(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"set_check #7 e pending"}, w.checks[2:], "that is all in this hour")
		<-time.After(time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{"set_check #7 e pending", "set_check #7 e error"}, w.checks[2:], "it was not looked at")
		group.Ref = "refs/heads/main"
		assert.Equal(t, inbox.Ignored, w.tell(t, "unknown", group))
	})
}

// Whoever opens pull requests from forks gets so many scans an hour, and the others later.
func TestForksCantFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for number := int32(1); number <= inbox.MaxForkScans+1; number++ {
			w.set(number, func(p *codehost.PullRequest) { p.Fork, p.AuthorID = true, "mallory" })
			want := inbox.Done
			if number > inbox.MaxForkScans {
				want = inbox.Waiting
			}
			require.Equal(t, want, w.tell(t, fmt.Sprint(number), hint(number)))
		}
		w.set(1000, func(p *codehost.PullRequest) { p.Fork, p.AuthorID = true, "ann" })
		assert.Equal(t, inbox.Done, w.tell(t, "ann", hint(1000)))
		assert.Empty(t, w.made(t, inbox.MaxForkScans+1))
		<-time.After(90 * time.Minute)
		synctest.Wait()
		assert.Len(t, w.made(t, inbox.MaxForkScans+1), 1)
	})
}

func TestNothingOfOtherRepositories(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(7, func(p *codehost.PullRequest) { p.Repository = codehost.Repository{ID: "1", Name: "acme/other"} })
		assert.Equal(t, inbox.Ignored, w.tell(t, "d", hint(7)))
		assert.Empty(t, w.made(t, 7))
		assert.Equal(t, inbox.Ignored, w.tell(t, "queue", codehost.Hint{Kind: codehost.HintMergeGroup}))
	})
}

// TestRenamedRepository checks that a repository gets the name that the host answers for
// its identifier, and not the one in a delivery.
func TestRenamedRepository(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := publish.PullRequest{Organization: acme, Connection: "con_a", PullRequest: codehost.PullRequest{
			Repository: codehost.Repository{ID: "42", Name: "acme/stall"}, Number: 7, State: codehost.Closed,
		}}
		require.NoError(t, w.store.UpsertPullRequest(t.Context(), before))
		w.set(7, func(p *codehost.PullRequest) { p.State = codehost.Closed })
		renamed := codehost.Hint{
			Kind: codehost.HintRepository, Repository: codehost.Repository{ID: "42"}, Name: "acme/forged",
		}
		assert.Equal(t, inbox.Done, w.tell(t, "renamed", renamed))
		all, err := w.store.ListPullRequests(t.Context(), acme, publish.Filter{Limit: 10})
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, repo, all[0].Repository.Name)

		renamed.Repository.ID = "43"
		assert.Equal(t, inbox.Ignored, w.tell(t, "unknown", renamed))
		renamed.Repository.ID = ""
		assert.Equal(t, inbox.Ignored, w.tell(t, "nameless", renamed))
	})
}

// TestUntoldRename checks that what is known of a pull request follows its repository to a
// name that the host told nothing of.
func TestUntoldRename(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := publish.PullRequest{Organization: acme, Connection: "con_a", PullRequest: codehost.PullRequest{
			Repository: codehost.Repository{ID: "42", Name: "acme/stall"}, Number: 7, State: codehost.Closed,
		}}
		require.NoError(t, w.store.UpsertPullRequest(t.Context(), before))
		w.set(7, func(*codehost.PullRequest) {})
		assert.Equal(t, inbox.Done, w.tell(t, "pushed", hint(7)))
		all, err := w.store.ListPullRequests(t.Context(), acme, publish.Filter{Limit: 10})
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, repo, all[0].Repository.Name)
		assert.Equal(t, codehost.Open, all[0].State)
	})
}

func TestAcceptedIdentifiers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"", "a b", "ü", "\x00", strings.Repeat("x", inbox.MaxID+1)} {
		_, err := w.inbox.Accept(t.Context(), w.connection, id, []codehost.Hint{hint(7)})
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%q", id)
	}
}

func FuzzAccept(f *testing.F) {
	f.Add("pull_request", "42", "acme/shop", int32(7), "a", "/prwarden rescan")
	f.Add("rerun", "", "\x00", int32(-1), strings.Repeat("x", 2000), "\xff/prwarden")
	f.Fuzz(func(t *testing.T, kind, id, name string, number int32, sha, text string) {
		kept := keeper{t}
		status, err := inbox.New(kept).Accept(t.Context(), connection.Connection{ID: "con_a", Organization: acme}, "d",
			[]codehost.Hint{{
				Kind: codehost.HintKind(kind), Repository: codehost.Repository{ID: id, Name: name}, Number: number,
				HeadSHA: sha, Comment: codehost.Comment{Body: text},
			}})
		require.NoError(t, err)
		assert.Contains(t, []inbox.Status{inbox.Accepted, inbox.NotForUs}, status)
	})
}

// keeper is a store that takes only what every database can keep.
type keeper struct{ t *testing.T }

func (k keeper) KeepDelivery(_ context.Context, d inbox.Delivery) (bool, error) {
	require.Len(k.t, d.Hints, 1)
	for _, text := range []string{d.Event, d.Subject, d.Hints[0].Repository.Name} {
		assert.Equal(k.t, strings.ToValidUTF8(text, ""), text)
		assert.NotContains(k.t, text, "\x00")
		assert.Less(k.t, len(text), 2_000)
	}

	return true, nil
}

func (keeper) ClaimDelivery(context.Context, inbox.Except, time.Duration) (*inbox.Delivery, error) {
	return nil, nil
}
func (keeper) EndDelivery(context.Context, inbox.Delivery, inbox.Outcome, string) error { return nil }
func (keeper) RetryDelivery(context.Context, inbox.Delivery, time.Duration, string) error {
	return nil
}
