package account

import (
	"context"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// Members lists the members of the caller's organization.
func (s *Service) Members(ctx context.Context, c auth.Caller) ([]Member, error) {
	return s.store.Members(ctx, c.Organization)
}

// SetRole gives a member another role; his sessions end. It fails as
// MemberStore.ChangeMember does, and with InvalidArgument.
func (s *Service) SetRole(ctx context.Context, c auth.Caller, userID string, role auth.Role) (Member, error) {
	if err := checkRole(role); err != nil {
		return Member{}, err
	}

	return s.change(ctx, Change{Organization: c.Organization, UserID: userID, Role: role, By: c})
}

// RemoveMember removes one. It fails as MemberStore.ChangeMember does.
func (s *Service) RemoveMember(ctx context.Context, c auth.Caller, userID string) error {
	_, err := s.change(ctx, Change{Organization: c.Organization, UserID: userID, By: c})

	return err
}

func (s *Service) change(ctx context.Context, c Change) (Member, error) {
	m, err := s.store.ChangeMember(ctx, c)
	s.sessions.lookup.Forget()

	return m, err
}

func checkRole(role auth.Role) error {
	if slices.Contains(auth.Roles(), role) {
		return nil
	}

	return errs.Invalid("role", "there is no role %q; the roles are viewer, member, admin and owner", role)
}

// Invite invites a person, and returns the token of the link, which is stored nowhere.
// It fails as MemberStore.Invite does, and with InvalidArgument.
func (s *Service) Invite(
	ctx context.Context, c auth.Caller, email string, role auth.Role,
) (i Invitation, token string, err error) {
	var bad errs.Violations
	email = CleanEmail(email)
	checkEmail(&bad, email)
	if err := bad.Err(); err != nil {
		return Invitation{}, "", err
	}
	if err := checkRole(role); err != nil {
		return Invitation{}, "", err
	}

	token = auth.NewSecret()
	i, err = s.store.Invite(ctx, Invitation{
		ID: newID("inv_"), Organization: c.Organization, Email: email, Role: role, Hash: auth.HashToken(token),
		InvitedBy: audit.FromContext(ctx).String(), ExpiresAt: s.now().Add(InvitedFor),
	}, c)

	return i, token, err
}

// Invitations lists the open ones of the caller's organization.
func (s *Service) Invitations(ctx context.Context, c auth.Caller) ([]Invitation, error) {
	return s.store.Invitations(ctx, c.Organization)
}

// RevokeInvitation ends one; NotFound (INVITATION_NOT_FOUND).
func (s *Service) RevokeInvitation(ctx context.Context, c auth.Caller, id string) error {
	return s.store.RevokeInvitation(ctx, c.Organization, id)
}

// Invitation returns what the token of a link invites to, and whether the person is a
// user, who then signs in to accept; NotFound (LINK_NOT_FOUND).
func (s *Service) Invitation(ctx context.Context, token string) (i Invitation, known bool, err error) {
	return s.store.InvitationByHash(ctx, auth.HashToken(token))
}

// AcceptAs makes a user who has signed in a member. It fails as MemberStore.Accept
// does.
func (s *Service) AcceptAs(ctx context.Context, from Client, c auth.Caller, token string) error {
	if err := person(c); err != nil {
		return err
	}
	ctx = actingAs(ctx, User{ID: c.UserID}, from)
	_, err := s.store.Accept(ctx, auth.HashToken(token), Joining{UserID: c.UserID})
	s.sessions.lookup.Forget()

	return err
}

// Accept makes a new user and member of a person who is invited, and signs him in. It
// fails as MemberStore.Accept does, with PermissionDenied (SINGLE_SIGN_ON_ONLY), and with
// InvalidArgument.
func (s *Service) Accept(ctx context.Context, from Client, token, name, password string) (session string, err error) {
	hash := auth.HashToken(token)
	i, known, err := s.store.InvitationByHash(ctx, hash)
	switch {
	case err != nil:
		return "", err
	case known:
		return "", errs.New(errs.AlreadyExists, errs.ReasonUserExists,
			"There is a user with this email; sign in, and open the invitation again.")
	}
	u, err := s.newUser(ctx, Person{Email: i.Email, Name: name, Password: password})
	if err != nil {
		return "", err
	}
	if u, err = s.store.Accept(actingAs(ctx, u, from), hash, Joining{New: &u}); err != nil {
		return "", err
	}

	return s.signedIn(ctx, from, u)
}

// ResetMember makes a link with which a member of the caller's organization sets a
// password. It fails as Store.CreateMemberLink does.
func (s *Service) ResetMember(
	ctx context.Context, c auth.Caller, userID string,
) (token string, expires time.Time, err error) {
	link, token := s.newLink(ResetLink, userID, ResetFor)

	return token, link.ExpiresAt, s.store.CreateMemberLink(ctx, link, c.Organization, c)
}
