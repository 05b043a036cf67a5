package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/webhook"
)

func TestLife(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, "https://a.example/x?token=1", "")
	assert.Regexp(t, `^whk_[a-z0-9]{26}$`, made.ID)
	assert.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, made.Secret)
	assert.Equal(t, "https://a.example/x?…", made.URL)
	assert.Equal(t, webhook.Standard, made.Format)
	assert.Equal(t, webhook.Events(), made.Events)

	name, address := "b", "https://b.example/"
	changed, err := f.Update(ctx, "acme", made.ID, webhook.Change{
		Name: &name, URL: &address, Events: []webhook.Event{webhook.ReviewFailed},
	})
	require.NoError(t, err)
	assert.Equal(t, "https://b.example/", changed.URL)
	assert.Equal(t, []webhook.Event{webhook.ReviewFailed}, changed.Events)
	list, err := f.List(ctx, "acme")
	require.NoError(t, err)
	assert.Equal(t, []webhook.Webhook{changed}, list)

	off := false
	changed, err = f.Update(ctx, "acme", made.ID, webhook.Change{Enabled: &off})
	require.NoError(t, err)
	assert.Equal(t, webhook.ReasonAsked, changed.Reason)
	_, err = f.SendTest(ctx, "acme", made.ID)
	assert.Equal(t, errs.ReasonWebhookDisabled, errs.ReasonOf(err))
	_, err = f.Messages(ctx, "other", made.ID)
	assert.Equal(t, errs.ReasonWebhookNotFound, errs.ReasonOf(err))
	require.NoError(t, f.Delete(ctx, "acme", made.ID))
	_, err = f.Get(ctx, "acme", made.ID)
	assert.Equal(t, errs.ReasonWebhookNotFound, errs.ReasonOf(err))
}

func TestWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for field, n := range map[string]webhook.New{
		"name":      {Name: "A b", URL: "https://a.example"},
		"url":       {Name: "a", URL: "http://a.example"},
		"events[1]": {Name: "a", URL: "https://a.example", Events: []webhook.Event{"review.failed", "review.failed"}},
		"events[0]": {Name: "a", URL: "https://a.example", Events: []webhook.Event{"webhook.test"}},
		"format":    {Name: "a", URL: "https://a.example", Format: "teams"},
	} {
		_, err := f.Create(t.Context(), "acme", n)
		require.Error(t, err, field)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		assert.Contains(t, err.Error(), field)
	}
	for _, address := range []string{
		"", "ftp://a.example", "https://", "https://u:p@a.example", "https://a.example#x", "::",
	} {
		_, err := f.Create(t.Context(), "acme", webhook.New{Name: "a", URL: address})
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), address)
	}
	slack := create(t, f, "https://hooks.slack.example/s", webhook.Slack)
	_, err := f.Rotate(t.Context(), "acme", slack.ID)
	assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}

// Without its key a webhook says so, and a new one seals anew.
func TestKeys(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, "https://a.example", webhook.Standard)
	n, failed, err := f.Reseal(ctx)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Empty(t, failed)

	without := webhook.Service{Store: f.store, Sealer: seal.New()}
	_, err = without.Create(ctx, "acme", webhook.New{Name: "a", URL: "https://a.example"})
	assert.Equal(t, errs.ReasonSecretsKeyMissing, errs.ReasonOf(err))
	_, err = without.Rotate(ctx, "acme", made.ID)
	assert.Equal(t, errs.ReasonSecretsKeyMissing, errs.ReasonOf(err))
	got, err := without.Get(ctx, "acme", made.ID)
	require.NoError(t, err)
	assert.Contains(t, got.Reason, "the secrets can't be read")
}
