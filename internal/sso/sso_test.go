package sso_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/sso"
	"github.com/prwarden/prwarden/internal/store"
)

var from = account.Client{Address: "192.0.2.7", Agent: "Firefox"}

// bundle is single sign-on over an SQLite database with the organization acme, of which
// somebody is the owner and Ada a viewer.
type bundle struct {
	*sso.Service
	provider *provider
	accounts *account.Service
	sessions *account.Sessions
	log      bytes.Buffer
	minutes  atomic.Int64 // that have passed
}

func (b *bundle) now() time.Time {
	return time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC).Add(time.Duration(b.minutes.Load()) * time.Minute)
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{}
	database := filepath.Join(t.TempDir(), "prwarden.db")
	s, err := store.Open(t.Context(), store.Options{Database: "sqlite:" + database, Now: b.now})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	acme := organization.NewDefault()
	acme.Name = "acme"
	require.NoError(t, s.CreateOrganization(t.Context(), acme))

	log := slog.New(slog.NewTextHandler(&b.log, nil))
	b.sessions = account.NewSessions(s, b.now, log)
	b.accounts = account.NewService(s, b.sessions, account.NewPasswords(), auth.NewLimiter(nil, b.now), b.now, log)
	for name, role := range map[string]auth.Role{"owner": auth.Owner, "ada": auth.Viewer} {
		_, _, err = b.accounts.AddUser(t.Context(), account.Membership{Organization: "acme", Role: role},
			account.Person{Email: name + "@acme.example", Name: name})
		require.NoError(t, err)
	}

	b.provider = newProvider(t, b.now)
	b.Service = sso.New(sso.Options{
		Provider: account.OIDC{
			Issuer: b.provider.url, ClientID: clientID, BreakGlass: "Owner@acme.example", Scopes: []string{"groups"}, GroupsClaim: "groups",
			Roles: []account.GroupRole{
				{Group: "ops", Organization: "acme", Role: auth.Admin}, {Group: "dev", Organization: "acme", Role: auth.Member},
			},
		},
		ClientSecret: clientSecret, RedirectURL: redirectURL, Sealer: seal.Beside(database, nil), Accounts: b.accounts,
		Client: &http.Client{}, Now: b.now, Log: log,
	})

	return b
}

// begin sends the browser to the provider and back; it returns cookie and query.
func (b *bundle) begin(t *testing.T) (cookie string, query url.Values) {
	t.Helper()
	address, cookie, err := b.Begin(t.Context(), "/o/acme/reviews?page=2")
	require.NoError(t, err)

	return cookie, b.provider.authorize(t, address)
}

// signIn returns who has signed in, in acme.
func (b *bundle) signIn(t *testing.T) auth.Caller {
	t.Helper()
	cookie, query := b.begin(t)
	session, returnTo, err := b.Finish(t.Context(), from, cookie, query)
	require.NoError(t, err)
	assert.Equal(t, "/o/acme/reviews?page=2", returnTo)
	c, err := b.sessions.Caller(t.Context(), session, "acme")
	require.NoError(t, err)

	return c
}

// fails says that nobody signs in, and what the log has about it.
func (b *bundle) fails(t *testing.T, cookie string, query url.Values, logged string) {
	t.Helper()
	b.log.Reset()
	session, _, err := b.Finish(t.Context(), from, cookie, query)
	require.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err), "%v", err)
	assert.Empty(t, session)
	assert.Contains(t, b.log.String(), logged)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.signIn(t)
	assert.Equal(t, auth.Member, c.Role, "of the group dev")
	assert.False(t, c.Fresh, "the provider doesn't say when")
	again := b.signIn(t)
	assert.Equal(t, c.UserID, again.UserID)
	assert.Equal(t, "single sign-on", b.Name())
	assert.False(t, b.Only())
	for _, secret := range []string{"acme.example", "access", clientSecret} {
		assert.NotContains(t, b.log.String(), secret)
	}

	// The subject is who it is, whatever the email.
	b.provider.set(map[string]any{"email": "other@acme.example", "email_verified": false})
	assert.Equal(t, c.UserID, b.signIn(t).UserID)
}

func TestOthersDontSignIn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		claims map[string]any
		logged string
	}{
		"wrong nonce":        {map[string]any{"nonce": "another"}, "the nonce is another one"},
		"no nonce":           {map[string]any{"nonce": ""}, "the nonce is another one"},
		"wrong audience":     {map[string]any{"aud": "elsewhere"}, "expected audience"},
		"issued to others":   {map[string]any{"aud": []string{clientID, "x"}, "azp": "x"}, "issued to another client"},
		"wrong issuer":       {map[string]any{"iss": "https://id.example.com"}, "issued by a different provider"},
		"expired":            {map[string]any{"exp": 1}, "token is expired"},
		"unverified email":   {map[string]any{"email_verified": false}, "does not say that your email is verified"},
		"no word of it":      {map[string]any{"email_verified": nil}, "does not say that your email is verified"},
		"for a broken glass": {map[string]any{"email": "owner@acme.example"}, "signs in with its password"},
		"nobody's email":     {map[string]any{"email": "eve@acme.example"}, "ask an admin for an invitation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.provider.set(tt.claims)
			cookie, query := b.begin(t)
			b.fails(t, cookie, query, tt.logged)
		})
	}
}

func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cookie, query := b.begin(t)
	other, _ := b.begin(t)
	changed := func(name, value string) url.Values {
		q := url.Values{}
		for n := range query {
			q.Set(n, query.Get(n))
		}
		q.Set(name, value)
		return q
	}
	b.fails(t, cookie, changed("state", "another"), "the state is another one")
	b.fails(t, cookie, changed("state", ""), "the state is another one")
	b.fails(t, other, query, "the state is another one")
	b.fails(t, cookie, changed("iss", "https://evil.example.com"), "another provider answers")
	b.fails(t, cookie, changed("error", "access_denied"), "access_denied")
	for _, broken := range []string{"", "x", cookie[:len(cookie)-4], strings.ToUpper(cookie)} {
		b.fails(t, broken, query, "")
	}

	// A code of another attempt doesn't fit the verifier of this one.
	mine, forMe := b.begin(t)
	_, stolen := b.begin(t)
	forMe.Set("code", stolen.Get("code"))
	b.fails(t, mine, forMe, "invalid_grant")

	_, _, err := b.Finish(t.Context(), from, cookie, query)
	require.NoError(t, err)
	b.fails(t, cookie, query, "the provider refused the code: invalid_grant")

	late, query := b.begin(t)
	b.minutes.Add(10)
	b.fails(t, late, query, "")
}

// Whoever signs with another key is not the provider.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.signIn(t)
	cookie, query := b.begin(t)
	forged, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	b.provider.mu.Lock()
	before := b.provider.key
	b.provider.key = forged
	b.provider.mu.Unlock()
	_, _, err = b.Finish(t.Context(), from, cookie, query)
	require.NoError(t, err, "the provider may change its key, which it publishes")

	b.provider.mu.Lock()
	b.provider.forge = before
	b.provider.mu.Unlock()
	cookie, query = b.begin(t)
	b.fails(t, cookie, query, "failed to verify signature")
}

func TestGroupsDecideAtEachSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.provider.set(map[string]any{"groups": []string{"dev", "ops"}})
	admin := b.signIn(t)
	assert.Equal(t, auth.Admin, admin.Role)
	b.provider.set(map[string]any{"groups": "dev"})
	member := b.signIn(t)
	assert.Equal(t, auth.Member, member.Role)
	require.Error(t, b.sessions.Recheck(t.Context(), admin), "what he was ends")
	b.provider.set(map[string]any{"groups": []any{"x", 1}})
	assert.Empty(t, b.signIn(t).Organization)
}

// What the token leaves out is asked for.
func TestUserInfo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.provider.info = map[string]any{
		"sub": "person-1", "email": "ada@acme.example", "email_verified": "true", "groups": []string{"ops"},
	}
	b.provider.set(map[string]any{"email": nil, "email_verified": nil, "groups": nil})
	assert.Equal(t, auth.Admin, b.signIn(t).Role)
	b.provider.mu.Lock()
	b.provider.info["sub"] = "person-2"
	b.provider.mu.Unlock()
	cookie, query := b.begin(t)
	b.fails(t, cookie, query, "another person than the token")
}

func TestFreshSignIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.signIn(t)
	again := func() auth.Caller {
		address, cookie, err := b.BeginAgain(t.Context(), "/me")
		require.NoError(t, err)
		u, err := url.Parse(address)
		require.NoError(t, err)
		assert.Equal(t, "login", u.Query().Get("prompt"))
		assert.Equal(t, "0", u.Query().Get("max_age"))
		session, returnTo, err := b.Finish(t.Context(), from, cookie, b.provider.authorize(t, address))
		require.NoError(t, err)
		assert.Equal(t, "/me", returnTo)
		c, err := b.sessions.Caller(t.Context(), session, "acme")
		require.NoError(t, err)
		return c
	}
	assert.True(t, again().Fresh, "the provider was told to ask")
	b.provider.set(map[string]any{"auth_time": b.now().Add(-time.Hour).Unix()})
	assert.False(t, again().Fresh, "it didn't")
	b.provider.set(map[string]any{"auth_time": b.now().Unix()})
	assert.True(t, again().Fresh)
	assert.True(t, b.signIn(t).Fresh)
}

func TestReturnTo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for given, want := range map[string]string{
		"/o/acme": "/o/acme", "/a?b=c#d": "/a?b=c#d", "/" + strings.Repeat("x", 2000): "/",
	} {
		address, cookie, err := b.Begin(t.Context(), given)
		require.NoError(t, err)
		assert.Less(t, len(cookie), 3000, "browsers keep 4 KB")
		_, returnTo, err := b.Finish(t.Context(), from, cookie, b.provider.authorize(t, address))
		require.NoError(t, err)
		assert.Equal(t, want, returnTo, given)
	}
}

func TestProviderIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.provider.setDown(true)
	_, _, err := b.Begin(t.Context(), "/")
	require.Equal(t, errs.Unavailable, errs.KindOf(err))
	b.provider.setDown(false)
	cookie, query := b.begin(t)
	b.provider.setDown(true)
	_, _, err = b.Finish(t.Context(), from, cookie, query)
	require.Equal(t, errs.Unavailable, errs.KindOf(err))
}
