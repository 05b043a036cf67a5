package admin

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/store"
	"github.com/prwarden/prwarden/internal/webhook"
)

// connections manages those of an organization on the database.
type connections struct {
	service *connection.Service
	by      connection.Caller
	hookURL func(id string) string
}

// withConnections runs do with the connections of the database.
func withConnections(
	ctx context.Context, st cli.Streams, c config.Config,
	do func(context.Context, *store.Store, *connection.Service) error,
) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		service, err := app.OpenConnections(ctx, c, st.Lookup, store, slog.New(slog.NewTextHandler(st.Err, nil)))
		if err != nil {
			return err
		}
		return do(ctx, store, service)
	})
}

// Connections runs do as the operator of an organization's connections.
func Connections(
	ctx context.Context, st cli.Streams, c config.Config, org string,
	do func(context.Context, cli.Connections) error,
) error {
	return withConnections(ctx, st, c, func(ctx context.Context, store *store.Store, service *connection.Service) error {
		if err := checkOrganization(ctx, store, org); err != nil {
			return err
		}
		by := connection.Caller{Organization: org, Operator: true}
		return usageError(do(ctx, &connections{service: service, by: by, hookURL: c.HookURL}))
	})
}

// ResealConnections wraps the secrets of all connections and webhooks by the first key.
func ResealConnections(ctx context.Context, st cli.Streams, c config.Config) error {
	return withConnections(ctx, st, c, func(ctx context.Context, store *store.Store, service *connection.Service) error {
		n, failed, err := service.Reseal(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(st.Err, "the secrets of %d connections were sealed by the first key\n", n)
		receivers := webhook.Service{Store: store, Sealer: service.Sealer}
		n, others, err := receivers.Reseal(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(st.Err, "the secrets of %d webhooks were sealed by the first key\n", n)
		maps.Copy(failed, others)
		for _, id := range slices.Sorted(maps.Keys(failed)) {
			fmt.Fprintf(st.Err, "%s: %s\n", id, terminal.Safe(failed[id]))
		}
		if len(failed) > 0 {
			return fmt.Errorf("the secrets of %d connections and webhooks can't be read", len(failed))
		}
		return nil
	})
}

func (m *connections) shown(c connection.Connection) restclient.Connection {
	return restclient.Connection{
		ID: c.ID, Name: c.Name, Kind: c.Kind, URL: c.URL, Repositories: c.Repositories, Account: c.Account,
		Missing: c.Missing, State: c.State, Reason: c.Reason, Declared: c.Declared, Trusted: c.Trusted,
		CreatedAt: c.CreatedAt, CreatedBy: c.CreatedBy, TestedAt: c.TestedAt, WebhookURL: m.hookURL(c.ID),
	}
}

func (m *connections) withSecret(c connection.Created) restclient.WithSecret {
	return restclient.WithSecret{Connection: m.shown(c.Connection), WebhookSecret: c.WebhookSecret}
}

// CreateConnection implements cli.Connections.
func (m *connections) CreateConnection(
	ctx context.Context, c connection.Connection, s connection.Secrets,
) (restclient.WithSecret, error) {
	made, err := m.service.Create(ctx, m.by, c, s)
	return m.withSecret(made), err
}

// SetUpApp implements cli.Connections.
func (m *connections) SetUpApp(
	ctx context.Context, c connection.Connection, personal bool,
) (restclient.Setup, error) {
	started, err := m.service.StartSetup(ctx, m.by, c, personal)
	return restclient.Setup{
		ConnectionID: started.ConnectionID, URL: started.URL, ExpiresAt: started.ExpiresAt,
	}, err
}

// Connections implements cli.Connections.
func (m *connections) Connections(ctx context.Context) ([]restclient.Connection, error) {
	list, err := m.service.List(ctx, m.by)
	out := make([]restclient.Connection, len(list))
	for i, c := range list {
		out[i] = m.shown(c)
	}
	return out, err
}

// UpdateConnection implements cli.Connections.
func (m *connections) UpdateConnection(
	ctx context.Context, id string, change connection.Change,
) (restclient.Connection, error) {
	c, err := m.service.Update(ctx, m.by, id, change)
	return m.shown(c), err
}

// DeleteConnection implements cli.Connections.
func (m *connections) DeleteConnection(ctx context.Context, id string) error {
	return m.service.Delete(ctx, m.by, id)
}

// RotateConnection implements cli.Connections.
func (m *connections) RotateConnection(
	ctx context.Context, id string, r connection.Rotation,
) (restclient.WithSecret, error) {
	rotated, err := m.service.Rotate(ctx, m.by, id, r)
	return m.withSecret(rotated), err
}

// TestConnection implements cli.Connections.
func (m *connections) TestConnection(ctx context.Context, id string) (restclient.Connection, error) {
	c, err := m.service.Test(ctx, m.by, id)
	return m.shown(c), err
}

// ConnectionRepositories implements cli.Connections.
func (m *connections) ConnectionRepositories(ctx context.Context, id string) ([]codehost.Repository, error) {
	return m.service.Repositories(ctx, m.by, id)
}
