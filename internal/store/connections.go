package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"reflect"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
)

// connectionColumns are those of connectionRow.
const connectionColumns = `id, organization, name, kind, settings, sealed, state, reason, missing, declared, ` +
	`trusted, created_at, created_by, updated_at, tested_at`

// connectionRow is a connection as it is stored.
type connectionRow struct {
	ID           string                     `db:"id"`
	Organization string                     `db:"organization"`
	Name         string                     `db:"name"`
	Kind         codehost.Kind              `db:"kind"`
	Settings     jsonOf[connectionSettings] `db:"settings"`
	Sealed       []byte                     `db:"sealed"`
	State        connection.State           `db:"state"`
	Reason       string                     `db:"reason"`
	Missing      jsonOf[[]string]           `db:"missing"`
	Declared     bool                       `db:"declared"`
	Trusted      bool                       `db:"trusted"`
	CreatedAt    timestamp                  `db:"created_at"`
	CreatedBy    string                     `db:"created_by"`
	UpdatedAt    timestamp                  `db:"updated_at"`
	TestedAt     timestamp                  `db:"tested_at"`
}

// connectionSettings are the fields that no query looks at.
type connectionSettings struct {
	URL          string   `json:"url"`
	APIURL       string   `json:"api_url,omitempty"`
	GitURL       string   `json:"git_url,omitempty"`
	Repositories []string `json:"repositories"`
	Account      string   `json:"account,omitempty"`
	AppID        int64    `json:"app_id,omitempty"`
	Installation int64    `json:"installation_id,omitempty"`
}

func connectionRowOf(c connection.Stored) connectionRow {
	return connectionRow{
		ID: c.ID, Organization: c.Organization, Name: c.Name, Kind: c.Kind, Sealed: c.Sealed, State: c.State,
		Settings: jsonOf[connectionSettings]{connectionSettings{
			URL: c.URL, APIURL: c.APIURL, GitURL: c.GitURL, Repositories: c.Repositories, Account: c.Account, AppID: c.AppID,
			Installation: c.Installation,
		}},
		Reason: c.Reason, Missing: jsonOf[[]string]{c.Missing}, Declared: c.Declared, Trusted: c.Trusted,
		CreatedAt: at(c.CreatedAt), CreatedBy: c.CreatedBy, UpdatedAt: at(c.UpdatedAt), TestedAt: at(c.TestedAt),
	}
}

func (r connectionRow) stored() connection.Stored {
	s := r.Settings.value

	return connection.Stored{Sealed: r.Sealed, Connection: connection.Connection{
		ID: r.ID, Organization: r.Organization, Name: r.Name, Kind: r.Kind, URL: s.URL, APIURL: s.APIURL, GitURL: s.GitURL,
		Repositories: s.Repositories, Account: s.Account, AppID: s.AppID, Installation: s.Installation,
		State: r.State, Reason: r.Reason, Missing: r.Missing.value, Declared: r.Declared, Trusted: r.Trusted,
		CreatedAt: r.CreatedAt.Time, CreatedBy: r.CreatedBy, UpdatedAt: r.UpdatedAt.Time, TestedAt: r.TestedAt.Time,
	}}
}

// CreateConnection implements connection.Store.
func (s *Store) CreateConnection(
	ctx context.Context, c connection.Stored, quota int,
) (out connection.Stored, err error) {
	err = s.write(ctx, "create a connection", of(c.Organization), func(t *tx) error {
		if err := t.takeOrganization(ctx, c.Organization); err != nil {
			return err
		}
		var count int
		if err := t.get(ctx, &count, `SELECT COUNT(*) FROM connections WHERE organization = ?`,
			c.Organization); err != nil {
			return err
		}
		if count >= quota {
			return connection.OverQuota(count)
		}
		if err := t.freeConnectionName(ctx, c.Connection); err != nil {
			return err
		}

		row := connectionRowOf(c)
		row.CreatedAt, row.UpdatedAt = at(t.now), at(t.now)
		if err := t.insertRow(ctx, "connections", connectionColumns, row); err != nil {
			return err
		}
		out = row.stored()

		return t.audit(ctx, c.Organization, audit.Change{
			Action: audit.ConnectionCreate, Target: c.ID, Fields: audit.Diff(nil, c.Audited()),
		})
	})

	return out, err
}

// freeConnectionName fails when another connection of the organization has the name. The
// organization is locked.
func (t *tx) freeConnectionName(ctx context.Context, c connection.Connection) error {
	var others int
	err := t.get(ctx, &others, `SELECT COUNT(*) FROM connections WHERE organization = ? AND name = ? AND id <> ?`,
		c.Organization, c.Name, c.ID)
	if err == nil && others > 0 {
		return connection.Exists(c.Name)
	}

	return err
}

// ReadConnection implements connection.Store.
func (s *Store) ReadConnection(ctx context.Context, org, id string) (out connection.Stored, err error) {
	err = s.read(ctx, "read a connection", keyScope(org), func(t *tx) (err error) {
		out, err = t.connection(ctx, org, id, "")

		return err
	})

	return out, err
}

// connection reads a connection of an organization, of any for "". lock is that of tx.
func (t *tx) connection(ctx context.Context, org, id, lock string) (connection.Stored, error) {
	var row connectionRow
	err := t.get(ctx, &row, `SELECT `+connectionColumns+` FROM connections
		WHERE id = ? AND (organization = ? OR ? = '')`+lock, id, org, org)
	if errors.Is(err, sql.ErrNoRows) {
		err = connection.NotFound(id)
	}

	return row.stored(), err
}

// ListConnections implements connection.Store.
func (s *Store) ListConnections(ctx context.Context, org string) ([]connection.Stored, error) {
	where := "organization = ?"
	if org == "" {
		where = "? = ''"
	}

	var rows []connectionRow
	err := s.read(ctx, "read connections", keyScope(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+connectionColumns+` FROM connections WHERE `+where+`
			ORDER BY created_at, id`, org)
	})
	out := make([]connection.Stored, len(rows))
	for i, row := range rows {
		out[i] = row.stored()
	}

	return out, err
}

// ChangeConnection implements connection.Store.
func (s *Store) ChangeConnection(
	ctx context.Context, org, id string, change func(*connection.Stored) (audit.Change, error),
) (out connection.Stored, err error) {
	err = s.write(ctx, "change a connection", keyScope(org), func(t *tx) error {
		before, err := t.connection(ctx, org, id, "")
		if err != nil {
			return err
		}
		// Names are taken one after the other.
		if err := t.lockOrganization(ctx, before.Organization); err != nil {
			return err
		}
		if out, err = t.connection(ctx, org, id, t.lock("connections")); err != nil {
			return err
		}
		event, err := change(&out)
		if err != nil || event.Action == "" {
			return err
		}
		if err := t.freeConnectionName(ctx, out.Connection); err != nil {
			return err
		}

		out.UpdatedAt = at(t.now).Time
		if err := t.putConnection(ctx, out); err != nil {
			return err
		}
		if err := t.worksAgain(ctx, before.State, out.Connection); err != nil {
			return err
		}

		return t.audit(ctx, out.Organization, event)
	})

	return out, err
}

// putConnection writes what can change of a connection.
func (t *tx) putConnection(ctx context.Context, c connection.Stored) error {
	_, err := t.NamedExecContext(ctx, `UPDATE connections SET name = :name, kind = :kind, settings = :settings,
		sealed = :sealed, state = :state, reason = :reason, missing = :missing, declared = :declared, trusted = :trusted,
		updated_at = :updated_at, tested_at = :tested_at WHERE id = :id`, connectionRowOf(c))

	return err
}

// worksAgain has what could not be published while a connection did not work published
// now, also where that was given up.
func (t *tx) worksAgain(ctx context.Context, before connection.State, c connection.Connection) error {
	if before == connection.Active || c.State != connection.Active {
		return nil
	}
	n, err := t.exec(ctx, `UPDATE pull_requests SET want = want + 1, wanted_at = ?, updated_at = ?, not_before = 0,
			failures = 0, failing_from = NULL
		WHERE organization = ? AND connection_id = ? AND state = 'open' AND problem <> ''`,
		at(t.now), at(t.now), c.Organization, c.ID)
	t.publishes = t.publishes || n > 0

	return err
}

// DeleteConnection implements connection.Store.
func (s *Store) DeleteConnection(
	ctx context.Context, org, id string, check func(connection.Connection) error,
) error {
	return s.write(ctx, "delete a connection", keyScope(org), func(t *tx) error {
		c, err := t.connection(ctx, org, id, t.lock("connections"))
		if err != nil {
			return err
		}
		if err := check(c.Connection); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM connections WHERE id = ?`, id); err != nil {
			return err
		}

		return t.audit(ctx, c.Organization, audit.Change{
			Action: audit.ConnectionDelete, Target: id, Fields: audit.Diff(c.Audited(), nil),
		})
	})
}

// ReportConnection implements connection.Store.
func (s *Store) ReportConnection(ctx context.Context, said connection.Connection) error {
	return s.write(ctx, "report a connection", allOrganizations, func(t *tx) error {
		c, err := t.connection(ctx, "", said.ID, t.lock("connections"))
		if err != nil || !c.UpdatedAt.Equal(said.UpdatedAt) {
			return err
		}
		before := c
		c.State, c.Reason, c.Installation = said.State, said.Reason, said.Installation

		return t.learned(ctx, before, c)
	})
}

// learned keeps what a host said of a connection. Another installation is another
// version: hosts are opened anew.
func (t *tx) learned(ctx context.Context, before, c connection.Stored) error {
	if reflect.DeepEqual(before, c) {
		return nil
	}
	if c.Installation != before.Installation {
		c.UpdatedAt = t.now
	}
	if err := t.announceBroken(ctx, before.State, c.Connection); err != nil {
		return err
	}
	if err := t.putConnection(ctx, c); err != nil {
		return err
	}
	if err := t.worksAgain(ctx, before.State, c.Connection); err != nil {
		return err
	}
	of := func(c connection.Stored) map[string]any {
		return map[string]any{"state": c.State, "account": c.Account, "installation_id": c.Installation}
	}
	fields := audit.Diff(of(before), of(c))
	if len(fields) == 0 {
		return nil
	}

	return t.audit(ctx, c.Organization, audit.Change{Action: audit.ConnectionUpdate, Target: c.ID, Fields: fields})
}

// TestedConnection implements connection.Store.
func (s *Store) TestedConnection(
	ctx context.Context, tested connection.Connection, found connection.Tested,
) (out connection.Stored, err error) {
	err = s.write(ctx, "keep the test of a connection", allOrganizations, func(t *tx) error {
		if out, err = t.connection(ctx, "", tested.ID, t.lock("connections")); err != nil ||
			!out.UpdatedAt.Equal(tested.UpdatedAt) {
			return err
		}
		before := out
		out.State, out.Reason, out.Missing, out.TestedAt = found.State, found.Reason, found.Missing, at(t.now).Time
		if found.Account != "" {
			out.Account = found.Account
		}

		return t.learned(ctx, before, out)
	})

	return out, err
}

// ResealConnection implements connection.Store.
func (s *Store) ResealConnection(ctx context.Context, id string, before, after []byte) error {
	return s.write(ctx, "seal the secrets of a connection", allOrganizations, func(t *tx) error {
		c, err := t.connection(ctx, "", id, t.lock("connections"))
		if err != nil || !bytes.Equal(c.Sealed, before) {
			return err
		}
		c.Sealed = after
		if err := t.putConnection(ctx, c); err != nil {
			return err
		}

		return t.audit(ctx, c.Organization, audit.Change{Action: audit.ConnectionReseal, Target: id})
	})
}
