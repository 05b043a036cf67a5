package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/webhook"
)

func webhookTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"Webhooks/one is made, changed and deleted":   webhookLife,
		"Webhooks/reviews and connections are told":   toldEvents,
		"Webhooks/who doesn't subscribe isn't told":   untoldEvents,
		"Webhooks/a message is claimed until it ends": claimedMessage,
		"Webhooks/a lost claim ends nothing":          lostMessage,
		"Webhooks/Slack gets one message at a time":   slackMessages,
		"Webhooks/what fails for days is disabled":    failingWebhook,
		"Webhooks/what is gone is disabled":           goneWebhook,
		"Webhooks/a message is sent again":            requeuedMessage,
		"Webhooks/the oldest message goes first":      oldestMessage,
		"Webhooks/the last attempts are kept":         keptAttempts,
		"Webhooks/what is deleted meanwhile is gone":  deletedMeanwhile,
		"Retention/old messages of webhooks go":       purgedMessages,

		"Races/webhooks are claimed, ended and changed at once": webhookRace,
	}
}

const (
	leaseOfMessage = time.Minute
	slackGap       = time.Second
)

// newWebhook stores a webhook of acme that gets some events.
func newWebhook(t *testing.T, h Harness, id string, format webhook.Format, events ...webhook.Event) webhook.Stored {
	t.Helper()
	w, err := h.Store.CreateWebhook(t.Context(), webhook.Stored{
		Webhook: webhook.Webhook{
			ID: id, Organization: acme, Name: "a", URL: "https://hooks.example.com/a", Events: events, Format: format,
			State: webhook.Active, CreatedBy: "key:key_a",
		},
		Sealed: []byte("sealed"),
	}, 10)
	require.NoError(t, err)
	h.Clock.Advance(time.Microsecond)

	return w
}

// claimMessage claims the next one; nil for none.
func claimMessage(t *testing.T, h Harness, except ...string) *webhook.Claim {
	t.Helper()
	c, err := h.Store.ClaimMessage(t.Context(), webhook.Except{Webhooks: except}, leaseOfMessage, slackGap)
	require.NoError(t, err)
	h.Clock.Advance(time.Microsecond)

	return c
}

// tried is an attempt of now.
func tried(h Harness, status int) webhook.Attempt {
	return webhook.Attempt{At: h.Clock.Stored(), Status: status}
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	require.Error(t, err)
	assert.Equal(t, reason, errs.ReasonOf(err), "%v", err)
}

func webhookLife(t *testing.T, h Harness) {
	ctx := t.Context()
	made := newWebhook(t, h, "whk_a", webhook.Standard, webhook.ReviewCompleted)
	assert.False(t, made.CreatedAt.IsZero())
	got, err := h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.Equal(t, made, got)
	_, err = h.Store.ReadWebhook(ctx, other, "whk_a")
	wantReason(t, err, errs.ReasonWebhookNotFound)
	_, err = h.Store.CreateWebhook(ctx, made, 1)
	wantReason(t, err, errs.ReasonWebhookQuota)

	for _, org := range []string{acme, ""} {
		list, err := h.Store.ListWebhooks(ctx, org)
		require.NoError(t, err)
		assert.Equal(t, []webhook.Stored{made}, list)
	}
	list, err := h.Store.ListWebhooks(ctx, other)
	require.NoError(t, err)
	assert.Empty(t, list)

	h.Clock.Advance(time.Second)
	changed, err := h.Store.ChangeWebhook(ctx, acme, "whk_a", func(w *webhook.Stored) (audit.Change, error) {
		w.Name = "b"
		return audit.Change{Action: audit.WebhookUpdate, Target: w.ID}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, "b", changed.Name)
	_, err = h.Store.ChangeWebhook(ctx, acme, "whk_a", func(w *webhook.Stored) (audit.Change, error) {
		w.Name = "c"
		return audit.Change{}, errors.New("no")
	})
	require.Error(t, err)
	h.Clock.Advance(time.Second)
	require.NoError(t, h.Store.ResealWebhook(ctx, acme, "whk_a", []byte("another"), []byte("new")))
	require.NoError(t, h.Store.ResealWebhook(ctx, acme, "whk_a", []byte("sealed"), []byte("again")))
	changed.Sealed = []byte("again")
	got, err = h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.Equal(t, changed, got)

	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	h.Clock.Advance(time.Second)
	wantReason(t, h.Store.DeleteWebhook(ctx, other, "whk_a"), errs.ReasonWebhookNotFound)
	require.NoError(t, h.Store.DeleteWebhook(ctx, acme, "whk_a"))
	wantReason(t, h.Store.DeleteWebhook(ctx, acme, "whk_a"), errs.ReasonWebhookNotFound)
	assert.Nil(t, claimMessage(t, h))
	events, err := h.Store.Events(ctx, acme, audit.Filter{Limit: 10})
	require.NoError(t, err)
	var actions []audit.Action
	for _, e := range events {
		actions = append(actions, e.Action)
	}
	assert.Equal(t, []audit.Action{
		audit.WebhookDelete, audit.WebhookReseal, audit.WebhookUpdate, audit.WebhookCreate,
	}, actions)
}

func toldEvents(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard, webhook.Events()...)
	newWebhook(t, h, "whk_b", webhook.Standard, webhook.ReviewFailed)

	for _, id := range []string{"rev_1", "rev_2"} {
		create(t, h, acme, id)
		h.Clock.Advance(time.Microsecond)
	}
	require.NoError(t, h.Store.Finish(ctx, claim(t, h), outcome(2)))
	require.NoError(t, h.Store.Fail(ctx, claim(t, h), review.Failure{Code: "worker_lost", Message: "m"}))
	made, err := h.Store.CreateConnection(ctx, newConnection(acme, "con_1"), 10)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, h.Store.ReportConnection(ctx, made.Refused(nil)))
	}

	messages, err := h.Store.ListMessages(ctx, acme, "whk_a", 10)
	require.NoError(t, err)
	told := map[webhook.Event][]webhook.Data{}
	ids := map[webhook.Event]string{}
	for _, m := range messages {
		told[m.Event] = append(told[m.Event], m.Data)
		ids[m.Event] = m.ID
		assert.Equal(t, webhook.Waiting, m.State)
	}
	assert.Len(t, told[webhook.ReviewQueued], 2)
	require.Len(t, told[webhook.ReviewCompleted], 1)
	completed := told[webhook.ReviewCompleted][0]
	assert.Equal(t, "rev_1", completed.ReviewID)
	assert.Equal(t, outcome(2).HeadSHA, completed.HeadSHA)
	assert.Equal(t, outcome(2).Verdict.Outcome, completed.Verdict)
	assert.Equal(t, outcome(2).Summary, completed.Findings)
	require.Len(t, told[webhook.ReviewFailed], 1)
	assert.Equal(t, "worker_lost", told[webhook.ReviewFailed][0].FailureCode)
	assert.Equal(t, []webhook.Data{{Organization: acme, ConnectionID: "con_1", Connection: made.Name}},
		told[webhook.ConnectionBroken], "told once")

	messages, err = h.Store.ListMessages(ctx, acme, "whk_b", 10)
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, ids[webhook.ReviewFailed], messages[0].ID, "one event has one identifier")
	list, err := h.Store.ListMessages(ctx, acme, "whk_a", 2)
	require.NoError(t, err)
	assert.Len(t, list, 2)
}

func untoldEvents(t *testing.T, h Harness) {
	newWebhook(t, h, "whk_a", webhook.Standard, webhook.ReviewCompleted)
	newWebhook(t, h, "whk_b", webhook.Standard, webhook.Events()...)
	disable(t, h, "whk_b")
	create(t, h, acme, "rev_1")
	create(t, h, other, "rev_2")
	assert.Nil(t, claimMessage(t, h))
	wantReason(t, h.Store.QueueTest(t.Context(), acme, "whk_b", "msg_1"), errs.ReasonWebhookDisabled)
	wantReason(t, h.Store.QueueTest(t.Context(), other, "whk_a", "msg_1"), errs.ReasonWebhookNotFound)
}

func disable(t *testing.T, h Harness, id string) {
	t.Helper()
	_, err := h.Store.ChangeWebhook(t.Context(), acme, id, func(w *webhook.Stored) (audit.Change, error) {
		w.State, w.Reason = webhook.Disabled, webhook.ReasonAsked
		return audit.Change{Action: audit.WebhookUpdate, Target: id}, nil
	})
	require.NoError(t, err)
}

func claimedMessage(t *testing.T, h Harness) {
	ctx := t.Context()
	to := newWebhook(t, h, "whk_a", webhook.Standard, webhook.Events()...)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	assert.Nil(t, claimMessage(t, h, "whk_a", "whk_x"))
	c := claimMessage(t, h)
	require.NotNil(t, c)
	assert.Equal(t, to, c.To)
	assert.Equal(t, webhook.Test, c.Message.Event)
	assert.Equal(t, 1, c.Attempt)
	assert.Nil(t, claimMessage(t, h), "it is claimed")

	failed := webhook.Attempt{At: h.Clock.Stored(), Status: 500, Duration: time.Millisecond, Answer: "ü'\""}
	require.NoError(t, h.Store.EndAttempt(ctx, *c, webhook.End{Attempt: failed, State: webhook.Waiting, After: time.Hour}))
	assert.Nil(t, claimMessage(t, h))
	w, err := h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.False(t, w.FailingSince.IsZero())

	h.Clock.Advance(time.Hour)
	c = claimMessage(t, h)
	require.NotNil(t, c)
	assert.Equal(t, []int{2, 1}, []int{c.Attempt, c.Tries})
	right := webhook.Attempt{At: h.Clock.Stored(), Status: 204}
	require.NoError(t, h.Store.EndAttempt(ctx, *c, webhook.End{Attempt: right, State: webhook.Delivered}))
	h.Clock.Advance(time.Hour)
	assert.Nil(t, claimMessage(t, h))
	list, err := h.Store.ListMessages(ctx, acme, "whk_a", 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, webhook.Delivered, list[0].State)
	assert.Equal(t, []webhook.Attempt{failed, right}, list[0].Attempts)
	w, err = h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.True(t, w.FailingSince.IsZero())
}

func lostMessage(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	lost := claimMessage(t, h)
	h.Clock.Advance(leaseOfMessage)
	held := claimMessage(t, h)
	require.NotNil(t, held)
	require.NoError(t, h.Store.EndAttempt(ctx, *lost, webhook.End{Attempt: tried(h, 500), State: webhook.Failed}))
	list, err := h.Store.ListMessages(ctx, acme, "whk_a", 10)
	require.NoError(t, err)
	assert.Equal(t, webhook.Waiting, list[0].State)
	assert.Empty(t, list[0].Attempts)
	require.NoError(t, h.Store.EndAttempt(ctx, *held, webhook.End{Attempt: tried(h, 500), State: webhook.Delivered}))
}

func slackMessages(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_s", webhook.Slack)
	for _, id := range []string{"msg_1", "msg_2", "msg_3"} {
		require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_s", id))
		h.Clock.Advance(time.Microsecond)
	}
	first := claimMessage(t, h)
	require.Equal(t, "msg_1", first.Message.ID)
	assert.Nil(t, claimMessage(t, h))
	h.Clock.Advance(slackGap)
	second := claimMessage(t, h)
	require.Equal(t, "msg_2", second.Message.ID)
	require.NoError(t, h.Store.EndAttempt(ctx, *second, webhook.End{
		Attempt: tried(h, 429), State: webhook.Waiting, After: time.Hour, Hold: time.Hour,
	}))
	h.Clock.Advance(slackGap)
	assert.Nil(t, claimMessage(t, h), "the whole webhook is left alone")
	h.Clock.Advance(time.Hour)
	assert.NotNil(t, claimMessage(t, h))
}

func failingWebhook(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	for _, id := range []string{"msg_1", "msg_2"} {
		require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", id))
		h.Clock.Advance(time.Microsecond)
	}
	fail := func() {
		c := claimMessage(t, h)
		require.NotNil(t, c)
		end := webhook.End{Attempt: tried(h, 500), State: webhook.Waiting, After: time.Hour}
		require.NoError(t, h.Store.EndAttempt(ctx, *c, end))
	}
	fail()
	h.Clock.Advance(webhook.DisableAfter)
	fail() // the other message, for the first time
	fail()
	w, err := h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.Equal(t, webhook.Active, w.State, "no message was tried often")
	h.Clock.Advance(2 * time.Hour)
	fail()
	fail()
	w, err = h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.Equal(t, webhook.Disabled, w.State)
	assert.Equal(t, webhook.ReasonFailing, w.Reason)
	h.Clock.Advance(2 * time.Hour)
	assert.Nil(t, claimMessage(t, h))
	list, err := h.Store.ListMessages(ctx, acme, "whk_a", 10)
	require.NoError(t, err)
	for _, m := range list {
		assert.Equal(t, webhook.Failed, m.State)
	}
}

func goneWebhook(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	c := claimMessage(t, h)
	require.NoError(t, h.Store.EndAttempt(ctx, *c, webhook.End{
		Attempt: tried(h, 410), State: webhook.Failed, Gone: true,
	}))
	w, err := h.Store.ReadWebhook(ctx, acme, "whk_a")
	require.NoError(t, err)
	assert.Equal(t, webhook.Disabled, w.State)
	assert.Equal(t, webhook.ReasonGone, w.Reason)
	wantReason(t, h.Store.RequeueMessage(ctx, acme, "whk_a", "msg_1"), errs.ReasonWebhookDisabled)
}

func requeuedMessage(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	c := claimMessage(t, h)
	require.NoError(t, h.Store.EndAttempt(ctx, *c, webhook.End{Attempt: tried(h, 500), State: webhook.Failed}))
	assert.Nil(t, claimMessage(t, h))
	wantReason(t, h.Store.RequeueMessage(ctx, acme, "whk_a", "msg_x"), errs.ReasonMessageNotFound)
	wantReason(t, h.Store.RequeueMessage(ctx, other, "whk_a", "msg_1"), errs.ReasonWebhookNotFound)
	require.NoError(t, h.Store.RequeueMessage(ctx, acme, "whk_a", "msg_1"))
	again := claimMessage(t, h)
	require.NotNil(t, again)
	assert.Equal(t, []int{2, 0}, []int{again.Attempt, again.Tries})
	assert.Equal(t, c.Message.ID, again.Message.ID)
}

func purgedMessages(t *testing.T, h Harness) {
	ctx := t.Context()
	newWebhook(t, h, "whk_a", webhook.Standard)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_1"))
	end := webhook.End{Attempt: tried(h, 204), State: webhook.Delivered}
	require.NoError(t, h.Store.EndAttempt(ctx, *claimMessage(t, h), end))
	h.Clock.Advance(time.Hour)
	require.NoError(t, h.Store.QueueTest(ctx, acme, "whk_a", "msg_2"))
	n, more, err := h.Store.PurgeMessages(ctx, time.Hour, h.Clock.Now())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.True(t, more)
	list, err := h.Store.ListMessages(ctx, acme, "whk_a", 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "msg_2", list[0].ID)
	n, _, err = h.Store.PurgeMessages(ctx, time.Hour, h.Clock.Now())
	require.NoError(t, err)
	assert.Zero(t, n)
}
