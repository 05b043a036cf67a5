package store

import (
	"database/sql"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// skew is a Postgres database whose clock differs from this machine's: its role
// finds clocks of its own before those of the system.
type skew struct {
	database string
	admin    *sql.DB
	by       time.Duration
}

func skewed(t *testing.T, by time.Duration) *skew {
	t.Helper()
	database, superuser := pgtest.NewWithSuperuser(t)
	admin, err := sql.Open("postgres", superuser)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, admin.Close()) })
	_, err = admin.ExecContext(t.Context(), `DO $$ BEGIN
		EXECUTE format('CREATE SCHEMA skew AUTHORIZATION %I', current_database());
		EXECUTE format('ALTER ROLE %I SET search_path = skew, pg_catalog', current_database());
		CREATE TABLE skew.seconds AS SELECT 0 AS n;
		GRANT SELECT ON skew.seconds TO PUBLIC;
	END $$`)
	require.NoError(t, err)

	for _, clock := range []string{"now", "clock_timestamp"} {
		_, err = admin.ExecContext(t.Context(), `CREATE FUNCTION skew.`+clock+`() RETURNS timestamptz STABLE LANGUAGE sql AS
			$$ SELECT pg_catalog.`+clock+`() + n * INTERVAL '1 second' FROM skew.seconds $$`)
		require.NoError(t, err)
	}

	s := &skew{database: database, admin: admin}
	s.advance(t, by)
	return s
}

// advance moves the database's clock.
func (s *skew) advance(t *testing.T, d time.Duration) {
	t.Helper()
	s.by += d
	_, err := s.admin.ExecContext(t.Context(), `UPDATE skew.seconds SET n = $1`, int(s.by/time.Second))
	require.NoError(t, err)
}

// TestClockOfTheDatabase holds that whatever acts on time does so by the
// database's clock, when that is an hour away from the server's.
func TestClockOfTheDatabase(t *testing.T) {
	t.Parallel()

	for name, by := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			clock := skewed(t, by)
			s := openAt(t, Options{Database: clock.database})

			// The test moves the clock by less than a quarter of an hour.
			isNow := func(what string, got time.Time) {
				t.Helper()
				assert.WithinDuration(t, time.Now().Add(by), got, 20*time.Minute, what)
			}
			isNow("now", s.Now())

			n := newReview("acme", "rev_a")
			n.Idempotency = &review.Idempotency{Key: "k", RequestHash: "h", TTL: 9 * time.Minute}
			_, err := s.CreateReview(ctx, n, 10)
			require.NoError(t, err)
			n.ID = "rev_b"
			again, err := s.CreateReview(ctx, n, 10)
			require.NoError(t, err)
			assert.Equal(t, "rev_a", again.ReviewID, "the idempotency key has not expired")

			// A lease holds as long as it should, and no longer.
			const short = 3 * time.Minute
			c := claim(t, s)
			_, err = s.Extend(ctx, []review.Heartbeat{{Claim: c}}, short)
			require.NoError(t, err)
			reaped, err := s.ReapExpired(ctx, 10)
			require.NoError(t, err)
			assert.Empty(t, reaped)
			clock.advance(t, short)
			reaped, err = s.ReapExpired(ctx, 10)
			require.NoError(t, err)
			assert.Len(t, reaped, 1)

			// A back-off is as long as it should be.
			c = claim(t, s)
			require.NoError(t, s.Retry(ctx, c, short))
			early, err := s.Claim(ctx, review.Claiming{Worker: "worker", Lease: time.Hour})
			require.NoError(t, err)
			assert.Nil(t, early)
			clock.advance(t, short)
			c = claim(t, s)
			assert.Less(t, c.Waited, 20*time.Minute)
			require.NoError(t, s.Finish(ctx, c, finding.Result{}))
			r, err := s.GetReview(ctx, "acme", "rev_a")
			require.NoError(t, err)
			isNow("created_at", r.CreatedAt)
			isNow("started_at", r.StartedAt)
			isNow("completed_at", r.CompletedAt)

			again, err = s.CreateReview(ctx, n, 10)
			require.NoError(t, err)
			assert.Equal(t, "rev_a", again.ReviewID)
			clock.advance(t, short)
			fresh, err := s.CreateReview(ctx, n, 10)
			require.NoError(t, err)
			assert.Equal(t, "rev_b", fresh.ReviewID, "the idempotency key expires")

			// Keys live as long as they should.
			keys := auth.NewKeys(s, s.Now, slog.New(slog.NewTextHandler(io.Discard, nil)))
			_, _, err = keys.Issue(ctx, "acme", auth.NewKey{Name: "late", ExpiresAt: s.Now().Add(-time.Second)})
			assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
			_, token, err := keys.Issue(ctx, "acme", auth.NewKey{Name: "short", ExpiresAt: s.Now().Add(short)})
			require.NoError(t, err)
			_, err = keys.Authenticate(ctx, []string{"Bearer " + token})
			require.NoError(t, err)
			clock.advance(t, short)
			_, _, err = keys.Issue(ctx, "acme", auth.NewKey{Name: "next"}) // whose transaction brings the time
			require.NoError(t, err)
			_, err = keys.Authenticate(ctx, []string{"Bearer " + token})
			assert.Equal(t, errs.ReasonKeyExpired, errs.ReasonOf(err))
		})
	}
}
