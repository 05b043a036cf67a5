package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// What one step of upkeep does at most, so that nobody waits for long. A single
// review may have more rows than purgeRows; it is deleted all at once, as it
// became visible all at once.
const (
	purgeReviews = 50    // reviews
	purgeRows    = 1_000 // their findings and skips
	purgeSmall   = 500   // rows of other tables
	givePages    = 250   // pages of 4 KiB
	giveFrom     = 10    // percent of the pages that must be free
)

// foldPatience is how long writers wait at most while the log is emptied.
const foldPatience = 250 * time.Millisecond

// steps does fn in a transaction while no other server does; more is false when
// another does.
func (s *Store) step(ctx context.Context, op string, fn func(t *tx) (more bool, err error)) (more bool, err error) {
	err = s.write(ctx, op, allOrganizations, func(t *tx) error {
		if t.dialect.tryUpkeep != "" {
			var mine bool
			if err := t.get(ctx, &mine, t.dialect.tryUpkeep); err != nil || !mine {
				return err
			}
		}
		var err error
		more, err = fn(t)
		return err
	})

	return more && err == nil, err
}

// ended is a review that is to be deleted, with how much hangs on it.
type ended struct {
	ID     string        `db:"id"`
	Status review.Status `db:"status"`
	Rows   int           `db:"row_count"`
}

// endedColumns are those of ended.
const endedColumns = `id, status, finding_rows + skip_rows AS row_count`

// PurgeReviews implements review.RetentionStore.
func (s *Store) PurgeReviews(
	ctx context.Context, keep time.Duration, latest time.Time,
) (deleted review.Deleted, more bool, err error) {
	more, err = s.step(ctx, "delete old reviews", func(t *tx) (bool, error) {
		now := t.now
		if latest.Before(now) {
			now = latest
		}
		var rows []ended
		if err := t.list(ctx, &rows, `SELECT `+endedColumns+` FROM reviews r
			WHERE completed_at <= ? ORDER BY completed_at LIMIT ?`, at(now.Add(-keep)), purgeReviews); err != nil {
			return false, err
		}
		batch := firstBatch(rows)
		deleted, err = t.deleteReviews(ctx, batch)
		return len(batch) < len(rows) || len(rows) == purgeReviews, err
	})

	return deleted, more, err
}

// firstBatch is as much from the begin as is deleted in one step.
func firstBatch(rows []ended) []ended {
	n, total := 0, 0
	for n < len(rows) && (n == 0 || total+rows[n].Rows <= purgeRows) {
		total += rows[n].Rows
		n++
	}

	return rows[:n]
}

// deleteReviews deletes reviews and what hangs on them.
func (t *tx) deleteReviews(ctx context.Context, batch []ended) (review.Deleted, error) {
	if len(batch) == 0 {
		return review.Deleted{}, nil
	}
	ids := make([]any, len(batch))
	for i, r := range batch {
		ids[i] = r.ID
	}
	in := " IN (?" + strings.Repeat(", ?", len(ids)-1) + ")"
	var n [3]int64
	for i, from := range []string{"findings WHERE review_id", "skips WHERE review_id", "reviews WHERE id"} {
		var err error
		if n[i], err = t.exec(ctx, `DELETE FROM `+from+in, ids...); err != nil {
			return review.Deleted{}, err
		}
	}

	return review.Deleted{Findings: int(n[0]), Skips: int(n[1]), Reviews: int(n[2])}, nil
}

// PurgeExpired implements review.RetentionStore. Creations delete expired idempotency
// keys of their organization, too; this is for organizations without any.
func (s *Store) PurgeExpired(
	ctx context.Context, keepKeys time.Duration,
) (deleted review.Deleted, more bool, err error) {
	more, err = s.step(ctx, "delete expired keys", func(t *tx) (bool, error) {
		n, err := t.exec(ctx, `DELETE FROM idempotency_keys WHERE (organization, idem_key) IN
			(SELECT k.organization, k.idem_key FROM organizations o
			 JOIN idempotency_keys k ON k.organization = o.name AND k.expires_at <= ? LIMIT ?`+
			t.skipLocked("k")+`)`, at(t.now), purgeSmall)
		if err != nil {
			return false, err
		}
		before := at(t.now.Add(-keepKeys))
		m, err := t.exec(ctx, `DELETE FROM api_keys WHERE id IN (SELECT k.id FROM api_keys k
			WHERE k.revoked_at <= ? OR k.expires_at <= ? LIMIT ?`+t.skipLocked("k")+`)`, before, before, purgeSmall)
		deleted = review.Deleted{IdempotencyKeys: int(n), APIKeys: int(m)}
		return n == purgeSmall || m == purgeSmall, err
	})

	return deleted, more, err
}

// skipLocked ends a SELECT of rows of a table that are to be deleted. It waits
// for nobody, so that nobody can wait for this while this waits for him.
func (t *tx) skipLocked(table string) string {
	if lock := t.lockOf(table); lock != "" {
		return lock + " SKIP LOCKED"
	}

	return ""
}

// lockOf is lockRow for the rows of one table of a query.
func (t *tx) lockOf(table string) string {
	if t.dialect.lockRow == "" {
		return ""
	}

	return t.dialect.lockRow + " OF " + table
}

// PurgeRepositories implements review.RetentionStore. The search reads everything that
// is remembered, so it is in a transaction of its own that keeps no writer
// waiting.
func (s *Store) PurgeRepositories(ctx context.Context) (deleted review.Deleted, more bool, err error) {
	var gone []struct {
		Organization string `db:"organization"`
		Repo         string `db:"repo"`
	}
	if err := s.read(ctx, "look for forgotten repositories", allOrganizations, func(t *tx) error {
		return t.list(ctx, &gone, `SELECT organization, repo FROM
			(SELECT organization, repo FROM scan_durations WHERE repo <> '' UNION SELECT organization, repo FROM rules_files) m
			WHERE NOT EXISTS (SELECT 1 FROM reviews r WHERE r.organization = m.organization AND r.repo = m.repo)
			LIMIT ?`, purgeSmall)
	}); err != nil || len(gone) == 0 {
		return deleted, false, err
	}
	more, err = s.step(ctx, "delete forgotten repositories", func(t *tx) (bool, error) {
		for _, g := range gone {
			var n [2]int64
			for i, table := range []string{"scan_durations", "rules_files"} {
				var err error
				if n[i], err = t.exec(ctx, `DELETE FROM `+table+` WHERE organization = ? AND repo = ?
					AND NOT EXISTS (SELECT 1 FROM reviews WHERE organization = ? AND repo = ?)`,
					g.Organization, g.Repo, g.Organization, g.Repo); err != nil {
					return false, err
				}
			}
			if n[0]+n[1] > 0 {
				deleted.Repositories++
			}
		}

		return len(gone) == purgeSmall && deleted.Repositories > 0, nil
	})

	return deleted, more, err
}

// GiveBack implements review.RetentionStore. Postgres keeps free space for what comes
// next, which autovacuum sees to.
func (s *Store) GiveBack(ctx context.Context) (more bool, err error) {
	if s.dialect.giveBack == "" {
		return false, nil
	}

	return s.step(ctx, "give back free space", func(t *tx) (bool, error) {
		var pages, free int
		for pragma, dest := range map[string]*int{"page_count": &pages, "freelist_count": &free} {
			if err := t.get(ctx, dest, "PRAGMA "+pragma); err != nil {
				return false, err
			}
		}
		if free < givePages || free*100 < pages*giveFrom {
			return false, nil
		}
		_, err := t.exec(ctx, t.dialect.giveBack)
		return true, err
	})
}

// FoldLog implements review.RetentionStore. SQLite empties its log when no reader is in
// it, and readers that always overlap leave it no such moment. Here new readers
// and writers wait for the ones that are in it: milliseconds, and foldPatience at
// most, after which the next turn tries again.
func (s *Store) FoldLog(ctx context.Context) error {
	if s.dialect.giveBack == "" {
		return nil
	}
	path, err := sqlitePath(s.database)
	if err != nil {
		return err
	}
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() <= s.foldFrom {
		return nil // there is none, or one that SQLite keeps as it is
	}
	// The writer's own connection, because other writers wait in line for it.
	conn, err := s.pools.connection(ctx, s.pools.writer)
	if err != nil {
		return s.translate(ctx, "empty the log", err)
	}
	// It is thrown away, whatever happened: no other use is to have so little
	// patience.
	defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }()
	busy := fmt.Sprintf("busy_timeout(%d)", foldPatience.Milliseconds())
	for _, pragma := range []string{busy, "wal_checkpoint(TRUNCATE)"} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return s.translate(ctx, "empty the log", err)
		}
	}

	return nil
}
