package publish_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/publish"
)

// A second pull request of a commit does not get it past the first.
func TestTheSameCommitPassesEverywhereOrNowhere(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1")
	s.untilDone(7)
	require.Equal(t, codehost.Failure, s.host.Result(7).Check.Verdict)

	s.review(8, s.push(8, sha(1)).HeadSHA)
	s.untilDone(8)
	r := s.host.Result(8)
	assert.Equal(t, codehost.Failure, r.Check.Verdict)
	assert.Equal(t, "Fail: the same commit does not pass in pull request 7", r.Check.Title)

	s.review(9, s.push(9, sha(2)).HeadSHA)
	s.untilDone(9)
	assert.Equal(t, codehost.Success, s.host.Result(9).Check.Verdict, "another commit")
}

// One that was not scanned yet may fail, so nothing passes before it.
func TestACommitWaitsForAllScans(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.push(7, sha(1))
	s.review(8, s.push(8, sha(1)).HeadSHA)
	s.untilDone(8)
	check := s.host.Result(8).Check
	assert.Equal(t, codehost.Pending, check.Verdict)
	assert.Equal(t, "Waiting for pull request 7, which has the same commit", check.Title)

	s.review(7, sha(1))
	s.untilDone(7)
	s.untilDone(8)
	require.Equal(t, codehost.Success, s.host.Result(8).Check.Verdict)

	s.push(9, sha(1)) // comes later, and is not scanned because its author had too many scans
	s.untilDone(7)
	s.untilDone(8)
	assert.Equal(t, codehost.Pending, s.host.Result(7).Check.Verdict)
	assert.Equal(t, codehost.Pending, s.host.Result(8).Check.Verdict)
}

// What another pull request of the commit comes to while one is being published counts.
func TestTheSameCommitFailsMeanwhile(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.review(7, s.push(7, sha(1)).HeadSHA)
	s.review(8, s.push(8, sha(1)).HeadSHA)
	reads := 0
	s.host.Fault = func(write bool) publish.Trouble {
		if !write {
			reads++
		}
		if reads == 2 && !write { // it was decided already that 7 passes
			s.review(8, sha(1), "f1")
		}

		return publish.Trouble{}
	}
	o := s.options()
	o.Workers = 1
	s.publisher(o)
	s.untilDone(7)
	s.untilDone(8)
	s.untilDone(7)
	assert.Equal(t, codehost.Failure, s.host.Result(7).Check.Verdict)
	assert.Equal(t, codehost.Failure, s.host.Result(8).Check.Verdict)
}

// A pass against another base is none.
func TestRetargetedAndNotScanned(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	p := s.push(7, sha(1))
	s.review(7, sha(1))
	s.review(8, s.push(8, sha(1)).HeadSHA)
	s.untilDone(7)
	s.untilDone(8)
	require.Equal(t, codehost.Success, s.host.Result(7).Check.Verdict)

	p.BaseRef, p.UpdatedAt = "next", s.now()
	s.host.Push(p)
	s.keep(p)
	s.untilDone(7)
	s.untilDone(8)
	check := s.host.Result(7).Check
	assert.Equal(t, codehost.Pending, check.Verdict)
	assert.Equal(t, "Waiting for a scan against the base next", check.Title)
	assert.Equal(t, codehost.Pending, s.host.Result(8).Check.Verdict, "nor for the others of the commit")
}

// Once the one that does not pass is closed, or pushed to, the other one passes.
func TestWhoLeavesACommitLetsTheOthersPass(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*scene, codehost.PullRequest){
		"closed": func(s *scene, p codehost.PullRequest) {
			p.State, p.UpdatedAt = codehost.Closed, s.now()
			s.host.Push(p)
			s.keep(p)
		},
		"pushed to": func(s *scene, p codehost.PullRequest) { s.push(p.Number, sha(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, githubLimits)
			s.publisher(s.options())
			p := s.push(7, sha(1))
			s.review(7, sha(1), "f1")
			s.review(8, s.push(8, sha(1)).HeadSHA)
			s.untilDone(8)
			require.Equal(t, codehost.Failure, s.host.Result(8).Check.Verdict)

			leave(s, p)
			s.untilDone(8)
			assert.Equal(t, codehost.Success, s.host.Result(8).Check.Verdict)
		})
	}
}

// The check of a commit that is the head of another pull request is not out of date.
func TestACheckIsNotCanceledForOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.push(8, sha(1))
	s.create(7, s.push(7, sha(1)).HeadSHA)
	s.untilDone(7)
	s.create(7, s.push(7, sha(2)).HeadSHA)
	s.untilDone(7)
	for _, c := range s.host.Result(7).History {
		assert.Equal(t, codehost.Pending, c.Verdict)
	}
}

// A host may have deleted the commit of an earlier head, and say so in any way. What is to
// be said of the head is said all the same.
func TestTheCommitOfAnOldCheckIsGone(t *testing.T) {
	t.Parallel()
	for _, fault := range []codehost.Fault{codehost.Gone, codehost.Stale, codehost.Invalid, codehost.Passing} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, githubLimits)
			var refused atomic.Int32
			s.host.Refuse = func(step codehost.Step) error {
				if step.Check.Verdict == codehost.Outdated {
					refused.Add(1)
					return &codehost.Error{Fault: fault, Err: errors.New("no commit found")}
				}

				return nil
			}
			o := s.options()
			o.Backoff, o.Margin = time.Millisecond, time.Millisecond
			s.publisher(o)
			s.create(7, s.push(7, sha(1)).HeadSHA)
			s.untilDone(7)
			s.create(7, s.push(7, sha(2)).HeadSHA)
			s.finish(s.claim()) // of the old head
			s.finish(s.claim(), "f1")
			require.Empty(t, s.untilDone(7).Problem)
			r := s.host.Result(7)
			assert.Equal(t, codehost.Failure, r.Check.Verdict)
			assert.Equal(t, []string{"f1"}, r.Open)
			assert.NotEmpty(t, r.Summary)
			assert.Positive(t, refused.Load())
		})
	}
}
