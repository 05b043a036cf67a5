package store

import (
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// TestEvents holds what other servers are told of each write, and that they
// are told nothing of one that was undone.
func TestEvents(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	clock := storetest.NewClock()
	o := Options{Database: pgtest.New(t), Now: clock.Now}
	s := openAt(t, o)
	listener := pq.NewListener(o.Database, time.Second, time.Second, nil)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	require.NoError(t, listener.Listen(notifyChannel))
	told := func() (events []string) {
		t.Helper()
		s.notifier.flush()
		// What is sent after everything else comes after everything else.
		_, err := s.pools.writer.ExecContext(ctx, "NOTIFY "+notifyChannel+", 'end'")
		require.NoError(t, err)
		for {
			select {
			case n := <-listener.Notify:
				if n.Extra == "end" {
					return events
				}
				events = append(events, n.Extra)
			case <-time.After(patience):
				require.Fail(t, "no notification")
			}
		}
	}
	claim := func() review.Claim {
		t.Helper()
		c, err := s.Claim(ctx, "worker", time.Minute)
		require.NoError(t, err)
		require.NotNil(t, c)
		s.notifier.flush() // or it would go together with what comes next
		return *c
	}

	_, err := s.CreateReview(ctx, newReview("acme", "rev_a"), 1)
	require.NoError(t, err)
	assert.Equal(t, []string{"q"}, told(), "a creation")
	_, err = s.CreateReview(ctx, newReview("acme", "rev_b"), 1)
	require.Error(t, err)
	assert.Empty(t, told(), "a refused creation")
	c := claim()
	assert.Equal(t, []string{"c rev_a"}, told(), "a claim")
	_, err = s.Extend(ctx, []review.Heartbeat{{Claim: c, Progress: review.Progress{FilesDone: 1, FilesTotal: 2}}},
		time.Minute)
	require.NoError(t, err)
	assert.Empty(t, told(), "a heartbeat")
	require.NoError(t, s.Retry(ctx, c, 0))
	assert.Equal(t, []string{"q", "c rev_a"}, told(), "a retry")
	require.ErrorIs(t, s.Finish(ctx, c, finding.Result{}), review.ErrLeaseLost)
	assert.Empty(t, told(), "a lost lease")
	require.NoError(t, s.Release(ctx, claim(), 0))
	assert.Equal(t, []string{"c rev_a", "q", "c rev_a"}, told(), "a hand-back")
	claim()
	clock.Advance(time.Minute)
	_, err = s.ReapExpired(ctx, 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"c rev_a", "q", "c rev_a"}, told(), "a lost worker")
	require.NoError(t, s.Finish(ctx, claim(), manyFindings(3)))
	assert.Equal(t, []string{"c rev_a", "c rev_a"}, told(), "a completion")
	_, err = s.CreateReview(ctx, newReview("acme", "rev_c"), 1)
	require.NoError(t, err)
	require.NoError(t, s.Fail(ctx, claim(), review.Failure{Code: "x", Message: "y"}))
	assert.Equal(t, []string{"q", "c rev_c", "c rev_c"}, told(), "a failure")
	_, err = s.CreateReview(ctx, newReview("acme", "rev_d"), 1)
	require.NoError(t, err)
	_, err = s.CancelReview(ctx, "acme", "rev_d")
	require.NoError(t, err)
	assert.Equal(t, []string{"q", "x rev_d"}, told(), "a cancellation")
}
