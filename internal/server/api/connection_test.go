package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/store"
)

// codeHost is one with a repository.
type codeHost struct{ codehost.Host }

func (codeHost) Access(context.Context) (codehost.Access, error) {
	return codehost.Access{Account: "bot", Missing: []string{"checks: write"}}, nil
}

func (codeHost) Repositories(context.Context, int) ([]codehost.Repository, error) {
	return []codehost.Repository{{Name: "acme/shop", Private: true}}, nil
}

func TestConnections(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "prwarden.db")
	s, err := store.Open(t.Context(), store.Options{Database: "sqlite:" + database})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Migrate(t.Context()))
	open := func(connection.Options) (codehost.Host, error) { return codeHost{}, nil }
	service := connection.NewService(connection.Config{
		Store: s, Sealer: seal.Beside(database, nil), Client: &http.Client{}, Log: slog.New(slog.DiscardHandler),
		Hosts: connection.Factory{codehost.Gitea: open}, Listed: func(*url.URL) bool { return false },
	})
	h := api.NewConnections(service, func(id string) string { return "https://prwarden.example.com/hooks/" + id })
	ctx := auth.NewContext(audit.NewContext(t.Context(), audit.Actor{Kind: audit.Key, ID: "key_a"}),
		auth.Caller{Organization: "acme"})
	answers := ""

	token, kind := "a-token-that-nobody-may-read", prwardenv1.CodeHost_gitea
	host := "https://git.example.com"
	created, err := h.CreateConnection(ctx, &prwardenv1.CreateConnectionRequest{
		Name: "gitea", Kind: &kind, Url: &host, Repositories: []string{"acme/*"}, Token: &token,
	})
	require.NoError(t, err)
	c := created.GetConnection()
	assert.Len(t, created.GetWebhookSecret(), 52)
	assert.Equal(t, host, c.GetUrl())
	assert.Equal(t, prwardenv1.CodeHost_gitea, c.GetKind())
	assert.Equal(t, prwardenv1.Connection_active, c.GetState())
	assert.Equal(t, "https://prwarden.example.com/hooks/"+c.GetConnectionId(), c.GetWebhookUrl())
	assert.Equal(t, "key:key_a", c.GetCreatedBy())
	assert.Nil(t, c.AppId)
	answers += protojson.Format(c)

	id := c.GetConnectionId()
	tested, err := h.TestConnection(ctx, &prwardenv1.TestConnectionRequest{ConnectionId: id})
	require.NoError(t, err)
	assert.Equal(t, "bot", tested.GetConnection().GetAccount())
	assert.Equal(t, []string{"checks: write"}, tested.GetConnection().GetMissingPermissions())
	name := "other"
	updated, err := h.UpdateConnection(ctx, &prwardenv1.UpdateConnectionRequest{ConnectionId: id, Name: &name})
	require.NoError(t, err)
	assert.Equal(t, []string{"acme/*"}, updated.GetConnection().GetRepositories())
	assert.Equal(t, "other", updated.GetConnection().GetName())
	rotated, err := h.RotateConnectionSecret(ctx, &prwardenv1.RotateConnectionSecretRequest{
		ConnectionId: id, Token: &token,
	})
	require.NoError(t, err)
	assert.Nil(t, rotated.WebhookSecret, "none was asked for")
	answers += protojson.Format(rotated)
	list, err := h.ListConnections(ctx, &prwardenv1.ListConnectionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetConnections(), 1)
	answers += protojson.Format(list)
	repositories, err := h.ListConnectionRepositories(ctx, &prwardenv1.ListConnectionRepositoriesRequest{ConnectionId: id})
	require.NoError(t, err)
	require.Len(t, repositories.GetRepositories(), 1)
	assert.True(t, repositories.GetRepositories()[0].GetPrivate())
	got, err := h.GetConnection(ctx, &prwardenv1.GetConnectionRequest{ConnectionId: id})
	require.NoError(t, err)
	assert.NotContains(t, answers+protojson.Format(got), token)
	assert.NotContains(t, answers+protojson.Format(got), created.GetWebhookSecret())

	other := auth.NewContext(t.Context(), auth.Caller{Organization: "other"})
	_, err = h.GetConnection(other, &prwardenv1.GetConnectionRequest{ConnectionId: id})
	assert.Equal(t, errs.NotFound, errs.KindOf(err))
	_, err = h.DeleteConnection(other, &prwardenv1.DeleteConnectionRequest{ConnectionId: id})
	assert.Equal(t, errs.NotFound, errs.KindOf(err))
	_, err = h.DeleteConnection(ctx, &prwardenv1.DeleteConnectionRequest{ConnectionId: id})
	require.NoError(t, err)
}
