package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/limitertest"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
)

// windowsAt opens a Postgres database once for each server.
func windowsAt(t testing.TB, servers int, now func() time.Time) []auth.Windows {
	t.Helper()
	o := Options{Database: pgtest.New(t), Now: now}
	all := make([]auth.Windows, servers)
	for i := range all {
		all[i] = openAt(t, o).Windows()
	}

	return all
}

func TestSharedLimiter(t *testing.T) {
	t.Parallel()

	for _, servers := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			t.Parallel()
			limitertest.Run(t, func(t *testing.T) limitertest.Harness {
				clock := storetest.NewClock()
				h := limitertest.Harness{Now: clock.Stored, Advance: clock.Advance}
				for _, w := range windowsAt(t, servers, clock.Now) {
					h.Servers = append(h.Servers, auth.NewLimiter(w, clock.Stored))
				}

				return h
			})
		})
	}
}

func TestWindowsOnSQLite(t *testing.T) {
	t.Parallel()
	assert.Nil(t, openAt(t, Options{Database: newDatabase(t), Exclusive: true}).Windows())
}

func count(t *testing.T, w auth.Windows, name string) auth.Counted {
	t.Helper()
	c, _, err := w.CountRequest(t.Context(), name, 60, "")
	require.NoError(t, err)

	return c
}

func TestCountRequest(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	w := windowsAt(t, 1, clock.Now)[0]
	end := clock.Stored().Add(time.Minute)
	assert.Equal(t, auth.Counted{Taken: 1, End: end, Left: time.Minute}, count(t, w, "key:b"))
	clock.Advance(time.Second)
	assert.Equal(t, auth.Counted{Taken: 1, End: end.Add(time.Second), Left: time.Minute}, count(t, w, "key:a"))
	assert.Equal(t, auth.Counted{Taken: 2, End: end, Left: 59 * time.Second}, count(t, w, "key:b"))

	// A clock that was an hour ahead must not close a key for an hour.
	clock.Advance(time.Hour)
	assert.Equal(t, 1, count(t, w, "key:b").Taken)
	clock.Advance(-time.Hour)
	c := count(t, w, "key:b")
	assert.Equal(t, 1, c.Taken)
	assert.Equal(t, time.Minute, c.Left)
}

func TestOldWindowsGo(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openAt(t, Options{Database: pgtest.New(t), Now: clock.Now})
	count(t, s, "key:old")
	clock.Advance(24 * time.Hour)
	count(t, s, "key:new")
	clock.Advance(time.Minute)
	_, _, err := s.PurgeKeys(t.Context(), time.Hour)
	require.NoError(t, err)
	var names []string
	require.NoError(t, s.pools.reader.Select(&names, `SELECT name FROM rate_limits`))
	assert.Equal(t, []string{"key:new"}, names)
}
