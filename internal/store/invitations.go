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

// invitationColumns are those of invitationRow.
const invitationColumns = `id, organization, email, role, hash, invited_by, created_at, expires_at`

// openInvitation is the condition for those that can be accepted at a time.
const openInvitation = `used_at IS NULL AND revoked_at IS NULL AND expires_at > ?`

// invitationRow is an invitation as it is stored.
type invitationRow struct {
	ID           string    `db:"id"`
	Organization string    `db:"organization"`
	Email        string    `db:"email"`
	Role         auth.Role `db:"role"`
	Hash         string    `db:"hash"`
	InvitedBy    string    `db:"invited_by"`
	CreatedAt    timestamp `db:"created_at"`
	ExpiresAt    timestamp `db:"expires_at"`
}

func (r invitationRow) invitation() account.Invitation {
	return account.Invitation{
		ID: r.ID, Organization: r.Organization, Email: r.Email, Role: r.Role, Hash: r.Hash, InvitedBy: r.InvitedBy,
		CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time,
	}
}

// Invite implements account.Store.
func (s *Store) Invite(ctx context.Context, i account.Invitation, by auth.Caller) (account.Invitation, error) {
	row := invitationRow{
		ID: i.ID, Organization: i.Organization, Email: i.Email, Role: i.Role, Hash: i.Hash, InvitedBy: i.InvitedBy,
		ExpiresAt: at(i.ExpiresAt),
	}
	err := s.write(ctx, "invite", of(i.Organization), func(t *tx) error {
		if err := t.lockOrganization(ctx, i.Organization); err != nil {
			return err
		}
		by, err := t.standing(ctx, i.Organization, by)
		if err != nil {
			return err
		}
		if err := by.MayGive(i.Role); err != nil {
			return err
		}
		if err := t.admitMember(ctx, i.Organization, i.Email); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE invitations SET revoked_at = ? WHERE organization = ? AND email = ? AND `+
			openInvitation, at(t.now), i.Organization, i.Email, at(t.now)); err != nil {
			return err
		}
		row.CreatedAt = at(t.now)
		if err := t.insertRow(ctx, "invitations", invitationColumns, row); err != nil {
			return err
		}

		return t.audit(ctx, i.Organization, audit.Change{
			Action: audit.InvitationCreate, Target: i.ID,
			Fields: []audit.Field{{Name: "email", After: i.Email}, {Name: "role", After: string(i.Role)}},
		})
	})

	return row.invitation(), err
}

// Invitations implements account.Store.
func (s *Store) Invitations(ctx context.Context, org string) ([]account.Invitation, error) {
	var rows []invitationRow
	err := s.read(ctx, "read invitations", of(org), func(t *tx) error {
		return t.list(ctx, &rows, `SELECT `+invitationColumns+` FROM invitations
			WHERE organization = ? AND `+openInvitation+` ORDER BY created_at DESC, id DESC`, org, at(t.now))
	})
	out := make([]account.Invitation, len(rows))
	for i, row := range rows {
		out[i] = row.invitation()
	}

	return out, err
}

// RevokeInvitation implements account.Store.
func (s *Store) RevokeInvitation(ctx context.Context, org, id string) error {
	return s.write(ctx, "revoke an invitation", of(org), func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE invitations SET revoked_at = ? WHERE organization = ? AND id = ? AND `+
			openInvitation, at(t.now), org, id, at(t.now))
		if err == nil && n == 0 {
			err = errs.New(errs.NotFound, errs.ReasonInvitationNotFound, "There is no open invitation %q.", id)
		}
		if err != nil {
			return err
		}

		return t.audit(ctx, org, audit.Change{Action: audit.InvitationRevoke, Target: id})
	})
}

// InvitationByHash implements account.Store.
func (s *Store) InvitationByHash(ctx context.Context, hash string) (i account.Invitation, known bool, err error) {
	err = s.read(ctx, "read an invitation", allOrganizations, func(t *tx) (err error) {
		if i, err = t.invitationByHash(ctx, hash); err != nil {
			return err
		}
		_, known, err = t.userBy(ctx, "email", i.Email)

		return err
	})

	return i, known, err
}

func (t *tx) invitationByHash(ctx context.Context, hash string) (account.Invitation, error) {
	var row invitationRow
	err := t.get(ctx, &row, `SELECT `+invitationColumns+` FROM invitations WHERE hash = ? AND `+openInvitation,
		hash, at(t.now))
	if errors.Is(err, sql.ErrNoRows) {
		return account.Invitation{}, errLink()
	}

	return row.invitation(), err
}

// Accept implements account.Store.
func (s *Store) Accept(ctx context.Context, hash string, j account.Joining) (u account.User, err error) {
	err = s.write(ctx, "accept an invitation", allOrganizations, func(t *tx) error {
		i, err := t.invitationByHash(ctx, hash)
		if err != nil {
			return err
		}
		if j.UserID != "" {
			u, err = t.existing(ctx, j.UserID)
		} else {
			u, err = t.insertUser(ctx, *j.New, i.Organization)
		}
		if err != nil {
			return err
		}
		if u.Email != i.Email {
			return errs.New(errs.PermissionDenied, errs.ReasonInvitedOther,
				"This invitation is for %s; you have signed in as %s.", i.Email, u.Email)
		}

		return t.accept(ctx, i, u)
	})

	return u, err
}

// accept makes a user a member by an invitation. Of two at once, one finds it used.
func (t *tx) accept(ctx context.Context, i account.Invitation, u account.User) error {
	n, err := t.exec(ctx, `UPDATE invitations SET used_at = ? WHERE id = ? AND `+openInvitation,
		at(t.now), i.ID, at(t.now))
	if err == nil && n == 0 {
		err = errLink()
	}
	if err != nil {
		return err
	}

	return t.join(ctx, u, account.Membership{Organization: i.Organization, Role: i.Role})
}
