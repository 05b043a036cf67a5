package store

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// TestCallersWhoLeaveTakeTheirBackends has callers give up behind a table that
// somebody has locked, again and again: what the database does for them ends
// with them, so that its connections stay as many as the store may have.
func TestCallersWhoLeaveTakeTheirBackends(t *testing.T) {
	t.Parallel()
	const connections, callers, times = 4, 8, 4
	database, superuser := pgtest.NewWithSuperuser(t)
	s := openAt(t, Options{Database: database, Connections: connections})
	other, err := sql.Open("postgres", superuser)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, other.Close()) })
	lock, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = lock.Rollback() }()
	_, err = lock.ExecContext(t.Context(), "LOCK TABLE reviews")
	require.NoError(t, err)
	count := func(which string) (n int) {
		require.NoError(t, other.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND usename <> current_user`+which).Scan(&n))
		return n
	}

	calls := map[string]func(context.Context) error{
		"read":  func(ctx context.Context) error { _, err := s.GetReview(ctx, "acme", "rev_a"); return err },
		"list":  func(ctx context.Context) error { _, err := s.ListReviews(ctx, "acme", review.Filter{}); return err },
		"claim": func(ctx context.Context) error { _, err := s.Claim(ctx, "worker", time.Minute); return err },
	}
	for name, call := range calls {
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range times {
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					assert.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
					cancel()
				}
			})
		}
		left := make(chan struct{})
		go func() {
			all.Wait()
			close(left)
		}()
		most := 0
		for waiting := true; waiting; {
			most = max(most, count(""))
			select {
			case <-left:
				waiting = false
			case <-time.After(10 * time.Millisecond):
			}
		}
		assert.LessOrEqual(t, most, connections+2, "%s: some may be on their way out", name)
		assert.Eventually(t, func() bool { return count(" AND state <> 'idle'") == 0 }, patience, 10*time.Millisecond,
			"%s: nothing goes on for those who left", name)
	}
	require.NoError(t, lock.Rollback())
	_, err = s.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
	require.NoError(t, err)
	_, err = s.GetReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
}
