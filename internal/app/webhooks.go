package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/webhook"
)

// newSender makes what sends messages to webhooks, and the service that manages them.
func (s *Server) newSender(c config.Config) *webhook.Sender {
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prwarden_webhook_attempts_total",
		Help: "Attempts of this server to deliver a message to a webhook, by outcome; waiting is one that is tried again.",
	}, []string{"outcome"})
	for _, state := range []webhook.MessageState{webhook.Delivered, webhook.Waiting, webhook.Failed} {
		ended.WithLabelValues(string(state))
	}
	s.metrics.registry.MustRegister(ended)

	s.webhooks = &webhook.Service{Store: s.store, Sealer: s.connections.Sealer}
	sender := webhook.NewSender(s.store, webhook.SenderOptions{
		Sealer: s.connections.Sealer, Client: c.WebhookGuard().Client(), Now: s.store.Now, PublicURL: c.PublicURL,
		Agent: "prwarden/" + build.Read().Version, Log: s.log,
		OnEnd: func(state webhook.MessageState) { ended.WithLabelValues(string(state)).Inc() },
	})
	s.store.OnMessage(sender.Wake)

	return sender
}
