package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
)

// Connections answers ConnectionService.
type Connections struct {
	prwardenv1.UnimplementedConnectionServiceServer
	service *connection.Service
	hookURL func(id string) string
}

// NewConnections makes the handlers. hookURL is the address of a connection's webhooks,
// "" while it is not known.
func NewConnections(service *connection.Service, hookURL func(id string) string) *Connections {
	return &Connections{service: service, hookURL: hookURL}
}

// callerOf is who manages connections over the API, which is never the operator.
func callerOf(ctx context.Context) connection.Caller {
	return connection.Caller{Organization: auth.FromContext(ctx).Organization}
}

// CreateConnection implements ConnectionService.
func (h *Connections) CreateConnection(
	ctx context.Context, req *prwardenv1.CreateConnectionRequest,
) (*prwardenv1.CreateConnectionResponse, error) {
	secrets := connection.Secrets{
		Token: req.GetToken(), GitToken: req.GetGitToken(), PrivateKey: req.GetPrivateKey(),
	}
	if req.WebhookSecret != nil {
		secrets.Webhook = []string{req.GetWebhookSecret()}
	}
	created, err := h.service.Create(ctx, callerOf(ctx), connection.Connection{
		Name: req.GetName(), Kind: codehost.Kind(word(req.GetKind())), URL: req.GetUrl(), APIURL: req.GetApiUrl(),
		GitURL: req.GetGitUrl(), Repositories: req.GetRepositories(), Account: req.GetAccount(),
		AppID: int64(req.GetAppId()), Installation: int64(req.GetInstallationId()),
	}, secrets)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.CreateConnectionResponse{
		Connection: h.message(created.Connection), WebhookSecret: given(created.WebhookSecret),
	}, nil
}

// SetUpGitHubApp implements ConnectionService.
func (h *Connections) SetUpGitHubApp(
	ctx context.Context, req *prwardenv1.SetUpGitHubAppRequest,
) (*prwardenv1.SetUpGitHubAppResponse, error) {
	started, err := h.service.StartSetup(ctx, callerOf(ctx), connection.Connection{
		Name: req.GetName(), URL: req.GetUrl(), APIURL: req.GetApiUrl(), GitURL: req.GetGitUrl(),
		Repositories: req.GetRepositories(), Account: req.GetAccount(),
	}, req.GetPersonal())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.SetUpGitHubAppResponse{
		ConnectionId: started.ConnectionID, SetupUrl: text(started.URL), ExpiresAt: toTime(started.ExpiresAt),
	}, nil
}

// ListConnections implements ConnectionService.
func (h *Connections) ListConnections(
	ctx context.Context, _ *prwardenv1.ListConnectionsRequest,
) (*prwardenv1.ListConnectionsResponse, error) {
	list, err := h.service.List(ctx, callerOf(ctx))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListConnectionsResponse{Connections: each(list, h.message)}, nil
}

// GetConnection implements ConnectionService.
func (h *Connections) GetConnection(
	ctx context.Context, req *prwardenv1.GetConnectionRequest,
) (*prwardenv1.GetConnectionResponse, error) {
	c, err := h.service.Get(ctx, callerOf(ctx), req.GetConnectionId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.GetConnectionResponse{Connection: h.message(c)}, nil
}

// UpdateConnection implements ConnectionService.
func (h *Connections) UpdateConnection(
	ctx context.Context, req *prwardenv1.UpdateConnectionRequest,
) (*prwardenv1.UpdateConnectionResponse, error) {
	c, err := h.service.Update(ctx, callerOf(ctx), req.GetConnectionId(), connection.Change{
		Name: req.Name, Repositories: req.GetRepositories(), Account: req.Account, Installation: wide(req.InstallationId),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.UpdateConnectionResponse{Connection: h.message(c)}, nil
}

// DeleteConnection implements ConnectionService.
func (h *Connections) DeleteConnection(
	ctx context.Context, req *prwardenv1.DeleteConnectionRequest,
) (*prwardenv1.DeleteConnectionResponse, error) {
	if err := h.service.Delete(ctx, callerOf(ctx), req.GetConnectionId()); err != nil {
		return nil, err
	}

	return &prwardenv1.DeleteConnectionResponse{}, nil
}

// RotateConnectionSecret implements ConnectionService.
func (h *Connections) RotateConnectionSecret(
	ctx context.Context, req *prwardenv1.RotateConnectionSecretRequest,
) (*prwardenv1.RotateConnectionSecretResponse, error) {
	rotated, err := h.service.Rotate(ctx, callerOf(ctx), req.GetConnectionId(), connection.Rotation{
		Token: req.GetToken(), GitToken: req.GetGitToken(), PrivateKey: req.GetPrivateKey(),
		WebhookSecret: req.GetWebhookSecret(), NewWebhookSecret: req.GetNewWebhookSecret(),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.RotateConnectionSecretResponse{
		Connection: h.message(rotated.Connection), WebhookSecret: given(rotated.WebhookSecret),
	}, nil
}

// TestConnection implements ConnectionService.
func (h *Connections) TestConnection(
	ctx context.Context, req *prwardenv1.TestConnectionRequest,
) (*prwardenv1.TestConnectionResponse, error) {
	c, err := h.service.Test(ctx, callerOf(ctx), req.GetConnectionId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.TestConnectionResponse{Connection: h.message(c)}, nil
}

// ListConnectionRepositories implements ConnectionService.
func (h *Connections) ListConnectionRepositories(
	ctx context.Context, req *prwardenv1.ListConnectionRepositoriesRequest,
) (*prwardenv1.ListConnectionRepositoriesResponse, error) {
	list, err := h.service.Repositories(ctx, callerOf(ctx), req.GetConnectionId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListConnectionRepositoriesResponse{
		Repositories: each(list, func(r codehost.Repository) *prwardenv1.ListConnectionRepositoriesResponse_Repository {
			return &prwardenv1.ListConnectionRepositoriesResponse_Repository{Name: text(r.Name), Private: r.Private}
		}),
	}, nil
}

// message is a connection as callers see it.
func (h *Connections) message(c connection.Connection) *prwardenv1.Connection {
	return &prwardenv1.Connection{
		ConnectionId: c.ID, Name: text(c.Name), Url: text(c.URL), ApiUrl: given(c.APIURL), GitUrl: given(c.GitURL),
		Kind:         enum[prwardenv1.CodeHost_Kind](string(c.Kind), prwardenv1.CodeHost_Kind_value),
		Repositories: each(c.Repositories, text), Account: given(c.Account), AppId: number(c.AppID),
		InstallationId: number(c.Installation), MissingPermissions: each(c.Missing, text),
		State:  enum[prwardenv1.Connection_State](string(c.State), prwardenv1.Connection_State_value),
		Reason: given(c.Reason), Declared: c.Declared, Trusted: c.Trusted, CreatedAt: toTime(c.CreatedAt),
		CreatedBy: text(c.CreatedBy), UpdatedAt: toTime(c.UpdatedAt), TestedAt: toTime(c.TestedAt),
		WebhookUrl: given(h.hookURL(c.ID)),
	}
}

// number is nil for 0, which is none.
func number(n int64) *int32 {
	if n == 0 {
		return nil
	}
	out := clamp(int(n))

	return &out
}

// wide is a number that may not be given.
func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	out := int64(*n)

	return &out
}
