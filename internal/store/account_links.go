package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// SetUp implements account.Store.
func (s *Store) SetUp(ctx context.Context, linkHash string, u account.User, org string) (out account.User, err error) {
	err = s.write(ctx, "make the first user", allOrganizations, func(t *tx) error {
		if err := t.lockOrganizations(ctx); err != nil {
			return err
		}
		if _, err := t.linkUser(ctx, account.SetUpLink, linkHash); err != nil {
			return err
		}
		if out, err = t.insertUser(ctx, u, org); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM account_links WHERE kind = 'setup'`); err != nil {
			return err
		}

		return t.join(ctx, out, account.Membership{Organization: org, Role: auth.Owner})
	})

	return out, err
}

// ResetPassword implements account.Store.
func (s *Store) ResetPassword(ctx context.Context, linkHash, password string) (u account.User, err error) {
	err = s.write(ctx, "reset a password", allOrganizations, func(t *tx) error {
		if u, err = t.linkUser(ctx, account.ResetLink, linkHash); err != nil {
			return err
		}
		used, err := t.exec(ctx, `DELETE FROM account_links WHERE hash = ?`, linkHash)
		if err == nil && used == 0 { // somebody else was faster
			err = errLink()
		}
		if err != nil {
			return err
		}

		return t.setPassword(ctx, u.ID, password, "")
	})

	return u, err
}

func errLink() error {
	return errs.New(errs.NotFound, errs.ReasonLinkNotFound,
		"This link was used or is too old. Ask for another one.")
}

// LinkUser implements account.Store.
func (s *Store) LinkUser(ctx context.Context, kind account.LinkKind, hash string) (u account.User, err error) {
	err = s.read(ctx, "read a link", allOrganizations, func(t *tx) (err error) {
		u, err = t.linkUser(ctx, kind, hash)

		return err
	})
	u.Password = ""

	return u, err
}

func (t *tx) linkUser(ctx context.Context, kind account.LinkKind, hash string) (u account.User, err error) {
	var userID sql.NullString
	err = t.get(ctx, &userID, `SELECT user_id FROM account_links WHERE hash = ? AND kind = ? AND expires_at > ?`,
		hash, kind, at(t.now))
	if errors.Is(err, sql.ErrNoRows) {
		return u, errLink()
	}
	if err != nil {
		return u, err
	}
	if kind == account.SetUpLink {
		if has, err := t.hasUsers(ctx); err != nil || !has {
			return u, err
		}

		return u, errLink()
	}
	u, _, err = t.userBy(ctx, "id", userID.String)

	return u, err
}

// CreateLink implements account.Store.
func (s *Store) CreateLink(ctx context.Context, l account.Link) error {
	return s.write(ctx, "make a link", allOrganizations, func(t *tx) error {
		if l.Kind == account.SetUpLink {
			has, err := t.hasUsers(ctx)
			if err == nil && has {
				err = errs.New(errs.FailedPrecondition, errs.ReasonUserExists, "There is a user already.")
			}
			if err != nil {
				return err
			}

			return t.insertLink(ctx, l)
		}
		if _, err := t.existing(ctx, l.UserID); err != nil {
			return err
		}
		if err := t.insertLink(ctx, l); err != nil {
			return err
		}

		return t.auditUser(ctx, l.UserID, audit.Change{Action: audit.UserReset, Target: l.UserID})
	})
}

// insertLink makes a link in place of earlier ones of the user.
func (t *tx) insertLink(ctx context.Context, l account.Link) error {
	if l.UserID != "" {
		if _, err := t.exec(ctx, `DELETE FROM account_links WHERE user_id = ?`, l.UserID); err != nil {
			return err
		}
	}
	_, err := t.exec(ctx, `INSERT INTO account_links (hash, kind, user_id, expires_at) VALUES (?, ?, ?, ?)`,
		l.Hash, l.Kind, sql.NullString{String: l.UserID, Valid: l.UserID != ""}, at(l.ExpiresAt))

	return err
}
