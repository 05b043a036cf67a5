package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// userColumns are those of userRow.
const userColumns = `id, email, name, password, created_at, last_seen_at, disabled_at`

// userRow is a user as it is stored.
type userRow struct {
	ID         string    `db:"id"`
	Email      string    `db:"email"`
	Name       string    `db:"name"`
	Password   string    `db:"password"`
	CreatedAt  timestamp `db:"created_at"`
	LastSeenAt timestamp `db:"last_seen_at"`
	DisabledAt timestamp `db:"disabled_at"`
}

func (r userRow) user() account.User {
	return account.User{
		ID: r.ID, Email: r.Email, Name: r.Name, Password: r.Password, CreatedAt: r.CreatedAt.Time,
		LastSeenAt: r.LastSeenAt.Time, DisabledAt: r.DisabledAt.Time,
	}
}

// HasUsers implements account.Store.
func (s *Store) HasUsers(ctx context.Context) (has bool, err error) {
	err = s.read(ctx, "look for users", allOrganizations, func(t *tx) (err error) {
		has, err = t.hasUsers(ctx)

		return err
	})

	return has, err
}

func (t *tx) hasUsers(ctx context.Context) (has bool, err error) {
	err = t.get(ctx, &has, `SELECT EXISTS (SELECT 1 FROM users)`)

	return has, err
}

// UserByEmail implements account.Store.
func (s *Store) UserByEmail(ctx context.Context, email string) (u account.User, ok bool, err error) {
	return s.userBy(ctx, "email", email)
}

// UserByID implements account.Store.
func (s *Store) UserByID(ctx context.Context, id string) (u account.User, ok bool, err error) {
	return s.userBy(ctx, "id", id)
}

func (s *Store) userBy(ctx context.Context, column, value string) (u account.User, ok bool, err error) {
	err = s.read(ctx, "read a user", allOrganizations, func(t *tx) (err error) {
		u, ok, err = t.userBy(ctx, column, value)

		return err
	})

	return u, ok, err
}

func (t *tx) userBy(ctx context.Context, column, value string) (u account.User, ok bool, err error) {
	var row userRow
	err = t.get(ctx, &row, `SELECT `+userColumns+` FROM users WHERE `+column+` = ?`, value)
	if errors.Is(err, sql.ErrNoRows) {
		return account.User{}, false, nil
	}

	return row.user(), err == nil, err
}

// existing is userBy of an identifier that has to be there. It keeps others from
// changing the user until the transaction ends.
func (t *tx) existing(ctx context.Context, id string) (account.User, error) {
	var row userRow
	err := t.get(ctx, &row, `SELECT `+userColumns+` FROM users WHERE id = ?`+t.lock("users"), id)
	if errors.Is(err, sql.ErrNoRows) {
		return account.User{}, errs.New(errs.NotFound, errs.ReasonUserNotFound, "There is no user %q.", id)
	}

	return row.user(), err
}

// membershipRow is a membership as it is stored.
type membershipRow struct {
	Organization string
	UserID       string `db:"user_id"`
	Role         auth.Role
}

// Users implements account.Store.
func (s *Store) Users(ctx context.Context, org string) ([]account.Found, error) {
	var users []userRow
	var memberships []membershipRow
	err := s.read(ctx, "read the users", keyScope(org), func(t *tx) error {
		if err := t.list(ctx, &users, `SELECT `+userColumns+` FROM users WHERE ? = '' OR id IN
			(SELECT user_id FROM memberships WHERE organization = ?) ORDER BY email`, org, org); err != nil {
			return err
		}

		return t.list(ctx, &memberships, `SELECT organization, user_id, role FROM memberships
			WHERE ? = '' OR organization = ? ORDER BY organization`, org, org)
	})
	byUser := make(map[string][]account.Membership, len(users))
	for _, m := range memberships {
		byUser[m.UserID] = append(byUser[m.UserID], account.Membership{Organization: m.Organization, Role: m.Role})
	}

	out := make([]account.Found, len(users))
	for i, row := range users {
		row.Password = ""
		out[i] = account.Found{User: row.user(), Memberships: byUser[row.ID]}
	}

	return out, err
}

// AddUser implements account.Store.
func (s *Store) AddUser(
	ctx context.Context, u account.User, m account.Membership,
) (stored account.User, made bool, err error) {
	err = s.write(ctx, "add a user", allOrganizations, func(t *tx) error {
		known, ok, err := t.userBy(ctx, "email", u.Email)
		if err != nil {
			return err
		}
		if stored, made = known, !ok; made {
			if stored, err = t.insertUser(ctx, u, m.Organization); err != nil {
				return err
			}
		}

		return t.join(ctx, stored, m)
	})

	return stored, made, err
}

// insertUser makes a user. Others who make one wait.
func (t *tx) insertUser(ctx context.Context, u account.User, org string) (account.User, error) {
	if err := t.lockOrganizations(ctx); err != nil {
		return account.User{}, err
	}
	row := userRow{ID: u.ID, Email: u.Email, Name: u.Name, Password: u.Password, CreatedAt: at(t.now)}
	if err := t.insertRow(ctx, "users", userColumns, row); err != nil {
		if t.dialect.classify(err) == duplicate {
			return account.User{}, errs.New(errs.AlreadyExists, errs.ReasonUserExists, "There is a user with this email.")
		}

		return account.User{}, err
	}

	return row.user(), t.audit(ctx, org, audit.Change{
		Action: audit.UserCreate, Target: u.ID,
		Fields: []audit.Field{{Name: "email", After: u.Email}, {Name: "name", After: u.Name}},
	})
}

// auditUser writes the event of a change of a user in each of his organizations,
// or in that of the installation when there is none.
func (t *tx) auditUser(ctx context.Context, userID string, c audit.Change) error {
	var orgs []string
	if err := t.list(ctx, &orgs, `SELECT organization FROM memberships WHERE user_id = ? ORDER BY organization`,
		userID); err != nil {
		return err
	}
	if len(orgs) == 0 {
		orgs = []string{audit.Installation}
	}

	for _, org := range orgs {
		if err := t.audit(ctx, org, c); err != nil {
			return err
		}
	}

	return nil
}

// SetName implements account.Store.
func (s *Store) SetName(ctx context.Context, userID, name string) error {
	return s.write(ctx, "name a user", allOrganizations, func(t *tx) error {
		u, err := t.existing(ctx, userID)
		if err != nil || u.Name == name {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE users SET name = ? WHERE id = ?`, name, userID); err != nil {
			return err
		}

		return t.auditUser(ctx, userID, audit.Change{Action: audit.UserName, Target: userID})
	})
}

// SetPassword implements account.Store.
func (s *Store) SetPassword(ctx context.Context, userID, password, keep string) error {
	return s.write(ctx, "set a password", allOrganizations, func(t *tx) error {
		return t.setPassword(ctx, userID, password, keep)
	})
}

func (t *tx) setPassword(ctx context.Context, userID, password, keep string) error {
	if _, err := t.existing(ctx, userID); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE users SET password = ? WHERE id = ?`, password, userID); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ? AND hash <> ?`, userID, keep); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `DELETE FROM account_links WHERE user_id = ?`, userID); err != nil {
		return err
	}

	return t.auditUser(ctx, userID, audit.Change{Action: audit.UserPassword, Target: userID})
}

// Rehash implements account.Store.
func (s *Store) Rehash(ctx context.Context, userID, before, after string) error {
	return s.write(ctx, "hash a password again", allOrganizations, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE users SET password = ? WHERE id = ? AND password = ?`, after, userID, before)

		return err
	})
}

// DisableUser implements account.Store.
func (s *Store) DisableUser(ctx context.Context, userID string, disabled bool) error {
	return s.write(ctx, "disable a user", allOrganizations, func(t *tx) error {
		u, err := t.existing(ctx, userID)
		if err != nil || disabled == !u.DisabledAt.IsZero() {
			return err
		}
		when, action := timestamp{}, audit.UserEnable
		if disabled {
			when, action = at(t.now), audit.UserDisable
			if _, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ?`, userID); err != nil {
				return err
			}
		}
		if _, err := t.exec(ctx, `UPDATE users SET disabled_at = ? WHERE id = ?`, when, userID); err != nil {
			return err
		}

		return t.auditUser(ctx, userID, audit.Change{Action: action, Target: userID})
	})
}

// RemoveUser implements account.Store.
func (s *Store) RemoveUser(ctx context.Context, userID string) error {
	return s.write(ctx, "remove a user", allOrganizations, func(t *tx) error {
		u, err := t.existing(ctx, userID)
		if err != nil {
			return err
		}
		var owns []membershipRow
		if err := t.list(ctx, &owns, `SELECT organization, user_id, role FROM memberships
			WHERE user_id = ? ORDER BY organization`, userID); err != nil {
			return err
		}
		for _, m := range owns {
			if err := t.lockOrganization(ctx, m.Organization); err != nil {
				return err
			}
			if err := t.keepOwner(ctx, m); err != nil {
				return err
			}
		}
		if err := t.auditUser(ctx, userID, audit.Change{
			Action: audit.UserRemove, Target: userID, Fields: []audit.Field{{Name: "email", Before: u.Email}},
		}); err != nil {
			return err
		}
		_, err = t.exec(ctx, `DELETE FROM users WHERE id = ?`, userID)

		return err
	})
}

// PurgeAccounts implements review.RetentionStore.
func (s *Store) PurgeAccounts(ctx context.Context, keep time.Duration) (total int, more bool, err error) {
	err = s.write(ctx, "delete sessions that ended", allOrganizations, func(t *tx) error {
		total, more = 0, false
		old := at(t.now.Add(-keep))
		for _, step := range []struct {
			table, key, which string
			args              []any
		}{
			{"sessions", "hash", "expires_at <= ? OR seen_at <= ?", []any{at(t.now), at(t.now.Add(-account.SessionIdle))}},
			{"account_links", "hash", "expires_at <= ?", []any{at(t.now)}},
			{"invitations", "id", "expires_at <= ? OR used_at <= ? OR revoked_at <= ?", []any{old, old, old}},
		} {
			n, err := t.exec(ctx, `DELETE FROM `+step.table+` WHERE `+step.key+` IN (SELECT `+step.key+` FROM `+
				step.table+` WHERE `+step.which+` LIMIT ?`+t.lockFree(step.table)+`)`, append(step.args, purgeRows)...)
			if err != nil {
				return err
			}
			total, more = total+int(n), more || n == purgeRows
		}

		return nil
	})

	return total, more, err
}
