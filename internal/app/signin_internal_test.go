package app

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/errs"
)

// TestSingleSignOn holds what a server makes of an identity provider that the file names.
func TestSingleSignOn(t *testing.T) {
	t.Parallel()
	const good = "violet Harbor 7 quilts"
	start := func(o *account.OIDC, env map[string]string) (*Server, error) {
		c := config.Default()
		c.Database = "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")
		c.HTTPAddr, c.GRPCAddr, c.OpsAddr = "127.0.0.1:0", "127.0.0.1:0", ""
		c.CacheDir, c.PublicURL, c.SignIn.OIDC = t.TempDir(), "https://prwarden.example.com/", o
		lookup := func(name string) string { return env[name] }
		s, err := NewServer(t.Context(), c, lookup, slog.New(slog.DiscardHandler))
		if err == nil {
			t.Cleanup(func() { assert.NoError(t, s.free()) })
		}

		return s, err
	}

	s, err := start(nil, nil)
	require.NoError(t, err)
	assert.Nil(t, s.singleSignOn)

	o := &account.OIDC{
		Issuer: "https://id.example.com", ClientID: "p", ClientSecretEnv: "SECRET", Only: true, BreakGlass: "ada@example.com",
	}
	_, err = start(o, nil)
	require.EqualError(t, err, "the variable SECRET, which sign_in.oidc.client_secret_env names, is not set")
	s, err = start(o, map[string]string{"SECRET": "s3cret"})
	require.NoError(t, err)
	require.NotNil(t, s.singleSignOn)
	assert.Equal(t, "s3cret", s.singleSignOn.ClientSecret)
	assert.Equal(t, "https://prwarden.example.com/auth/oidc/callback", s.singleSignOn.RedirectURL)
	assert.NotNil(t, s.singleSignOn.Accounts)

	for email, reason := range map[string]string{"ada@example.com": "", "bob@example.com": errs.ReasonSingleSignOnOnly} {
		_, _, err = s.accounts.AddUser(t.Context(), account.Membership{Organization: "default", Role: auth.Owner},
			account.Person{Email: email, Name: "Somebody", Password: good})
		assert.Equal(t, reason, errs.ReasonOf(err), email)
	}
}
