package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/storetest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
)

// during does something while a transaction is open: after what begin does in
// it, and before its end. It returns how the transaction ended.
func during(t *testing.T, s *Store, who scope, begin func(*tx) error, do func()) error {
	t.Helper()
	ready, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.write(t.Context(), "stay", who, func(t *tx) error {
			err := begin(t)
			close(ready)
			<-done
			return err
		})
	}()
	<-ready
	do()
	close(done)
	return <-ended
}

// slowly is begin of a transaction that may then be idle for any time.
func slowly(begin func(*tx) error) func(*tx) error {
	return func(t *tx) error {
		if _, err := t.exec(context.Background(), `SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
			return err
		}
		return begin(t)
	}
}

// TestClaimsWaitForNobody claims while others are in the middle of what they
// do, however long that takes them.
func TestClaimsWaitForNobody(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for _, id := range []string{"rev_a", "rev_b", "rev_c"} {
		_, err := s.CreateReview(ctx, newReview("acme", id), 10)
		require.NoError(t, err)
	}
	claim := func(want string) review.Claim {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c, err := s.Claim(ctx, "worker", time.Minute)
		require.NoError(t, err)
		require.NotNil(t, c)
		require.Equal(t, want, c.ReviewID)
		return *c
	}
	// All that a cancellation and a retention do before their commit.
	lock := func(t *tx) error {
		var status string
		return t.get(ctx, &status, `SELECT status FROM reviews WHERE id = 'rev_a' FOR UPDATE`)
	}
	require.NoError(t, during(t, s, of("acme"), slowly(lock), func() { claim("rev_b") }), "a cancellation")
	a := claim("rev_a")
	// All that a creation, a completion and a hand-back do before theirs.
	n := newReview("acme", "rev_d")
	n.Idempotency = &review.Idempotency{Key: "key", RequestHash: "hash", TTL: time.Hour}
	create := func(t *tx) error {
		if _, err := t.claimIdempotencyKey(ctx, n); err != nil {
			return err
		}
		return t.lastUpTo(ctx, 10, `INSERT INTO organizations (name, queued) VALUES ('acme', 1)
			ON CONFLICT (name) DO UPDATE SET queued = organizations.queued + 0 RETURNING queued`)
	}
	require.NoError(t, during(t, s, of("acme"), slowly(create), func() { claim("rev_c") }), "a creation")
	_, err := s.CreateReview(ctx, newReview("acme", "rev_e"), 10)
	require.NoError(t, err)
	complete := func(t *tx) error {
		if _, err := t.exec(ctx, `UPDATE reviews SET status = 'complete', lease_expires = NULL, completed_at = 1 WHERE id = 'rev_a'`); err != nil {
			return err
		}
		return t.count(ctx, a.Organization, review.InProgress, review.Complete, 1)
	}
	require.NoError(t, during(t, s, of("acme"), slowly(complete), func() { claim("rev_e") }), "a completion")
	assertCounts(t, s)
}

// TestAFrozenClientHoldsNothing stops in the middle of a transaction, as a
// process does that gets SIGSTOP.
func TestAFrozenClientHoldsNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	_, err := s.CreateReview(ctx, newReview("acme", "rev_a"), 10)
	require.NoError(t, err)
	err = during(t, s, of("acme"), func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE reviews SET repo = 'acme/frozen'`)
		return err
	}, func() {
		r, err := s.CancelReview(ctx, "acme", "rev_a")
		require.NoError(t, err, "it waits, but not for as long as the other one likes")
		assert.Equal(t, "acme/shop", r.Repo)
	})
	assert.Equal(t, errs.Unavailable, errs.KindOf(err), "%v", err)

	// The server is told what the constants say.
	err = s.write(ctx, "look", everyone, func(t *tx) error {
		for name, want := range map[string]time.Duration{
			"statement_timeout": statementTimeout, "idle_in_transaction_session_timeout": idleTimeout,
			"client_connection_check_interval": aliveInterval,
		} {
			var got int64
			if err := t.get(ctx, &got, `SELECT EXTRACT(EPOCH FROM CAST(current_setting(?) AS INTERVAL) * 1000)::BIGINT`, name); err != nil {
				return err
			}
			if time.Duration(got)*time.Millisecond != want {
				return fmt.Errorf("%s is %d ms", name, got)
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// TestAFrozenDatabaseHoldsNobody stops the database's processes: a call ends
// with its context all the same.
func TestAFrozenDatabaseHoldsNobody(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, pgtest.Options{})
	require.NoError(t, c.CreateDatabase(t.Context(), "app"))
	s := openAt(t, Options{Database: c.DSN("app")})
	var pids []int
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &pids, `SELECT pid FROM pg_stat_activity WHERE datname = 'app'`))
	pids = append(pids, c.PID())
	signal := func(signal syscall.Signal) {
		for _, pid := range pids {
			if err := syscall.Kill(pid, signal); !errors.Is(err, syscall.ESRCH) { // it may have ended meanwhile
				require.NoError(t, err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	calls := map[string]func(context.Context) error{
		"read": func(ctx context.Context) error { _, err := s.GetReview(ctx, "acme", "rev_a"); return err },
		"list": func(ctx context.Context) error { _, err := s.ListReviews(ctx, "acme", review.Filter{}); return err },
		"write": func(ctx context.Context) error {
			_, err := s.CreateReview(ctx, newReview("acme", "rev_a"), 10)
			return err
		},
		"claim": func(ctx context.Context) error { _, err := s.Claim(ctx, "worker", time.Minute); return err },
		"ready": s.CheckSchema,
	}
	var all sync.WaitGroup
	for name, call := range calls {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			assert.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
		})
	}
	all.Wait()
	signal(syscall.SIGCONT)
	require.NoError(t, s.CheckSchema(t.Context()), "and goes on")
	_, err := s.CreateReview(t.Context(), newReview("acme", "rev_a"), 10)
	require.NoError(t, err)
}

// TestDeadlockIsTriedAgain makes two transactions wait for each other.
func TestDeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for _, id := range []string{"rev_a", "rev_b"} {
		_, err := s.CreateReview(ctx, newReview("acme", id), 10)
		require.NoError(t, err)
	}
	var met sync.WaitGroup
	met.Add(2)
	var calls atomic.Int32
	change := func(first, second string, mine, others chan struct{}) error {
		waited := false
		defer close(mine)
		return s.write(ctx, "change both", of("acme"), func(t *tx) error {
			calls.Add(1)
			if waited {
				<-others // which may take longer than the pause before this try
			}
			if _, err := t.exec(ctx, `UPDATE reviews SET pr_number = pr_number + 1 WHERE id = ?`, first); err != nil {
				return err
			}
			if !waited {
				waited = true
				met.Done()
				met.Wait()
			}
			_, err := t.exec(ctx, `UPDATE reviews SET pr_number = pr_number + 1 WHERE id = ?`, second)
			return err
		})
	}
	var other sync.WaitGroup
	one, two := make(chan struct{}), make(chan struct{})
	other.Go(func() { assert.NoError(t, change("rev_b", "rev_a", two, one)) })
	require.NoError(t, change("rev_a", "rev_b", one, two))
	other.Wait()
	assert.EqualValues(t, 3, calls.Load())
	for _, id := range []string{"rev_a", "rev_b"} {
		r, err := s.GetReviewState(ctx, "acme", id)
		require.NoError(t, err)
		assert.EqualValues(t, 9, r.PRNumber, "each changed it once")
	}
}

// TestInternalConflictIsTriedAgain has Postgres say what it says now and
// then when a row is changed while another change of it is being undone.
func TestInternalConflictIsTriedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for message, tried := range map[string]int{
		"new multixact has more than one updating member: 0 2[4632 (nokeyupd), 4633 (nokeyupd)]": 2,
		"cache lookup failed for relation 16384":                                                 1,
	} {
		calls := 0
		err := s.write(ctx, "change", everyone, func(t *tx) error {
			if calls++; calls > 1 {
				return nil
			}
			_, err := t.exec(ctx, `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = '`+message+`'; END $$`)
			return err
		})
		assert.Equal(t, tried, calls, message)
		assert.Equal(t, tried > 1, err == nil, "%v", err)
	}
}

// TestLostAnswerToACommit cuts the connection when the server has committed,
// and before it can say so.
func TestLostAnswerToACommit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := pgtest.Start(t, pgtest.Options{TCP: true})
	require.NoError(t, c.CreateDatabase(ctx, "app"))
	direct := openAt(t, Options{Database: c.TCPDSN("app")})
	s := openAt(t, Options{Database: cutAtCommit(t, c.TCPDSN("app"))})
	n := newReview("acme", "rev_a")
	n.Idempotency = &review.Idempotency{Key: "key", RequestHash: "hash", TTL: time.Hour}
	_, err := s.CreateReview(ctx, n, 10)
	require.Equal(t, errs.Unavailable, errs.KindOf(err), "%v", err)
	r, err := direct.GetReviewState(ctx, "acme", "rev_a")
	require.NoError(t, err, "it was committed")
	assert.Equal(t, review.Queued, r.Status)

	n.ID = "rev_b"
	a, err := direct.CreateReview(ctx, n, 10)
	require.NoError(t, err)
	assert.Equal(t, review.Accepted{ReviewID: "rev_a", EstimatedMS: n.EstimatedMS, Replayed: true}, a, "so it is safe to try again")
	assertCounts(t, direct)
}

// cutAtCommit returns an address by which connections break when the server
// answers to a message with a commit.
func cutAtCommit(t *testing.T, dsn string) string {
	t.Helper()
	_, rest, _ := strings.Cut(dsn, "@")
	server, _, _ := strings.Cut(rest, "/")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	forward := func(client net.Conn) {
		defer client.Close()
		upstream, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer upstream.Close()
		var committing atomic.Bool
		go func() {
			buf := make([]byte, 64<<10)
			for {
				n, err := client.Read(buf)
				if err != nil {
					upstream.Close()
					return
				}
				if bytes.Contains(buf[:n], []byte("; COMMIT")) {
					committing.Store(true)
				}
				if _, err := upstream.Write(buf[:n]); err != nil {
					return
				}
			}
		}()
		buf := make([]byte, 64<<10)
		for {
			n, err := upstream.Read(buf)
			if err != nil || committing.Load() {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go forward(client)
		}
	}()
	return strings.Replace(dsn, server, l.Addr().String(), 1)
}

// TestTheDatabaseGoesAndComesBack holds what callers are told meanwhile.
func TestTheDatabaseGoesAndComesBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := pgtest.Start(t, pgtest.Options{})
	require.NoError(t, c.CreateDatabase(ctx, "app"))
	s := openAt(t, Options{Database: c.DSN("app")})
	for name, end := range map[string]func() error{
		"stopped": func() error { return c.Stop(pgtest.Fast) }, "crashed": func() error { return c.Stop(pgtest.Immediate) }, "killed": c.Kill,
	} {
		_, err := s.CreateReview(ctx, newReview("acme", "rev_"+name), 10)
		require.NoError(t, err)
		require.NoError(t, end())
		_, errCreate := s.CreateReview(ctx, newReview("acme", "rev_x"), 10)
		_, errGet := s.GetReview(ctx, "acme", "rev_x")
		_, errClaim := s.Claim(ctx, "worker", time.Minute)
		for _, err := range []error{errCreate, errGet, errClaim, s.CheckSchema(ctx)} {
			require.Equal(t, errs.Unavailable, errs.KindOf(err), "%s: %v", name, err)
		}
		require.NoError(t, c.Start(ctx))
		r, err := s.GetReview(ctx, "acme", "rev_"+name)
		require.NoError(t, err, "the first call finds its way")
		assert.Equal(t, review.Queued, r.Status)
	}
}

func TestPostgresAddresses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := pgtest.Start(t, pgtest.Options{TCP: true})
	require.NoError(t, c.CreateDatabase(ctx, "app"))
	good := c.TCPDSN("app")
	for name, test := range map[string]struct{ database, want string }{
		"wrong password":   {strings.Replace(good, pgtest.Password, "hunter2-secret", 1), "password authentication failed"},
		"no such database": {strings.Replace(good, "/app?", "/none?", 1), `"none" does not exist`},
		"nobody listens":   {"postgres://app:hunter2-secret@127.0.0.1:1/app?sslmode=disable", "refused"},
		"no TLS there":     {strings.Replace(good, "sslmode=disable", "sslmode=require", 1), "SSL is not enabled"},
		"odd password":     {"postgres://app:hunter2-secret/x@h/app", "%2F for /"},
		"odd port":         {"postgres://app:x@h:hunter2-secret/app", "can't be read"},
		"odd escape":       {"postgres://app:%zzhunter2-secret@h/app", "can't be read"},
		"unknown mode":     {"postgres://app:hunter2-secret@h/app?sslmode=maybe", "can't be read"},
	} {
		_, err := Open(ctx, Options{Database: test.database})
		if assert.ErrorContains(t, err, test.want, name) {
			assert.NotContains(t, err.Error(), "hunter2", name)
			assert.NotContains(t, err.Error(), pgtest.Password, name)
		}
	}
	openAt(t, Options{Database: good})
	openAt(t, Options{Database: strings.Replace(good, "postgres:", "postgresql:", 1)})
}

// TestLiterals holds that what is written into a query means what a parameter
// means.
func TestLiterals(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	echo := func(query string, args []any, dest ...any) {
		t.Helper()
		n := 0
		require.NoError(t, s.ask(t.Context(), "echo", everyone, question{query: query, args: args, row: func(rows *sql.Rows) error {
			n++
			return rows.Scan(dest...)
		}}), "%q", args)
		require.Equal(t, 1, n)
	}
	for _, text := range []string{
		"", "plain", "'", "''", `\`, `\'`, `'; DROP TABLE reviews; --`, `E'\x41'`, "$1 ? :name", "%s", "ünï🙂", "\n\r\t\b", "/* x */", `\\'"`,
	} {
		var got string
		var gotBytes []byte
		echo(`SELECT CAST(? AS TEXT), CAST(? AS BYTEA)`, []any{text, []byte(text)}, &got, &gotBytes)
		assert.Equal(t, text, got)
		assert.Equal(t, []byte(text), gotBytes)
	}
	var small, large int64
	var yes, no bool
	var none sql.NullString
	var list texts
	echo(`SELECT 0 - CAST(? AS BIGINT), CAST(? AS BIGINT), ?, ?, ?, CAST(? AS TEXT)`,
		[]any{math.MinInt64 + 1, math.MaxInt64, true, false, stamp{}, texts{"a'b", `c\d`}},
		&small, &large, &yes, &no, &none, &list)
	assert.Equal(t, int64(math.MaxInt64), small)
	assert.Equal(t, int64(math.MaxInt64), large)
	assert.True(t, yes)
	assert.False(t, no)
	assert.False(t, none.Valid)
	assert.Equal(t, texts{"a'b", `c\d`}, list)

	for _, bad := range []question{
		{query: `SELECT ?`, args: []any{"a\x00b"}}, {query: `SELECT ?`}, {query: `SELECT ?`, args: []any{1, 2}}, {query: `SELECT ?`, args: []any{1.5}},
		{query: `SELECT 1 / (x - 3) FROM generate_series(1, 5) x`}, // rows, and then an error
	} {
		require.Error(t, s.ask(t.Context(), "echo", everyone, bad), "%v", bad)
	}
	require.Error(t, s.ask(t.Context(), "echo", of("a\x00b"), question{query: `SELECT 1`}))
	require.Error(t, s.read(t.Context(), "echo", of("a\x00b"), func(*tx) error { return nil }))
}

// TestLostWorkersHoldBackNobody has one organization's claims go silent, as
// those of a lost server do: its turn comes as if they were not there, and cap
// and counts stay as they are until the leases have run out.
func TestLostWorkersHoldBackNobody(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := openAt(t, Options{Database: pgtest.New(t), Now: clock.Now})
	const lease = 20 * time.Second
	create := func(org string, n int) {
		t.Helper()
		for i := range n {
			_, err := s.CreateReview(t.Context(), newReview(org, fmt.Sprintf("rev_%s_%d", org, i)), 100)
			require.NoError(t, err)
		}
	}
	claim := func() review.Claim {
		t.Helper()
		c, err := s.Claim(t.Context(), "worker", lease)
		require.NoError(t, err)
		require.NotNil(t, c)
		clock.Advance(time.Millisecond)
		return *c
	}
	create("hit", 8)
	for range 4 {
		require.Equal(t, "hit", claim().Organization)
	}
	create("other", 8)
	var living []review.Heartbeat
	for range 2 {
		c := claim()
		require.Equal(t, "other", c.Organization, "it has fewer running")
		living = append(living, review.Heartbeat{Claim: c})
	}
	clock.Advance(unheard)
	lost, err := s.Extend(t.Context(), living, lease)
	require.NoError(t, err)
	require.Empty(t, lost)
	// hit has none with a living worker, other has two. Of equals the one goes
	// first that was served less recently.
	for _, want := range []string{"hit", "hit", "other", "hit", "other"} {
		require.Equal(t, want, claim().Organization)
	}
}
