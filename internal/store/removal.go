package store

import (
	"context"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/review"
)

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
			n, more, err = t.removeStep(ctx, name)

			return err
		})

		// A request that a server admitted before it knew may still come.
		return n, more || time.Since(began) < settled, err
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

// ownedTables are the tables whose rows belong to an organization and hang on
// nothing else, each with what tells those of one organization apart.
var ownedTables = []struct{ name, key string }{
	{"idempotency_keys", "idem_key"}, {"rules", "full_id"}, {"rule_history", "seq"}, {"rules_files", "repo"},
	{"policies", "organization"}, {"scan_durations", "repo"}, {"audit_events", "at, id"},
	{"commands", "connection_id, name"},
	{"triage_changes", "change_id, fingerprint"}, {"triage", "repo, fingerprint, pr_number"},
	{"threads", "repo, number, fingerprint"}, {"published", "repo, number, sink"}, {"pull_requests", "repo, number"},
	{"connection_calls", "connection_id"},
	{"finding_days", "day, repo, rule_id, severity"}, {"open_days", "day, repo, severity"},
	{"finding_lives", "repo, pr_number, fingerprint"}, {"connections", "id"},
	{"connection_setups", "state_hash"}, {"api_keys", "id"}, {"memberships", "user_id"}, {"invitations", "id"},
	{"deliveries", "connection_id, id"}, {"sweeps", "connection_id"},
	{"webhooks", "id"}, {"webhook_messages", "webhook_id, id"}, {"webhook_deliveries", "webhook_id, message_id, attempt"},
}

// removeStep deletes a part of what there is of an organization, and returns how
// many reviews that were and whether there may be more.
func (t *tx) removeStep(ctx context.Context, name string) (n int, more bool, err error) {
	reviews, err := t.deleteReviews(ctx, `organization = ? ORDER BY created_at, id LIMIT ?`+t.lock("reviews"),
		name, purgeReviews)
	if err != nil {
		return 0, false, err
	}
	for _, r := range reviews {
		if !r.Status.Final() {
			if err := t.count(ctx, name, r.Status, ""); err != nil {
				return 0, false, err
			}
		}
	}
	if len(reviews) > 0 {
		return len(reviews), true, nil
	}

	left := int64(purgeRows)
	for _, table := range ownedTables {
		deleted, err := t.exec(ctx, `DELETE FROM `+table.name+` WHERE (organization, `+table.key+`) IN
			(SELECT organization, `+table.key+` FROM `+table.name+` WHERE organization = ? LIMIT ?)`, name, left)
		if err != nil {
			return 0, false, err
		}
		if left -= deleted; left == 0 {
			return 0, true, nil
		}
	}

	return 0, false, nil
}
