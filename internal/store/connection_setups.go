package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
)

const setupColumns = `state_hash, organization, connection_id, name, settings, trusted, personal, created_by, ` +
	`expires_at`

// setupRow is a set-up as it is stored.
type setupRow struct {
	StateHash    string                     `db:"state_hash"`
	Organization string                     `db:"organization"`
	ConnectionID string                     `db:"connection_id"`
	Name         string                     `db:"name"`
	Settings     jsonOf[connectionSettings] `db:"settings"`
	Trusted      bool                       `db:"trusted"`
	Personal     bool                       `db:"personal"`
	CreatedBy    string                     `db:"created_by"`
	ExpiresAt    timestamp                  `db:"expires_at"`
}

func (r setupRow) setup() connection.Setup {
	c := connectionRow{
		ID: r.ConnectionID, Organization: r.Organization, Name: r.Name, Kind: codehost.GitHub, Settings: r.Settings,
		State: connection.Active, Trusted: r.Trusted, CreatedBy: r.CreatedBy,
	}.stored()

	return connection.Setup{
		Connection: c.Connection, Personal: r.Personal, StateHash: r.StateHash, ExpiresAt: r.ExpiresAt.Time,
	}
}

// CreateSetup implements connection.Store.
func (s *Store) CreateSetup(
	ctx context.Context, n connection.Setup, within time.Duration, quota int,
) (expires time.Time, err error) {
	err = s.write(ctx, "begin a set-up", of(n.Organization), func(t *tx) error {
		if err := t.takeOrganization(ctx, n.Organization); err != nil {
			return err
		}
		var count int
		if err := t.get(ctx, &count, `SELECT (SELECT COUNT(*) FROM connections WHERE organization = ?) +
			(SELECT COUNT(*) FROM connection_setups WHERE organization = ? AND expires_at > ?)`,
			n.Organization, n.Organization, at(t.now)); err != nil {
			return err
		}
		if count >= quota {
			return errs.New(errs.FailedPrecondition, errs.ReasonConnectionQuota, "The organization has %d connections and "+
				"set-ups, which is the most. Delete a connection, or wait 10 minutes.", count)
		}
		if err := t.freeConnectionName(ctx, n.Connection); err != nil {
			return err
		}

		c := connectionRowOf(connection.Stored{Connection: n.Connection})
		row := setupRow{
			StateHash: n.StateHash, Organization: n.Organization, ConnectionID: n.ID, Name: n.Name, Settings: c.Settings,
			Trusted: n.Trusted, Personal: n.Personal, CreatedBy: n.CreatedBy, ExpiresAt: at(t.now.Add(within)),
		}
		if err := t.insertRow(ctx, "connection_setups", setupColumns, row); err != nil {
			return err
		}
		expires = row.ExpiresAt.Time

		return t.audit(ctx, n.Organization, audit.Change{
			Action: audit.ConnectionSetUp, Target: n.ID, Fields: audit.Diff(nil, n.Audited()),
		})
	})

	return expires, err
}

// ReadSetup implements connection.Store.
func (s *Store) ReadSetup(ctx context.Context, stateHash string) (out connection.Setup, err error) {
	err = s.read(ctx, "read a set-up", allOrganizations, func(t *tx) error {
		out, err = t.connectionSetup(ctx, stateHash, "")

		return err
	})

	return out, err
}

// TakeSetup implements connection.Store.
func (s *Store) TakeSetup(ctx context.Context, stateHash string) (out connection.Setup, err error) {
	err = s.write(ctx, "take a set-up", allOrganizations, func(t *tx) error {
		if out, err = t.connectionSetup(ctx, stateHash, t.lock("connection_setups")); err != nil {
			return err
		}
		_, err = t.exec(ctx, `DELETE FROM connection_setups WHERE state_hash = ?`, stateHash)

		return err
	})

	return out, err
}

func (t *tx) connectionSetup(ctx context.Context, stateHash, lock string) (connection.Setup, error) {
	var row setupRow
	err := t.get(ctx, &row, `SELECT `+setupColumns+` FROM connection_setups WHERE state_hash = ? AND expires_at > ?`+lock,
		stateHash, at(t.now))
	if errors.Is(err, sql.ErrNoRows) {
		err = connection.SetupNotFound()
	}

	return row.setup(), err
}
