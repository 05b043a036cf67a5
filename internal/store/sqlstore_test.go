package store

import (
	"cmp"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/errs"
)

// patience bounds waits; it is only reached when something is broken.
const patience = 3 * time.Minute

// openAt opens a database and brings it up to date; it is closed at the end of
// the test. A busy machine is no reason to give up, unless o says so.
func openAt(t testing.TB, o Options) *Store {
	t.Helper()
	o.poolWait, o.notifyTimeout = cmp.Or(o.poolWait, patience), cmp.Or(o.notifyTimeout, patience)
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	return s
}

// newDatabase names a database that is not there yet.
func newDatabase(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")
}

func TestConformanceSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		clock := storetest.NewClock()
		o := Options{Database: newDatabase(t), Exclusive: true, Now: clock.Now}
		s := openAt(t, o)
		return storetest.Harness{
			Store: s,
			Clock: clock,
			Reopen: func(t *testing.T) storetest.Store {
				t.Helper()
				require.NoError(t, s.Close())
				return openAt(t, o)
			},
		}
	})
}

func TestConformancePostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		clock := storetest.NewClock()
		o := Options{Database: pgtest.New(t), Now: clock.Now}
		s := openAt(t, o)
		return storetest.Harness{
			Store: s,
			Clock: clock,
			Reopen: func(t *testing.T) storetest.Store {
				t.Helper()
				require.NoError(t, s.Close())
				return openAt(t, o)
			},
		}
	})
}

// TestPingWrites holds that a database that can be read and not written is not
// ready.
func TestPingWrites(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
		require.NoError(t, s.Ping(t.Context()))
		s.pools.writer.SetMaxOpenConns(1)
		readOnly := "PRAGMA query_only(1)"
		if s.dialect.shared {
			readOnly = "SET default_transaction_read_only = on"
		}
		_, err := s.pools.writer.ExecContext(t.Context(), readOnly)
		require.NoError(t, err)

		require.NoError(t, s.CheckSchema(t.Context()))
		err = s.Ping(t.Context())
		assert.Equal(t, errs.Unavailable, errs.KindOf(err), "%v", err)
	})
}
