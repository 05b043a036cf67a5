package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/review"
)

// TestServersPurgeAtOnce has several servers delete reviews and keys at once. Each
// row is deleted once, no step waits for another, and none fails.
func TestServersPurgeAtOnce(t *testing.T) {
	t.Parallel()
	o := Options{Database: pgtest.New(t)}
	first := openAt(t, o)
	sow(t, first, "acme", review.Complete, 400, 5)
	sow(t, first, "other", review.Complete, 400, 5)
	require.NoError(t, first.write(t.Context(), "add keys", allOrganizations, func(t *tx) error {
		_, err := t.exec(context.Background(), `INSERT INTO idempotency_keys
			SELECT o.name, 'key ' || i, 'hash', 'rev', 1, 0 FROM organizations o, generate_series(1, 1500) AS i`)

		return err
	}))
	purge := func(s *Store) (int, bool, error) {
		return s.PurgeReviews(t.Context(), 180*24*time.Hour, time.Now())
	}

	second := openAt(t, o)
	require.NoError(t, first.write(t.Context(), "hold", of("acme"), func(x *tx) error {
		_, err := x.exec(t.Context(), `UPDATE reviews SET repo = repo`)
		require.NoError(t, err)
		n, _, err := purge(second)
		assert.Equal(t, purgeReviews, n, "what another one holds is passed over")

		return err
	}))

	var all sync.WaitGroup
	var total, keys atomic.Int64
	for range 4 {
		s := openAt(t, o)
		all.Go(func() {
			n, err := review.Steps(t.Context(), func() (int, bool, error) { return purge(s) })
			assert.NoError(t, err)
			total.Add(int64(n))
			n, err = review.Steps(t.Context(), func() (int, bool, error) { return s.PurgeKeys(t.Context(), time.Hour) })
			assert.NoError(t, err)
			keys.Add(int64(n))
		})
	}
	all.Wait()
	assert.EqualValues(t, 800-purgeReviews, total.Load())
	assert.EqualValues(t, 2*1500, keys.Load())
}

// TestPurgeBesideEverything purges while reviews are created, claimed, finished
// and canceled: no call fails, the counts stay exact, and nothing is left of
// what was deleted.
func TestPurgeBesideEverything(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, o Options) {
		s := openAt(t, o)
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
					c, err := s.Claim(t.Context(), review.Claiming{Worker: "worker", Lease: time.Minute})
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
		total := 0
		for range 80 {
			<-ends
			n, _, err := s.PurgeReviews(t.Context(), 0, time.Now())
			require.NoError(t, err)
			total += n
			_, _, err = s.PurgeKeys(t.Context(), time.Hour)
			require.NoError(t, err)
		}
		stop()
		all.Wait()
		assertCounts(t, s)
		assert.GreaterOrEqual(t, total, 80)
		require.NoError(t, s.read(t.Context(), "look", allOrganizations, func(tx *tx) error {
			var orphans int
			require.NoError(t, tx.get(t.Context(), &orphans,
				`SELECT COUNT(*) FROM findings WHERE review_id NOT IN (SELECT id FROM reviews)`))
			assert.Zero(t, orphans)
			return nil
		}))
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

	create(t, s, "acme", "rev_read")

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
		sow(t, s, fmt.Sprint("org", i), review.Complete, 50, 20)
		require.Less(t, i, 1_000)
	}

	require.NoError(t, s.FoldLog(t.Context()), "a reader is in it, and stays")
	assert.Positive(t, log())

	require.NoError(t, readers[0].Rollback())
	require.NoError(t, s.FoldLog(t.Context()))
	assert.Zero(t, log())
	assertPragmas(t, s)
	_, err := s.GetReviewState(t.Context(), "acme", "rev_read")
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
