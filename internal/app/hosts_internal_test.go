package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
)

// What a connection has gets to its host: both ways to GitHub work with it.
func TestConnectionsToGitHub(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]connection.Options{
		"App by its account": {
			Connection: connection.Connection{AppID: githubfake.AppID, Account: "acme"},
			Secrets:    connection.Secrets{PrivateKey: githubfake.PrivateKey()},
		},
		"App by its installation": {
			Connection: connection.Connection{AppID: githubfake.AppID, Installation: githubfake.Installation},
			Secrets:    connection.Secrets{PrivateKey: githubfake.PrivateKey()},
		},
		"token": {Secrets: connection.Secrets{Token: hosttest.Token, GitToken: "reads"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := o.Connection.AppID != 0
			server := httptest.NewServer(githubfake.New(app))
			t.Cleanup(server.Close)
			o.Connection.URL, o.Client = server.URL, &http.Client{}
			host, err := hostsByKind()[codehost.GitHub](o)
			require.NoError(t, err)
			access, err := host.Access(t.Context())
			require.NoError(t, err)
			assert.Equal(t, app, access.Checks)
			assert.Empty(t, access.Missing)
			c, err := host.Credential(t.Context(), codehost.Repository{ID: hosttest.RepoID, Name: hosttest.Repo})
			require.NoError(t, err)
			assert.Equal(t, app, !c.ExpiresAt.IsZero())
			assert.Equal(t, !app, c.Token == "reads")
		})
	}

	_, err := hostsByKind()[codehost.GitHub](connection.Options{
		Connection: connection.Connection{AppID: 1}, Secrets: connection.Secrets{PrivateKey: "hunter2"},
	})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}
