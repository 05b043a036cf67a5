package store

import (
	"context"
	"slices"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
)

// auditColumns are those of auditRow.
const auditColumns = `organization, at, id, actor, address, action, target, detail, request_id`

// auditRow is an event as it is stored.
type auditRow struct {
	Organization string                `db:"organization"`
	At           timestamp             `db:"at"`
	ID           string                `db:"id"`
	Actor        string                `db:"actor"`
	Address      string                `db:"address"`
	Action       audit.Action          `db:"action"`
	Target       string                `db:"target"`
	Detail       jsonOf[[]audit.Field] `db:"detail"`
	RequestID    string                `db:"request_id"`
}

// audit writes the event of a change that the transaction makes. Who makes it is
// in ctx.
func (t *tx) audit(ctx context.Context, org string, c audit.Change) error {
	actor := audit.FromContext(ctx)
	c.Fields = slices.Clone(c.Fields)
	for i, f := range c.Fields { // somebody may have put a key where a name belongs
		c.Fields[i].Before, c.Fields[i].After = auth.MaskTokens(f.Before), auth.MaskTokens(f.After)
	}
	c = c.Bounded()

	return t.insertRow(ctx, "audit_events", auditColumns, auditRow{
		Organization: org, At: at(t.now), ID: audit.NewID(), Actor: actor.String(), Address: actor.Address,
		Action: c.Action, Target: c.Target, Detail: jsonOf[[]audit.Field]{c.Fields},
		RequestID: actor.RequestID,
	})
}

func (r auditRow) event() audit.Event {
	return audit.Event{
		ID: r.ID, Organization: r.Organization, At: r.At.Time, Actor: r.Actor, Address: r.Address, RequestID: r.RequestID,
		Change: audit.Change{Action: r.Action, Target: r.Target, Fields: r.Detail.value},
	}
}

// Events implements audit.Store.
func (s *Store) Events(ctx context.Context, org string, f audit.Filter) ([]audit.Event, error) {
	query, args := s.eventsQuery(org, f)
	var rows []auditRow
	err := s.read(ctx, "read the audit log", keyScope(org), func(t *tx) error {
		return t.list(ctx, &rows, query, args...)
	})
	out := make([]audit.Event, len(rows))
	for i, row := range rows {
		out[i] = row.event()
	}

	return out, err
}

// eventsQuery selects events. SQLite keeps no statistics and would read all of the
// organization instead of those of the actor or action alone, so it is told. Those of
// all organizations are read by time: only the operator's command asks for them, and
// indexes for it would make each event dearer.
func (s *Store) eventsQuery(org string, f audit.Filter) (query string, args []any) {
	query = `SELECT ` + auditColumns + ` FROM audit_events`
	switch {
	case s.dialect.postgres || org == "":
	case f.Actor != "":
		query += " INDEXED BY audit_events_actor"
	case f.Action != "":
		query += " INDEXED BY audit_events_action"
	}
	query += " WHERE 1 = 1"

	where := func(use bool, condition string, values ...any) {
		if use {
			query, args = query+" AND "+condition, append(args, values...)
		}
	}
	where(org != "", "organization = ?", org)
	where(f.Action != "", "action = ?", f.Action)
	where(f.Actor != "", "actor = ?", f.Actor)
	where(!f.Since.IsZero(), "at >= ?", at(f.Since))
	where(!f.Until.IsZero(), "at < ?", at(f.Until))
	where(f.After.ID != "", "(at, id) < (?, ?)", at(f.After.At), f.After.ID)

	return query + " ORDER BY at DESC, id DESC LIMIT ?", append(args, f.Limit)
}
