package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// hearer hands what it hears to the test.
type hearer struct{ heard chan string }

func (h hearer) Enqueued()          { h.heard <- "enqueued" }
func (h hearer) Changed(id string)  { h.heard <- "changed " + id }
func (h hearer) Canceled(id string) { h.heard <- "canceled " + id }
func (h hearer) Missed()            { h.heard <- "missed" }

// next is what it hears next.
func (h hearer) next(t *testing.T) string {
	t.Helper()

	select {
	case event := <-h.heard:
		return event
	case <-time.After(patience):
		require.FailNow(t, "nothing was heard")
		panic("unreachable")
	}
}

// syncLog is a log that can be read while it is written.
type syncLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.b.Write(p)
}

func (l *syncLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()

	return strings.Count(l.b.String(), text)
}

// listen starts a listener that ends with the test. change may change it before.
func listen(t *testing.T, s *Store, change func(*Listener)) (*Listener, hearer, *syncLog) {
	t.Helper()
	h, log := hearer{make(chan string, 1_000)}, &syncLog{}
	l := s.NewListener(h, slog.New(slog.NewTextHandler(log, nil)))
	change(l)
	l.Start()
	t.Cleanup(func() {
		l.Stop()
		assert.False(t, l.Listening())
	})

	return l, h, log
}

func listens(t *testing.T, l *Listener) {
	t.Helper()
	require.Eventually(t, l.Listening, patience, time.Millisecond)
}

// TestListenerHearsOtherServers ends its connection again and again.
func TestListenerHearsOtherServers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	database, superuser := pgtest.NewWithSuperuser(t)
	a, b := openAt(t, Options{Database: database}), openAt(t, Options{Database: database})
	l, h, log := listen(t, a, func(*Listener) {})
	admin, err := sql.Open("postgres", superuser)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, admin.Close()) })

	for round := range 3 {
		require.Equal(t, "missed", h.next(t), "after every connection")
		listens(t, l)
		require.Eventually(t, func() bool { return log.count("arrive again") == round }, patience, time.Millisecond)
		assert.Equal(t, round, log.count("do not arrive"))

		id := fmt.Sprint("rev_", round)
		create(t, b, "acme", id)
		assert.Equal(t, "enqueued", h.next(t))
		c := claim(t, b)
		assert.Equal(t, "changed "+id, h.next(t))
		require.NoError(t, b.Release(ctx, c, 0))
		assert.ElementsMatch(t, []string{"enqueued", "changed " + id}, []string{h.next(t), h.next(t)})
		_, err = b.CancelReview(ctx, "acme", id)
		require.NoError(t, err)
		assert.Equal(t, "canceled "+id, h.next(t))
		_, err = b.CancelReview(ctx, "acme", id)
		require.Error(t, err)
		assert.Empty(t, h.heard, "nothing of what was undone")

		var ended int
		require.NoError(t, admin.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid))
			FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`).Scan(&ended))
		require.Equal(t, 1, ended)
	}
}

// TestListenerFindsThatItIsDeaf freezes the other end of its connection, which
// breaks nothing: it makes another one.
func TestListenerFindsThatItIsDeaf(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	l, _, log := listen(t, s, func(l *Listener) { l.check = time.Second })
	listens(t, l)
	var pid int
	require.NoError(t, s.pools.reader.GetContext(t.Context(), &pid,
		`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %' LIMIT 1`))
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { require.NoError(t, syscall.Kill(pid, syscall.SIGCONT)) })

	require.Eventually(t, func() bool { return log.count("do not arrive") > 0 }, patience, time.Millisecond)
	listens(t, l)
}

// TestListenerWithoutDatabase starts and stops one while nothing answers.
func TestListenerWithoutDatabase(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for _, database := range []string{"postgres://x@127.0.0.1:1/x?sslmode=disable", "postgres://%"} {
		l, h, log := listen(t, s, func(l *Listener) {
			l.store = &Store{dialect: s.dialect, database: database, notifier: s.notifier}
		})
		require.Eventually(t, func() bool { return log.count("do not arrive") > 0 }, patience, time.Millisecond, database)
		l.Stop()
		assert.Equal(t, 1, log.count("do not arrive"))
		assert.Empty(t, h.heard)
	}
}

// TestNotificationsHoldNobody has somebody hold the lock that a commit with a
// NOTIFY takes in all of the database server: a transaction that waits, in its
// commit, for a standby that is not there. What is written is answered as ever,
// and notifications go on afterwards.
func TestNotificationsHoldNobody(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, map[string]string{
		"synchronous_standby_names": "nobody", "synchronous_commit": "local",
	})

	require.NoError(t, c.CreateDatabase(t.Context(), "app"))
	s := openAt(t, Options{Database: c.DSN("app")})
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

	for _, id := range []string{"rev_a", "rev_b"} {
		create(t, s, "acme", id)
		require.NoError(t, s.Finish(ctx, claim(t, s), manyFindings(1)))
	}

	assertCounts(t, s)

	release()
	<-released
	l, h, _ := listen(t, s, func(*Listener) {})
	listens(t, l)
	require.Equal(t, "missed", h.next(t))
	require.Eventually(t, func() bool { // one may be lost on a machine that stands still
		create(t, s, "acme", review.NewID())

		return len(h.heard) > 0
	}, patience, 100*time.Millisecond)
}
