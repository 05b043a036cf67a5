package restclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
)

// Connection is one as the API answers it.
type Connection struct {
	ID           string           `json:"connection_id"`
	Name         string           `json:"name"`
	Kind         codehost.Kind    `json:"kind"`
	URL          string           `json:"url"`
	Repositories []string         `json:"repositories"`
	Account      string           `json:"account"`
	Missing      []string         `json:"missing_permissions"`
	State        connection.State `json:"state"`
	Reason       string           `json:"reason"`
	Declared     bool             `json:"declared"`
	Trusted      bool             `json:"trusted"`
	CreatedAt    time.Time        `json:"created_at"`
	CreatedBy    string           `json:"created_by"`
	TestedAt     time.Time        `json:"tested_at"`
	WebhookURL   string           `json:"webhook_url"`
}

// WithSecret is a connection with the secret for webhooks that the server made.
type WithSecret struct {
	Connection    Connection `json:"connection"`
	WebhookSecret string     `json:"webhook_secret"`
}

// given leaves out what is empty: the API refuses empty texts.
func given(fields map[string]any) map[string]any {
	for name, value := range fields {
		if value == "" || value == int64(0) || value == false {
			delete(fields, name)
		}
	}
	return fields
}

// CreateConnection makes a connection. It is not tried again when the answer is lost,
// which may have had a secret.
func (c *Client) CreateConnection(
	ctx context.Context, n connection.Connection, s connection.Secrets,
) (out WithSecret, err error) {
	fields := given(map[string]any{
		"name": n.Name, "kind": string(n.Kind), "url": n.URL, "api_url": n.APIURL, "git_url": n.GitURL,
		"account": n.Account, "app_id": n.AppID, "installation_id": n.Installation, "token": s.Token,
		"git_token": s.GitToken, "private_key": s.PrivateKey,
	})
	fields["repositories"] = n.Repositories
	if len(s.Webhook) > 0 {
		fields["webhook_secret"] = s.Webhook[0]
	}
	return out, c.sendOnce(ctx, "/v1/connections", fields, &out)
}

// Setup is where somebody goes on with a connection whose GitHub App is to be made.
type Setup struct {
	ConnectionID string    `json:"connection_id"`
	URL          string    `json:"setup_url"`
	ExpiresAt    time.Time `json:"expires_at"`
}

// SetUpApp begins to make a connection with its GitHub App; personal says that the
// account is a person's. It is not tried again either.
func (c *Client) SetUpApp(ctx context.Context, n connection.Connection, personal bool) (out Setup, err error) {
	fields := given(map[string]any{
		"name": n.Name, "account": n.Account, "personal": personal, "url": n.URL, "api_url": n.APIURL,
		"git_url": n.GitURL,
	})
	fields["repositories"] = n.Repositories
	return out, c.sendOnce(ctx, "/v1/connections:setup", fields, &out)
}

// RotateConnection gives a connection new secrets. It is not tried again either.
func (c *Client) RotateConnection(
	ctx context.Context, id string, r connection.Rotation,
) (out WithSecret, err error) {
	return out, c.sendOnce(ctx, connectionPath(id)+":rotate", given(map[string]any{
		"token": r.Token, "git_token": r.GitToken, "private_key": r.PrivateKey, "webhook_secret": r.WebhookSecret,
		"new_webhook_secret": r.NewWebhookSecret,
	}), &out)
}

func (c *Client) sendOnce(ctx context.Context, path string, fields, out any) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = c.once(ctx, request{method: http.MethodPost, path: path, body: body}, out)
	return err
}

func connectionPath(id string) string { return "/v1/connections/" + url.PathEscape(id) }

// Connections lists them.
func (c *Client) Connections(ctx context.Context) ([]Connection, error) {
	var answer struct {
		Connections []Connection `json:"connections"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: "/v1/connections"}, &answer)
	return answer.Connections, err
}

// UpdateConnection changes a connection.
func (c *Client) UpdateConnection(
	ctx context.Context, id string, change connection.Change,
) (out Connection, err error) {
	fields := map[string]any{}
	if change.Name != nil {
		fields["name"] = *change.Name
	}
	if change.Account != nil {
		fields["account"] = *change.Account
	}
	if change.Installation != nil {
		fields["installation_id"] = *change.Installation
	}
	if len(change.Repositories) > 0 {
		fields["repositories"] = change.Repositories
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return out, err
	}
	_, err = c.call(ctx, request{method: http.MethodPatch, path: connectionPath(id), body: body}, &out)
	return out, err
}

// DeleteConnection deletes a connection.
func (c *Client) DeleteConnection(ctx context.Context, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: connectionPath(id)}, nil)
	return err
}

// TestConnection asks the host what the credentials may do.
func (c *Client) TestConnection(ctx context.Context, id string) (out Connection, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: connectionPath(id) + ":test", body: []byte("{}")}, &out)
	return out, err
}

// ConnectionRepositories lists what the credentials reach.
func (c *Client) ConnectionRepositories(ctx context.Context, id string) ([]codehost.Repository, error) {
	var answer struct {
		Repositories []struct {
			Name    string `json:"name"`
			Private bool   `json:"private"`
		} `json:"repositories"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: connectionPath(id) + "/repositories"}, &answer)
	out := make([]codehost.Repository, len(answer.Repositories))
	for i, r := range answer.Repositories {
		out[i] = codehost.Repository{Name: r.Name, Private: r.Private}
	}
	return out, err
}
