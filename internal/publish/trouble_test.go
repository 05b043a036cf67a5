package publish_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/publish"
)

// A connection that ends to work between two steps is not called any more, and the rest
// follows once it works again.
func TestTheCredentialEndsInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cause error
		state connection.State
	}{
		"a token that is revoked":  {errors.New("401"), connection.Broken},
		"an App that is suspended": {codehost.ErrSuspended, connection.Suspended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, githubLimits)
			var writes atomic.Int64
			s.host.Fault = func(write bool) publish.Trouble {
				if write && writes.Add(1) > 2 || !write && writes.Load() > 2 {
					return publish.Trouble{Err: &codehost.Error{Fault: codehost.Revoked, Err: test.cause}}
				}

				return publish.Trouble{}
			}
			s.review(7, s.push(7, sha(1)).HeadSHA, "f1", "f2")
			s.publisher(s.options())
			s.until(7, "it failed", func(p publish.Publication) bool { return p.Failures == 1 })
			require.Len(t, s.host.Reported(), 1)
			assert.Contains(t, s.host.Reported()[0], string(test.state)+": ")
			assert.NotEqual(t, codehost.Success, s.host.Result(7).Check.Verdict)

			s.host.Count()
			s.advance(11 * time.Minute)
			s.until(7, "it waits", func(p publish.Publication) bool { return p.Failures == 2 })
			assert.Zero(t, s.host.Calls())

			s.host.Calm()
			require.NoError(t, s.host.Report(t.Context(), connection.Connection{State: connection.Active}))
			s.advance(11 * time.Minute)
			require.Empty(t, s.untilDone(7).Problem)
			r := s.host.Result(7)
			assert.Equal(t, codehost.Failure, r.Check.Verdict)
			assert.Equal(t, map[string]int{"f1": 1, "f2": 1}, r.Posted)
			assert.Equal(t, 1, r.Summaries)
		})
	}
}

// A push while comments are being posted ends that publication: nothing of the old head is
// posted after it.
func TestAForcePushInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1", "f2")
	var once atomic.Bool
	s.host.Refuse = func(step codehost.Step) error {
		if step.Action == codehost.AddComments && once.CompareAndSwap(false, true) {
			s.create(7, s.push(7, sha(2)).HeadSHA)
		}

		return nil
	}
	s.publisher(s.options())
	s.untilDone(7)
	r := s.host.Result(7)
	assert.Equal(t, codehost.Pending, r.Check.Verdict)
	assert.Equal(t, sha(2), r.Check.SHA)
	assert.Empty(t, r.Posted)

	s.finish(s.claim(), "f1")
	require.Empty(t, s.untilDone(7).Problem)
	assert.Equal(t, map[string]int{"f1": 1}, s.host.Result(7).Posted)
}

// What a person did to a comment stays, whatever is found later.
func TestWhatPeopleDidStays(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.publisher(s.options())
	s.review(7, s.push(7, sha(1)).HeadSHA, "deleted", "resolved", "answered", "back")
	s.untilDone(7)
	s.host.Remove(7, "deleted")
	s.host.Touch(7, "resolved", func(c *codehost.ObservedComment) { c.Closed = true })
	s.host.Touch(7, "answered", func(c *codehost.ObservedComment) { c.Replies = 1 })

	s.review(7, s.push(7, sha(2)).HeadSHA, "deleted", "resolved")
	s.untilDone(7)
	r := s.host.Result(7)
	assert.Equal(t, []string{"answered"}, r.Open, "which says that it is gone")
	assert.Equal(t, []string{"back", "resolved"}, r.Closed)

	s.review(7, s.push(7, sha(3)).HeadSHA, "deleted", "resolved", "answered", "back")
	s.untilDone(7)
	r = s.host.Result(7)
	assert.Equal(t, []string{"answered", "back"}, r.Open)
	assert.Equal(t, []string{"resolved"}, r.Closed)
	assert.Equal(t, map[string]int{"deleted": 1, "resolved": 1, "answered": 1, "back": 1}, r.Posted)
	assert.Empty(t, s.host.Wrong(7))
}

// A host that fails and has done it all the same gets no comment twice, however often that was.
func TestFailuresThatWereNone(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	var writes atomic.Int32
	s.host.Fault = func(write bool) publish.Trouble {
		failed := &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("502")}
		switch n := writes.Load(); {
		case !write || n >= 9:
			return publish.Trouble{}
		default:
			writes.Add(1)
			return publish.Trouble{Err: failed, Done: n >= 3}
		}
	}
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1", "f2", "f3", "f4")
	s.publisher(s.options())
	for i := 1; s.publication(7).Pending; i++ {
		s.until(7, "it failed", func(p publish.Publication) bool { return p.Failures >= i || !p.Pending })
		s.advance(11 * time.Minute)
		require.Less(t, i, 12)
	}
	r := s.host.Result(7)
	assert.Equal(t, []string{"f1", "f2", "f3", "f4"}, r.Open)
	assert.Equal(t, map[string]int{"f1": 1, "f2": 1, "f3": 1, "f4": 1}, r.Posted)
	assert.Empty(t, s.host.Wrong(7))
}

// Some hosts answer a comment that they can't take as if they were down. After some tries
// the comment is left out.
func TestAnOutageOfOneComment(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	s.host.Refuse = func(step codehost.Step) error {
		bad := func(c codehost.LineComment) bool { return c.Fingerprint == "f2" }
		if slices.ContainsFunc(step.Comments, bad) {
			return &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("500")}
		}

		return nil
	}
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1", "f2", "f3")
	s.publisher(s.options())
	for i := 1; s.publication(7).Pending; i++ {
		s.until(7, "it failed", func(p publish.Publication) bool { return p.Failures >= i || !p.Pending })
		s.advance(11 * time.Minute)
		require.Less(t, i, 6)
	}
	r := s.host.Result(7)
	assert.Equal(t, []string{"f1", "f3"}, r.Open)
	assert.Contains(t, r.Summary, "a.go:2")
	assert.Equal(t, codehost.Failure, r.Check.Verdict)
}
