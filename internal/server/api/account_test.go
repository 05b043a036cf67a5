package api_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/store"
)

const password = "violet Harbor 7 quilts"

// people are the accounts of an SQLite database with the organizations acme and other.
type people struct {
	*account.Service
	sessions *account.Sessions
}

func newPeople(t *testing.T) people {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Database: "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	for _, name := range []string{"acme", "other"} {
		o := organization.NewDefault()
		o.Name = name
		require.NoError(t, s.CreateOrganization(t.Context(), o))
	}

	log := slog.New(slog.DiscardHandler)
	sessions := account.NewSessions(s, s.Now, log)
	limiter := auth.NewLimiter(nil, s.Now)

	return people{account.NewService(s, sessions, account.NewPasswords(), limiter, s.Now, log), sessions}
}

// add makes a member of an organization.
func (p people) add(t *testing.T, name string, role auth.Role, org string) account.User {
	t.Helper()
	u, _, err := p.AddUser(t.Context(), account.Membership{Organization: org, Role: role},
		account.Person{Email: name + "@acme.example", Name: name, Password: password})
	require.NoError(t, err)

	return u
}

// signIn begins a session, and returns the context of calls with it in acme.
func (p people) signIn(t *testing.T, email string) context.Context {
	t.Helper()
	token, err := p.SignIn(t.Context(), account.Client{Address: "192.0.2.7", Agent: "Firefox"}, email, password)
	require.NoError(t, err)
	caller, err := p.sessions.Caller(t.Context(), token, "acme")
	require.NoError(t, err)

	return auth.NewContext(audit.NewContext(t.Context(), caller.Actor()), caller)
}

// ofKey is the context of calls with a key of acme.
func ofKey(t *testing.T, scopes ...auth.Scope) context.Context {
	t.Helper()
	caller := auth.Caller{
		KeyID: "key_a", Organization: "acme", Scopes: scopes, ExpiresAt: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
	}

	return auth.NewContext(audit.NewContext(t.Context(), caller.Actor()), caller)
}

func TestGetAccount(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	u := p.add(t, "ada", auth.Viewer, "acme")
	p.add(t, "ada", auth.Owner, "other")
	h := api.NewAccounts(p.Service)

	got, err := h.GetAccount(p.signIn(t, u.Email), &prwardenv1.GetAccountRequest{})
	require.NoError(t, err)
	assert.Nil(t, got.GetKey())
	assert.Equal(t, u.ID, got.GetUser().GetUserId())
	assert.Equal(t, "ada@acme.example", got.GetUser().GetEmail())
	assert.Equal(t, "ada", got.GetUser().GetName())
	require.Len(t, got.GetUser().GetMemberships(), 2)
	viewer, owner := got.GetUser().GetMemberships()[0], got.GetUser().GetMemberships()[1]
	assert.Equal(t, "acme", viewer.GetOrganization())
	assert.Equal(t, prwardenv1.Role_viewer, viewer.GetRole())
	assert.Equal(t, []string{"reviews:read", "rules:read", "policy:read"}, viewer.GetScopes())
	assert.Equal(t, prwardenv1.Role_owner, owner.GetRole())
	assert.Len(t, owner.GetScopes(), len(auth.Scopes()))
	assert.NotContains(t, protojson.Format(got), "argon2")

	got, err = h.GetAccount(ofKey(t, auth.ReviewsRead), &prwardenv1.GetAccountRequest{})
	require.NoError(t, err)
	assert.Nil(t, got.GetUser())
	want := `{"key_id": "key_a", "organization": "acme", "scopes": ["reviews:read"], "expires_at": "2099-01-01T00:00:00Z"}`
	assert.JSONEq(t, want, protojson.MarshalOptions{UseProtoNames: true}.Format(got.GetKey()))
}

func TestPasswordAndSessions(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	u := p.add(t, "ada", auth.Viewer, "acme")
	h := api.NewAccounts(p.Service)
	ctx := p.signIn(t, u.Email)
	p.signIn(t, u.Email)

	list, err := h.ListSessions(ctx, &prwardenv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetSessions(), 2)
	current := 0
	for _, s := range list.GetSessions() {
		assert.Equal(t, prwardenv1.Session_password, s.GetMethod())
		assert.Equal(t, "192.0.2.7", s.GetAddress())
		assert.Equal(t, "Firefox", s.GetAgent())
		if s.GetCurrent() {
			current++
			continue
		}
		_, err = h.EndSession(ctx, &prwardenv1.EndSessionRequest{SessionId: s.GetSessionId()})
		require.NoError(t, err)
		_, err = h.EndSession(ctx, &prwardenv1.EndSessionRequest{SessionId: s.GetSessionId()})
		assert.Equal(t, errs.ReasonSessionNotFound, errs.ReasonOf(err))
	}
	assert.Equal(t, 1, current)

	change := &prwardenv1.ChangePasswordRequest{CurrentPassword: "not the right one", NewPassword: "seventeen Marble? otters"}
	_, err = h.ChangePassword(ctx, change)
	require.ErrorContains(t, err, "current_password:")
	change.CurrentPassword = password
	_, err = h.ChangePassword(ctx, change)
	require.NoError(t, err)
	_, err = h.EndSessions(ctx, &prwardenv1.EndSessionsRequest{})
	require.NoError(t, err)
	list, err = h.ListSessions(ctx, &prwardenv1.ListSessionsRequest{})
	require.NoError(t, err)
	assert.Empty(t, list.GetSessions())
}

// A key has no account, and so neither password nor sessions.
func TestKeysHaveNoAccount(t *testing.T) {
	t.Parallel()
	h := api.NewAccounts(newPeople(t).Service)
	ctx := ofKey(t, auth.Scopes()...)
	for name, call := range map[string]func() (proto.Message, error){
		"change": func() (proto.Message, error) { return h.ChangePassword(ctx, &prwardenv1.ChangePasswordRequest{}) },
		"list":   func() (proto.Message, error) { return h.ListSessions(ctx, &prwardenv1.ListSessionsRequest{}) },
		"end":    func() (proto.Message, error) { return h.EndSession(ctx, &prwardenv1.EndSessionRequest{}) },
		"all":    func() (proto.Message, error) { return h.EndSessions(ctx, &prwardenv1.EndSessionsRequest{}) },
	} {
		_, err := call()
		assert.Equal(t, errs.ReasonPersonNeeded, errs.ReasonOf(err), name)
	}
}

func TestUpdateAccount(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	u := p.add(t, "ada", auth.Viewer, "acme")
	h := api.NewAccounts(p.Service)
	ctx := p.signIn(t, u.Email)

	got, err := h.UpdateAccount(ctx, &prwardenv1.UpdateAccountRequest{Name: " Ada Lovelace "})
	require.NoError(t, err)
	assert.Equal(t, "Ada Lovelace", got.GetUser().GetName())
	assert.Equal(t, "ada@acme.example", got.GetUser().GetEmail())
	for _, bad := range []string{"", " ", "two\nlines"} {
		_, err = h.UpdateAccount(ctx, &prwardenv1.UpdateAccountRequest{Name: bad})
		require.ErrorContains(t, err, "name:", "%q", bad)
	}
	_, err = h.UpdateAccount(ofKey(t), &prwardenv1.UpdateAccountRequest{Name: "Key"})
	assert.Equal(t, errs.ReasonPersonNeeded, errs.ReasonOf(err))
}
