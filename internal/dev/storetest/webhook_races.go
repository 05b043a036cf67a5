package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/webhook"
)

func oldestMessage(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	newWebhook(t, h, "whk_b", webhook.Standard)
	theirs, err := h.Store.CreateWebhook(ctx, webhook.Stored{
		Webhook: webhook.Webhook{ID: "whk_o", Organization: other, Format: webhook.Standard, State: webhook.Active},
		Sealed:  []byte("sealed"),
	}, 10)
	require.NoError(t, err)
	for _, m := range [][3]string{
		{acme, "whk_b", "msg_1"}, {acme, "whk_a", "msg_2"}, {acme, "whk_b", "msg_3"}, {other, "whk_o", "msg_4"},
	} {
		require.NoError(t, h.Store.QueueTest(ctx, m[0], m[1], m[2]))
		h.Clock.Advance(time.Microsecond)
	}

	claim := func(except webhook.Except) *webhook.Claim {
		c, err := h.Store.ClaimMessage(ctx, except, leaseOfMessage, slackGap)
		require.NoError(t, err)
		return c
	}
	c := claim(webhook.Except{Webhooks: []string{"whk_a", "whk_b"}, Organizations: []string{"none"}})
	require.NotNil(t, c)
	assert.Equal(t, theirs, c.To)
	assert.Nil(t, claim(webhook.Except{Organizations: []string{acme, other}}))
	for _, id := range []string{"msg_1", "msg_2", "msg_3"} {
		c := claim(webhook.Except{Organizations: []string{other}})
		require.NotNil(t, c)
		assert.Equal(t, id, c.Message.ID)
	}
	assert.Nil(t, claim(webhook.Except{}))
}

func keptAttempts(t *testing.T, h Harness) {
	newWebhook(t, h, "whk_a", webhook.Standard)
	require.NoError(t, h.Store.QueueTest(t.Context(), acme, "whk_a", "msg_1"))
	for i := range webhook.KeptAttempts + 2 {
		end := webhook.End{Attempt: tried(h, 200+i), State: webhook.Waiting}
		require.NoError(t, h.Store.EndAttempt(t.Context(), *claimMessage(t, h), end))
	}
	list, err := h.Store.ListMessages(t.Context(), acme, "whk_a", 10)
	require.NoError(t, err)
	require.Len(t, list[0].Attempts, webhook.KeptAttempts)
	assert.Equal(t, 202, list[0].Attempts[0].Status)
}

func deletedMeanwhile(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	c := claimMessage(t, h)
	require.NoError(t, h.Store.DeleteWebhook(ctx, acme, "whk_a"))
	require.NoError(t, h.Store.EndAttempt(ctx, *c, webhook.End{Attempt: tried(h, 204), State: webhook.Delivered}))
	list, err := h.Store.ListMessages(ctx, acme, "whk_a", 10)
	require.NoError(t, err)
	assert.Empty(t, list)
}

// webhookRace has messages delivered while their webhooks are stopped and started, and
// deleted. Nothing fails, and nothing is delivered by two claims at once.
func webhookRace(t *testing.T, h Harness) {
	WebhookRace(t, h.Store, h.Clock)
}

// WebhookRace is the test of that on a store that somebody else looks at afterwards.
func WebhookRace(t *testing.T, store Store, clock *Clock) {
	t.Helper()
	const webhooks, messages = 4, 15
	h := Harness{Store: store, Clock: clock}
	name := func(i int) string { return fmt.Sprint("whk_", i%webhooks) }
	for i := range webhooks {
		newWebhook(t, h, name(i), []webhook.Format{webhook.Standard, webhook.Slack}[i%2])
	}

	var mu sync.Mutex
	running := map[string]bool{}
	together(t, 10, func(ctx context.Context, i int) error {
		for n := range messages {
			var err error
			switch i {
			case 0, 1:
				err = store.QueueTest(ctx, acme, name(n), fmt.Sprintf("msg_%d_%02d", i, n))
			case 2:
				err = store.RequeueMessage(ctx, acme, name(n), fmt.Sprintf("msg_0_%02d", n))
			case 3, 4:
				_, err = store.ChangeWebhook(ctx, acme, name(n), func(w *webhook.Stored) (audit.Change, error) {
					w.State = []webhook.State{webhook.Disabled, webhook.Active}[n/webhooks%2]
					return audit.Change{Action: audit.WebhookUpdate, Target: w.ID}, nil
				})
			case 5:
				_, _, err = store.PurgeMessages(ctx, 0, clock.Now())
			case 6:
				if n == messages/2 {
					err = store.DeleteWebhook(ctx, acme, name(1))
				}
			default:
				err = deliverOne(ctx, h, &mu, running)
			}
			if reason := errs.ReasonOf(err); err != nil && reason != errs.ReasonWebhookDisabled &&
				reason != errs.ReasonWebhookNotFound && reason != errs.ReasonMessageNotFound {
				return fmt.Errorf("%d: %w", i, err)
			}
			clock.Advance(slackGap)
		}
		return nil
	})
}

// deliverOne claims a message and ends its attempt.
func deliverOne(ctx context.Context, h Harness, mu *sync.Mutex, running map[string]bool) error {
	c, err := h.Store.ClaimMessage(ctx, webhook.Except{}, time.Hour, slackGap)
	if err != nil || c == nil {
		return err
	}
	key := c.To.ID + c.Message.ID
	mu.Lock()
	twice := running[key]
	running[key] = true
	mu.Unlock()
	if twice {
		return fmt.Errorf("%s was claimed twice", key)
	}

	state := []webhook.MessageState{webhook.Delivered, webhook.Waiting}[c.Attempt%2]
	end := webhook.End{Attempt: tried(h, 200), State: state, Hold: slackGap}
	mu.Lock()
	delete(running, key) // before it is stored: from then on others may claim it
	mu.Unlock()

	return h.Store.EndAttempt(ctx, *c, end)
}
