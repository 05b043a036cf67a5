package account_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"regexp"
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
	"github.com/prwarden/prwarden/internal/store"
)

// bundle is a service over an SQLite database with the organization acme.
type bundle struct {
	*account.Service
	sessions *account.Sessions
	store    *store.Store
	log      bytes.Buffer
	minutes  atomic.Int64 // that have passed
}

func (b *bundle) now() time.Time {
	return time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC).Add(time.Duration(b.minutes.Load()) * time.Minute)
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{}
	var err error
	b.store, err = store.Open(t.Context(), store.Options{
		Database: "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db"), Now: b.now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.store.Close()) })
	require.NoError(t, b.store.Migrate(t.Context()))
	acme := organization.NewDefault()
	acme.Name = "acme"
	require.NoError(t, b.store.CreateOrganization(t.Context(), acme))

	log := slog.New(slog.NewTextHandler(&b.log, nil))
	b.sessions = account.NewSessions(b.store, b.now, log)
	b.Service = account.NewService(b.store, b.sessions, account.NewPasswords(), auth.NewLimiter(nil, b.now), b.now, log)

	return b
}

// from is where people sign in from.
var from = account.Client{Address: "192.0.2.7", Agent: "Firefox"}

// owner makes the first user.
func (b *bundle) owner(t *testing.T) account.User {
	t.Helper()
	u, made, err := b.AddUser(t.Context(), account.Membership{Organization: "acme", Role: auth.Owner},
		account.Person{Email: "Ada@Acme.example", Name: "Ada", Password: good})
	require.NoError(t, err)
	require.True(t, made)

	return u
}

// signIn returns the token of a session and its caller.
func (b *bundle) signIn(t *testing.T, email string) (string, auth.Caller) {
	t.Helper()
	token, err := b.SignIn(t.Context(), from, email, good)
	require.NoError(t, err)
	c, err := b.sessions.Caller(t.Context(), token, "acme")
	require.NoError(t, err)

	return token, c
}

func (b *bundle) ended(t *testing.T, token string) {
	t.Helper()
	_, err := b.sessions.Caller(t.Context(), token, "acme")
	require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(err))
}

func TestTheFirstUser(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	require.NoError(t, b.OfferSetUp(ctx, "https://prwarden.example.com"))
	url := regexp.MustCompile(`url="?(https://prwarden\.example\.com/setup\?token=(prw_\w{43}))`).
		FindStringSubmatch(b.log.String())
	require.NotNil(t, url, b.log.String())
	token := url[2]
	require.NoError(t, b.CheckSetUp(ctx, token))
	ada := account.Person{Email: "ada@acme.example", Name: "Ada", Password: good}

	_, err := b.SetUp(ctx, from, auth.NewSecret(), "acme", ada)
	require.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))
	for field, in := range map[string]account.Person{
		"email": {"Ada <ada@acme.example>", "Ada", good}, "name": {"ada@acme.example", "A\x00", good},
		"password": {"ada@acme.example", "Ada", "password1234"},
	} {
		_, err := b.SetUp(ctx, from, token, "acme", in)
		require.ErrorContains(t, err, field+":")
	}

	session, err := b.SetUp(ctx, from, token, "acme", ada)
	require.NoError(t, err)
	c, err := b.sessions.Caller(ctx, session, "acme")
	require.NoError(t, err)
	assert.Equal(t, auth.Owner, c.Role)
	require.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(b.CheckSetUp(ctx, token)))

	b.log.Reset()
	require.NoError(t, b.OfferSetUp(ctx, ""))
	assert.Empty(t, b.log.String())
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	u := b.owner(t)
	assert.Equal(t, "ada@acme.example", u.Email)
	first, c := b.signIn(t, " ADA@acme.example ")
	second, _ := b.signIn(t, u.Email)
	assert.NotEqual(t, first, second)
	assert.True(t, c.Fresh)

	answers := map[string]bool{}
	for email, password := range map[string]string{u.Email: "violet-Harbor 8 quilts", "nobody@acme.example": good} {
		_, err := b.SignIn(ctx, from, email, password)
		require.Error(t, err)
		answers[err.Error()] = true
	}
	require.NoError(t, b.store.DisableUser(ctx, u.ID, true))
	_, err := b.SignIn(ctx, from, u.Email, good)
	require.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))
	answers[err.Error()] = true
	assert.Len(t, answers, 1, "nobody learns who has an account")
	assert.NotContains(t, b.log.String(), "quilts")
	assert.NotContains(t, b.log.String(), u.Email)
}

func TestSignInIsLimited(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	u := b.owner(t)
	wrong := func(address, email string) string {
		_, err := b.SignIn(ctx, account.Client{Address: address}, email, "wrong password 1")
		return errs.ReasonOf(err)
	}

	for i := range 5 {
		assert.Equal(t, errs.ReasonSignInFailed, wrong("2001:db8::1", strings.Repeat("x", i+1)))
	}
	assert.Equal(t, errs.ReasonRateLimited, wrong("2001:db8::2", "y"), "it is of the same network")
	_, err := b.SignIn(ctx, account.Client{Address: "2001:db8::3"}, u.Email, good)
	require.Equal(t, errs.ReasonRateLimited, errs.ReasonOf(err))

	for i := range 5 {
		assert.Equal(t, errs.ReasonSignInFailed, wrong("192.0.2."+string(rune('1'+i)), u.Email))
	}
	_, err = b.SignIn(ctx, from, u.Email, good)
	require.Equal(t, errs.ReasonRateLimited, errs.ReasonOf(err), "the account's, from wherever")
	b.minutes.Add(2)
	b.signIn(t, u.Email)

	// Whoever signs in has not failed.
	for i := range 6 {
		member, _, err := b.AddUser(ctx, account.Membership{Organization: "acme", Role: auth.Viewer},
			account.Person{Email: "m" + string(rune('1'+i)) + "@acme.example", Name: "Member", Password: good})
		require.NoError(t, err)
		b.signIn(t, member.Email)
	}
}

func TestPasswordsAreChanged(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	u := b.owner(t)
	token, c := b.signIn(t, u.Email)
	elsewhere, _ := b.signIn(t, u.Email)
	const another = "seventeen Marble? otters"
	require.ErrorContains(t, b.ChangePassword(ctx, c, "wrong password 1", another), "current_password: is not")
	require.ErrorContains(t, b.ChangePassword(ctx, c, good, "password1234"), "new_password: is one of")
	require.NoError(t, b.ChangePassword(ctx, c, good, another))
	b.ended(t, elsewhere)

	renewed, err := b.sessions.Renew(ctx, token)
	require.NoError(t, err)
	b.ended(t, token)
	_, err = b.sessions.Renew(ctx, token)
	require.Equal(t, errs.ReasonSessionEnded, errs.ReasonOf(err))
	_, err = b.SignIn(ctx, from, u.Email, good)
	require.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))

	b.minutes.Add(15)
	c, err = b.sessions.Caller(ctx, renewed, "acme")
	require.NoError(t, err)
	assert.False(t, c.Fresh)
	_, err = b.Confirm(ctx, from, renewed, good)
	require.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))
	confirmed, err := b.Confirm(ctx, from, renewed, another)
	require.NoError(t, err)
	c, err = b.sessions.Caller(ctx, confirmed, "acme")
	require.NoError(t, err)
	assert.True(t, c.Fresh)

	key := auth.Caller{KeyID: "key_1", Organization: "acme"}
	for _, call := range []error{
		b.ChangePassword(ctx, key, good, another), b.EndSession(ctx, key, "ses_x"), b.EndSessions(ctx, key), b.AcceptAs(ctx, account.Client{}, key, ""),
	} {
		assert.Equal(t, errs.ReasonPersonNeeded, errs.ReasonOf(call))
	}
	_, err = b.Sessions(ctx, key)
	assert.Equal(t, errs.ReasonPersonNeeded, errs.ReasonOf(err))
	require.NoError(t, b.EndSessions(ctx, c))
	b.ended(t, confirmed)
}

// A password that was hashed with less is hashed again when its owner signs in.
func TestPasswordsAreHashedAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	u := b.owner(t)
	const older = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	require.NoError(t, b.store.SetPassword(ctx, u.ID, older, ""))
	_, err := b.SignIn(ctx, from, u.Email, "password")
	require.NoError(t, err)
	got, _, err := b.store.UserByID(ctx, u.ID)
	require.NoError(t, err)
	assert.Contains(t, got.Password, "m=19456")
	_, err = b.SignIn(ctx, from, u.Email, "password")
	require.NoError(t, err)
}

func TestLinksResetPasswords(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	u, _, err := b.AddUser(ctx, account.Membership{Organization: "acme", Role: auth.Owner},
		account.Person{Email: "ada@acme.example", Name: "Ada"})
	require.NoError(t, err)
	_, err = b.SignIn(ctx, from, u.Email, "")
	require.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err), "without a password there is none that is right")

	token, expires, err := b.ResetLink(ctx, u.ID)
	require.NoError(t, err)
	assert.Equal(t, b.now().Add(time.Hour), expires)
	got, err := b.CheckReset(ctx, token)
	require.NoError(t, err)
	assert.Equal(t, u.ID, got.ID)
	_, err = b.Reset(ctx, from, token, "ada@acme.example")
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	session, err := b.Reset(ctx, from, token, good)
	require.NoError(t, err)
	c, err := b.sessions.Caller(ctx, session, "acme")
	require.NoError(t, err)
	_, err = b.Reset(ctx, from, token, good)
	require.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))

	a, err := b.Account(ctx, c)
	require.NoError(t, err)
	assert.Equal(t, []account.Membership{{Organization: "acme", Role: auth.Owner}}, a.Memberships)
	assert.Empty(t, a.User.Password)
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	u := b.owner(t)
	_, c := b.signIn(t, u.Email)
	for _, bad := range [][2]string{{"nobody", "viewer"}, {"bob@acme.example", "king"}} {
		_, _, err := b.Invite(ctx, c, bad[0], auth.Role(bad[1]))
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
	_, token, err := b.Invite(ctx, c, "Bob@acme.example", auth.Member)
	require.NoError(t, err)
	i, known, err := b.Invitation(ctx, token)
	require.NoError(t, err)
	assert.False(t, known)
	assert.Equal(t, "bob@acme.example", i.Email)

	session, err := b.Accept(ctx, from, token, "Bob", good)
	require.NoError(t, err)
	bob, err := b.sessions.Caller(ctx, session, "acme")
	require.NoError(t, err)
	assert.Equal(t, auth.Member, bob.Role)
	_, err = b.Accept(ctx, from, token, "Bob", good)
	require.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))

	m, err := b.SetRole(ctx, c, bob.UserID, auth.Admin)
	require.NoError(t, err)
	assert.Equal(t, auth.Admin, m.Role)
	b.ended(t, session)
	reset, _, err := b.ResetMember(ctx, c, bob.UserID)
	require.NoError(t, err)
	session, err = b.Reset(ctx, from, reset, good)
	require.NoError(t, err)
	require.NoError(t, b.RemoveMember(ctx, c, bob.UserID))
	b.ended(t, session)

	_, token, err = b.Invite(ctx, c, "bob@acme.example", auth.Viewer)
	require.NoError(t, err)
	_, err = b.Accept(ctx, from, token, "Bob", good)
	require.Equal(t, errs.ReasonUserExists, errs.ReasonOf(err), "he signs in and accepts as himself")
	session, err = b.SignIn(context.WithoutCancel(ctx), from, "bob@acme.example", good)
	require.NoError(t, err)
	stranger, err := b.sessions.Caller(ctx, session, "acme")
	require.NoError(t, err)
	assert.Empty(t, stranger.Organization)
	require.NoError(t, b.AcceptAs(ctx, account.Client{}, stranger, token))
	bob, err = b.sessions.Caller(ctx, session, "acme")
	require.NoError(t, err)
	assert.Equal(t, auth.Viewer, bob.Role)
}
