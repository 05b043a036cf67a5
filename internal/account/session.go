package account

import (
	"context"
	"log/slog"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// Sessions knows who has signed in. Start must be called once, so that it is stored
// when sessions were used; Stop stores the last of that.
type Sessions struct {
	store  SessionStore
	now    func() time.Time
	lookup *auth.Lookup[Found]
	used   *auth.LastUsed
}

// NewSessions returns the Sessions of a store, whose clock now is.
func NewSessions(store SessionStore, now func() time.Time, log *slog.Logger) *Sessions {
	return &Sessions{
		store: store, now: now, lookup: auth.NewLookup(store.SessionByHash),
		used: auth.NewLastUsed("sessions", store.TouchSessions, log),
	}
}

// Start starts the loop that stores when sessions were used, once a minute.
func (s *Sessions) Start() { s.used.Start() }

// Stop ends the loop and stores what is left; ctx bounds that.
func (s *Sessions) Stop(ctx context.Context) error { return s.used.Stop(ctx) }

// Caller returns who makes a request with the token of a session, in an organization.
// It has no organization, and may do nothing in one, where the person is no member of
// that, or for "". It fails with Unauthenticated (SESSION_ENDED), and with Unavailable
// while the store is away.
func (s *Sessions) Caller(ctx context.Context, token, organization string) (auth.Caller, error) {
	hash := auth.HashToken(token)
	found, err := s.find(ctx, hash)
	if err != nil {
		return auth.Caller{}, err
	}
	s.used.Touch(hash, s.now())

	return found.caller(organization, s.now()), nil
}

// Recheck returns an error when the session of a caller has ended, or his role has
// changed, as Caller does. A call that lasts long does it every few seconds.
func (s *Sessions) Recheck(ctx context.Context, c auth.Caller) error {
	found, err := s.find(ctx, c.SessionHash)
	if err == nil && found.caller(c.Organization, s.now()).Role != c.Role {
		return ended()
	}

	return err
}

func (s *Sessions) find(ctx context.Context, hash string) (Found, error) {
	found, ok, err := s.lookup.Find(ctx, hash)
	if err != nil {
		return Found{}, err
	}
	now := s.now()
	if !ok || !found.User.DisabledAt.IsZero() || !now.Before(found.Session.ExpiresAt) ||
		now.Sub(found.Session.SeenAt) >= SessionIdle {
		return Found{}, ended()
	}

	return found, nil
}

func ended() error {
	return errs.New(errs.Unauthenticated, errs.ReasonSessionEnded, "Your session has ended; sign in again.")
}

func (f Found) caller(organization string, now time.Time) auth.Caller {
	c := auth.Caller{
		UserID: f.User.ID, SessionHash: f.Session.Hash, Fresh: now.Before(f.Session.FreshUntil),
		RateLimit: auth.PersonLimit,
	}
	for _, m := range f.Memberships {
		if m.Organization == organization {
			c.Organization, c.Role, c.Scopes = m.Organization, m.Role, m.Role.Scopes()
		}
	}

	return c
}

// begin makes a session of a user, and returns its token, which is stored nowhere.
func (s *Sessions) begin(
	ctx context.Context, userID, method string, from Client, freshUntil time.Time,
) (token string, err error) {
	token = auth.NewSecret()
	err = s.store.CreateSession(ctx, Session{
		ID: newID("ses_"), Hash: auth.HashToken(token), UserID: userID, Method: method, Address: from.Address,
		Agent: errs.Cut(from.Agent, maxAgent), FreshUntil: freshUntil, ExpiresAt: s.now().Add(SessionLife),
	}, maxSessions)

	return token, err
}

// Renew gives a session another token, as after a change of the password, and lets the
// password count as just given. The old token ends. It fails as Caller does.
func (s *Sessions) Renew(ctx context.Context, token string) (renewed string, err error) {
	found, err := s.find(ctx, auth.HashToken(token))
	if err != nil {
		return "", err
	}

	renewed = auth.NewSecret()
	err = s.store.RenewSession(ctx, found.Session.Hash, auth.HashToken(renewed), s.now().Add(FreshFor))
	s.lookup.Forget()
	if errs.KindOf(err) == errs.NotFound && err != nil {
		err = ended()
	}

	return renewed, err
}

// End ends the session of a token, which may have ended.
func (s *Sessions) End(ctx context.Context, token string) error {
	found, err := s.find(ctx, auth.HashToken(token))
	if err == nil {
		ctx = actingAs(ctx, found.User, Client{Address: audit.FromContext(ctx).Address})
		err = s.store.EndSession(ctx, found.User.ID, found.Session.ID)
	}
	s.lookup.Forget()
	if kind := errs.KindOf(err); err != nil && (kind == errs.NotFound || kind == errs.Unauthenticated) {
		return nil
	}

	return err
}
