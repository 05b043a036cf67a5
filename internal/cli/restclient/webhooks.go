package restclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Webhook is one as the API answers it.
type Webhook struct {
	ID           string    `json:"webhook_id"`
	Name         string    `json:"name"`
	URL          string    `json:"url"` // without what may be secret in it
	Events       []string  `json:"events"`
	Format       string    `json:"format"`
	State        string    `json:"state"`
	Reason       string    `json:"reason"`
	FailingSince time.Time `json:"failing_since"`
	CreatedBy    string    `json:"created_by"`
}

// WebhookWithSecret is a webhook with a secret that was just made; "" for Slack.
type WebhookWithSecret struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret"`
}

// NewWebhook is a webhook to be made. What is empty is as the API says.
type NewWebhook struct {
	Name   string   `json:"name"`
	URL    string   `json:"url"`
	Events []string `json:"events,omitempty"`
	Format string   `json:"format,omitempty"`
}

// WebhookChange is what a webhook gets. What is nil or empty stays.
type WebhookChange struct {
	Name    *string  `json:"name,omitempty"`
	URL     string   `json:"url,omitempty"`
	Events  []string `json:"events,omitempty"`
	Enabled *bool    `json:"enabled,omitempty"`
}

// WebhookMessage is a message with its attempts, the oldest first.
type WebhookMessage struct {
	ID        string           `json:"message_id"`
	Event     string           `json:"event"`
	State     string           `json:"state"`
	CreatedAt time.Time        `json:"created_at"`
	NextAt    *time.Time       `json:"next_at,omitempty"`
	Attempts  []WebhookAttempt `json:"attempts"`
}

// WebhookAttempt is one try to deliver a message.
type WebhookAttempt struct {
	At         time.Time `json:"at"`
	Status     int       `json:"status,omitempty"` // of HTTP; 0 without an answer
	DurationMS int       `json:"duration_ms"`
	Answer     string    `json:"answer,omitempty"`
	Error      string    `json:"error,omitempty"`
}

func webhookPath(id string) string { return "/v1/webhooks/" + url.PathEscape(id) }

// CreateWebhook makes a webhook. It is not tried again when the answer is lost, which may
// have had a secret.
func (c *Client) CreateWebhook(ctx context.Context, n NewWebhook) (out WebhookWithSecret, err error) {
	return out, c.sendOnce(ctx, "/v1/webhooks", n, &out)
}

// RotateWebhookSecret gives a webhook a new secret. It is not tried again either.
func (c *Client) RotateWebhookSecret(ctx context.Context, id string) (out WebhookWithSecret, err error) {
	return out, c.sendOnce(ctx, webhookPath(id)+":rotate", struct{}{}, &out)
}

// Webhooks lists them.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	var answer struct {
		Webhooks []Webhook `json:"webhooks"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: "/v1/webhooks"}, &answer)

	return answer.Webhooks, err
}

// UpdateWebhook changes a webhook.
func (c *Client) UpdateWebhook(ctx context.Context, id string, change WebhookChange) (out Webhook, err error) {
	body, err := json.Marshal(change)
	if err != nil {
		return out, err
	}
	_, err = c.call(ctx, request{method: http.MethodPatch, path: webhookPath(id), body: body}, &out)

	return out, err
}

// DeleteWebhook deletes a webhook with its messages.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: webhookPath(id)}, nil)

	return err
}

// TestWebhook has a test message sent, and returns its identifier.
func (c *Client) TestWebhook(ctx context.Context, id string) (string, error) {
	var answer struct {
		ID string `json:"message_id"`
	}
	_, err := c.call(ctx, request{method: http.MethodPost, path: webhookPath(id) + ":test", body: []byte("{}")}, &answer)

	return answer.ID, err
}

// WebhookMessages lists the newest messages of a webhook, the newest first.
func (c *Client) WebhookMessages(ctx context.Context, id string) ([]WebhookMessage, error) {
	var answer struct {
		Messages []WebhookMessage `json:"messages"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: webhookPath(id) + "/messages"}, &answer)

	return answer.Messages, err
}

// RedeliverWebhookMessage has a message sent once more.
func (c *Client) RedeliverWebhookMessage(ctx context.Context, id, message string) error {
	path := webhookPath(id) + "/messages/" + url.PathEscape(message) + ":redeliver"
	_, err := c.call(ctx, request{method: http.MethodPost, path: path, body: []byte("{}")}, nil)

	return err
}
