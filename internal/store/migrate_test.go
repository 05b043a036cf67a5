package store

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
)

// onEach runs a test on an empty database of each kind.
func onEach(t *testing.T, test func(t *testing.T, o Options)) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": newDatabase, "Postgres": pgtest.New} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Options{Database: database(t)})
		})
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s, err := Open(t.Context(), o)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })

		err = s.CheckSchema(t.Context())
		require.ErrorContains(t, err, "has schema version 0")
		require.ErrorContains(t, err, "prwarden migrate")
		assert.Equal(t, errs.Unavailable, errs.KindOf(err))
		v, err := s.Schema(t.Context())
		require.NoError(t, err)
		assert.Equal(t, Schema{Needed: 4, Pending: []string{
			"00001_initial.sql", "00002_many_servers.sql", "00003_comparisons.sql", "00004_previous_reviews.sql",
		}}, v)

		// Several at once, as servers and `keys create` may be.
		o.busyTimeoutMS = int(patience.Milliseconds())
		g, ctx := errgroup.WithContext(t.Context())
		for range 6 {
			g.Go(func() error {
				s, err := Open(ctx, o)
				if err != nil {
					return err
				}
				return errors.Join(s.Migrate(ctx), s.CheckSchema(ctx), s.Close())
			})
		}
		require.NoError(t, g.Wait())
		require.NoError(t, s.CheckSchema(t.Context()))
		v, err = s.Schema(t.Context())
		require.NoError(t, err)
		assert.Equal(t, Schema{Current: 4, Needed: 4, Oldest: 2}, v)
		require.NoError(t, s.Migrate(t.Context()), "again does nothing")
		var applied int
		require.NoError(t, s.pools.reader.GetContext(t.Context(), &applied, "SELECT COUNT(*) FROM goose_db_version WHERE version_id > 0"))
		assert.Equal(t, 4, applied, "each once")
	})
}

// TestMigrationsLetOthersPass has somebody use a table for long that is to be
// changed: the migration waits, but not in front of all others.
func TestMigrationsLetOthersPass(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	_, err := s.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
	require.NoError(t, err)
	p, done, err := s.provider()
	require.NoError(t, err)
	_, err = p.DownTo(t.Context(), 1)
	require.NoError(t, err)
	require.NoError(t, done())

	user, err := s.pools.writer.DB.Conn(t.Context())
	require.NoError(t, err)
	defer user.Close()
	_, err = user.ExecContext(t.Context(), "BEGIN; SELECT 1 FROM reviews")
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() { migrated <- s.Migrate(t.Context()) }()
	require.Eventually(t, func() bool {
		var waits bool
		require.NoError(t, s.pools.reader.GetContext(t.Context(), &waits, `SELECT EXISTS (SELECT 1 FROM pg_locks
			WHERE relation = 'reviews'::regclass AND NOT granted)`))
		return waits
	}, patience, 5*time.Millisecond)
	// Not by a call of the store, which needs the schema that is to come. The
	// server gives it statementTimeout.
	var ids []string
	err = s.read(t.Context(), "look", of("acme"), func(tx *tx) error { return tx.list(t.Context(), &ids, "SELECT id FROM reviews") })
	require.NoError(t, err, "it waits behind the migration, which gives up")
	require.Empty(t, migrated, "for now")
	_, err = user.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, <-migrated)
	require.NoError(t, s.CheckSchema(t.Context()))
}

// TestLaterSchema is what a newer program leaves to this one.
func TestLaterSchema(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		exec := func(statement string) {
			_, err := s.pools.writer.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (5, CAST(1 AS " +
			map[bool]string{true: "INTEGER", false: "BOOLEAN"}[s.dialect.goose == "sqlite3"] + "))")
		require.NoError(t, s.CheckSchema(t.Context()), "it only added something")
		require.NoError(t, s.Migrate(t.Context()))
		_, err := s.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
		require.NoError(t, err)

		exec("UPDATE schema_compatibility SET oldest = 5")
		err = s.CheckSchema(t.Context())
		require.ErrorContains(t, err, "run a newer prwarden")
		assert.Equal(t, errs.Unavailable, errs.KindOf(err))
		require.ErrorContains(t, s.Migrate(t.Context()), "run a newer prwarden")
	})
}

func TestMigrationsCanBeUndone(t *testing.T) {
	t.Parallel()
	objects := map[string]string{
		"sqlite3": `SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_master
			WHERE name NOT LIKE '%goose%' AND name <> 'sqlite_sequence' ORDER BY name`,
		"postgres": `SELECT CASE WHEN c.relkind = 'i' THEN pg_get_indexdef(c.oid) ELSE c.relkind::TEXT || ' ' || c.relname || ' ' ||
				COALESCE((SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attname)
					FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '') END
			FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE '%goose%' ORDER BY c.relname`,
	}
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		all := func() (names []string) {
			require.NoError(t, s.pools.reader.SelectContext(t.Context(), &names, objects[string(s.dialect.goose)]))
			return names
		}
		up := all()
		require.NotEmpty(t, up)
		p, done, err := s.provider()
		require.NoError(t, err)
		_, err = p.DownTo(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, done())
		assert.Empty(t, all())
		require.NoError(t, s.Migrate(t.Context()))
		assert.Equal(t, up, all())
	})
}
