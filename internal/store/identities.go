package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
)

// SignInAs implements account.Store.
func (s *Store) SignInAs(ctx context.Context, i account.Identity) (u account.User, err error) {
	err = s.write(ctx, "sign in by an identity", allOrganizations, func(t *tx) error {
		if u, err = t.identified(ctx, i); err != nil {
			return err
		}
		if !u.DisabledAt.IsZero() {
			return errSignIn("This account is disabled; ask the operator.")
		}

		// The configuration decides about these roles, and nobody else.
		byGroups := audit.FromContext(ctx)
		byGroups.Kind, byGroups.ID = audit.System, ""

		return t.giveRoles(audit.NewContext(ctx, byGroups), u, i)
	})
	u.Password = ""

	return u, err
}

func errSignIn(message string) error {
	return errs.New(errs.Unauthenticated, errs.ReasonSignInFailed, "%s", message)
}

// identified returns the user of an identity, who is linked to it, and made, when
// that may be.
func (t *tx) identified(ctx context.Context, i account.Identity) (u account.User, err error) {
	var userID string
	err = t.get(ctx, &userID, `SELECT user_id FROM identities WHERE issuer = ? AND subject = ?`, i.Issuer, i.Subject)
	if err == nil {
		return t.existing(ctx, userID)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return u, err
	}
	if i.BreakGlass {
		return u, errSignIn("The account with this email signs in with its password, never at the identity provider.")
	}
	if i.Email == "" {
		return u, errSignIn("The identity provider does not say that your email is verified, so there is no account for you.")
	}

	u, known, err := t.userBy(ctx, "email", i.Email)
	if err != nil {
		return u, err
	}
	if !known {
		u, err = t.invitedUser(ctx, i.New, true)
	} else if u, err = t.existing(ctx, u.ID); err == nil {
		u, err = t.linkable(ctx, u, i.Issuer)
	}
	if err != nil {
		return u, err
	}
	if _, err := t.exec(ctx, `INSERT INTO identities (issuer, subject, user_id, linked_at) VALUES (?, ?, ?, ?)`,
		i.Issuer, i.Subject, u.ID, at(t.now)); err != nil {
		return u, err
	}

	return u, t.auditUser(acting(ctx, u), u.ID, audit.Change{
		Action: audit.UserLink, Target: u.ID, Fields: []audit.Field{{Name: "issuer", After: i.Issuer}},
	})
}

// acting is the context of what a user does who is found out in the transaction.
func acting(ctx context.Context, u account.User) context.Context {
	actor := audit.FromContext(ctx)
	actor.Kind, actor.ID = audit.User, u.ID

	return audit.NewContext(ctx, actor)
}

// linkable returns a user who may be linked by his email: he is invited, or the operator
// made the account and nobody has signed in to it. Nobody else is linked so, because an
// email may have another owner at the provider than here. Somebody's invitation gives no
// rights in organizations of others, so all that the user is a member of have to invite.
// A user with another identity of the issuer never is.
func (t *tx) linkable(ctx context.Context, u account.User, issuer string) (account.User, error) {
	var issuers []string
	if err := t.list(ctx, &issuers, `SELECT issuer FROM identities WHERE user_id = ?`, u.ID); err != nil {
		return u, err
	}
	if slices.Contains(issuers, issuer) {
		return u, errSignIn("The account with this email belongs to another identity at the provider; ask the operator.")
	}
	var elsewhere bool
	if err := t.get(ctx, &elsewhere, `SELECT COUNT(*) > 0 FROM memberships WHERE user_id = ? AND organization NOT IN
		(SELECT organization FROM invitations WHERE email = ? AND `+openInvitation+`)`,
		u.ID, u.Email, at(t.now)); err != nil {
		return u, err
	}
	unused := u.Password == "" && len(issuers) == 0
	if elsewhere && !unused {
		return u, errSignIn("The account with your email is in use, and an email does not link such an account. " +
			"Sign in as before, or ask an admin to remove you and to invite you again.")
	}
	invited, err := t.invitedUser(ctx, u, false)
	if errs.ReasonOf(err) == errs.ReasonSignInFailed && unused {
		return u, nil
	}

	return invited, err
}

// invitedUser accepts the open invitations of a user's email, and makes the user when he
// is new.
func (t *tx) invitedUser(ctx context.Context, u account.User, isNew bool) (account.User, error) {
	var rows []invitationRow
	err := t.list(ctx, &rows, `SELECT `+invitationColumns+` FROM invitations
		WHERE email = ? AND `+openInvitation+` ORDER BY organization, id`, u.Email, at(t.now))
	if err != nil {
		return u, err
	}
	if len(rows) == 0 {
		return u, errSignIn("There is no open invitation for your email here; ask an admin for an invitation.")
	}

	ctx = acting(ctx, u)
	if isNew {
		if u, err = t.insertUser(ctx, u, rows[0].Organization); err != nil {
			return u, err
		}
	}
	for _, row := range rows {
		err := t.accept(ctx, row.invitation(), u)
		if err != nil && errs.ReasonOf(err) != errs.ReasonMemberExists { // who is a member already stays what he is
			return u, err
		}
	}

	return u, nil
}

// giveRoles gives a user the roles that his groups have, and takes those that they
// had. A role that an admin gave is taken by no group, and the last owner stays one.
func (t *tx) giveRoles(ctx context.Context, u account.User, i account.Identity) error {
	ended := false
	for _, org := range i.Managed {
		changed, err := t.giveRole(ctx, u, account.Membership{Organization: org, Role: i.Roles[org]})
		switch reason := errs.ReasonOf(err); {
		case reason == errs.ReasonLastOwner, reason == errs.ReasonMemberQuota, reason == errs.ReasonOrganizationNotFound:
		case err != nil:
			return err
		}
		ended = ended || changed
	}
	if !ended {
		return nil
	}
	_, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ?`, u.ID)

	return err
}

// giveRole is giveRoles for one organization, where no role stands for none. It reports
// whether the user had another one.
func (t *tx) giveRole(ctx context.Context, u account.User, m account.Membership) (changed bool, err error) {
	if err := t.lockOrganization(ctx, m.Organization); err != nil {
		return false, err
	}
	before, err := t.member(ctx, m.Organization, u.ID)
	known := err == nil
	changed = known && before.Role != m.Role
	switch {
	case err != nil && errs.ReasonOf(err) != errs.ReasonMemberNotFound:
		return false, err
	case m.Role == "" && (!known || before.Source == account.Local):
		return false, nil
	case !known:
		if err := t.join(ctx, u, m); err != nil {
			return false, err
		}
	case changed:
		if err := t.keepOwner(ctx, membershipRow{m.Organization, u.ID, before.Role}); err != nil {
			return false, err
		}
		change := account.Change{Organization: m.Organization, UserID: u.ID, Role: m.Role}
		if err := t.changeMember(ctx, change, &before); err != nil {
			return false, err
		}
	}
	_, err = t.exec(ctx, `UPDATE memberships SET source = 'oidc' WHERE organization = ? AND user_id = ?`,
		m.Organization, u.ID)

	return changed, err
}
