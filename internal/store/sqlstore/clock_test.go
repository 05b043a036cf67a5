package sqlstore

import (
	"database/sql"
	"io"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// skewed returns a Postgres database whose clock differs from this machine's:
// its role finds clocks of its own before those of the system.
func skewed(t *testing.T, by time.Duration) string {
	t.Helper()
	database, superuser := pgtest.NewWithSuperuser(t)
	admin, err := sql.Open("postgres", superuser)
	require.NoError(t, err)
	defer admin.Close()
	_, err = admin.ExecContext(t.Context(), `DO $$ BEGIN
		EXECUTE format('CREATE SCHEMA skew AUTHORIZATION %I', current_database());
		EXECUTE format('ALTER ROLE %I SET search_path = skew, pg_catalog', current_database());
	END $$`)
	require.NoError(t, err)
	for _, clock := range []string{"now", "clock_timestamp"} {
		_, err = admin.ExecContext(t.Context(), `CREATE FUNCTION skew.`+clock+`() RETURNS timestamptz STABLE LANGUAGE sql AS
			$$ SELECT pg_catalog.`+clock+`() + `+strconv.Itoa(int(by/time.Second))+` * INTERVAL '1 second' $$`)
		require.NoError(t, err)
	}
	return database
}

// TestClockOfTheDatabase holds that whatever acts on time does so by the
// database's clock, when that is an hour away from the server's.
func TestClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := openAt(t, Options{Database: skewed(t, by)})
			isNow := func(what string, got time.Time) {
				t.Helper()
				assert.WithinDuration(t, time.Now().Add(by), got, time.Minute, what)
			}
			isNow("now", s.Now())

			n := newReview("acme", "rev_a")
			n.Idempotency = &review.Idempotency{Key: "k", RequestHash: "h", TTL: 4 * time.Second}
			_, err := s.CreateReview(ctx, n, 10)
			require.NoError(t, err)
			n.ID = "rev_b"
			again, err := s.CreateReview(ctx, n, 10)
			require.NoError(t, err)
			assert.Equal(t, "rev_a", again.ReviewID, "the idempotency key has not expired")

			// A lease holds as long as it should, and no longer.
			const short = time.Second
			c, err := s.Claim(ctx, "worker", time.Minute)
			require.NoError(t, err)
			require.NotNil(t, c)
			reaped, err := s.ReapExpired(ctx, 10)
			require.NoError(t, err)
			assert.Empty(t, reaped)
			_, err = s.Extend(ctx, []review.Heartbeat{{Claim: *c}}, short)
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				reaped, err := s.ReapExpired(ctx, 10)
				return assert.NoError(t, err) && len(reaped) == 1
			}, 20*time.Second, 10*time.Millisecond)

			// A back-off is as long as it should be.
			c, err = s.Claim(ctx, "worker", time.Minute)
			require.NoError(t, err)
			require.NotNil(t, c)
			require.NoError(t, s.Retry(ctx, *c, short))
			early, err := s.Claim(ctx, "worker", time.Minute)
			require.NoError(t, err)
			assert.Nil(t, early)
			require.Eventually(t, func() bool {
				c, err = s.Claim(ctx, "worker", time.Minute)
				return assert.NoError(t, err) && c != nil
			}, 20*time.Second, 10*time.Millisecond)
			assert.Less(t, c.Waited, time.Minute)
			require.NoError(t, s.Finish(ctx, *c, review.Outcome{}))
			r, err := s.GetReview(ctx, "acme", "rev_a")
			require.NoError(t, err)
			isNow("created_at", r.CreatedAt)
			isNow("started_at", r.StartedAt)
			isNow("completed_at", r.CompletedAt)

			require.Eventually(t, func() bool {
				fresh, err := s.CreateReview(ctx, n, 10)
				return assert.NoError(t, err) && fresh.ReviewID == "rev_b"
			}, 20*time.Second, 100*time.Millisecond, "the idempotency key expires")

			// Keys live as long as they should.
			keys := admission.NewKeys(s, s.Now, slog.New(slog.NewTextHandler(io.Discard, nil)))
			_, _, err = keys.Issue(ctx, "acme", admission.NewKey{Name: "late", ExpiresAt: s.Now().Add(-time.Second)})
			assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
			_, token, err := keys.Issue(ctx, "acme", admission.NewKey{Name: "short", ExpiresAt: s.Now().Add(3 * time.Second)})
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				_, err := keys.Authenticate(ctx, []string{"Bearer " + token})
				return errs.ReasonOf(err) == errs.ReasonKeyExpired
			}, 20*time.Second, 10*time.Millisecond)
			_, token, err = keys.Issue(ctx, "acme", admission.NewKey{Name: "long", ExpiresAt: s.Now().Add(time.Minute)})
			require.NoError(t, err)
			_, err = keys.Authenticate(ctx, []string{"Bearer " + token})
			require.NoError(t, err)
		})
	}
}
