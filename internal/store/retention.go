package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/review"
)

// What one step of retention deletes at most, so that nobody waits for long. A
// single review may have more rows than purgeRows; it is deleted all at once, as
// it became visible all at once.
const (
	purgeReviews = 50    // reviews
	purgeRows    = 1_000 // their findings and skips
	purgeKeys    = 500   // keys of each kind
	// Each may have been tried some ten times.
	purgeMessages = 200 // messages of webhooks
)

// purge deletes some rows that are old at a time, which is no later than latest.
func (s *Store) purge(
	ctx context.Context, op string, latest time.Time, some func(t *tx, now time.Time) (int64, error),
) (n int, more bool, err error) {
	err = s.write(ctx, op, allOrganizations, func(t *tx) error {
		now := t.now
		if latest.Before(now) {
			now = latest.UTC()
		}
		deleted, err := some(t, now)
		n = int(deleted)

		return err
	})

	return n, n > 0, err
}

// PurgeReviews implements review.RetentionStore.
func (s *Store) PurgeReviews(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error) {
	return s.purge(ctx, "delete old reviews", latest, func(t *tx, now time.Time) (int64, error) {
		deleted, err := t.deleteReviews(ctx, `completed_at <= ? ORDER BY completed_at LIMIT ?`+t.lockFree("reviews"),
			at(now.Add(-keep)), purgeReviews)

		return int64(len(deleted)), err
	})
}

// deleted is a review that was deleted.
type deleted struct {
	ID           string
	Organization string
	Repo         string
	PRNumber     int32 `db:"pr_number"`
	Status       review.Status
	Latest       bool
	Size         int // rows that hung on it
	openRow
}

// deleteReviews deletes the first of some reviews, with their findings and skips,
// as many as one step may. which selects and locks at most purgeReviews of them.
func (t *tx) deleteReviews(ctx context.Context, which string, args ...any) ([]deleted, error) {
	var list []deleted
	if err := t.list(ctx, &list, `SELECT id, organization, repo, pr_number, status, latest,
		finding_rows + skip_rows AS size, `+openColumns+` FROM reviews WHERE `+which, args...); err != nil || len(list) == 0 {
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
	condition, args := in("id", ids)
	if _, err := t.exec(ctx, `DELETE FROM reviews WHERE `+condition, args...); err != nil {
		return nil, err
	}

	return list[:len(ids)], t.forget(ctx, list[:len(ids)])
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
		setups, err := t.exec(ctx, `DELETE FROM connection_setups WHERE state_hash IN
			(SELECT state_hash FROM connection_setups WHERE expires_at <= ? LIMIT ?`+
			t.lockFree("connection_setups")+`)`, at(t.now), purgeKeys)
		n, more = int(idempotency+setups), idempotency == purgeKeys || setups == purgeKeys

		return err
	})
	if err == nil && s.dialect.postgres {
		err = s.purgeWindows(ctx)
	}
	if err != nil {
		return n, more, err
	}

	dead, err := s.purgeDeadKeys(ctx, keep)

	return n + dead, more || dead == purgeKeys, err
}

// purgeWindows deletes windows of the rate limit of keys that were not used for a day.
func (s *Store) purgeWindows(ctx context.Context) error {
	return s.write(ctx, "delete old windows", allOrganizations, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM rate_limits WHERE name IN
			(SELECT name FROM rate_limits WHERE window_end <= ? LIMIT ?`+t.lockFree("rate_limits")+`)`,
			at(t.now.Add(-24*time.Hour)), purgeRows)

		return err
	})
}

// deadKeys are API keys to be deleted: those that ended long ago, and of each
// organization all but the newest. What a key has made stays in its family, so the
// first of a family is deleted when it is alone.
const deadKeys = `SELECT k.id FROM (SELECT id, parent, revoked_at, expires_at,
			ROW_NUMBER() OVER (PARTITION BY organization ORDER BY created_at DESC, id DESC) AS place
		FROM api_keys WHERE revoked_at IS NOT NULL OR expires_at <= ?) k
	WHERE (k.revoked_at <= ? OR k.expires_at <= ? OR k.place > ?)
		AND (k.parent <> '' OR NOT EXISTS (SELECT 1 FROM api_keys c WHERE c.parent = k.id AND c.parent <> '')) LIMIT ?`

// purgeDeadKeys deletes deadKeys. What one of them has made belongs to the key
// that made that one from then on. They are looked for among all keys, so not in
// the transaction that writes; a dead key stays dead.
func (s *Store) purgeDeadKeys(ctx context.Context, keep time.Duration) (n int, err error) {
	var ids []string
	err = s.read(ctx, "look for dead keys", allOrganizations, func(t *tx) error {
		before := at(t.now.Add(-keep))
		return t.list(ctx, &ids, deadKeys, at(t.now), before, before, auth.MaxListed, purgeKeys)
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}

	err = s.write(ctx, "delete dead keys", allOrganizations, func(t *tx) error {
		var parents []string
		condition, args := in("parent", ids)
		if err := t.list(ctx, &parents, `SELECT DISTINCT parent FROM api_keys WHERE parent <> '' AND `+condition,
			args...); err != nil {
			return err
		}
		for _, id := range parents {
			if _, err := t.exec(ctx, `UPDATE api_keys SET parent = (SELECT d.parent FROM api_keys d WHERE d.id = ?)
				WHERE parent = ? AND parent <> ''`, id, id); err != nil {
				return err
			}
		}
		condition, args = in("id", ids)
		deleted, err := t.exec(ctx, `DELETE FROM api_keys WHERE `+condition, args...)
		n = int(deleted)

		return err
	})

	return n, err
}

// PurgeEvents implements review.RetentionStore.
func (s *Store) PurgeEvents(ctx context.Context, keep time.Duration, latest time.Time) (n int, more bool, err error) {
	return s.purge(ctx, "delete old audit events", latest, func(t *tx, now time.Time) (int64, error) {
		return t.exec(ctx, `DELETE FROM audit_events WHERE (organization, at, id) IN
			(SELECT organization, at, id FROM audit_events WHERE at <= ? ORDER BY at, id LIMIT ?`+
			t.lockFree("audit_events")+`)`, at(now.Add(-keep)), purgeRows)
	})
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
