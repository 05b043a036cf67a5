package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/webhook"
)

// webhookColumns are those of webhookRow.
const webhookColumns = `id, organization, name, url, events, format, sealed, state, reason, failing_since, ` +
	`created_at, created_by, updated_at`

// webhookRow is a webhook as it is stored.
type webhookRow struct {
	ID           string                  `db:"id"`
	Organization string                  `db:"organization"`
	Name         string                  `db:"name"`
	URL          string                  `db:"url"`
	Events       jsonOf[[]webhook.Event] `db:"events"`
	Format       webhook.Format          `db:"format"`
	Sealed       []byte                  `db:"sealed"`
	State        webhook.State           `db:"state"`
	Reason       string                  `db:"reason"`
	FailingSince timestamp               `db:"failing_since"`
	CreatedAt    timestamp               `db:"created_at"`
	CreatedBy    string                  `db:"created_by"`
	UpdatedAt    timestamp               `db:"updated_at"`
}

func webhookRowOf(w webhook.Stored) webhookRow {
	return webhookRow{
		ID: w.ID, Organization: w.Organization, Name: w.Name, URL: w.URL, Events: jsonOf[[]webhook.Event]{w.Events},
		Format: w.Format, Sealed: w.Sealed, State: w.State, Reason: w.Reason, FailingSince: at(w.FailingSince),
		CreatedAt: at(w.CreatedAt), CreatedBy: w.CreatedBy, UpdatedAt: at(w.UpdatedAt),
	}
}

func (r webhookRow) stored() webhook.Stored {
	return webhook.Stored{Sealed: r.Sealed, Webhook: webhook.Webhook{
		ID: r.ID, Organization: r.Organization, Name: r.Name, URL: r.URL, Events: r.Events.value, Format: r.Format,
		State: r.State, Reason: r.Reason, FailingSince: r.FailingSince.Time,
		CreatedAt: r.CreatedAt.Time, CreatedBy: r.CreatedBy, UpdatedAt: r.UpdatedAt.Time,
	}}
}

// CreateWebhook implements webhook.Store.
func (s *Store) CreateWebhook(ctx context.Context, w webhook.Stored, quota int) (out webhook.Stored, err error) {
	err = s.write(ctx, "create a webhook", of(w.Organization), func(t *tx) error {
		if err := t.takeOrganization(ctx, w.Organization); err != nil {
			return err
		}
		var count int
		if err := t.get(ctx, &count, `SELECT COUNT(*) FROM webhooks WHERE organization = ?`, w.Organization); err != nil {
			return err
		}
		if count >= quota {
			return webhook.OverQuota(count)
		}

		row := webhookRowOf(w)
		row.CreatedAt, row.UpdatedAt = at(t.now), at(t.now)
		if err := t.insertRow(ctx, "webhooks", webhookColumns, row); err != nil {
			return err
		}
		out = row.stored()

		return t.audit(ctx, w.Organization, audit.Change{
			Action: audit.WebhookCreate, Target: w.ID, Fields: audit.Diff(nil, w.Audited()),
		})
	})

	return out, err
}

// ReadWebhook implements webhook.Store.
func (s *Store) ReadWebhook(ctx context.Context, org, id string) (out webhook.Stored, err error) {
	err = s.read(ctx, "read a webhook", of(org), func(t *tx) (err error) {
		out, err = t.webhook(ctx, org, id, "")

		return err
	})

	return out, err
}

// webhook reads a webhook of an organization. lock is that of tx.
func (t *tx) webhook(ctx context.Context, org, id, lock string) (webhook.Stored, error) {
	var row webhookRow
	err := t.get(ctx, &row, `SELECT `+webhookColumns+` FROM webhooks WHERE organization = ? AND id = ?`+lock, org, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = webhook.NotFound(id)
	}

	return row.stored(), err
}

// ListWebhooks implements webhook.Store.
func (s *Store) ListWebhooks(ctx context.Context, org string) ([]webhook.Stored, error) {
	where := "organization = ?"
	if org == "" {
		where = "? = ''"
	}

	var rows []webhookRow
	err := s.read(ctx, "read webhooks", keyScope(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+webhookColumns+` FROM webhooks WHERE `+where+` ORDER BY created_at, id`, org)
	})
	out := make([]webhook.Stored, len(rows))
	for i, row := range rows {
		out[i] = row.stored()
	}

	return out, err
}

// ChangeWebhook implements webhook.Store.
func (s *Store) ChangeWebhook(
	ctx context.Context, org, id string, change func(*webhook.Stored) (audit.Change, error),
) (out webhook.Stored, err error) {
	err = s.write(ctx, "change a webhook", of(org), func(t *tx) error {
		if out, err = t.webhook(ctx, org, id, t.lock("webhooks")); err != nil {
			return err
		}
		event, err := change(&out)
		if err != nil || event.Action == "" {
			return err
		}
		out.UpdatedAt = t.now
		if err := t.putWebhook(ctx, out); err != nil {
			return err
		}

		return t.audit(ctx, org, event)
	})

	return out, err
}

// putWebhook writes what can change of a webhook. Nothing more is sent to a disabled one.
func (t *tx) putWebhook(ctx context.Context, w webhook.Stored) error {
	_, err := t.NamedExecContext(ctx, `UPDATE webhooks SET name = :name, url = :url, events = :events, sealed = :sealed,
		state = :state, reason = :reason, failing_since = :failing_since, updated_at = :updated_at
		WHERE organization = :organization AND id = :id`, webhookRowOf(w))
	if err == nil && w.State == webhook.Disabled {
		_, err = t.exec(ctx, `UPDATE webhook_messages SET state = 'failed'
			WHERE organization = ? AND webhook_id = ? AND state = 'waiting'`, w.Organization, w.ID)
	}

	return err
}

// DeleteWebhook implements webhook.Store. A message that another transaction is just
// writing is deleted by retention.
func (s *Store) DeleteWebhook(ctx context.Context, org, id string) error {
	return s.write(ctx, "delete a webhook", of(org), func(t *tx) error {
		w, err := t.webhook(ctx, org, id, t.lock("webhooks"))
		if err != nil {
			return err
		}
		for _, query := range []string{
			`DELETE FROM webhook_messages WHERE organization = ? AND webhook_id = ?`,
			`DELETE FROM webhook_deliveries WHERE organization = ? AND webhook_id = ?`,
			`DELETE FROM webhooks WHERE organization = ? AND id = ?`,
		} {
			if _, err := t.exec(ctx, query, org, id); err != nil {
				return err
			}
		}

		return t.audit(ctx, org, audit.Change{
			Action: audit.WebhookDelete, Target: id, Fields: audit.Diff(w.Audited(), nil),
		})
	})
}

// ResealWebhook implements webhook.Store.
func (s *Store) ResealWebhook(ctx context.Context, org, id string, before, after []byte) error {
	return s.write(ctx, "seal the secrets of a webhook", of(org), func(t *tx) error {
		w, err := t.webhook(ctx, org, id, t.lock("webhooks"))
		if err != nil || !bytes.Equal(w.Sealed, before) {
			return err
		}
		w.Sealed = after
		if err := t.putWebhook(ctx, w); err != nil {
			return err
		}

		return t.audit(ctx, org, audit.Change{Action: audit.WebhookReseal, Target: id})
	})
}
