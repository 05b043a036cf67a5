package store

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// TestNotificationsHoldNobody has somebody hold the lock that a commit with a
// NOTIFY takes in all of the database server: a transaction that waits, in its
// commit, for a standby that is not there. What is written is answered as ever,
// and notifications go on afterwards.
func TestNotificationsHoldNobody(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, pgtest.Options{Settings: map[string]string{"synchronous_standby_names": "nobody",
		"synchronous_commit": "local"}})
	require.NoError(t, c.CreateDatabase(t.Context(), "app"))
	s := openAt(t, Options{Database: c.DSN("app"), notifyTimeout: notifyTimeout})
	capped := named("acme")
	capped.MaxScans = 1
	require.NoError(t, s.CreateOrganization(t.Context(), capped))
	db, err := sql.Open("postgres", c.SuperuserDSN("app"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	holding, release := context.WithCancel(t.Context())
	released := make(chan struct{})
	go func() {
		defer close(released)
		_, _ = db.ExecContext(holding, `SET synchronous_commit = on; BEGIN;
			CREATE TABLE held (); NOTIFY prwarden, 'held'; COMMIT`)
	}()
	require.Eventually(t, func() bool {
		var held bool
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks
			WHERE locktype = 'object' AND classid = 'pg_database'::regclass AND objid = 0 AND granted)`).Scan(&held))
		return held
	}, patience, 5*time.Millisecond)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	claim := func() review.Claim {
		c, err := s.Claim(ctx, "worker", time.Minute)
		require.NoError(t, err)
		require.NotNil(t, c)
		return *c
	}
	for _, id := range []string{"rev_a", "rev_b", "rev_c"} {
		a, err := s.CreateReview(ctx, newReview("acme", id), 10)
		require.NoError(t, err)
		require.Equal(t, id, a.ReviewID)
	}
	require.NoError(t, s.Finish(ctx, claim(), manyFindings(1)))
	require.NoError(t, s.Retry(ctx, claim(), time.Hour))
	_, err = s.CancelReview(ctx, "acme", claim().ReviewID)
	require.NoError(t, err)
	assertCounts(t, s)

	release()
	<-released
	l, h := listen(t, s, ListenerOptions{})
	listens(t, l)
	require.Equal(t, "missed", h.next(t))
	for i := 0; ; i++ {
		_, err = s.CreateReview(ctx, newReview("acme", fmt.Sprint("rev_d", i)), 1_000)
		require.NoError(t, err)
		s.notifier.flush()
		select {
		case event := <-h.heard:
			assert.Equal(t, "enqueued", event)
			return
		case <-time.After(notifyTimeout): // it was lost, which a machine that stood still may do
		}
	}
}
