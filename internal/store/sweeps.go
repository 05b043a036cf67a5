package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/inbox"
)

// sweepRow is how far the sweeps of a connection are.
type sweepRow struct {
	Organization string    `db:"organization"`
	Connection   string    `db:"connection_id"`
	LookedAt     timestamp `db:"looked_at"`
	SweptAt      timestamp `db:"swept_at"`
	Since        timestamp `db:"since"`
	RoundAt      timestamp `db:"round_at"`
	Place        string    `db:"place"`
}

// ClaimSweep implements inbox.Sweeps.
func (s *Store) ClaimSweep(ctx context.Context, lease time.Duration) (out *inbox.Sweep, err error) {
	err = s.write(ctx, "claim a sweep", allOrganizations, func(t *tx) error {
		out = nil
		var row sweepRow
		err := t.get(ctx, &row, `SELECT c.organization, c.id AS connection_id,
				COALESCE(s.looked_at, c.created_at) AS looked_at, COALESCE(s.swept_at, c.created_at) AS swept_at,
				COALESCE(s.since, c.created_at) AS since, COALESCE(s.round_at, c.created_at) AS round_at,
				COALESCE(s.place, '') AS place
			FROM connections c LEFT JOIN sweeps s ON s.connection_id = c.id
			WHERE c.state = 'active' AND c.kind <> 'git' AND COALESCE(s.due_at, 0) <= ?
			ORDER BY COALESCE(s.due_at, 0), c.id LIMIT 1`, at(t.now))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}

		// Another server may have claimed it meanwhile.
		until := t.now.Add(lease)
		n, err := t.exec(ctx, `INSERT INTO sweeps
				(organization, connection_id, due_at, looked_at, swept_at, since, round_at, place)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (connection_id) DO UPDATE SET due_at = excluded.due_at WHERE sweeps.due_at <= ?`,
			row.Organization, row.Connection, at(until), row.LookedAt, row.SweptAt, row.Since, row.RoundAt, row.Place,
			at(t.now))
		if err != nil || n == 0 {
			return err
		}
		out = &inbox.Sweep{
			Organization: row.Organization, Connection: row.Connection, Now: t.now, Until: until,
			LookedAt: row.LookedAt.Time, SweptAt: row.SweptAt.Time, Since: row.Since.Time, RoundAt: row.RoundAt.Time,
			Place: row.Place,
		}

		return nil
	})

	return out, err
}

// EndSweep implements inbox.Sweeps.
func (s *Store) EndSweep(ctx context.Context, w inbox.Sweep, next time.Duration) error {
	return s.write(ctx, "end a sweep", of(w.Organization), func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE sweeps SET due_at = ?, looked_at = ?, swept_at = ?, since = ?, round_at = ?, place = ?
			WHERE organization = ? AND connection_id = ? AND due_at = ?`,
			at(t.now.Add(next)), at(w.LookedAt), at(w.SweptAt), at(w.Since), at(w.RoundAt), clean(w.Place),
			w.Organization, w.Connection, at(w.Until))

		return err
	})
}

// UnheardOf implements inbox.Sweeps.
func (s *Store) UnheardOf(
	ctx context.Context, w inbox.Sweep, repo string, since time.Time, limit int,
) (out []inbox.Unheard, err error) {
	var rows []struct {
		Number    int32
		UpdatedAt timestamp `db:"updated_at"`
	}
	err = s.read(ctx, "list pull requests that were not heard of", of(w.Organization), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT number, updated_at FROM pull_requests WHERE organization = ?
			AND repo = ? AND connection_id = ? AND state = 'open' AND updated_at <= ?
			ORDER BY updated_at, number LIMIT ?`, w.Organization, clean(repo), w.Connection, at(since), limit)
	})
	for _, r := range rows {
		out = append(out, inbox.Unheard{Number: r.Number, HeardAt: r.UpdatedAt.Time})
	}

	return out, err
}
