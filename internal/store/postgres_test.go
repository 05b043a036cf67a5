package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
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

// TestClaimsPassOverLockedReviews claims while another one is in the middle of
// canceling a review, however long that takes it.
func TestClaimsPassOverLockedReviews(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for i, org := range []string{"acme", "other", "acme"} {
		create(t, s, org, fmt.Sprint("rev_", i))
	}

	lock := func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE reviews SET ruleset = ruleset WHERE id = 'rev_0'`)
		return err
	}

	require.NoError(t, during(t, s, of("acme"), slowly(lock), func() {
		// It is the turn of acme, whose oldest review is locked.
		for _, id := range []string{"rev_2", "rev_1"} {
			c := claim(t, s)
			require.Equal(t, id, c.ReviewID)
		}
		c, err := s.Claim(ctx, review.Claiming{Worker: "worker", Lease: time.Minute})
		require.NoError(t, err)
		require.Nil(t, c, "it is left for the next look at the queue")
	}))

	assertCounts(t, s)
}

// TestClaimsKnowHowLongTheyWaited holds that a lease begins when a claim got its
// turn.
func TestClaimsKnowHowLongTheyWaited(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	s := openAt(t, Options{Database: pgtest.New(t), Now: func() time.Time { return time.Unix(now.Load(), 0) }})
	create(t, s, "acme", "rev_a")
	first := func(t *tx) error {
		_, err := t.exec(context.Background(), claimsLock)
		return err
	}

	claims := make(chan *review.Claim, 1)
	require.NoError(t, during(t, s, allOrganizations, slowly(first), func() {
		go func() {
			c, err := s.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: time.Minute})
			assert.NoError(t, err)
			claims <- c
		}()
		require.Eventually(t, func() (waits bool) {
			return assert.NoError(t, s.pools.reader.Get(&waits, `SELECT EXISTS (SELECT FROM pg_locks
				WHERE locktype = 'advisory' AND NOT granted AND objid = 7077
					AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`)) && waits
		}, patience, 10*time.Millisecond)
		now.Store(60)
	}))
	assert.Equal(t, time.Minute, (<-claims).Waited)
}

// TestHeartbeatsBesideAFinish has a result being written for as long as that
// takes: its lease is prolonged meanwhile, and whoever cancels it wins.
func TestHeartbeatsBesideAFinish(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	create(t, s, "acme", "rev_a")
	c := claim(t, s)

	finishing := func(t *tx) error {
		_, err := t.insertResult(ctx, c.ReviewID, "", manyFindings(10))
		return err
	}

	require.NoError(t, during(t, s, of("acme"), slowly(finishing), func() {
		lost, err := s.Extend(ctx, []review.Heartbeat{{Claim: c}}, time.Minute)
		require.NoError(t, err)
		require.Empty(t, lost)
		_, err = s.CancelReview(ctx, "acme", c.ReviewID)
		require.NoError(t, err)
	}))

	require.ErrorIs(t, s.Finish(ctx, c, manyFindings(10)), review.ErrLeaseLost)
	assertCounts(t, s)
}

// TestHeartbeatsPassOverLockedReviews has a review locked, for any time: the
// leases of others are prolonged, and its own is not lost.
func TestHeartbeatsPassOverLockedReviews(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	var beats []review.Heartbeat
	for _, id := range []string{"rev_a", "rev_b", "rev_c"} {
		create(t, s, "acme", id)
		c, err := s.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: -time.Minute})
		require.NoError(t, err)
		beats = append(beats, review.Heartbeat{Claim: *c})
	}
	_, err := s.CancelReview(t.Context(), "acme", "rev_b")
	require.NoError(t, err)

	lock := func(t *tx) error {
		_, err := t.exec(context.Background(), `UPDATE reviews SET ruleset = ruleset WHERE id = 'rev_a'`)
		return err
	}

	require.NoError(t, during(t, s, of("acme"), slowly(lock), func() {
		lost, err := s.Extend(t.Context(), beats, time.Minute)
		require.NoError(t, err)
		require.Equal(t, []review.Claim{beats[1].Claim}, lost)
	}))

	reaped, err := s.ReapExpired(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []review.Reaped{{ReviewID: "rev_a", Status: review.Queued}}, reaped)
}

// TestAFrozenClientHoldsNothing stops in the middle of a transaction, as a
// process does that gets SIGSTOP.
func TestAFrozenClientHoldsNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	create(t, s, "acme", "rev_a")
	err := during(t, s, of("acme"), func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE reviews SET repo = 'acme/frozen'`)
		return err
	}, func() {
		r, err := s.CancelReview(ctx, "acme", "rev_a")
		require.NoError(t, err, "it waits, but not for as long as the other one likes")
		assert.Equal(t, "acme/shop", r.Repo)
	})

	assert.Equal(t, errs.Unavailable, errs.KindOf(err), "%v", err)

	// The server is told what the constants say.
	err = s.write(ctx, "look", allOrganizations, func(t *tx) error {
		for name, want := range map[string]time.Duration{
			"statement_timeout": statementTimeout, "idle_in_transaction_session_timeout": idleTimeout,
			"client_connection_check_interval": aliveInterval,
		} {
			var got int64
			if err := t.get(ctx, &got, `SELECT EXTRACT(EPOCH FROM CAST(current_setting(?) AS INTERVAL) * 1000)::BIGINT`,
				name); err != nil {
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
	c := pgtest.Start(t, nil)
	require.NoError(t, c.CreateDatabase(t.Context(), "app"))
	s := openAt(t, Options{Database: c.DSN("app")})
	var pids []int
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &pids,
		`SELECT pid FROM pg_stat_activity WHERE datname = 'app'`))
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
		"list": func(ctx context.Context) error { _, _, err := s.ListReviews(ctx, "acme", review.Filter{}); return err },
		"write": func(ctx context.Context) error {
			_, err := s.CreateReview(ctx, newReview("acme", "rev_a"), 10)
			return err
		},
		"claim": func(ctx context.Context) error {
			_, err := s.Claim(ctx, review.Claiming{Worker: "worker", Lease: time.Minute})

			return err
		},
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
	create(t, s, "acme", "rev_a")
}

// TestDeadlockIsTriedAgain makes two transactions wait for each other.
func TestDeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for _, id := range []string{"rev_a", "rev_b"} {
		create(t, s, "acme", id)
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

// TestRuleChangesTakeTheOrganizationFirst holds that they wait for each other before
// they have locked a rule, so that no two can wait for one another.
func TestRuleChangesTakeTheOrganizationFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, Options{Database: pgtest.New(t)})
	r := rule.Rule{ID: "r", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low, Scope: rule.ScopeOrg}
	_, err := s.CreateRule(ctx, "acme", r, 10)
	require.NoError(t, err)

	lock := func(t *tx) error { return t.lockOrganization(ctx, "acme") }
	for _, change := range []func() error{
		func() error { _, err := s.UpdateRule(ctx, "acme", r, r.Document().Etag()); return err },
		func() error { return s.DeleteRule(ctx, "acme", r.FullID()) },
	} {
		done := make(chan error, 1)
		require.NoError(t, during(t, s, of("acme"), slowly(lock), func() {
			go func() { done <- change() }()
			require.Eventually(t, func() (waits bool) {
				return assert.NoError(t, s.pools.reader.Get(&waits, `SELECT EXISTS (SELECT FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock')`)) && waits
			}, patience, 10*time.Millisecond)
			require.NoError(t, s.write(ctx, "lock", of("acme"), func(t *tx) error {
				var id string
				return t.get(ctx, &id, `SELECT id FROM rules FOR UPDATE NOWAIT`)
			}))
		}))
		require.NoError(t, <-done)
	}
}

// TestTheDatabaseGoesAndComesBack holds what callers are told meanwhile.
func TestTheDatabaseGoesAndComesBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := pgtest.Start(t, nil)
	require.NoError(t, c.CreateDatabase(ctx, "app"))
	s := openAt(t, Options{Database: c.DSN("app")})
	for name, end := range map[string]func() error{
		"stopped": func() error { return c.Stop(pgtest.Fast) }, "crashed": func() error { return c.Stop(pgtest.Immediate) },
		"killed": func() error { return c.Stop(pgtest.Kill) },
	} {
		create(t, s, "acme", "rev_"+name)
		require.NoError(t, end())
		_, errCreate := s.CreateReview(ctx, newReview("acme", "rev_x"), 10)
		_, errGet := s.GetReview(ctx, "acme", "rev_x")
		_, errClaim := s.Claim(ctx, review.Claiming{Worker: "worker", Lease: time.Minute})
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
	c := pgtest.Start(t, nil)
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
