package store

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/limitertest"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/errs"
)

// windowsAt opens a Postgres database once for each server.
func windowsAt(t testing.TB, servers int, now func() time.Time) []Windows {
	t.Helper()
	o := Options{Database: pgtest.New(t), Now: now}
	all := make([]Windows, servers)
	for i := range all {
		var ok bool
		all[i], ok = openAt(t, o).Windows()
		require.True(t, ok)
	}

	return all
}

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

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
	_, ok := openAt(t, Options{Database: newDatabase(t), Exclusive: true}).Windows()
	assert.False(t, ok)
}

func count(t *testing.T, w Windows, name string) auth.Counted {
	t.Helper()
	c, err := w.CountRequest(t.Context(), name)
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

// A server whose database is away refuses whom it knows to be exhausted, and
// says of the others that it doesn't know.
func TestLimiterWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	w := windowsAt(t, 1, clock.Now)[0]
	l := auth.NewLimiter(w, clock.Now)
	for i := range 3 {
		d, err := l.Take(t.Context(), "key:spent", 2)
		require.NoError(t, err)
		assert.Equal(t, i < 2, d.OK)
		_, err = l.Take(t.Context(), "key:some", 5)
		require.NoError(t, err)
	}
	require.NoError(t, w.store.Close())
	d, err := l.Take(t.Context(), "key:spent", 2)
	require.NoError(t, err)
	assert.False(t, d.OK)
	assert.True(t, d.FromMemory)
	_, err = l.Take(t.Context(), "key:some", 5)
	assert.Equal(t, errs.Unavailable, errs.KindOf(err))
	assert.Equal(t, 2, l.Peek("key:some", 5).Remaining, "what it knew last")
	clock.Advance(time.Minute)
	_, err = l.Take(t.Context(), "key:spent", 2)
	assert.Equal(t, errs.Unavailable, errs.KindOf(err), "the window is over, and who knows of the next")
}

// After a crash the table is empty: windows begin anew, and what a server
// remembers of those that were exhausted still holds there.
func TestWindowsAfterACrashOfTheDatabase(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, pgtest.Options{})
	require.NoError(t, c.CreateDatabase(t.Context(), "crash"))
	s := openAt(t, Options{Database: c.DSN("crash")})
	w, _ := s.Windows()
	for range 5 {
		count(t, w, "key:a")
	}

	require.NoError(t, c.Kill())
	require.NoError(t, c.Start(t.Context()))
	var again auth.Counted
	require.Eventually(t, func() (ok bool) {
		var err error
		again, err = w.CountRequest(t.Context(), "key:a")
		return err == nil
	}, patience, 10*time.Millisecond)
	assert.Equal(t, 1, again.Taken)
}

// BenchmarkSharedLimiter counts with 16 callers at once.
func BenchmarkSharedLimiter(b *testing.B) {
	for name, keys := range map[string]int{"one key": 1, "1000 keys": 1000} {
		for _, servers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d servers", name, servers), func(b *testing.B) {
				var ls []*auth.Limiter
				for _, w := range windowsAt(b, servers, nil) {
					ls = append(ls, auth.NewLimiter(w, time.Now))
				}
				var all sync.WaitGroup
				b.ResetTimer()
				for c := range 16 {
					all.Go(func() {
						for i := c; i < b.N; i += 16 {
							if _, err := ls[c%servers].Take(context.Background(), fmt.Sprint("key:", i%keys), 1<<30); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "takes/s")
			})
		}
	}
}
