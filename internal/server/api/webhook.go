package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/webhook"
)

// Webhooks answers WebhookService.
type Webhooks struct {
	prwardenv1.UnimplementedWebhookServiceServer
	service *webhook.Service
}

// NewWebhooks makes the handlers.
func NewWebhooks(service *webhook.Service) *Webhooks { return &Webhooks{service: service} }

// CreateWebhook implements WebhookService.
func (h *Webhooks) CreateWebhook(
	ctx context.Context, req *prwardenv1.CreateWebhookRequest,
) (*prwardenv1.CreateWebhookResponse, error) {
	n := webhook.New{Name: req.GetName(), URL: req.GetUrl(), Events: eventsOf(req.GetEvents())}
	if req.Format != nil {
		n.Format = webhook.Format(word(req.GetFormat()))
	}
	made, err := h.service.Create(ctx, auth.FromContext(ctx).Organization, n)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.CreateWebhookResponse{Webhook: webhookMessage(made.Webhook), Secret: given(made.Secret)}, nil
}

// ListWebhooks implements WebhookService.
func (h *Webhooks) ListWebhooks(
	ctx context.Context, _ *prwardenv1.ListWebhooksRequest,
) (*prwardenv1.ListWebhooksResponse, error) {
	list, err := h.service.List(ctx, auth.FromContext(ctx).Organization)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListWebhooksResponse{Webhooks: each(list, webhookMessage)}, nil
}

// GetWebhook implements WebhookService.
func (h *Webhooks) GetWebhook(
	ctx context.Context, req *prwardenv1.GetWebhookRequest,
) (*prwardenv1.GetWebhookResponse, error) {
	w, err := h.service.Get(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.GetWebhookResponse{Webhook: webhookMessage(w)}, nil
}

// UpdateWebhook implements WebhookService.
func (h *Webhooks) UpdateWebhook(
	ctx context.Context, req *prwardenv1.UpdateWebhookRequest,
) (*prwardenv1.UpdateWebhookResponse, error) {
	w, err := h.service.Update(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId(), webhook.Change{
		Name: req.Name, URL: req.Url, Events: eventsOf(req.GetEvents()), Enabled: req.Enabled,
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.UpdateWebhookResponse{Webhook: webhookMessage(w)}, nil
}

// DeleteWebhook implements WebhookService.
func (h *Webhooks) DeleteWebhook(
	ctx context.Context, req *prwardenv1.DeleteWebhookRequest,
) (*prwardenv1.DeleteWebhookResponse, error) {
	if err := h.service.Delete(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId()); err != nil {
		return nil, err
	}

	return &prwardenv1.DeleteWebhookResponse{}, nil
}

// RotateWebhookSecret implements WebhookService.
func (h *Webhooks) RotateWebhookSecret(
	ctx context.Context, req *prwardenv1.RotateWebhookSecretRequest,
) (*prwardenv1.RotateWebhookSecretResponse, error) {
	made, err := h.service.Rotate(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.RotateWebhookSecretResponse{Webhook: webhookMessage(made.Webhook), Secret: made.Secret}, nil
}

// SendTestWebhook implements WebhookService.
func (h *Webhooks) SendTestWebhook(
	ctx context.Context, req *prwardenv1.SendTestWebhookRequest,
) (*prwardenv1.SendTestWebhookResponse, error) {
	id, err := h.service.SendTest(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.SendTestWebhookResponse{MessageId: id}, nil
}

// ListWebhookMessages implements WebhookService.
func (h *Webhooks) ListWebhookMessages(
	ctx context.Context, req *prwardenv1.ListWebhookMessagesRequest,
) (*prwardenv1.ListWebhookMessagesResponse, error) {
	list, err := h.service.Messages(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListWebhookMessagesResponse{
		Messages: each(list, func(m webhook.Message) *prwardenv1.WebhookMessage {
			return &prwardenv1.WebhookMessage{
				MessageId: m.ID, Event: string(m.Event), CreatedAt: toTime(m.CreatedAt), NextAt: toTime(m.NextAt),
				State:    enum[prwardenv1.WebhookMessage_State](string(m.State), prwardenv1.WebhookMessage_State_value),
				Attempts: each(m.Attempts, attemptMessage),
			}
		}),
	}, nil
}

// RedeliverWebhookMessage implements WebhookService.
func (h *Webhooks) RedeliverWebhookMessage(
	ctx context.Context, req *prwardenv1.RedeliverWebhookMessageRequest,
) (*prwardenv1.RedeliverWebhookMessageResponse, error) {
	err := h.service.Redeliver(ctx, auth.FromContext(ctx).Organization, req.GetWebhookId(), req.GetMessageId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.RedeliverWebhookMessageResponse{}, nil
}

// eventsOf are the events of their words.
func eventsOf(words []string) []webhook.Event {
	return each(words, func(word string) webhook.Event { return webhook.Event(word) })
}

// webhookMessage is a webhook as callers see it.
func webhookMessage(w webhook.Webhook) *prwardenv1.Webhook {
	return &prwardenv1.Webhook{
		WebhookId: w.ID, Name: text(w.Name), Url: text(w.URL),
		Events: each(w.Events, func(e webhook.Event) string { return string(e) }),
		Format: enum[prwardenv1.Webhook_Format](string(w.Format), prwardenv1.Webhook_Format_value),
		State:  enum[prwardenv1.Webhook_State](string(w.State), prwardenv1.Webhook_State_value),
		Reason: given(w.Reason), FailingSince: toTime(w.FailingSince), CreatedAt: toTime(w.CreatedAt),
		CreatedBy: text(w.CreatedBy), UpdatedAt: toTime(w.UpdatedAt),
	}
}

// attemptMessage is an attempt as callers see it.
func attemptMessage(a webhook.Attempt) *prwardenv1.WebhookMessage_Attempt {
	return &prwardenv1.WebhookMessage_Attempt{
		At: toTime(a.At), Status: number(int64(a.Status)), DurationMs: clamp(int(a.Duration.Milliseconds())),
		Answer: given(a.Answer), Error: given(a.Error),
	}
}
