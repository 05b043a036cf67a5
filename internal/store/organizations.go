package store

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/organization"
)

// organizationRow is an organization as it is stored.
type organizationRow struct {
	Name     string
	Settings jsonOf[organization.Organization]
	Declared bool
	Removed  bool // its settings are gone, and the rest follows
}

func (r organizationRow) organization() organization.Organization {
	o := r.Settings.value
	o.Name, o.Declared = r.Name, r.Declared

	return o
}

// Organizations implements organization.Store.
func (s *Store) Organizations(ctx context.Context) (list []organization.Organization, err error) {
	err = s.read(ctx, "read the organizations", allOrganizations, func(t *tx) (err error) {
		list, err = t.organizations(ctx, "")

		return err
	})

	return list, err
}

// organizations reads those of a name, or all for "".
func (t *tx) organizations(ctx context.Context, name string) ([]organization.Organization, error) {
	var rows []organizationRow
	err := t.list(ctx, &rows, `SELECT name, settings, declared FROM organizations
		WHERE settings IS NOT NULL AND (name = ? OR ? = '') ORDER BY name`, name, name)

	list := make([]organization.Organization, len(rows))
	for i, row := range rows {
		list[i] = row.organization()
	}

	return list, err
}

// DeclareOrganizations implements organization.Store.
func (s *Store) DeclareOrganizations(
	ctx context.Context, declared []organization.Organization,
) (changed []string, err error) {
	err = s.write(ctx, "declare organizations", allOrganizations, func(t *tx) error {
		changed = nil
		if err := t.lockOrganizations(ctx); err != nil {
			return err
		}
		stored, err := t.organizations(ctx, "")
		if err != nil {
			return err
		}
		before := make(map[string]organization.Organization, len(stored))
		for _, o := range stored {
			before[o.Name] = o
		}

		if err := t.undeclare(ctx, stored, declared); err != nil {
			return err
		}
		for _, o := range declared {
			o.Declared = true
			if err := t.putOrganization(ctx, o); err != nil {
				return err
			}
			var earlier *organization.Organization
			if was, ok := before[o.Name]; ok {
				earlier = &was
			}
			if err := t.auditOrganization(ctx, earlier, o); err != nil {
				return err
			}
			if earlier != nil && earlier.Declared && !reflect.DeepEqual(*earlier, o) {
				changed = append(changed, o.Name)
			}
		}

		return nil
	})

	return changed, err
}

// undeclare takes the mark from the stored organizations that are no more
// declared.
func (t *tx) undeclare(ctx context.Context, stored, declared []organization.Organization) error {
	for _, was := range stored {
		if !was.Declared || slices.ContainsFunc(declared, func(o organization.Organization) bool {
			return o.Name == was.Name
		}) {
			continue
		}

		o := was
		o.Declared = false
		if err := t.putOrganization(ctx, o); err != nil {
			return err
		}
		if err := t.auditOrganization(ctx, &was, o); err != nil {
			return err
		}
	}

	return nil
}

// auditOrganization writes the event of an organization that was made, before
// being nil, or changed. Where nothing changed there is none.
func (t *tx) auditOrganization(
	ctx context.Context, before *organization.Organization, o organization.Organization,
) error {
	c := audit.Change{Action: audit.OrganizationUpdate, Target: o.Name}
	if before == nil {
		c.Action, before = audit.OrganizationCreate, &organization.Organization{}
	}
	c.Fields = audit.Diff(before, o)
	if before.Declared != o.Declared {
		c.Fields = append(c.Fields, audit.Field{
			Name: "declared", Before: strconv.FormatBool(before.Declared), After: strconv.FormatBool(o.Declared),
		})
	}
	if c.Action == audit.OrganizationUpdate && len(c.Fields) == 0 {
		return nil
	}

	return t.audit(ctx, o.Name, c)
}

// CreateOrganization implements organization.Store.
func (s *Store) CreateOrganization(ctx context.Context, o organization.Organization) error {
	return s.write(ctx, "create an organization", allOrganizations, func(t *tx) error {
		if err := t.lockOrganizations(ctx); err != nil {
			return err
		}
		list, err := t.organizations(ctx, o.Name)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			return organization.ErrExists
		}
		if err := t.putOrganization(ctx, o); err != nil {
			return err
		}

		return t.auditOrganization(ctx, nil, o)
	})
}

// UpdateOrganization implements organization.Store.
func (s *Store) UpdateOrganization(
	ctx context.Context, name string, change func(*organization.Organization) error,
) error {
	return s.write(ctx, "update an organization", allOrganizations, func(t *tx) error {
		row, err := t.changeable(ctx, name)
		if err != nil {
			return err
		}
		if row.Removed {
			return organization.ErrNotFound
		}
		before, o := row.organization(), row.organization()
		if err := change(&o); err != nil {
			return err
		}
		if err := t.putOrganization(ctx, o); err != nil {
			return err
		}

		return t.auditOrganization(ctx, &before, o)
	})
}

// lockOrganizations makes changes of settings on Postgres wait for each other, also
// of organizations that are not there yet.
func (t *tx) lockOrganizations(ctx context.Context) (err error) {
	if t.dialect.postgres {
		_, err = t.exec(ctx, `SELECT pg_advisory_xact_lock(7078)`)
	}

	return err
}

// changeable reads an organization that no file declares, and keeps others from
// changing it until the transaction ends.
func (t *tx) changeable(ctx context.Context, name string) (row organizationRow, err error) {
	if err := t.lockOrganizations(ctx); err != nil {
		return row, err
	}
	err = t.get(ctx, &row, `SELECT name, COALESCE(settings, 'null') AS settings, declared, settings IS NULL AS removed
		FROM organizations WHERE name = ?`+t.lock("organizations"), name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return row, organization.ErrNotFound
	case err == nil && row.Declared:
		return row, organization.ErrDeclared
	}

	return row, err
}

// lockOrganization keeps others from locking an organization, if it has a row,
// until the transaction ends.
func (t *tx) lockOrganization(ctx context.Context, name string) error {
	var found string
	err := t.get(ctx, &found, `SELECT name FROM organizations WHERE name = ?`+t.lock("organizations"), name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}

	return err
}

// takeOrganization is lockOrganization of one that gets a row when it has none.
func (t *tx) takeOrganization(ctx context.Context, name string) error {
	if _, err := t.exec(ctx, `INSERT INTO organizations (name) VALUES (?) ON CONFLICT (name) DO NOTHING`,
		name); err != nil {
		return err
	}

	return t.lockOrganization(ctx, name)
}

// putOrganization creates or changes one. Where its cap is raised, waiting
// reviews may begin.
func (t *tx) putOrganization(ctx context.Context, o organization.Organization) error {
	t.tell(waitsEvent)
	_, err := t.exec(ctx, `INSERT INTO organizations (name, settings, declared, max_running, rate_limit)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, declared = excluded.declared,
			max_running = excluded.max_running, rate_limit = excluded.rate_limit`,
		o.Name, jsonOf[organization.Organization]{o}, o.Declared, o.MaxScans, o.RateLimit)

	return err
}

// OrganizationUsage lists all organizations with what each has, by name. It
// counts every review, which takes a while with millions: one statement an
// organization, each within the time that a statement has.
func (s *Store) OrganizationUsage(ctx context.Context) ([]organization.Usage, error) {
	list, err := s.Organizations(ctx)
	if err != nil {
		return nil, err
	}

	out := make([]organization.Usage, len(list))
	for i, o := range list {
		var r struct {
			Queued, Running, Reviews, Rules, Keys int
			Last                                  timestamp
		}
		if err := s.read(ctx, "count an organization", of(o.Name), func(t *tx) error {
			return t.get(ctx, &r, `SELECT o.queued, o.running, o.rules,
				(SELECT COUNT(*) FROM reviews r WHERE r.organization = o.name) AS reviews,
				(SELECT COUNT(*) FROM api_keys k WHERE k.organization = o.name AND k.revoked_at IS NULL) AS keys,
				(SELECT MAX(r.created_at) FROM reviews r WHERE r.organization = o.name) AS last
				FROM organizations o WHERE o.name = ?`, o.Name)
		}); err != nil {
			return nil, err
		}

		out[i] = organization.Usage{
			Organization: o, Queued: r.Queued, Running: r.Running, Reviews: r.Reviews, Rules: r.Rules, Keys: r.Keys,
			LastReview: r.Last.Time,
		}
	}

	return out, nil
}
