package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// TestPurgeReadsLittle holds that looking for old reviews reads no others.
func TestPurgeReadsLittle(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	require.NoError(t, s.pools.reader.SelectContext(t.Context(), &plan,
		"EXPLAIN QUERY PLAN SELECT "+endedColumns+" FROM reviews r WHERE completed_at <= ? ORDER BY completed_at LIMIT ?",
		0, 1))
	var details []string
	for _, p := range plan {
		details = append(details, p.Detail)
	}
	all := strings.Join(details, "\n")
	assert.Contains(t, all, "SEARCH r USING INDEX reviews_ended (completed_at<?)")
	assert.NotContains(t, all, "SCAN")
	assert.NotContains(t, all, "TEMP B-TREE")
}

// fillEnded stores n reviews of an organization that ended a year before now,
// each with so many findings, in a few large transactions.
func fillEnded(t testing.TB, s *Store, org string, n, findings int) {
	t.Helper()
	const atOnce = 1_000
	for done := 0; done < n; done += atOnce {
		batch := min(atOnce, n-done)
		require.NoError(t, s.write(t.Context(), "fill", of(org), func(tx *tx) error {
			if _, err := tx.exec(t.Context(), `INSERT INTO organizations (name) VALUES (?) ON CONFLICT DO NOTHING`,
				org); err != nil {
				return err
			}
			ended := tx.now.Add(-365 * 24 * time.Hour)
			id := func(i int) string { return fmt.Sprintf("rev_%s_%07d", org, done+i) }
			when := func(i int) timestamp { return at(ended.Add(time.Duration(done+i) * time.Microsecond)) }
			const into = `reviews (id, organization, repo, pr_number, ruleset, status, created_at, completed_at, finding_rows)`
			if err := tx.insertRows(t.Context(), into, 9, batch, func(i int) []any {
				return []any{id(i), org, "acme/shop", 7, "acme/shop", "complete", when(i), when(i), findings}
			}); err != nil {
				return err
			}

			f := manyFindings(findings).Findings
			return tx.insertRows(t.Context(), findingRow, 20, batch*findings, func(i int) []any {
				return findingValues(id(i/findings), finding.KindReported, i%findings, f[i%findings])
			})
		}))
	}
}

// purgeOld deletes all that ended half a year ago.
func purgeOld(ctx context.Context, s *Store) (total review.Deleted, err error) {
	for more := true; more && err == nil; {
		var d review.Deleted
		d, more, err = s.PurgeReviews(ctx, 180*24*time.Hour, time.Now())
		total = total.Plus(d)
	}

	return total, err
}

func TestSQLiteGivesSpaceBack(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	size := func() int64 {
		_, err := s.pools.writer.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		require.NoError(t, err)
		info, err := os.Stat(fileOf(s.database))
		require.NoError(t, err)
		return info.Size()
	}

	fillEnded(t, s, "acme", 1_000, 20)
	full := size()
	more, err := s.GiveBack(t.Context())
	require.NoError(t, err)
	assert.False(t, more, "nothing is free")
	d, err := purgeOld(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, review.Deleted{Reviews: 1_000, Findings: 20_000}, d)
	steps := 0
	for more := true; more; steps++ {
		more, err = s.GiveBack(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, checkIntegrity(t.Context(), s.pools.reader))
	assert.Greater(t, steps, 3, "a little at a time")
	assert.Less(t, size(), full/4)
}

// TestServersPurgeOneAtATime has several servers delete at once. Each row is
// deleted once, no step waits for another, and none fails.
func TestServersPurgeOneAtATime(t *testing.T) {
	t.Parallel()
	o := Options{Database: pgtest.New(t)}
	first := openAt(t, o)
	fillEnded(t, first, "acme", 400, 5)
	fillEnded(t, first, "other", 400, 5)
	var all sync.WaitGroup
	var mu sync.Mutex
	var total review.Deleted
	for range 4 {
		s := openAt(t, o)
		all.Go(func() {
			for range 10 {
				d, err := purgeOld(t.Context(), s)
				assert.NoError(t, err)
				mu.Lock()
				total = total.Plus(d)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	rest, err := purgeOld(t.Context(), first)
	require.NoError(t, err)
	assert.Equal(t, review.Deleted{Reviews: 800, Findings: 4_000}, total.Plus(rest))

	// While one server is in a step, another does nothing, at once.
	_, err = first.CreateReview(t.Context(), newReview("acme", "rev_a"), 1)
	require.NoError(t, err)
	_, err = first.CancelReview(t.Context(), "acme", "rev_a")
	require.NoError(t, err)
	second := openAt(t, o)
	more, err := first.step(t.Context(), "hold", func(*tx) (bool, error) {
		d, more, err := second.PurgeReviews(t.Context(), -time.Hour, time.Now().Add(time.Hour))
		require.NoError(t, err)
		assert.False(t, more)
		assert.Equal(t, review.Deleted{}, d)
		return true, nil
	})
	require.NoError(t, err)
	assert.True(t, more)
	d, _, err := second.PurgeReviews(t.Context(), -time.Hour, time.Now().Add(time.Hour))
	require.NoError(t, err)
	assert.Equal(t, 1, d.Reviews)
}

// TestPurgeBesideEverything purges while reviews are created, claimed, finished
// and canceled: no call fails, the counts stay exact, and nothing is left of
// what was deleted.
func TestPurgeBesideEverything(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		s := openAt(t, Options{Database: database})
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		ends := make(chan struct{}, 1_000_000)
		for i := range 3 {
			org := fmt.Sprint("org", i)
			all.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					r := newReview(org, review.NewID())
					r.Idempotency = &review.Idempotency{Key: fmt.Sprint(n), RequestHash: "h", TTL: time.Nanosecond}
					if _, err := s.CreateReview(t.Context(), r, 1<<30); !assert.NoError(t, err) {
						return
					}
					c, err := s.Claim(t.Context(), "worker", time.Minute)
					if !assert.NoError(t, err) {
						return
					}
					if c == nil {
						continue // another took it
					}
					if n%4 == 0 {
						if _, err := s.CancelReview(t.Context(), c.Organization, c.ReviewID); !assert.NoError(t, err) {
							return
						}
					} else if !assert.NoError(t, s.Finish(t.Context(), *c, manyFindings(10))) {
						return
					}
					ends <- struct{}{}
				}
			})
		}
		var total review.Deleted
		for n := 0; n < 80; n++ {
			<-ends
			d, _, err := s.PurgeReviews(t.Context(), 0, time.Now())
			require.NoError(t, err)
			total = total.Plus(d)
			d, _, err = s.PurgeExpired(t.Context(), time.Hour)
			require.NoError(t, err)
			total = total.Plus(d)
			_, _, err = s.PurgeRepositories(t.Context())
			require.NoError(t, err)
		}
		stop()
		all.Wait()
		assertCounts(t, s)
		assert.GreaterOrEqual(t, total.Reviews, 80)
		assert.Positive(t, total.Findings)
		require.NoError(t, s.read(t.Context(), "look", allOrganizations, func(tx *tx) error {
			var orphans int
			require.NoError(t, tx.get(t.Context(), &orphans,
				`SELECT COUNT(*) FROM findings WHERE review_id NOT IN (SELECT id FROM reviews)`))
			assert.Zero(t, orphans)
			return nil
		}))
	})
}

// A busy server finishes more scans in a year than fit into 31 bits.
func TestScansAreNotCountedForEver(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, database string) {
		s := openAt(t, Options{Database: database})
		finish := func() {
			_, err := s.CreateReview(t.Context(), newReview("acme", review.NewID()), 1)
			require.NoError(t, err)
			c, err := s.Claim(t.Context(), "worker", time.Minute)
			require.NoError(t, err)
			require.NoError(t, s.Finish(t.Context(), *c, finding.Result{}))
		}
		finish()
		require.NoError(t, s.write(t.Context(), "count", allOrganizations, func(tx *tx) error {
			_, err := tx.exec(t.Context(), `UPDATE scan_durations SET samples = 2147483647`)
			return err
		}))
		finish()
	})
}

// Readers that always overlap keep SQLite from emptying its log by itself.
func TestTheLogIsEmptiedBesideReaders(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t)})
	s.foldFrom = 8 << 20
	log := func() int64 {
		info, err := os.Stat(fileOf(s.database) + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	_, err := s.CreateReview(t.Context(), newReview("acme", "rev_read"), 1)
	require.NoError(t, err)
	// One reader begins before another ends.
	var readers []*sql.Tx
	read := func() {
		tx, err := s.pools.reader.DB.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		var n int
		require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM reviews").Scan(&n))
		if readers = append(readers, tx); len(readers) > 1 {
			require.NoError(t, readers[0].Rollback())
			readers = readers[1:]
		}
	}
	for i := 0; log() <= s.foldFrom; i++ {
		read()
		fillEnded(t, s, fmt.Sprint("org", i), 50, 20)
		require.Less(t, i, 1_000)
	}
	require.NoError(t, s.FoldLog(t.Context()), "a reader is in it, and stays")
	assert.Positive(t, log())

	require.NoError(t, readers[0].Rollback())
	require.NoError(t, s.FoldLog(t.Context()))
	assert.Zero(t, log())
	assertPragmas(t, s)
	_, err = s.GetReviewState(t.Context(), "acme", "rev_read")
	require.NoError(t, err)
}

// A log that can't be emptied, as on a full disk, leaves writers as patient as
// they were.
func TestWritersStayPatientWhenTheLogCantBeEmptied(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: newDatabase(t), busyTimeoutMS: 4_321})
	s.foldFrom = 0
	patience := func() (ms int) {
		require.NoError(t, s.pools.writer.GetContext(t.Context(), &ms, "PRAGMA busy_timeout"))
		return ms
	}
	require.NoError(t, s.FoldLog(t.Context()))
	assert.Equal(t, 4_321, patience())

	// No log is emptied from within a transaction: SQLITE_LOCKED.
	_, err := s.CreateReview(t.Context(), newReview("acme", "rev_a"), 1)
	require.NoError(t, err)
	_, err = s.pools.writer.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	require.Equal(t, errs.Unavailable, errs.KindOf(s.FoldLog(t.Context())))
	assert.Equal(t, 4_321, patience())
	_, err = s.CreateReview(t.Context(), newReview("acme", "rev_b"), 2)
	require.NoError(t, err)
}

// The busiest rows of Postgres get new versions beside the old ones, which no
// index may hinder.
func TestBusyRowsHaveNoMoreIndexesThanTheirKey(t *testing.T) {
	t.Parallel()
	s := openAt(t, Options{Database: pgtest.New(t)})
	for _, table := range []string{"organizations", "scan_durations", "rate_limits"} {
		require.NoError(t, s.read(t.Context(), "look", allOrganizations, func(tx *tx) error {
			var indexes []string
			err := tx.list(t.Context(), &indexes, "SELECT indexname FROM pg_indexes WHERE tablename = ?", table)
			assert.Equal(t, []string{table + "_pkey"}, indexes)
			return err
		}))
	}
}
