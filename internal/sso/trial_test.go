package sso_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// A trial tells what a sign-in would be, and signs nobody in.
func TestTrial(t *testing.T) {
	t.Parallel()
	b := setup(t)
	address, cookie, err := b.BeginTrial(t.Context(), "usr_owner", "/o/acme/settings/sso")
	require.NoError(t, err)
	query := b.provider.authorize(t, address)
	b.fails(t, cookie, query, "it was a trial")

	got, ok, err := b.FinishTrial(t.Context(), from, cookie, query)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "usr_owner", got.UserID)
	assert.Equal(t, "/o/acme/settings/sso", got.ReturnTo)
	assert.Equal(t, "ada@acme.example", got.Email)
	assert.Equal(t, map[string]auth.Role{"acme": auth.Member}, got.Roles)
	names := map[string]string{}
	for _, c := range got.Claims {
		names[c.Name] = c.Value
	}
	assert.JSONEq(t, `"Ada@acme.example"`, names["email"])
	assert.Contains(t, names["groups"], `"dev"`)
	assert.NotContains(t, names, "nonce")

	_, ok, err = b.FinishTrial(t.Context(), from, cookie, query)
	require.True(t, ok)
	assert.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err), "the code was used")
	query.Set("state", "another")
	_, _, err = b.FinishTrial(t.Context(), from, cookie, query)
	assert.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))

	cookie, query = b.begin(t)
	_, ok, err = b.FinishTrial(t.Context(), from, cookie, query)
	require.NoError(t, err)
	assert.False(t, ok, "it is a sign-in")
}

// Who signs in with a password always is told so.
func TestTrialOfBreakGlass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.provider.set(map[string]any{"email": "owner@acme.example"})
	address, cookie, err := b.BeginTrial(t.Context(), "usr_owner", "/o/acme/settings/sso")
	require.NoError(t, err)
	got, _, err := b.FinishTrial(t.Context(), from, cookie, b.provider.authorize(t, address))
	require.NoError(t, err)
	assert.True(t, got.BreakGlass)
	assert.Empty(t, got.Email)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at, problem := b.Check(t.Context())
	assert.Empty(t, problem)
	assert.Contains(t, at, b.provider.url)
	b.Service.Provider.Issuer += "/nowhere"
	at, problem = b.Check(t.Context())
	assert.Empty(t, at)
	assert.NotEmpty(t, problem)
}
