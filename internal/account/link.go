package account

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// Paths of the pages that links lead to, before the token.
const (
	SetUpPath  = "/setup?token="
	ResetPath  = "/reset?token="
	InvitePath = "/invitation?token="
)

// newLink makes a link and its token.
func (s *Service) newLink(kind LinkKind, userID string, lasts time.Duration) (l Link, token string) {
	token = auth.NewSecret()

	return Link{Hash: auth.HashToken(token), Kind: kind, UserID: userID, ExpiresAt: s.now().Add(lasts)}, token
}

// OfferSetUp logs where the first user is made, on one line, when there is no user.
// address is that of the pages, such as https://prwarden.example.com. What an earlier
// start offered works besides, until its hour is over. Where people sign in with single
// sign-on only, the operator makes the first user.
func (s *Service) OfferSetUp(ctx context.Context, address string) error {
	if s.providerOnly {
		return nil
	}
	link, token := s.newLink(SetUpLink, "", SetUpFor)
	err := s.store.CreateLink(ctx, link)
	switch {
	case errs.ReasonOf(err) == errs.ReasonUserExists:
		return nil
	case err != nil:
		return err
	}
	s.log.Info("there is no user yet; open this address within an hour to make the first one",
		"url", address+SetUpPath+token)

	return nil
}

// HasUsers reports whether there is any user.
func (s *Service) HasUsers(ctx context.Context) (bool, error) { return s.store.HasUsers(ctx) }

// CheckSetUp fails with NotFound (LINK_NOT_FOUND) unless the token makes the first
// user.
func (s *Service) CheckSetUp(ctx context.Context, token string) error {
	_, err := s.store.LinkUser(ctx, SetUpLink, auth.HashToken(token))

	return err
}

// SetUp makes the first user, the owner of an organization, and signs him in. It fails
// with NotFound (LINK_NOT_FOUND), (ORGANIZATION_NOT_FOUND), PermissionDenied
// (SINGLE_SIGN_ON_ONLY), and InvalidArgument.
func (s *Service) SetUp(
	ctx context.Context, from Client, token, organization string, p Person,
) (session string, err error) {
	hash := auth.HashToken(token)
	if _, err := s.store.LinkUser(ctx, SetUpLink, hash); err != nil {
		return "", err // nothing is hashed for strangers
	}
	u, err := s.newUser(ctx, p)
	if err != nil {
		return "", err
	}
	if u, err = s.store.SetUp(actingAs(ctx, u, from), hash, u, organization); err != nil {
		return "", err
	}

	return s.signedIn(ctx, from, u)
}

// Person is what somebody says of himself.
type Person struct{ Email, Name, Password string }

// newUser makes a user with a password, which is stored nowhere yet.
func (s *Service) newUser(ctx context.Context, p Person) (User, error) {
	u, err := NewUser(p.Email, p.Name)
	if err == nil {
		err = s.needPassword(u.Email)
	}
	if err != nil {
		return User{}, err
	}
	if err := s.passwords.Check("password", p.Password, u.Email, u.Name); err != nil {
		return User{}, err
	}
	u.Password, err = s.passwords.Hash(ctx, p.Password)

	return u, err
}

// AddUser makes a person a member, and a user unless there is one with the email, as
// an operator may. Without a password a link sets it. It fails as Store.AddUser does.
func (s *Service) AddUser(ctx context.Context, m Membership, p Person) (u User, made bool, err error) {
	if p.Password != "" {
		u, err = s.newUser(ctx, p)
	} else {
		u, err = NewUser(p.Email, p.Name)
	}
	if err != nil {
		return User{}, false, err
	}

	return s.store.AddUser(ctx, u, m)
}

// ResetLink makes a link for a user to set a password, as an operator may. It returns
// the token; NotFound (USER_NOT_FOUND).
func (s *Service) ResetLink(ctx context.Context, userID string) (token string, expires time.Time, err error) {
	link, token := s.newLink(ResetLink, userID, ResetFor)

	return token, link.ExpiresAt, s.store.CreateLink(ctx, link)
}

// CheckReset returns whose password a link sets; NotFound (LINK_NOT_FOUND).
func (s *Service) CheckReset(ctx context.Context, token string) (User, error) {
	return s.store.LinkUser(ctx, ResetLink, auth.HashToken(token))
}

// Reset sets the password of the user whose link it is, ends the sessions, and signs
// in. It fails with NotFound (LINK_NOT_FOUND), PermissionDenied (SINGLE_SIGN_ON_ONLY),
// and InvalidArgument.
func (s *Service) Reset(ctx context.Context, from Client, token, password string) (session string, err error) {
	u, err := s.CheckReset(ctx, token)
	if err != nil {
		return "", err
	}
	if err := s.needPassword(u.Email); err != nil {
		return "", err
	}
	if err := s.passwords.Check("password", password, u.Email, u.Name); err != nil {
		return "", err
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return "", err
	}

	u, err = s.store.ResetPassword(actingAs(ctx, u, from), auth.HashToken(token), hash)
	s.sessions.lookup.Forget()
	if err != nil {
		return "", err
	}

	return s.signedIn(ctx, from, u)
}
