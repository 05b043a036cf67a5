package account_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestSignInByAProvider(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	operator := auth.Caller{Organization: "acme", Scopes: auth.Scopes()}
	_, _, err := b.Invite(ctx, operator, "ada@acme.example", auth.Owner)
	require.NoError(t, err)
	ada := b.owner(t)
	id := account.Identity{Issuer: "https://id.example.com", Subject: "1", Email: "ADA@acme.example", ShownAt: b.now()}
	token, err := b.SignInBy(ctx, from, id)
	require.NoError(t, err)
	c, err := b.sessions.Caller(ctx, token, "acme")
	require.NoError(t, err)
	assert.Equal(t, ada.ID, c.UserID)
	assert.True(t, c.Fresh)
	list, err := b.Sessions(ctx, c)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, account.ByProvider, list[0].Method)

	// A password that the provider was given long ago is not fresh, and none lasts longer.
	for shown, fresh := range map[time.Time]bool{
		{}: false, b.now().Add(-account.FreshFor): false, b.now().Add(-time.Minute): true, b.now().Add(time.Hour): true,
	} {
		id.ShownAt = shown
		again, err := b.SignInBy(ctx, from, id)
		require.NoError(t, err)
		c, err := b.sessions.Caller(ctx, again, "acme")
		require.NoError(t, err)
		assert.Equal(t, fresh, c.Fresh, shown)
		b.minutes.Add(10)
		c, err = b.sessions.Caller(ctx, again, "acme")
		require.NoError(t, err)
		assert.False(t, c.Fresh)
		b.minutes.Add(-10)
	}

	// Groups that change are in force at once.
	other, _ := b.signIn(t, ada.Email)
	_, _, err = b.AddUser(ctx, account.Membership{Organization: "acme", Role: auth.Owner},
		account.Person{Email: "o@acme.example", Name: "O"})
	require.NoError(t, err)
	id.Managed, id.Roles = []string{"acme"}, map[string]auth.Role{"acme": auth.Viewer}
	token, err = b.SignInBy(ctx, from, id)
	require.NoError(t, err)
	b.ended(t, other)
	c, err = b.sessions.Caller(ctx, token, "acme")
	require.NoError(t, err)
	assert.Equal(t, auth.Viewer, c.Role)

	for name, stranger := range map[string]account.Identity{
		"unknown": {Issuer: "i", Subject: "2", Email: "eve@acme.example"}, "no address": {Issuer: "i", Subject: "2", Email: "eve"},
		"nothing": {Issuer: "i", Subject: "2"},
	} {
		_, err = b.SignInBy(ctx, from, stranger)
		assert.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err), name)
	}
	assert.NotContains(t, b.log.String(), "eve@")
}

// What a provider calls a person may be anything.
func TestNamesOfProviders(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"Bob\x00 B": "Bob B", "": "bob", " \x01 ": "bob", strings.Repeat("é", 300): strings.Repeat("é", account.MaxName),
	} {
		b := setup(t)
		_, c := b.signIn(t, b.owner(t).Email)
		_, _, err := b.Invite(t.Context(), c, "bob@acme.example", auth.Viewer)
		require.NoError(t, err)
		token, err := b.SignInBy(t.Context(), from, account.Identity{
			Issuer: "i", Subject: "1", Email: "bob@acme.example", Name: given,
		})
		require.NoError(t, err)
		bob, err := b.sessions.Caller(t.Context(), token, "acme")
		require.NoError(t, err)
		a, err := b.Account(t.Context(), bob)
		require.NoError(t, err)
		assert.Equal(t, want, a.User.Name)
	}
}

func TestOnlySingleSignOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := setup(t)
	ada := b.owner(t)
	bob, _, err := b.AddUser(ctx, account.Membership{Organization: "acme", Role: auth.Admin},
		account.Person{Email: "bob@acme.example", Name: "Bob", Password: good})
	require.NoError(t, err)
	_, c := b.signIn(t, ada.Email)
	_, invited, err := b.Invite(ctx, c, "eve@acme.example", auth.Viewer)
	require.NoError(t, err)

	b.RequireProvider("Ada@acme.example")
	b.signIn(t, ada.Email)
	_, err = b.SignIn(ctx, from, bob.Email, good)
	assert.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))
	link, _, err := b.ResetLink(ctx, bob.ID)
	require.NoError(t, err)
	_, err = b.Reset(ctx, from, link, good)
	assert.Equal(t, errs.ReasonSingleSignOnOnly, errs.ReasonOf(err))
	_, err = b.Accept(ctx, from, invited, "Eve", good)
	assert.Equal(t, errs.ReasonSingleSignOnOnly, errs.ReasonOf(err))
	link, _, err = b.ResetLink(ctx, ada.ID)
	require.NoError(t, err)
	_, err = b.Reset(ctx, from, link, good)
	require.NoError(t, err)

	fresh := setup(t)
	fresh.RequireProvider("")
	require.NoError(t, fresh.OfferSetUp(ctx, "https://prwarden.example.com"))
	assert.Empty(t, fresh.log.String())
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	right := account.OIDC{
		Issuer: "https://id.example.com/realms/a", ClientID: "prwarden", GroupsClaim: "groups", BreakGlass: "ada@acme.example",
		Roles: []account.GroupRole{
			{Group: "dev", Organization: "acme", Role: auth.Member}, {Group: "ops", Organization: "acme", Role: auth.Owner},
			{Group: "all", Organization: "acme", Role: auth.Viewer}, {Group: "ops", Organization: "a", Role: auth.Viewer},
		},
	}
	assert.Empty(t, right.Validate())
	assert.Equal(t, []string{"a", "acme"}, right.Managed())
	assert.Equal(t, map[string]auth.Role{"acme": auth.Owner, "a": auth.Viewer}, right.RolesOf([]string{"all", "ops", "dev"}))
	assert.Equal(t, map[string]auth.Role{"acme": auth.Member}, right.RolesOf([]string{"all", "dev", "x"}))
	assert.Empty(t, right.RolesOf(nil))

	for field, change := range map[string]func(*account.OIDC){
		"issuer":                func(o *account.OIDC) { o.Issuer = "http://id.example.com" },
		"client_id":             func(o *account.OIDC) { o.ClientID = "" },
		"groups_claim":          func(o *account.OIDC) { o.GroupsClaim = "" },
		"break_glass":           func(o *account.OIDC) { o.BreakGlass = "ada" },
		"roles[0].group":        func(o *account.OIDC) { o.Roles = []account.GroupRole{{Organization: "a", Role: auth.Owner}} },
		"roles[0].organization": func(o *account.OIDC) { o.Roles = []account.GroupRole{{Group: "a", Role: auth.Owner}} },
		"roles[0].role":         func(o *account.OIDC) { o.Roles = []account.GroupRole{{Group: "a", Organization: "a"}} },
	} {
		wrong := right
		change(&wrong)
		found := wrong.Validate()
		if assert.Len(t, found, 1, field) {
			assert.Equal(t, field, found[0].Field)
		}
	}
	for _, issuer := range []string{"", "id.example.com", "https://id.example.com?x", "https://u@id.example.com", "ftp://h"} {
		wrong := right
		wrong.Issuer = issuer
		assert.NotEmpty(t, wrong.Validate(), issuer)
	}
	right.Issuer = "http://127.0.0.1:8080"
	assert.Empty(t, right.Validate())
}
