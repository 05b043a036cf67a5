package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/webhook"
)

// OnMessage has f called after each transaction that leaves messages for webhooks. f must
// return at once.
func (s *Store) OnMessage(f func()) { s.onMessage.Store(&f) }

// messageColumns are those of messageRow.
const messageColumns = `organization, webhook_id, id, event, data, state, created_at, not_before, attempt, tries`

// messageRow is a message as it is stored.
type messageRow struct {
	Organization string               `db:"organization"`
	Webhook      string               `db:"webhook_id"`
	ID           string               `db:"id"`
	Event        webhook.Event        `db:"event"`
	Data         jsonOf[webhook.Data] `db:"data"`
	State        webhook.MessageState `db:"state"`
	CreatedAt    timestamp            `db:"created_at"`
	NotBefore    timestamp            `db:"not_before"`
	Attempt      int                  `db:"attempt"`
	Tries        int                  `db:"tries"`
}

func (r messageRow) message() webhook.Message {
	m := webhook.Message{
		ID: r.ID, Organization: r.Organization, Webhook: r.Webhook, Event: r.Event, Data: r.Data.value, State: r.State,
		CreatedAt: r.CreatedAt.Time,
	}
	if r.State == webhook.Waiting {
		m.NextAt = r.NotBefore.Time
	}

	return m
}

// announce stores a message for each active webhook that subscribes to an event. data is
// called only when there is one.
func (t *tx) announce(
	ctx context.Context, org string, event webhook.Event, data func() (webhook.Data, error),
) error {
	var rows []struct {
		ID     string
		Events jsonOf[[]webhook.Event]
	}
	if err := t.list(ctx, &rows, `SELECT id, events FROM webhooks WHERE organization = ? AND state = 'active'`,
		org); err != nil {
		return err
	}
	var to []string
	for _, row := range rows {
		if slices.Contains(row.Events.value, event) {
			to = append(to, row.ID)
		}
	}
	if len(to) == 0 {
		return nil
	}

	of, err := data()
	if err != nil {
		return err
	}

	return t.queueMessages(ctx, org, event, webhook.NewMessageID(), of, to...)
}

// queueMessages stores a message for each of some webhooks.
func (t *tx) queueMessages(
	ctx context.Context, org string, event webhook.Event, id string, data webhook.Data, to ...string,
) error {
	t.messages = true

	return t.insert(ctx, "webhook_messages", messageColumns, len(to), func(i int) []any {
		return []any{
			org, to[i], id, event, jsonOf[webhook.Data]{data}, webhook.Waiting, at(t.now), at(t.now), 0, 0,
		}
	})
}

// announceReview is announce of a review, as it is in the transaction.
func (t *tx) announceReview(ctx context.Context, org string, event webhook.Event, id string) error {
	return t.announce(ctx, org, event, func() (webhook.Data, error) {
		row, err := t.review(ctx, org, id)
		data := webhook.Data{
			Organization: org, ReviewID: id, Repo: row.Repo, PRNumber: row.PRNumber, HeadSHA: row.HeadSHA,
			Verdict: row.Outcome, FailureCode: row.FailureCode.String,
		}
		if event == webhook.ReviewCompleted {
			data.Findings = row.Summary.value
		}

		return data, err
	})
}

// announceBroken is announce of a connection that has just broken.
func (t *tx) announceBroken(ctx context.Context, before connection.State, c connection.Connection) error {
	if before == connection.Broken || c.State != connection.Broken {
		return nil
	}

	return t.announce(ctx, c.Organization, webhook.ConnectionBroken, func() (webhook.Data, error) {
		return webhook.Data{Organization: c.Organization, ConnectionID: c.ID, Connection: c.Name}, nil
	})
}

// ListMessages implements webhook.Store.
func (s *Store) ListMessages(ctx context.Context, org, id string, limit int) ([]webhook.Message, error) {
	var rows []messageRow
	var attempts []attemptRow
	err := s.read(ctx, "read messages of a webhook", of(org), func(t *tx) error {
		if err := t.list(ctx, &rows, `SELECT `+messageColumns+` FROM webhook_messages
			WHERE organization = ? AND webhook_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`, org, id, limit); err != nil ||
			len(rows) == 0 {
			return err
		}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
		}
		condition, args := in("message_id", ids)

		return t.list(ctx, &attempts, `SELECT message_id, at, status, duration_us, answer, error FROM webhook_deliveries
			WHERE organization = ? AND webhook_id = ? AND `+condition+` ORDER BY attempt`,
			append([]any{org, id}, args...)...)
	})

	out := make([]webhook.Message, len(rows))
	for i, row := range rows {
		out[i] = row.message()
		for _, a := range attempts {
			if a.Message == row.ID {
				out[i].Attempts = append(out[i].Attempts, a.attempt())
			}
		}
	}

	return out, err
}

// attemptRow is an attempt as it is stored.
type attemptRow struct {
	Message  string `db:"message_id"`
	At       timestamp
	Status   int
	Duration int64 `db:"duration_us"`
	Answer   string
	Error    string
}

func (r attemptRow) attempt() webhook.Attempt {
	return webhook.Attempt{
		At: r.At.Time, Status: r.Status, Duration: time.Duration(r.Duration) * time.Microsecond, Answer: r.Answer,
		Error: r.Error,
	}
}

// activeWebhook reads a webhook that messages can be sent to.
func (t *tx) activeWebhook(ctx context.Context, org, id string) error {
	w, err := t.webhook(ctx, org, id, t.lock("webhooks"))
	if err == nil && w.State != webhook.Active {
		err = webhook.IsDisabled(w.Reason)
	}

	return err
}

// QueueTest implements webhook.Store.
func (s *Store) QueueTest(ctx context.Context, org, id, message string) error {
	return s.write(ctx, "test a webhook", of(org), func(t *tx) error {
		if err := t.activeWebhook(ctx, org, id); err != nil {
			return err
		}

		return t.queueMessages(ctx, org, webhook.Test, message, webhook.Data{Organization: org}, id)
	})
}

// RequeueMessage implements webhook.Store. A lease is left to whoever has it.
func (s *Store) RequeueMessage(ctx context.Context, org, id, message string) error {
	return s.write(ctx, "send a message again", of(org), func(t *tx) error {
		if err := t.activeWebhook(ctx, org, id); err != nil {
			return err
		}
		n, err := t.exec(ctx, `UPDATE webhook_messages SET state = 'waiting', tries = 0, not_before = ?
			WHERE organization = ? AND webhook_id = ? AND id = ?`, at(t.now), org, id, message)
		if err == nil && n == 0 {
			err = webhook.MessageNotFound(message)
		}
		t.messages = true

		return err
	})
}

// ClaimMessage implements webhook.Store. Like all that writes both, it locks the row of
// the webhook before that of the message.
func (s *Store) ClaimMessage(
	ctx context.Context, except webhook.Except, lease, slackGap time.Duration,
) (out *webhook.Claim, err error) {
	err = s.write(ctx, "claim a message of a webhook", allOrganizations, func(t *tx) error {
		out = nil
		passed := webhook.Except{Webhooks: slices.Clone(except.Webhooks), Organizations: except.Organizations}
		for {
			org, id, err := t.dueWebhook(ctx, passed)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err == nil {
				out, err = t.claimMessage(ctx, org, id, lease, slackGap)
			}
			if err != nil || out != nil {
				return err
			}
			passed.Webhooks = append(passed.Webhooks, id) // other claims were faster
		}
	})

	return out, err
}

// dueWebhook is the one with the message that has been due longest; sql.ErrNoRows for
// none. Only the first message of each webhook is looked at, so that many messages of one
// that is held, or excepted, cost nothing.
func (t *tx) dueWebhook(ctx context.Context, except webhook.Except) (org, id string, err error) {
	now := at(t.now)
	condition, args := "", []any{now, now, now}
	for _, list := range []struct {
		column string
		values []string
	}{{"w.id", except.Webhooks}, {"w.organization", except.Organizations}} {
		if len(list.values) > 0 {
			var excepted string
			excepted, args = in(list.column, list.values, args...)
			condition += " AND NOT " + excepted
		}
	}

	var row struct{ Organization, ID string }
	err = t.get(ctx, &row, `SELECT organization, id FROM (SELECT w.organization, w.id, (SELECT m.not_before
			FROM webhook_messages m WHERE m.organization = w.organization AND m.webhook_id = w.id AND m.state = 'waiting'
				AND m.not_before <= ? AND m.lease_until <= ? ORDER BY m.not_before, m.created_at LIMIT 1) AS due
		FROM webhooks w WHERE w.state = 'active' AND w.not_before <= ?`+condition+`) d
		WHERE due IS NOT NULL ORDER BY due LIMIT 1`, args...)

	return row.Organization, row.ID, err
}

// claimMessage claims the message of a webhook that has been due longest; nil when others
// claimed them all.
func (t *tx) claimMessage(
	ctx context.Context, org, id string, lease, slackGap time.Duration,
) (*webhook.Claim, error) {
	to, err := t.webhook(ctx, org, id, "")
	if errs.ReasonOf(err) == errs.ReasonWebhookNotFound {
		return nil, nil // it was deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	now := at(t.now)
	if to.Format == webhook.Slack {
		n, err := t.exec(ctx, `UPDATE webhooks SET not_before = ? WHERE organization = ? AND id = ? AND state = 'active'
			AND not_before <= ?`, at(t.now.Add(slackGap)), org, id, now)
		if err != nil || n == 0 {
			return nil, err
		}
	}
	var row messageRow
	err = t.get(ctx, &row, `SELECT `+messageColumns+` FROM webhook_messages
		WHERE organization = ? AND webhook_id = ? AND state = 'waiting' AND not_before <= ? AND lease_until <= ?
		ORDER BY not_before, created_at LIMIT 1`+t.lockFree("webhook_messages"), org, id, now, now)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = t.exec(ctx, `UPDATE webhook_messages SET attempt = attempt + 1, lease_until = ?
		WHERE organization = ? AND webhook_id = ? AND id = ?`, at(t.now.Add(lease)), org, id, row.ID)

	return &webhook.Claim{Message: row.message(), To: to, Attempt: row.Attempt + 1, Tries: row.Tries}, err
}

// EndAttempt implements webhook.Store.
func (s *Store) EndAttempt(ctx context.Context, c webhook.Claim, e webhook.End) error {
	m := c.Message

	return s.write(ctx, "end a delivery of a webhook", of(m.Organization), func(t *tx) error {
		w, err := t.webhook(ctx, m.Organization, m.Webhook, t.lock("webhooks"))
		if errs.ReasonOf(err) == errs.ReasonWebhookNotFound {
			return nil // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		tries := c.Tries + 1
		n, err := t.exec(ctx, `UPDATE webhook_messages SET state = CASE WHEN state = 'waiting' THEN ? ELSE state END,
				tries = ?, lease_until = 0, not_before = ?
			WHERE organization = ? AND webhook_id = ? AND id = ? AND attempt = ?`,
			e.State, tries, at(t.now.Add(e.After)), m.Organization, m.Webhook, m.ID, c.Attempt)
		if err != nil || n == 0 {
			return err
		}
		a := e.Attempt
		if err := t.insert(ctx, "webhook_deliveries",
			"organization, webhook_id, message_id, attempt, at, status, duration_us, answer, error", 1,
			func(int) []any {
				return []any{
					m.Organization, m.Webhook, m.ID, c.Attempt, at(a.At), a.Status, a.Duration.Microseconds(), a.Answer, a.Error,
				}
			}); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM webhook_deliveries
			WHERE organization = ? AND webhook_id = ? AND message_id = ? AND attempt <= ?`,
			m.Organization, m.Webhook, m.ID, c.Attempt-webhook.KeptAttempts); err != nil {
			return err
		}

		return t.judgeWebhook(ctx, w, e, tries)
	})
}

// judgeWebhook keeps how well a webhook works after an attempt, and disables it.
func (t *tx) judgeWebhook(ctx context.Context, w webhook.Stored, e webhook.End, tries int) error {
	if e.Hold > 0 {
		if _, err := t.exec(ctx, `UPDATE webhooks SET not_before = ? WHERE organization = ? AND id = ?`,
			at(t.now.Add(e.Hold)), w.Organization, w.ID); err != nil {
			return err
		}
	}

	failing := w.FailingSince
	switch {
	case e.State == webhook.Delivered:
		failing = time.Time{}
	case failing.IsZero():
		failing = t.now
	}
	reason := ""
	switch {
	case e.Gone:
		reason = webhook.ReasonGone
	case !failing.IsZero() && !failing.Add(webhook.DisableAfter).After(t.now) && tries >= webhook.DisableTries:
		reason = webhook.ReasonFailing
	}
	if failing.Equal(w.FailingSince) && reason == "" {
		return nil
	}
	w.FailingSince = failing
	if reason != "" && w.State == webhook.Active {
		w.State, w.Reason = webhook.Disabled, reason
	}

	return t.putWebhook(ctx, w)
}

// PurgeMessages implements review.RetentionStore. It waits for no message that somebody
// else writes, and leaves no attempt without its message.
func (s *Store) PurgeMessages(
	ctx context.Context, keep time.Duration, latest time.Time,
) (n int, more bool, err error) {
	return s.purge(ctx, "delete old messages of webhooks", latest, func(t *tx, now time.Time) (int64, error) {
		old := `(SELECT organization, webhook_id, id FROM webhook_messages WHERE created_at <= ? AND lease_until <= ?
			ORDER BY created_at LIMIT ?` + t.lockFree("webhook_messages") + `)`
		args := []any{at(now.Add(-keep)), at(now), purgeMessages}
		if _, err := t.exec(ctx, `DELETE FROM webhook_deliveries WHERE (organization, webhook_id, message_id) IN `+old,
			args...); err != nil {
			return 0, err
		}

		return t.exec(ctx, `DELETE FROM webhook_messages WHERE (organization, webhook_id, id) IN `+old+`
			AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.organization = webhook_messages.organization
				AND d.webhook_id = webhook_messages.webhook_id AND d.message_id = webhook_messages.id)`, args...)
	})
}
