package store

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
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

// changeable reads an organization that no file declares, and keeps others from
// changing it until the transaction ends.
func (t *tx) changeable(ctx context.Context, name string) (row organizationRow, err error) {
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

// Removed counts what the removal of an organization deleted.
type Removed struct{ Reviews, Keys int }

// RemoveOrganization ends an organization: its keys and what waits end in the
// first transaction, and then everything of it is deleted step by step, as
// review.Steps does. Until settled has passed servers may still know its keys,
// so its row stays at least as long. What was interrupted goes on when it is
// called again. It fails with organization.ErrNotFound and
// organization.ErrDeclared.
func (s *Store) RemoveOrganization(
	ctx context.Context, name string, settled time.Duration,
) (total Removed, err error) {
	began := time.Now()
	err = s.write(ctx, "end an organization", allOrganizations, func(t *tx) (err error) {
		total.Keys, err = t.endOrganization(ctx, name)

		return err
	})
	if err != nil {
		return total, err
	}

	total.Reviews, err = review.Steps(ctx, func() (n int, more bool, err error) {
		err = s.write(ctx, "delete an organization", of(name), func(t *tx) (err error) {
			n, err = t.removeStep(ctx, name)

			return err
		})

		// A request that a server admitted before it knew may still come.
		return n, n > 0 || time.Since(began) < settled, err
	})
	if err != nil {
		return total, err
	}

	return total, s.write(ctx, "delete an organization", of(name), func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM organizations WHERE name = ?`, name)

		return err
	})
}

// endOrganization deletes the keys of an organization and its settings, and
// cancels its reviews that wait.
func (t *tx) endOrganization(ctx context.Context, name string) (keys int, err error) {
	row, err := t.changeable(ctx, name)
	if err != nil {
		return 0, err
	}
	deleted, err := t.exec(ctx, `DELETE FROM api_keys WHERE organization = ?`, name)
	if err != nil {
		return 0, err
	}
	canceled, err := t.exec(ctx, `UPDATE reviews SET status = 'canceled', completed_at = ?
		WHERE organization = ? AND status = 'queued'`, at(t.now), name)
	if err != nil {
		return 0, err
	}
	if _, err = t.exec(ctx, `UPDATE organizations SET settings = NULL, queued = queued - ? WHERE name = ?`,
		canceled, name); err != nil || row.Removed {
		return int(deleted), err
	}

	// The organization's own events are deleted with it.
	return int(deleted), t.audit(ctx, audit.Installation, audit.Change{
		Action: audit.OrganizationRemove, Target: name,
		Fields: []audit.Field{{Name: "keys", Before: strconv.FormatInt(deleted, 10)}},
	})
}

// removeStep deletes a part of what there is of an organization, and returns how
// many reviews that were.
func (t *tx) removeStep(ctx context.Context, name string) (int, error) {
	reviews, err := t.deleteReviews(ctx, `organization = ? ORDER BY created_at, id LIMIT ?`+t.lock("reviews"),
		name, purgeReviews)
	if err != nil {
		return 0, err
	}
	for _, r := range reviews {
		if !r.Status.Final() {
			if err := t.count(ctx, name, r.Status, ""); err != nil {
				return 0, err
			}
		}
	}
	if len(reviews) > 0 {
		return len(reviews), nil
	}

	for _, table := range []string{
		"idempotency_keys", "rules", "rule_history", "rules_files", "policies", "scan_durations", "audit_events",
		"finding_days",
	} {
		if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE organization = ?`, name); err != nil {
			return 0, err
		}
	}

	return 0, nil
}
