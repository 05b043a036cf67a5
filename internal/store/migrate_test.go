package store

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
)

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
		files, err := fs.Glob(s.dialect.migrations(), "*.sql")
		require.NoError(t, err)
		latest := int64(len(files))
		assert.Equal(t, Schema{Needed: latest, Pending: files}, v)

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
		assert.Equal(t, Schema{Current: latest, Needed: latest}, v)
		require.NoError(t, s.Migrate(t.Context()), "again does nothing")
		var applied int64
		require.NoError(t, s.pools.reader.GetContext(t.Context(), &applied,
			"SELECT COUNT(*) FROM goose_db_version WHERE version_id > 0"))
		assert.Equal(t, latest, applied, "each once")
	})
}

// TestMigrationsMayTakeLong holds that a migration takes longer than any other
// statement may, and does not wait for a table that somebody uses.
func TestMigrationsMayTakeLong(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t), answerTimeout: 2 * time.Second})
	files := fstest.MapFS{
		"99999_slow.sql": {Data: []byte("-- +goose Up\nALTER TABLE reviews ADD x INT;\nSELECT pg_sleep(2.5);\n" +
			"SELECT 1 / (current_setting('statement_timeout') = '0')::INT;\n")},
	}
	names, err := fs.Glob(s.dialect.migrations(), "*.sql")
	require.NoError(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(s.dialect.migrations(), name)
		require.NoError(t, err)
		files[name] = &fstest.MapFile{Data: data}
	}
	s.dialect.migrations = func() fs.FS { return files }
	use := func(t *tx) error {
		_, err := t.exec(context.Background(), "LOCK TABLE reviews IN ACCESS SHARE MODE")
		return err
	}

	require.NoError(t, during(t, s, allOrganizations, slowly(use), func() {
		require.ErrorContains(t, s.Migrate(t.Context()), "lock timeout")
	}))
	require.NoError(t, s.Migrate(t.Context()))
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
		exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, CAST(1 AS " +
			map[bool]string{true: "INTEGER", false: "BOOLEAN"}[s.dialect.goose == "sqlite3"] + "))")
		require.NoError(t, s.CheckSchema(t.Context()), "it only added something")
		require.NoError(t, s.Migrate(t.Context()))
		create(t, s, "acme", "rev_a")
	})
}
