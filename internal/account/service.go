package account

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// maxFailures is how many passwords that are wrong an address may send in a minute,
// and how many may be tried for an account.
const maxFailures = 5

// Client is where a person signs in from.
type Client struct {
	Address string // IP address
	Agent   string // what the browser says of itself
}

// Service is what people do with their accounts, and admins with those of members.
type Service struct {
	store     Store
	sessions  *Sessions
	passwords *Passwords
	limiter   *auth.Limiter
	now       func() time.Time
	log       *slog.Logger

	providerOnly bool
	breakGlass   string // email of who signs in with a password all the same
}

// NewService makes it. now is the store's clock.
func NewService(
	store Store, sessions *Sessions, passwords *Passwords, limiter *auth.Limiter, now func() time.Time, log *slog.Logger,
) *Service {
	return &Service{store: store, sessions: sessions, passwords: passwords, limiter: limiter, now: now, log: log}
}

// SignIn begins a session and returns its token. Unknown people, wrong passwords and
// disabled users get the same answer after the same time: Unauthenticated
// (SIGN_IN_FAILED). It fails with ResourceExhausted (RATE_LIMITED) after too many
// failures.
func (s *Service) SignIn(ctx context.Context, from Client, email, password string) (token string, err error) {
	email = CleanEmail(email)
	u, ok, err := s.store.UserByEmail(ctx, email)
	if err != nil {
		return "", err
	}
	if !ok || !u.DisabledAt.IsZero() {
		u = User{}
	}
	if err := s.verify(ctx, from, email, u, password); err != nil {
		return "", err
	}

	return s.signedIn(ctx, from, u)
}

// signedIn begins a session of somebody who has shown who he is.
func (s *Service) signedIn(ctx context.Context, from Client, u User) (token string, err error) {
	return s.sessions.begin(actingAs(ctx, u, from), u.ID, ByPassword, from, s.now().Add(FreshFor))
}

// actingAs is the context of what a person does before there is a session.
func actingAs(ctx context.Context, u User, from Client) context.Context {
	actor := audit.Actor{Kind: audit.User, ID: u.ID, Address: from.Address}
	if before := audit.FromContext(ctx); before.RequestID != "" {
		actor.RequestID = before.RequestID
	}

	return audit.NewContext(ctx, actor)
}

// verify fails unless a password is that of the user, the zero User for nobody. The
// failure counts for the address and the account, and is counted before the password
// is looked at, so that many at once are no way around.
func (s *Service) verify(ctx context.Context, from Client, account string, u User, password string) error {
	if !s.passwordOf(account) {
		u = User{}
	}
	address := auth.AddressCounter("sign-in:", from.Address, maxFailures)
	for _, c := range []auth.Counter{address, {Name: "sign-in:" + auth.HashToken(account), Limit: maxFailures}} {
		d, err := s.limiter.Take(ctx, c, auth.Counter{})
		if err != nil {
			return err
		}
		if !d.OK {
			return tooManyFailures(d)
		}
	}

	ok, stale, err := s.passwords.Verify(ctx, u.Password, password)
	if err != nil {
		return err
	}
	if !ok {
		s.log.Warn("a sign-in failed", "address", from.Address, "user_id", u.ID)
		return errs.New(errs.Unauthenticated, errs.ReasonSignInFailed, "The email or the password is wrong.")
	}
	s.limiter.GiveBack(address)
	if stale {
		s.rehash(ctx, u, password)
	}

	return nil
}

func tooManyFailures(d auth.Decision) error {
	e := errs.New(errs.ResourceExhausted, errs.ReasonRateLimited,
		"There were too many attempts to sign in; try again in a minute.")
	e.RetryAfter = d.RetryAfter
	e.Metadata = map[string]string{"limit": "sign-in"}

	return e
}

// rehash stores a password with today's parameters. Where that fails, the next time
// does it.
func (s *Service) rehash(ctx context.Context, u User, password string) {
	hash, err := s.passwords.Hash(ctx, password)
	if err == nil {
		err = s.store.Rehash(ctx, u.ID, u.Password, hash)
	}
	if err != nil {
		s.log.Warn("a password could not be hashed again", "user_id", u.ID, "error", err)
	}
}

// Confirm has a person who has signed in give the password again, for what needs a
// fresh one. It returns the session's new token, and fails as SignIn does.
func (s *Service) Confirm(ctx context.Context, from Client, token, password string) (renewed string, err error) {
	c, err := s.sessions.Caller(ctx, token, "")
	if err != nil {
		return "", err
	}
	if err := s.verifyOwn(ctx, c, password); err != nil {
		return "", err
	}

	return s.sessions.Renew(ctx, token)
}

// verifyOwn fails unless a password is the caller's.
func (s *Service) verifyOwn(ctx context.Context, c auth.Caller, password string) error {
	u, _, err := s.store.UserByID(ctx, c.UserID)
	if err != nil {
		return err
	}

	return s.verify(ctx, Client{Address: audit.FromContext(ctx).Address}, u.Email, u, password)
}

// ChangePassword gives the caller another password and ends all of his sessions but
// this one, which Sessions.Renew then gives another token. It fails with
// PermissionDenied (PERSON_NEEDED), InvalidArgument, and as SignIn does.
func (s *Service) ChangePassword(ctx context.Context, c auth.Caller, current, chosen string) error {
	if err := person(c); err != nil {
		return err
	}
	u, _, err := s.store.UserByID(ctx, c.UserID)
	if err != nil {
		return err
	}
	if err := s.passwords.Check("new_password", chosen, u.Email, u.Name); err != nil {
		return err
	}
	if err := s.verifyOwn(ctx, c, current); err != nil {
		if errs.ReasonOf(err) == errs.ReasonSignInFailed {
			return errs.Invalid("current_password", "is not your password")
		}

		return err
	}

	hash, err := s.passwords.Hash(ctx, chosen)
	if err != nil {
		return err
	}
	err = s.store.SetPassword(ctx, c.UserID, hash, c.SessionHash)
	s.sessions.lookup.Forget()

	return err
}

// person fails with PermissionDenied (PERSON_NEEDED) unless a person calls.
func person(c auth.Caller) error {
	if c.UserID != "" {
		return nil
	}

	return errs.New(errs.PermissionDenied, errs.ReasonPersonNeeded,
		"This is about the account of a person who has signed in; an API key has none.")
}

// Account is who calls: a person with the organizations, or an API key.
type Account struct {
	User        User // the zero User for a key
	Memberships []Membership
}

// Account returns who calls.
func (s *Service) Account(ctx context.Context, c auth.Caller) (Account, error) {
	if c.UserID == "" {
		return Account{}, nil
	}
	found, err := s.sessions.find(ctx, c.SessionHash)

	return Account{User: found.User, Memberships: found.Memberships}, err
}

// Rename gives the caller another name; PermissionDenied (PERSON_NEEDED),
// InvalidArgument.
func (s *Service) Rename(ctx context.Context, c auth.Caller, name string) error {
	if err := person(c); err != nil {
		return err
	}
	var bad errs.Violations
	name = strings.TrimSpace(name)
	checkName(&bad, name)
	if err := bad.Err(); err != nil {
		return err
	}

	err := s.store.SetName(ctx, c.UserID, name)
	s.sessions.lookup.Forget()

	return err
}

// Sessions lists the caller's sessions; PermissionDenied (PERSON_NEEDED).
func (s *Service) Sessions(ctx context.Context, c auth.Caller) ([]Session, error) {
	if err := person(c); err != nil {
		return nil, err
	}

	return s.store.Sessions(ctx, c.UserID)
}

// EndSession ends one of the caller's sessions; PermissionDenied (PERSON_NEEDED),
// NotFound (SESSION_NOT_FOUND). Here it ends at once, on other servers within
// auth.RevokedWithin.
func (s *Service) EndSession(ctx context.Context, c auth.Caller, id string) error {
	if err := person(c); err != nil {
		return err
	}
	err := s.store.EndSession(ctx, c.UserID, id)
	s.sessions.lookup.Forget()

	return err
}

// EndSessions ends all of the caller's sessions, this one, too; PermissionDenied
// (PERSON_NEEDED).
func (s *Service) EndSessions(ctx context.Context, c auth.Caller) error {
	if err := person(c); err != nil {
		return err
	}
	_, err := s.store.EndSessions(ctx, c.UserID)
	s.sessions.lookup.Forget()

	return err
}
