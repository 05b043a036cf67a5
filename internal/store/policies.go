package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/policy"
)

// policyRow is the policy of an organization as it is stored.
type policyRow struct {
	Document  string    `db:"document"`
	UpdatedAt timestamp `db:"updated_at"`
	UpdatedBy string    `db:"updated_by"`
}

func (r policyRow) stored() (policy.Stored, error) {
	p, err := policy.FromJSON([]byte(r.Document))

	return policy.Stored{Policy: p, UpdatedAt: r.UpdatedAt.Time, UpdatedBy: r.UpdatedBy}, err
}

// ReadPolicy implements policy.Store.
func (s *Store) ReadPolicy(ctx context.Context, org string) (out policy.Stored, err error) {
	err = s.read(ctx, "read a policy", of(org), func(t *tx) (err error) {
		out, err = t.policy(ctx, org)

		return err
	})

	return out, err
}

// policy reads the policy of an organization.
func (t *tx) policy(ctx context.Context, org string) (policy.Stored, error) {
	var row policyRow
	err := t.get(ctx, &row, `SELECT document, updated_at, updated_by FROM policies WHERE organization = ?`, org)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return policy.Stored{Policy: policy.Default()}, nil
	case err != nil:
		return policy.Stored{}, err
	}

	return row.stored()
}

// SetPolicy implements policy.Store.
func (s *Store) SetPolicy(
	ctx context.Context, org string, p policy.Policy, etag string,
) (out policy.Stored, err error) {
	err = s.write(ctx, "set a policy", of(org), func(t *tx) error {
		if err := t.takeOrganization(ctx, org); err != nil {
			return err
		}
		before, err := t.policy(ctx, org)
		switch {
		case err != nil:
			return err
		case etag != "" && etag != before.ETag():
			return policy.EtagMismatch()
		case before.Equal(p):
			out = before
			return nil
		}

		out = policy.Stored{Policy: p, UpdatedAt: at(t.now).Time, UpdatedBy: audit.FromContext(ctx).String()}
		if _, err := t.exec(ctx, `INSERT INTO policies (organization, document, updated_at, updated_by)
			VALUES (?, ?, ?, ?) ON CONFLICT (organization) DO UPDATE SET document = excluded.document,
				updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
			org, string(out.JSON()), at(out.UpdatedAt), out.UpdatedBy); err != nil {
			return err
		}

		return t.audit(ctx, org, audit.Change{
			Action: audit.PolicyUpdate, Target: "policy", Fields: audit.Diff(before.Policy, p),
		})
	})

	return out, err
}
