package account_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// sessionStore is a SessionStore of what Sessions calls, in memory.
type sessionStore struct {
	account.SessionStore
	mu    sync.Mutex
	found map[string]account.Found // by hash
	asked int
}

func (s *sessionStore) SessionByHash(_ context.Context, hash string) (account.Found, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	f, ok := s.found[hash]

	return f, ok, nil
}

func (s *sessionStore) TouchSessions(_ context.Context, used map[string]time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, at := range used {
		f := s.found[hash]
		f.Session.SeenAt = at
		s.found[hash] = f
	}

	return nil
}

func (s *sessionStore) EndSession(_ context.Context, userID, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, f := range s.found {
		if f.Session.ID == id && f.User.ID == userID {
			delete(s.found, hash)
		}
	}

	return nil
}

// put stores a session that begins now, and returns its token.
func (s *sessionStore) put(id string, role auth.Role) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := auth.NewSecret()
	now := time.Now()
	s.found[auth.HashToken(token)] = account.Found{
		Session: account.Session{
			ID: id, Hash: auth.HashToken(token), SeenAt: now, FreshUntil: now.Add(account.FreshFor),
			ExpiresAt: now.Add(account.SessionLife),
		},
		User: account.User{ID: "usr_a"}, Memberships: []account.Membership{{Organization: "acme", Role: role}},
	}

	return token
}

func newSessions(t *testing.T, store *sessionStore) *account.Sessions {
	t.Helper()
	s := account.NewSessions(store, time.Now, slog.New(slog.DiscardHandler))
	s.Start()
	t.Cleanup(func() { assert.NoError(t, s.Stop(context.Background())) })

	return s
}

func TestSessionsOfTwoServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &sessionStore{found: map[string]account.Found{}}
		one, two := newSessions(t, store), newSessions(t, store)
		token := store.put("ses_1", auth.Member)
		var c auth.Caller
		for _, s := range []*account.Sessions{one, two, one, two} {
			got, err := s.Caller(t.Context(), token, "acme")
			require.NoError(t, err)
			c = got
		}
		assert.Equal(t, auth.Caller{
			UserID: "usr_a", Organization: "acme", Role: auth.Member, Scopes: auth.Member.Scopes(), Fresh: true,
			SessionHash: auth.HashToken(token), RateLimit: auth.PersonLimit,
		}, c)
		assert.Equal(t, 2, store.asked, "each remembers it")

		stranger, err := one.Caller(t.Context(), token, "other")
		require.NoError(t, err)
		assert.Empty(t, stranger.Organization)
		assert.Empty(t, stranger.Scopes)

		require.NoError(t, one.End(t.Context(), token))
		require.NoError(t, one.End(t.Context(), token), "again is nothing")
		require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(one.Recheck(t.Context(), c)), "here at once")
		<-time.After(auth.RevokedWithin)
		_, err = two.Caller(t.Context(), token, "acme")
		require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(err))
	})
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &sessionStore{found: map[string]account.Found{}}
		s := newSessions(t, store)
		idle, used := store.put("ses_1", auth.Member), store.put("ses_2", auth.Member)
		try := func(token string) (auth.Caller, error) { return s.Caller(t.Context(), token, "acme") }
		_, err := try(auth.NewSecret())
		require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(err))

		<-time.After(account.FreshFor)
		c, err := try(used)
		require.NoError(t, err)
		assert.False(t, c.Fresh, "it is ten minutes since the password was given")

		for range 28 {
			<-time.After(account.SessionIdle - 5*time.Minute)
			_, err = try(used)
			require.NoError(t, err)
		}
		_, err = try(idle)
		require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(err))
		<-time.After(account.SessionIdle - 5*time.Minute)
		_, err = try(used)
		require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(err), "no session is for ever")
	})
}

func TestSessionsOfARoleThatChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &sessionStore{found: map[string]account.Found{}}
		s := newSessions(t, store)
		token := store.put("ses_1", auth.Admin)
		c, err := s.Caller(t.Context(), token, "acme")
		require.NoError(t, err)
		require.NoError(t, s.Recheck(t.Context(), c))

		f := store.found[auth.HashToken(token)]
		f.Memberships = []account.Membership{{Organization: "acme", Role: auth.Viewer}}
		store.found[auth.HashToken(token)] = f
		<-time.After(auth.RevokedWithin)
		require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(s.Recheck(t.Context(), c)))
	})
}
