package api_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/store"
	"github.com/prwarden/prwarden/internal/webhook"
)

func TestWebhooks(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "prwarden.db")
	s, err := store.Open(t.Context(), store.Options{Database: "sqlite:" + database})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Migrate(t.Context()))
	h := api.NewWebhooks(&webhook.Service{Store: s, Sealer: seal.Beside(database, nil)})
	ctx := auth.NewContext(audit.NewContext(t.Context(), audit.Actor{Kind: audit.Key, ID: "key_a"}),
		auth.Caller{Organization: "acme"})

	format := prwardenv1.Webhook_standard
	created, err := h.CreateWebhook(ctx, &prwardenv1.CreateWebhookRequest{
		Name: "ci", Url: "https://ci.example.com/x?token=secret", Events: []string{"review.failed"}, Format: &format,
	})
	require.NoError(t, err)
	w := created.GetWebhook()
	id := w.GetWebhookId()
	assert.Equal(t, "https://ci.example.com/x?…", w.GetUrl())
	assert.Equal(t, []string{"review.failed"}, w.GetEvents())
	assert.Equal(t, prwardenv1.Webhook_active, w.GetState())
	assert.Equal(t, prwardenv1.Webhook_standard, w.GetFormat())
	assert.Equal(t, "key:key_a", w.GetCreatedBy())
	assert.Nil(t, w.Reason)

	sent, err := h.SendTestWebhook(ctx, &prwardenv1.SendTestWebhookRequest{WebhookId: id})
	require.NoError(t, err)
	_, err = h.RedeliverWebhookMessage(ctx, &prwardenv1.RedeliverWebhookMessageRequest{
		WebhookId: id, MessageId: sent.GetMessageId(),
	})
	require.NoError(t, err)
	messages, err := h.ListWebhookMessages(ctx, &prwardenv1.ListWebhookMessagesRequest{WebhookId: id})
	require.NoError(t, err)
	require.Len(t, messages.GetMessages(), 1)
	assert.Equal(t, "webhook.test", messages.GetMessages()[0].GetEvent())
	assert.Equal(t, prwardenv1.WebhookMessage_waiting, messages.GetMessages()[0].GetState())

	off := false
	updated, err := h.UpdateWebhook(ctx, &prwardenv1.UpdateWebhookRequest{WebhookId: id, Enabled: &off})
	require.NoError(t, err)
	assert.Equal(t, prwardenv1.Webhook_disabled, updated.GetWebhook().GetState())
	_, err = h.SendTestWebhook(ctx, &prwardenv1.SendTestWebhookRequest{WebhookId: id})
	assert.Equal(t, errs.ReasonWebhookDisabled, errs.ReasonOf(err))
	rotated, err := h.RotateWebhookSecret(ctx, &prwardenv1.RotateWebhookSecretRequest{WebhookId: id})
	require.NoError(t, err)
	assert.NotEqual(t, created.GetSecret(), rotated.GetSecret())

	list, err := h.ListWebhooks(ctx, &prwardenv1.ListWebhooksRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetWebhooks(), 1)
	got, err := h.GetWebhook(ctx, &prwardenv1.GetWebhookRequest{WebhookId: id})
	require.NoError(t, err)
	for _, secret := range []string{"token=secret", created.GetSecret(), rotated.GetSecret()} {
		assert.NotContains(t, protojson.Format(list)+protojson.Format(got), secret)
	}

	other := auth.NewContext(t.Context(), auth.Caller{Organization: "other"})
	_, err = h.GetWebhook(other, &prwardenv1.GetWebhookRequest{WebhookId: id})
	assert.Equal(t, errs.NotFound, errs.KindOf(err))
	_, err = h.DeleteWebhook(other, &prwardenv1.DeleteWebhookRequest{WebhookId: id})
	assert.Equal(t, errs.NotFound, errs.KindOf(err))
	_, err = h.DeleteWebhook(ctx, &prwardenv1.DeleteWebhookRequest{WebhookId: id})
	require.NoError(t, err)
}
