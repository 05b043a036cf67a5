package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/inbox"
)

// deliveryRow is a delivery as it is stored.
type deliveryRow struct {
	Organization string                  `db:"organization"`
	Connection   string                  `db:"connection_id"`
	ID           string                  `db:"id"`
	Event        string                  `db:"event"`
	Subject      string                  `db:"subject"`
	Hints        jsonOf[[]codehost.Hint] `db:"hints"`
	Attempt      int                     `db:"attempt"`
	ReceivedAt   timestamp               `db:"received_at"`
}

const deliveryColumns = `organization, connection_id, id, event, subject, hints, attempt, received_at`

// KeepDelivery implements inbox.Store.
func (s *Store) KeepDelivery(ctx context.Context, d inbox.Delivery) (kept bool, err error) {
	err = s.write(ctx, "keep a delivery", of(d.Organization), func(t *tx) error {
		waiting := 0
		if err := t.get(ctx, &waiting, `SELECT COUNT(*) FROM (SELECT 1 FROM deliveries
			WHERE connection_id = ? AND outcome = 'waiting' LIMIT ?) w`, d.Connection, inbox.MaxWaiting); err != nil {
			return err
		}
		if waiting == inbox.MaxWaiting && d.Event != string(codehost.HintInstallation) {
			return inbox.TooMany()
		}
		n, err := t.exec(ctx, `INSERT INTO deliveries
				(organization, connection_id, id, event, subject, hints, received_at, outcome, reason, not_before)
			VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', '', ?) ON CONFLICT (organization, connection_id, id) DO NOTHING`,
			d.Organization, d.Connection, d.ID, d.Event, d.Subject, jsonOf[[]codehost.Hint]{d.Hints}, at(t.now), at(t.now))
		kept = n == 1

		return err
	})

	return kept, err
}

// deliveriesLock is the advisory lock that makes claims of deliveries on Postgres wait
// for each other, so that no two of one pull request are claimed at once.
const deliveriesLock = `SELECT pg_advisory_xact_lock(7079)`

// ClaimDelivery implements inbox.Store.
func (s *Store) ClaimDelivery(
	ctx context.Context, except inbox.Except, lease time.Duration,
) (out *inbox.Delivery, err error) {
	err = s.write(ctx, "claim a delivery", allOrganizations, func(t *tx) error {
		out = nil
		if t.dialect.postgres {
			if _, err := t.exec(ctx, deliveriesLock); err != nil {
				return err
			}
			t.now = s.clock.now() // it may have waited
		}

		row, err := t.nextDelivery(ctx, except)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE deliveries SET attempt = attempt + 1, lease_until = ?
			WHERE organization = ? AND connection_id = ? AND id = ?`,
			at(t.now.Add(lease)), row.Organization, row.Connection, row.ID); err != nil {
			return err
		}
		out = &inbox.Delivery{
			Organization: row.Organization, Connection: row.Connection, ID: row.ID, Event: row.Event, Subject: row.Subject,
			Hints: row.Hints.value, Attempt: row.Attempt + 1, ClaimedAt: t.now, ReceivedAt: row.ReceivedAt.Time,
		}

		return nil
	})

	return out, err
}

// nextDelivery is the delivery to claim; sql.ErrNoRows when there is none.
func (t *tx) nextDelivery(ctx context.Context, except inbox.Except) (row deliveryRow, err error) {
	now := at(t.now)
	condition, args := "", []any{now, now, now, string(codehost.HintInstallation), string(connection.Active)}
	without := func(column string, list []string) {
		if len(list) > 0 {
			condition += ` AND d.` + column + ` NOT IN (?` + strings.Repeat(", ?", len(list)-1) + `)`
		}
		for _, name := range list {
			args = append(args, name)
		}
	}
	without("organization", except.Organizations)
	without("connection_id", except.Connections)
	err = t.get(ctx, &row, `SELECT `+deliveryColumns+` FROM deliveries d
		WHERE d.outcome = 'waiting' AND d.not_before <= ? AND d.lease_until <= ?
			AND (d.subject = '' OR NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.outcome = 'waiting'
				AND o.organization = d.organization AND o.connection_id = d.connection_id
				AND o.subject = d.subject AND o.lease_until > ?))
			AND (d.event = ? OR d.connection_id NOT IN (SELECT id FROM connections WHERE state <> ?))`+condition+`
		ORDER BY d.not_before, d.received_at LIMIT 1`+t.lockFree("d"), args...)

	return row, err
}

// claimedDelivery is the condition under which a claim still holds its delivery.
const claimedDelivery = ` WHERE organization = ? AND connection_id = ? AND id = ? AND outcome = 'waiting'
	AND attempt = ?`

// EndDelivery implements inbox.Store.
func (s *Store) EndDelivery(ctx context.Context, d inbox.Delivery, o inbox.Outcome, reason string) error {
	return s.write(ctx, "end a delivery", of(d.Organization), func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE deliveries SET outcome = ?, reason = ?, hints = '[]', lease_until = 0`+claimedDelivery,
			string(o), reason, d.Organization, d.Connection, d.ID, d.Attempt)
		looked := o == inbox.Done && d.Event == string(codehost.HintPullRequest) && d.Subject != ""
		if err != nil || n == 0 || !looked {
			return err
		}
		_, err = t.exec(ctx, `UPDATE deliveries SET outcome = 'done', reason = 'seen with another', hints = '[]'
			WHERE organization = ? AND connection_id = ? AND subject = ? AND outcome = 'waiting' AND event = ?
				AND lease_until <= ? AND received_at < ?`,
			d.Organization, d.Connection, d.Subject, string(codehost.HintPullRequest), at(t.now), at(d.ClaimedAt))

		return err
	})
}

// RetryDelivery implements inbox.Store.
func (s *Store) RetryDelivery(ctx context.Context, d inbox.Delivery, delay time.Duration, reason string) error {
	return s.write(ctx, "put a delivery back", of(d.Organization), func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE deliveries SET reason = ?, lease_until = 0, not_before = ?`+claimedDelivery,
			reason, at(t.now.Add(delay)), d.Organization, d.Connection, d.ID, d.Attempt)

		return err
	})
}

// PurgeDeliveries implements review.RetentionStore.
func (s *Store) PurgeDeliveries(
	ctx context.Context, keep time.Duration, latest time.Time,
) (n int, more bool, err error) {
	return s.purge(ctx, "delete old deliveries", latest, func(t *tx, now time.Time) (int64, error) {
		return t.exec(ctx, `DELETE FROM deliveries WHERE (organization, connection_id, id) IN
			(SELECT organization, connection_id, id FROM deliveries WHERE received_at <= ? ORDER BY received_at LIMIT ?`+
			t.lockFree("deliveries")+`)`, at(now.Add(-keep)), purgeRows)
	})
}
