package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
)

// sessionColumns are those of sessionRow.
const sessionColumns = `hash, id, user_id, method, address, agent, created_at, seen_at, fresh_until, expires_at`

// sessionRow is a session as it is stored.
type sessionRow struct {
	Hash       string    `db:"hash"`
	ID         string    `db:"id"`
	UserID     string    `db:"user_id"`
	Method     string    `db:"method"`
	Address    string    `db:"address"`
	Agent      string    `db:"agent"`
	CreatedAt  timestamp `db:"created_at"`
	SeenAt     timestamp `db:"seen_at"`
	FreshUntil timestamp `db:"fresh_until"`
	ExpiresAt  timestamp `db:"expires_at"`
}

func (r sessionRow) session() account.Session {
	return account.Session{
		ID: r.ID, Hash: r.Hash, UserID: r.UserID, Method: r.Method, Address: r.Address, Agent: r.Agent,
		CreatedAt: r.CreatedAt.Time, SeenAt: r.SeenAt.Time, FreshUntil: r.FreshUntil.Time, ExpiresAt: r.ExpiresAt.Time,
	}
}

// CreateSession implements account.Store.
func (s *Store) CreateSession(ctx context.Context, session account.Session, most int) error {
	return s.write(ctx, "make a session", allOrganizations, func(t *tx) error {
		u, err := t.existing(ctx, session.UserID)
		if errs.KindOf(err) == errs.NotFound && err != nil || err == nil && !u.DisabledAt.IsZero() {
			return errs.New(errs.Unauthenticated, errs.ReasonSignInFailed, "The email or the password is wrong.")
		}
		if err != nil {
			return err
		}

		if err := t.insertRow(ctx, "sessions", sessionColumns, sessionRow{
			Hash: session.Hash, ID: session.ID, UserID: session.UserID, Method: session.Method, Address: session.Address,
			Agent: clean(session.Agent), CreatedAt: at(t.now), SeenAt: at(t.now), FreshUntil: at(session.FreshUntil),
			ExpiresAt: at(session.ExpiresAt),
		}); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ? AND hash NOT IN
			(SELECT hash FROM sessions WHERE user_id = ? ORDER BY seen_at DESC, hash LIMIT ?)`,
			session.UserID, session.UserID, most); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE users SET last_seen_at = ? WHERE id = ?`, at(t.now), session.UserID); err != nil {
			return err
		}

		return t.auditUser(ctx, session.UserID, audit.Change{
			Action: audit.SessionCreate, Target: session.ID, Fields: []audit.Field{{Name: "method", After: session.Method}},
		})
	})
}

// SessionByHash implements account.Store.
func (s *Store) SessionByHash(ctx context.Context, hash string) (f account.Found, ok bool, err error) {
	err = s.read(ctx, "read a session", allOrganizations, func(t *tx) error {
		var row sessionRow
		err := t.get(ctx, &row, `SELECT `+sessionColumns+` FROM sessions WHERE hash = ?`, hash)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}

		f = account.Found{Session: row.session()}
		if f.User, ok, err = t.userBy(ctx, "id", row.UserID); err != nil {
			return err
		}
		f.User.Password = ""
		var memberships []membershipRow
		err = t.list(ctx, &memberships, `SELECT m.organization, m.user_id, m.role FROM memberships m
			JOIN organizations o ON o.name = m.organization AND o.settings IS NOT NULL
			WHERE m.user_id = ? ORDER BY m.organization`, row.UserID)
		for _, m := range memberships {
			f.Memberships = append(f.Memberships, account.Membership{Organization: m.Organization, Role: m.Role})
		}

		return err
	})

	return f, ok && err == nil, err
}

func errNoSession() error {
	return errs.New(errs.NotFound, errs.ReasonSessionNotFound, "There is no such session.")
}

// RenewSession implements account.Store.
func (s *Store) RenewSession(ctx context.Context, before, after string, freshUntil time.Time) error {
	return s.write(ctx, "renew a session", allOrganizations, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE sessions SET hash = ?, fresh_until = ?, seen_at = ? WHERE hash = ?`,
			after, at(freshUntil), at(t.now), before)
		if err == nil && n == 0 {
			return errNoSession()
		}

		return err
	})
}

// TouchSessions implements account.Store.
func (s *Store) TouchSessions(ctx context.Context, used map[string]time.Time) error {
	if len(used) == 0 {
		return nil
	}

	return s.write(ctx, "store when sessions were used", allOrganizations, func(t *tx) error {
		// In one order, so that two servers can't wait for each other's rows.
		for _, hash := range slices.Sorted(maps.Keys(used)) {
			if _, err := t.exec(ctx, `UPDATE sessions SET seen_at = ? WHERE hash = ? AND seen_at < ?`,
				at(used[hash]), hash, at(used[hash])); err != nil {
				return err
			}
		}

		return nil
	})
}

// Sessions implements account.Store.
func (s *Store) Sessions(ctx context.Context, userID string) ([]account.Session, error) {
	var rows []sessionRow
	err := s.read(ctx, "read sessions", allOrganizations, func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+sessionColumns+` FROM sessions
			WHERE user_id = ? AND expires_at > ? AND seen_at > ? ORDER BY seen_at DESC, id`,
			userID, at(t.now), at(t.now.Add(-account.SessionIdle)))
	})
	out := make([]account.Session, len(rows))
	for i, row := range rows {
		out[i] = row.session()
	}

	return out, err
}

// EndSession implements account.Store.
func (s *Store) EndSession(ctx context.Context, userID, id string) error {
	return s.write(ctx, "end a session", allOrganizations, func(t *tx) error {
		n, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ? AND id = ?`, userID, id)
		if err == nil && n == 0 {
			err = errNoSession()
		}
		if err != nil {
			return err
		}

		return t.auditUser(ctx, userID, audit.Change{Action: audit.SessionRevoke, Target: id})
	})
}

// EndSessions implements account.Store.
func (s *Store) EndSessions(ctx context.Context, userID string) (ended int, err error) {
	err = s.write(ctx, "end sessions", allOrganizations, func(t *tx) error {
		n, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ?`, userID)
		ended = int(n)
		if err != nil || n == 0 {
			return err
		}

		return t.auditUser(ctx, userID, audit.Change{Action: audit.SessionRevoke, Target: userID})
	})

	return ended, err
}
