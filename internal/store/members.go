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

// memberRow is a member as he is listed.
type memberRow struct {
	userRow
	Role        auth.Role
	Source      account.Source
	JoinedAt    timestamp `db:"joined_at"`
	HasIdentity bool      `db:"has_identity"`
}

func (r memberRow) member() account.Member {
	m := account.Member{
		User: r.user(), Role: r.Role, Source: r.Source, JoinedAt: r.JoinedAt.Time,
		HasPassword: r.Password != "", HasIdentity: r.HasIdentity,
	}
	m.Password = ""

	return m
}

// selectMembers selects memberRow of an organization. Whoever uses a session was seen
// then.
const selectMembers = `SELECT u.id, u.email, u.name, u.password, u.created_at, u.disabled_at,
		COALESCE((SELECT MAX(s.seen_at) FROM sessions s WHERE s.user_id = u.id), u.last_seen_at) AS last_seen_at,
		m.role, m.source, m.created_at AS joined_at,
		EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id) AS has_identity
	FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization = ?`

// Members implements account.Store.
func (s *Store) Members(ctx context.Context, org string) ([]account.Member, error) {
	var rows []memberRow
	err := s.read(ctx, "read members", of(org), func(t *tx) error {
		return t.list(ctx, &rows, selectMembers+` ORDER BY u.email`, org)
	})
	out := make([]account.Member, len(rows))
	for i, row := range rows {
		out[i] = row.member()
	}

	return out, err
}

// standing returns a caller with what he may do now, and fails as auth.Caller.Require
// when that isn't changing members. The operator, who is neither a person nor a key,
// may what he says.
func (t *tx) standing(ctx context.Context, org string, by auth.Caller) (_ auth.Caller, err error) {
	switch {
	case by.UserID != "":
		by.Role, err = t.role(ctx, org, by.UserID)
		by.Scopes = by.Role.Scopes()
	case by.KeyID != "":
		err = t.checkKey(ctx, org, by.KeyID)
	}
	if err != nil {
		return by, err
	}

	return by, by.Require(auth.MembersAdmin)
}

// role returns what a person is in an organization; "" for no member of it, and for
// somebody who is disabled.
func (t *tx) role(ctx context.Context, org, userID string) (role auth.Role, err error) {
	err = t.get(ctx, &role, `SELECT m.role FROM memberships m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
		WHERE m.organization = ? AND m.user_id = ?`, org, userID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}

	return role, err
}

// member reads a member, who has to be one.
func (t *tx) member(ctx context.Context, org, userID string) (account.Member, error) {
	var row memberRow
	err := t.get(ctx, &row, selectMembers+` AND m.user_id = ?`, org, userID)
	if errors.Is(err, sql.ErrNoRows) {
		return account.Member{}, errs.New(errs.NotFound, errs.ReasonMemberNotFound, "There is no member %q.", userID)
	}

	return row.member(), err
}

// ChangeMember implements account.Store.
func (s *Store) ChangeMember(ctx context.Context, c account.Change) (m account.Member, err error) {
	err = s.write(ctx, "change a member", of(c.Organization), func(t *tx) error {
		if err := t.lockOrganization(ctx, c.Organization); err != nil {
			return err
		}
		by, err := t.standing(ctx, c.Organization, c.By)
		if err != nil {
			return err
		}
		if m, err = t.member(ctx, c.Organization, c.UserID); err != nil {
			return err
		}
		for _, role := range []auth.Role{m.Role, c.Role} {
			if err := by.MayGive(role); err != nil {
				return err
			}
		}
		if m.Role == c.Role {
			return nil
		}
		if err := t.keepOwner(ctx, membershipRow{c.Organization, c.UserID, m.Role}); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM sessions WHERE user_id = ?`, c.UserID); err != nil {
			return err
		}

		return t.changeMember(ctx, c, &m)
	})

	return m, err
}

// changeMember gives a member another role, or removes him, and audits that.
func (t *tx) changeMember(ctx context.Context, c account.Change, m *account.Member) error {
	query, args := `DELETE FROM memberships WHERE organization = ? AND user_id = ?`, []any{c.Organization, c.UserID}
	action := audit.MemberRemove
	if c.Role != "" {
		query = `UPDATE memberships SET role = ? WHERE organization = ? AND user_id = ?`
		args, action = append([]any{c.Role}, args...), audit.MemberRole
	}
	// A reset that this organization's admin offered is not for whoever is more than
	// its member, or none.
	if _, err := t.exec(ctx, `DELETE FROM account_links WHERE user_id = ?`, c.UserID); err != nil {
		return err
	}
	if _, err := t.exec(ctx, query, args...); err != nil {
		return err
	}
	fields := []audit.Field{{Name: "role", Before: string(m.Role), After: string(c.Role)}}
	m.Role = c.Role

	return t.audit(ctx, c.Organization, audit.Change{Action: action, Target: c.UserID, Fields: fields})
}

// keepOwner fails when a membership is that of the last owner who can sign in. The
// caller holds the lock of the organization.
func (t *tx) keepOwner(ctx context.Context, m membershipRow) error {
	if m.Role != auth.Owner {
		return nil
	}
	var others int
	err := t.get(ctx, &others, `SELECT COUNT(*) FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization = ? AND m.role = 'owner' AND m.user_id <> ? AND u.disabled_at IS NULL`,
		m.Organization, m.UserID)
	if err == nil && others == 0 {
		return errs.New(errs.FailedPrecondition, errs.ReasonLastOwner,
			"This is the last owner of the organization %s. Make another member an owner first.", m.Organization)
	}

	return err
}

// join makes a user a member.
func (t *tx) join(ctx context.Context, u account.User, m account.Membership) error {
	var found string
	err := t.get(ctx, &found, `SELECT name FROM organizations WHERE name = ? AND settings IS NOT NULL`+
		t.lock("organizations"), m.Organization)
	if errors.Is(err, sql.ErrNoRows) {
		return errs.New(errs.NotFound, errs.ReasonOrganizationNotFound, "There is no organization %q.", m.Organization)
	}
	if err == nil {
		err = t.admitMember(ctx, m.Organization, u.Email)
	}
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `INSERT INTO memberships (organization, user_id, role, source, created_at)
		VALUES (?, ?, ?, 'local', ?)`, m.Organization, u.ID, m.Role, at(t.now)); err != nil {
		return err
	}

	return t.audit(ctx, m.Organization, audit.Change{
		Action: audit.MemberAdd, Target: u.ID,
		Fields: []audit.Field{{Name: "email", After: u.Email}, {Name: "role", After: string(m.Role)}},
	})
}

// admitMember fails when an organization may have no more members and open
// invitations, or has a member with an email. The caller holds its lock.
func (t *tx) admitMember(ctx context.Context, org, email string) error {
	var row struct {
		Member  bool
		Members int
		Invited int
	}
	err := t.get(ctx, &row, `SELECT
		EXISTS (SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
			WHERE m.organization = ? AND u.email = ?) AS member,
		(SELECT COUNT(*) FROM memberships WHERE organization = ?) AS members,
		(SELECT COUNT(*) FROM invitations WHERE organization = ? AND email <> ? AND `+openInvitation+`) AS invited`,
		org, email, org, org, email, at(t.now))
	switch {
	case err != nil:
		return err
	case row.Member:
		return errs.New(errs.AlreadyExists, errs.ReasonMemberExists, "%s is a member of the organization already.", email)
	case row.Members+row.Invited >= account.MaxMembers:
		return errs.New(errs.FailedPrecondition, errs.ReasonMemberQuota,
			"The organization has %d members and open invitations, which is the most.", row.Members+row.Invited)
	}

	return nil
}

// CreateMemberLink implements account.Store.
func (s *Store) CreateMemberLink(ctx context.Context, l account.Link, org string, by auth.Caller) error {
	// Whether the person is a member elsewhere is no organization's to see.
	return s.write(ctx, "make a link for a member", allOrganizations, func(t *tx) error {
		if err := t.lockOrganization(ctx, org); err != nil {
			return err
		}
		by, err := t.standing(ctx, org, by)
		if err != nil {
			return err
		}
		m, err := t.member(ctx, org, l.UserID)
		if err != nil {
			return err
		}
		if err := by.MayGive(m.Role); err != nil {
			return err
		}

		var elsewhere bool
		err = t.get(ctx, &elsewhere, `SELECT EXISTS (SELECT 1 FROM memberships WHERE user_id = ? AND organization <> ?)`,
			l.UserID, org)
		if err == nil && elsewhere {
			err = errs.New(errs.FailedPrecondition, errs.ReasonMemberElsewhere,
				"This person has an account beyond the organization; the operator resets its password with "+
					"`prwarden users reset`.")
		}
		if err != nil {
			return err
		}
		if err := t.insertLink(ctx, l); err != nil {
			return err
		}

		return t.audit(ctx, org, audit.Change{Action: audit.UserReset, Target: l.UserID})
	})
}
