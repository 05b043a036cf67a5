package store

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
)

var _ organization.Store = (*Store)(nil)

// organizationRow is an organization as it is stored. A row without settings
// counts reviews of an organization that is being removed.
type organizationRow struct {
	Name     string `db:"name"`
	Settings string `db:"settings"`
	Declared bool   `db:"declared"`
}

// organizationSettings are the settings of an organization but for what has
// columns of its own.
type organizationSettings struct {
	Repositories             []string          `json:"repositories"`
	Host                     organization.Host `json:"host"`
	MaxScans                 int               `json:"max_scans,omitempty"`
	MaxQueued                int               `json:"max_queued,omitempty"`
	RequireSuppressionReason bool              `json:"require_suppression_reason,omitempty"`
}

func encodeSettings(o organization.Organization) (string, error) {
	text, err := json.Marshal(organizationSettings{
		Repositories: o.Repositories, Host: o.Host, MaxScans: o.MaxScans, MaxQueued: o.MaxQueued,
		RequireSuppressionReason: o.RequireSuppressionReason,
	})

	return string(text), err
}

func (r organizationRow) organization() (organization.Organization, error) {
	var s organizationSettings
	if err := json.Unmarshal([]byte(r.Settings), &s); err != nil {
		return organization.Organization{}, fmt.Errorf("settings of organization %q: %w", r.Name, err)
	}

	return organization.Organization{
		Name: r.Name, Repositories: s.Repositories, Host: s.Host, MaxScans: s.MaxScans, MaxQueued: s.MaxQueued,
		RequireSuppressionReason: s.RequireSuppressionReason, Declared: r.Declared,
	}, nil
}

// Organizations implements organization.Store.
func (s *Store) Organizations(ctx context.Context) ([]organization.Organization, error) {
	var list []organization.Organization
	err := s.read(ctx, "read the organizations", allOrganizations, func(t *tx) (err error) {
		list, err = t.organizations(ctx)

		return err
	})

	return list, err
}

func (t *tx) organizations(ctx context.Context) ([]organization.Organization, error) {
	var rows []organizationRow
	if err := t.list(ctx, &rows, `SELECT name, settings, declared FROM organizations
		WHERE settings IS NOT NULL ORDER BY name`); err != nil {
		return nil, err
	}

	list := make([]organization.Organization, 0, len(rows))
	for _, row := range rows {
		o, err := row.organization()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}

	return list, nil
}

// DeclareOrganizations implements organization.Store.
func (s *Store) DeclareOrganizations(
	ctx context.Context, declared []organization.Organization,
) (changed []string, err error) {
	err = s.write(ctx, "declare organizations", allOrganizations, func(t *tx) error {
		changed = nil

		stored, err := t.organizations(ctx)
		if err != nil {
			return err
		}

		before := make(map[string]organization.Organization, len(stored))
		for _, o := range stored {
			before[o.Name] = o
		}

		for _, o := range declared {
			o.Declared = true
			was, known := before[o.Name]
			delete(before, o.Name)

			if known && reflect.DeepEqual(was, o) {
				continue
			}

			if err := t.putOrganization(ctx, o); err != nil {
				return err
			}

			if was.Declared {
				changed = append(changed, o.Name)
			}
		}

		for name, o := range before {
			if !o.Declared {
				continue
			}

			if _, err := t.exec(ctx, `UPDATE organizations SET declared = ? WHERE name = ?`, false, name); err != nil {
				return err
			}
		}

		return nil
	})

	return changed, err
}

// CreateOrganization implements organization.Store.
func (s *Store) CreateOrganization(ctx context.Context, o organization.Organization) error {
	return s.write(ctx, "create an organization", allOrganizations, func(t *tx) error {
		n, err := t.countOrganizations(ctx, o.Name)
		if err != nil {
			return err
		}

		if n > 0 {
			return organization.ErrExists
		}

		return t.putOrganization(ctx, o)
	})
}

// UpdateOrganization implements organization.Store.
func (s *Store) UpdateOrganization(
	ctx context.Context, name string, change func(*organization.Organization) error,
) error {
	return s.write(ctx, "update an organization", allOrganizations, func(t *tx) error {
		var rows []organizationRow
		if err := t.list(ctx, &rows, `SELECT name, settings, declared FROM organizations
			WHERE name = ? AND settings IS NOT NULL`+t.dialect.lockRow, name); err != nil {
			return err
		}

		if len(rows) == 0 {
			return organization.ErrNotFound
		}

		o, err := rows[0].organization()
		if err != nil {
			return err
		}

		if o.Declared {
			return organization.ErrDeclared
		}

		if err := change(&o); err != nil {
			return err
		}

		return t.putOrganization(ctx, o)
	})
}

// CreateDefaultOrganization implements organization.Store.
func (s *Store) CreateDefaultOrganization(ctx context.Context, o organization.Organization) error {
	return s.write(ctx, "create the default organization", allOrganizations, func(t *tx) error {
		n, err := t.countOrganizations(ctx, "")
		if err != nil || n > 0 {
			return err
		}

		return t.putOrganization(ctx, o)
	})
}

// countOrganizations counts those of a name, or all for "".
func (t *tx) countOrganizations(ctx context.Context, name string) (n int, err error) {
	err = t.get(ctx, &n, `SELECT COUNT(*) FROM organizations WHERE settings IS NOT NULL AND (name = ? OR ? = '')`,
		name, name)

	return n, err
}

// putOrganization creates or changes one. Where its cap is raised, waiting
// reviews may begin.
func (t *tx) putOrganization(ctx context.Context, o organization.Organization) error {
	settings, err := encodeSettings(o)
	if err != nil {
		return err
	}

	if _, err := t.exec(ctx, `INSERT INTO organizations (name, settings, declared, max_running) VALUES (?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, declared = excluded.declared,
			max_running = excluded.max_running`, o.Name, settings, o.Declared, o.MaxScans); err != nil {
		return err
	}
	t.waits()

	return nil
}

// usageRow counts what an organization has.
type usageRow struct {
	Queued     int       `db:"queued"`
	Running    int       `db:"running"`
	Reviews    int       `db:"reviews"`
	Rules      int       `db:"rules"`
	Keys       int       `db:"keys"`
	LastReview timestamp `db:"last_review"`
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
		var r usageRow
		if err := s.read(ctx, "count an organization", of(o.Name), func(t *tx) error {
			return t.get(ctx, &r, `SELECT o.queued, o.running, o.rules,
				(SELECT COUNT(*) FROM reviews r WHERE r.organization = o.name) AS reviews,
				(SELECT COUNT(*) FROM api_keys k WHERE k.organization = o.name AND k.revoked_at IS NULL) AS keys,
				(SELECT MAX(r.created_at) FROM reviews r WHERE r.organization = o.name) AS last_review
				FROM organizations o WHERE o.name = ?`, o.Name)
		}); err != nil {
			return nil, err
		}

		out[i] = organization.Usage{
			Organization: o, Queued: r.Queued, Running: r.Running, Reviews: r.Reviews, Rules: r.Rules, Keys: r.Keys,
			LastReview: r.LastReview.Time,
		}
	}

	return out, nil
}

// Removed counts what the removal of an organization deleted.
type Removed struct{ Reviews, Findings, Keys int }

// RemoveOrganization ends an organization: its keys and what waits end in the
// first transaction, and then everything of it is deleted step by step, as
// review.Steps does. Until settled has passed servers may still know its keys,
// so its row stays at least as long. What was interrupted goes on when it is
// called again. progress hears how many reviews are deleted so far. It fails
// with organization.ErrNotFound and organization.ErrDeclared.
func (s *Store) RemoveOrganization(
	ctx context.Context, name string, settled time.Duration, progress func(reviews int),
) (Removed, error) {
	var total Removed
	began := time.Now()

	err := s.write(ctx, "end an organization", of(name), func(t *tx) (err error) {
		total.Keys, err = t.endOrganization(ctx, name)

		return err
	})
	if err != nil {
		return total, err
	}

	err = review.Steps(ctx, func() (more bool, err error) {
		var d review.Deleted
		err = s.write(ctx, "delete an organization", of(name), func(t *tx) (err error) {
			d, more, err = t.removeStep(ctx, name)

			return err
		})
		if err != nil {
			return false, err
		}

		total.Reviews += d.Reviews
		total.Findings += d.Findings
		progress(total.Reviews)

		// A request that a server admitted before it knew may still come.
		return more || time.Since(began) < settled, nil
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
	var rows []struct {
		Declared bool `db:"declared"`
	}
	if err := t.list(ctx, &rows, `SELECT declared FROM organizations WHERE name = ?`+t.dialect.lockRow, name); err != nil {
		return 0, err
	}

	switch {
	case len(rows) == 0:
		return 0, organization.ErrNotFound
	case rows[0].Declared:
		return 0, organization.ErrDeclared
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

	_, err = t.exec(ctx, `UPDATE organizations SET settings = NULL, queued = queued - ? WHERE name = ?`, canceled, name)

	return int(deleted), err
}

// removeStep deletes a part of what there is of an organization.
func (t *tx) removeStep(ctx context.Context, name string) (deleted review.Deleted, more bool, err error) {
	var rows []ended
	if err := t.list(ctx, &rows, `SELECT `+endedColumns+` FROM reviews r WHERE organization = ?
		ORDER BY created_at, id LIMIT ?`+t.lockOf("r"), name, purgeReviews); err != nil {
		return deleted, false, err
	}

	batch := firstBatch(rows)
	if deleted, err = t.deleteReviews(ctx, batch); err != nil {
		return deleted, false, err
	}

	for _, r := range batch {
		if !r.Status.Final() {
			if err := t.count(ctx, name, r.Status, "", 1); err != nil {
				return deleted, false, err
			}
		}
	}

	if len(batch) > 0 {
		return deleted, true, nil
	}

	for _, table := range []string{"idempotency_keys", "rules", "rules_files", "scan_durations"} {
		if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE organization = ?`, name); err != nil {
			return deleted, false, err
		}
	}

	return deleted, false, nil
}
