package connection_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
)

func declaration() connection.Declared {
	return connection.Declared{
		Organization: "acme", Name: "gitea", Kind: codehost.Gitea, URL: "http://10.0.0.7:3000",
		GitURL: "file:///srv/git/{repo}.git", Repositories: []string{"acme/*"}, TokenEnv: "TOKEN", WebhookEnv: "HOOK",
	}
}

func TestDeclare(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	environment := map[string]string{"TOKEN": token, "HOOK": given}
	lookup := func(name string) string { return environment[name] }
	one := func() connection.Connection {
		list, err := f.List(ctx, tenant)
		require.NoError(t, err)
		require.Len(t, list, 1)

		return list[0]
	}
	events := func() []audit.Event {
		list, err := f.store.Events(ctx, "acme", audit.Filter{Limit: 100})
		require.NoError(t, err)

		return list
	}
	secrets := func(id string) connection.Secrets {
		_, h, err := f.Open(ctx, id)
		require.NoError(t, err)

		return h.(host).options.Secrets
	}

	d := declaration()
	assert.Empty(t, d.Validate())
	require.NoError(t, f.Declare(ctx, []connection.Declared{d}, lookup))
	first := one()
	assert.True(t, first.Declared)
	assert.True(t, first.Trusted)
	assert.Equal(t, "system", first.CreatedBy)
	assert.Equal(t, connection.Secrets{Token: token, Webhook: []string{given}}, secrets(first.ID))

	_, err := f.Test(ctx, tenant, first.ID) // it finds the account
	require.NoError(t, err)
	tested := one()
	require.NoError(t, f.Declare(ctx, []connection.Declared{d}, lookup))
	assert.Equal(t, tested, one(), "what is so already stays")
	assert.Len(t, events(), 2, "that it was made, and the account")

	for _, by := range []connection.Caller{tenant, operator} {
		wantError(t, f.Delete(ctx, by, first.ID), errs.FailedPrecondition, errs.ReasonConnectionDeclared)
	}

	environment["TOKEN"] = "another"
	d.Repositories = []string{"acme/**"}
	require.NoError(t, f.Declare(ctx, []connection.Declared{d}, lookup))
	changed := one()
	assert.Equal(t, first.ID, changed.ID, "the address of its webhooks stays")
	assert.Equal(t, "another", secrets(first.ID).Token)
	require.Len(t, events(), 3)
	assert.Equal(t, []audit.Field{
		{Name: "repositories", Before: "acme/*", After: "acme/**"}, {Name: "secrets", After: "(replaced)"},
	}, events()[0].Fields)

	require.NoError(t, f.Declare(ctx, nil, lookup))
	left := one()
	assert.False(t, left.Declared)
	assert.True(t, left.Trusted)
	wantError(t, f.Delete(ctx, tenant, first.ID), errs.FailedPrecondition, errs.ReasonConnectionDeclared)
	require.NoError(t, f.Delete(ctx, operator, first.ID))
}

// The installation of a declared App is the one in the file, or else the one that was
// found for its account.
func TestDeclareInstallation(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	key := newPrivateKey(t)
	d := connection.Declared{
		Organization: "acme", Name: "github", Kind: codehost.GitHub, Repositories: []string{"acme/*"}, Account: "acme",
		AppID: 7, Installation: 5678, PrivateKeyEnv: "KEY",
	}
	declare := func() connection.Connection {
		t.Helper()
		require.NoError(t, f.Declare(ctx, []connection.Declared{d}, func(string) string { return key }))
		list, err := f.List(ctx, tenant)
		require.NoError(t, err)
		require.Len(t, list, 1)

		return list[0]
	}
	assert.EqualValues(t, 5678, declare().Installation)
	d.Installation = 5679
	changed := declare()
	assert.EqualValues(t, 5679, changed.Installation)
	_, h, err := f.Open(ctx, changed.ID)
	require.NoError(t, err)
	assert.EqualValues(t, 5679, h.(host).options.Connection.Installation)

	d.Installation = 0
	assert.EqualValues(t, 5679, declare().Installation, "it is still that of the account")
	d.Account = "other"
	assert.Zero(t, declare().Installation)
}

// A declaration takes over a connection of its name, with its own secrets.
func TestDeclareTakesOver(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, tenant, gitea())
	d := declaration()
	d.WebhookEnv = ""
	require.NoError(t, f.Declare(ctx, []connection.Declared{d}, func(string) string { return "theirs" }))
	c, h, err := f.Open(ctx, made.ID)
	require.NoError(t, err)
	assert.True(t, c.Trusted)
	assert.Equal(t, connection.Secrets{Token: "theirs"}, h.(host).options.Secrets)
}

func TestDeclarationsAreChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	none := func(string) string { return "" }
	for name, tt := range map[string]struct {
		set  func(*connection.Declared)
		want string // "" for nothing
	}{
		"a file":         {func(d *connection.Declared) { d.TokenEnv, d.TokenFile, d.WebhookEnv = "", file, "" }, ""},
		"not set":        {func(*connection.Declared) {}, `token is empty: the variable TOKEN`},
		"no file":        {func(d *connection.Declared) { d.TokenEnv, d.TokenFile = "", file+"x" }, "token_file can't be read: open "},
		"no secret":      {func(d *connection.Declared) { d.TokenEnv, d.WebhookEnv = "", "" }, "token: it is missing"},
		"no such kind":   {func(d *connection.Declared) { d.Kind, d.TokenEnv, d.TokenFile, d.WebhookEnv = "x", "", file, "" }, `kind: "x" is not supported`},
		"a hidden space": {func(d *connection.Declared) { d.TokenEnv, d.TokenFile, d.WebhookEnv, d.Account = "", file, "", "a b" }, "account: "},
	} {
		d := declaration()
		tt.set(&d)
		err := f.Declare(t.Context(), []connection.Declared{d}, none)
		if tt.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, `the connection "gitea" of the configuration file can't be stored: `, name)
		require.ErrorContains(t, err, tt.want, name)
		assert.NotContains(t, err.Error(), token)
	}

	both := declaration()
	both.TokenFile, both.Organization, both.Name = "x", "", "A"
	var fields []string
	for _, v := range both.Validate() {
		fields = append(fields, v.Field)
	}
	assert.Equal(t, []string{"organization", "token_env", "name"}, fields)
}
