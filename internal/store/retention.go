package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/prwarden/prwarden/internal/review"
)

// What one step of retention deletes at most, so that nobody waits for long. A
// single review may have more rows than purgeRows; it is deleted all at once, as
// it became visible all at once.
const (
	purgeReviews = 50    // reviews
	purgeRows    = 1_000 // their findings and skips
	purgeKeys    = 500   // keys of each kind
)

// PurgeReviews implements review.RetentionStore.
func (s *Store) PurgeReviews(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error) {
	err = s.write(ctx, "delete old reviews", allOrganizations, func(t *tx) error {
		now := t.now
		if latest.Before(now) {
			now = latest
		}
		deleted, err := t.deleteReviews(ctx, `completed_at <= ? ORDER BY completed_at LIMIT ?`+t.lockFree("reviews"),
			at(now.Add(-keep)), purgeReviews)
		n = len(deleted)

		return err
	})

	return n, n > 0, err
}

// deleted is a review that was deleted.
type deleted struct {
	ID     string
	Status review.Status
	Size   int // rows that hung on it
}

// deleteReviews deletes the first of some reviews, with their findings and skips,
// as many as one step may. which selects and locks at most purgeReviews of them.
func (t *tx) deleteReviews(ctx context.Context, which string, args ...any) ([]deleted, error) {
	var list []deleted
	if err := t.list(ctx, &list, `SELECT id, status, finding_rows + skip_rows AS size FROM reviews WHERE `+which,
		args...); err != nil || len(list) == 0 {
		return nil, err
	}

	var ids []string
	rows := 0
	for _, r := range list {
		if rows += r.Size; rows > purgeRows && len(ids) > 0 {
			break
		}
		ids = append(ids, r.ID)
	}
	query, in, err := sqlx.In(`DELETE FROM reviews WHERE id IN (?)`, ids)
	if err != nil {
		return nil, err
	}
	_, err = t.exec(ctx, query, in...)

	return list[:len(ids)], err
}

// PurgeKeys implements review.RetentionStore.
func (s *Store) PurgeKeys(ctx context.Context, keep time.Duration) (n int, more bool, err error) {
	err = s.write(ctx, "delete expired keys", allOrganizations, func(t *tx) error {
		idempotency, err := t.exec(ctx, `DELETE FROM idempotency_keys WHERE (organization, idem_key) IN
			(SELECT k.organization, k.idem_key FROM organizations o
			 JOIN idempotency_keys k ON k.organization = o.name AND k.expires_at <= ? LIMIT ?`+
			t.lockFree("k")+`)`, at(t.now), purgeKeys)
		if err != nil {
			return err
		}

		before := at(t.now.Add(-keep))
		keys, err := t.exec(ctx, `DELETE FROM api_keys WHERE id IN (SELECT k.id FROM api_keys k
			WHERE (k.revoked_at <= ? OR k.expires_at <= ?)
			AND NOT EXISTS (SELECT 1 FROM api_keys c WHERE c.parent = k.id) LIMIT ?`+t.lockFree("k")+`)`,
			before, before, purgeKeys)
		n, more = int(idempotency+keys), idempotency == purgeKeys || keys == purgeKeys

		return err
	})

	return n, more, err
}

// PurgeEvents implements review.RetentionStore.
func (s *Store) PurgeEvents(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error) {
	err = s.write(ctx, "delete old audit events", allOrganizations, func(t *tx) error {
		now := t.now
		if latest.Before(now) {
			now = latest
		}
		deleted, err := t.exec(ctx, `DELETE FROM audit_events WHERE (organization, at, id) IN
			(SELECT organization, at, id FROM audit_events WHERE at <= ? ORDER BY at, id LIMIT ?)`,
			at(now.Add(-keep)), purgeRows)
		n, more = int(deleted), deleted == purgeRows

		return err
	})

	return n, more, err
}

// foldPatience is how long writers wait at most while the log is emptied.
const foldPatience = 250 * time.Millisecond

// FoldLog implements review.RetentionStore. SQLite empties its log when no
// reader is in it, and readers that always overlap leave it no such moment. Here
// new readers and writers wait for the ones that are in it: milliseconds, and
// foldPatience at most, after which the next turn tries again.
func (s *Store) FoldLog(ctx context.Context) error {
	if s.dialect.postgres {
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
	conn, err := s.pools.writer.Connx(ctx)
	if err != nil {
		return s.translate(ctx, "empty the log", err)
	}
	// It is thrown away, whatever happened: no other use is to have so little
	// patience.
	defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }()

	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout(%d); PRAGMA wal_checkpoint(TRUNCATE)",
		foldPatience.Milliseconds()))
	if err != nil {
		return s.translate(ctx, "empty the log", err)
	}

	return nil
}
