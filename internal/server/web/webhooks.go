package web

import (
	"net/http"
	"net/url"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

// webhookEvents are what webhooks are told of.
var webhookEvents = []choice{
	{"review.queued", "a review was created"},
	{"review.completed", "a scan is done"},
	{"review.failed", "a scan failed for good"},
	{"connection.broken", "a connection stopped working"},
}

// webhookFormats are how messages are written.
var webhookFormats = []choice{
	{"standard", "signed JSON, as Standard Webhooks says"}, {"slack", "lines of text for Slack"},
}

func (h *Handler) webhookRoutes() {
	const one = "/o/{org}/settings/webhooks/{id}"
	h.person("GET /o/{org}/settings/webhooks", h.webhooksPage)
	h.person("POST /o/{org}/settings/webhooks", h.createWebhook)
	h.person("GET "+one, h.webhookPage)
	h.person("POST "+one, h.updateWebhook)
	h.person("POST "+one+"/enabled", h.enableWebhook)
	h.person("POST "+one+"/rotate", h.rotateWebhook)
	h.person("POST "+one+"/test", h.testWebhook)
	h.person("POST "+one+"/redeliver", h.redeliver)
	h.person("POST "+one+"/delete", h.deleteWebhook)
}

func (h *Handler) webhooksPage(v *visit) error {
	return h.showWebhooks(v, http.StatusOK, webhooksView{In: url.Values{}})
}

func (h *Handler) showWebhooks(v *visit, code int, w webhooksView) error {
	list, err := h.calls.webhooks.ListWebhooks(v.ctx(), &prwardenv1.ListWebhooksRequest{})
	if err != nil {
		return err
	}
	w.Webhooks = list.GetWebhooks()

	return h.showStatus(v, code, page{Title: "Webhooks", Section: "webhooks"}, webhooksBody(h, v, w))
}

func (h *Handler) createWebhook(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	req := &prwardenv1.CreateWebhookRequest{Name: in.Get("name"), Url: in.Get("url"), Events: in["events"]}
	if n, ok := prwardenv1.Webhook_Format_value[in.Get("format")]; ok {
		req.Format = prwardenv1.Webhook_Format(n).Enum()
	}
	made, err := &prwardenv1.CreateWebhookResponse{}, toldOf(in)
	if err == nil {
		made, err = h.calls.webhooks.CreateWebhook(v.ctx(), req)
	}
	if err != nil {
		code, text, ok := formProblemOf(v, err)
		if !ok {
			return err
		}

		return h.showWebhooks(v, code, webhooksView{In: in, Problem: text})
	}
	w := webhookView{Webhook: made.GetWebhook(), Made: true}
	if made.GetSecret() != "" {
		w.Once = secretOnce(req.GetName()+" is made", made.GetSecret())
	}

	return h.showWebhook(v, http.StatusCreated, w)
}

// toldOf refuses a form without events, by which the calls mean all of them or those that
// there are.
func toldOf(in url.Values) error {
	if len(in["events"]) > 0 {
		return nil
	}

	return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument,
		"events: choose at least one; to have nothing sent, stop the webhook.")
}

// secretOnce is the secret of a webhook, that was just made.
func secretOnce(title, secret string) *once {
	return &once{
		Title: title, Secret: secret,
		Hint: "The secret checks the signatures of messages. Give it to the receiver now; this page can't show it again.",
	}
}

func (h *Handler) webhookPage(v *visit) error {
	return h.showWebhook(v, http.StatusOK, webhookView{Delete: v.r.URL.Query().Has("delete")})
}

// showWebhook shows the webhook of the address, or the one that the view has.
func (h *Handler) showWebhook(v *visit, code int, w webhookView) error {
	if w.Webhook == nil {
		got, err := h.calls.webhooks.GetWebhook(v.ctx(), &prwardenv1.GetWebhookRequest{WebhookId: v.r.PathValue("id")})
		if err != nil {
			return err
		}
		w.Webhook = got.GetWebhook()
	}
	list, err := h.calls.webhooks.ListWebhookMessages(v.ctx(), &prwardenv1.ListWebhookMessagesRequest{
		WebhookId: w.Webhook.GetWebhookId(),
	})
	if err != nil {
		return err
	}
	w.Messages = list.GetMessages()

	return h.showStatus(v, code, page{Title: w.Webhook.GetName(), Section: "webhooks"}, webhookBody(h, v, w))
}

// webhookDone leads to the page of the webhook, which says what was done, or shows there
// what a call refused.
func (h *Handler) webhookDone(v *visit, text string, err error) error {
	if err != nil {
		code, problem, ok := formProblemOf(v, err)
		if !ok {
			return err
		}

		return h.showWebhook(v, code, webhookView{Problem: problem})
	}
	h.leaveFlash(v, flash{Text: text})
	h.redirect(v, v.here("/settings/webhooks/"+v.r.PathValue("id")))

	return nil
}

func (h *Handler) updateWebhook(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	if err := toldOf(in); err != nil {
		return h.webhookDone(v, "", err)
	}
	_, err := h.calls.webhooks.UpdateWebhook(v.ctx(), &prwardenv1.UpdateWebhookRequest{
		WebhookId: v.r.PathValue("id"), Name: filled(in.Get("name")), Url: filled(in.Get("url")), Events: in["events"],
	})

	return h.webhookDone(v, "The webhook is changed.", err)
}

// enableWebhook starts or stops a webhook.
func (h *Handler) enableWebhook(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	enabled, text := v.r.PostForm.Get("enabled") == "true", "No message is sent any more; what waited is dropped."
	if enabled {
		text = "Messages are sent again."
	}
	_, err := h.calls.webhooks.UpdateWebhook(v.ctx(), &prwardenv1.UpdateWebhookRequest{
		WebhookId: v.r.PathValue("id"), Enabled: &enabled,
	})

	return h.webhookDone(v, text, err)
}

func (h *Handler) rotateWebhook(v *visit) error {
	made, err := h.calls.webhooks.RotateWebhookSecret(v.ctx(), &prwardenv1.RotateWebhookSecretRequest{
		WebhookId: v.r.PathValue("id"),
	})
	if err != nil {
		return h.webhookDone(v, "", err)
	}

	return h.showWebhook(v, http.StatusOK, webhookView{
		Webhook: made.GetWebhook(),
		Once:    secretOnce("A new secret: messages have the signature of the one before, too", made.GetSecret()),
	})
}

func (h *Handler) testWebhook(v *visit) error {
	_, err := h.calls.webhooks.SendTestWebhook(v.ctx(), &prwardenv1.SendTestWebhookRequest{
		WebhookId: v.r.PathValue("id"),
	})

	return h.webhookDone(v, "A test is on its way. Load this page again to see what became of it.", err)
}

func (h *Handler) redeliver(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	_, err := h.calls.webhooks.RedeliverWebhookMessage(v.ctx(), &prwardenv1.RedeliverWebhookMessageRequest{
		WebhookId: v.r.PathValue("id"), MessageId: v.r.PostForm.Get("message"),
	})

	return h.webhookDone(v, "The message is sent once more. Load this page again to see what became of it.", err)
}

func (h *Handler) deleteWebhook(v *visit) error {
	req := &prwardenv1.DeleteWebhookRequest{WebhookId: v.r.PathValue("id")}
	if _, err := h.calls.webhooks.DeleteWebhook(v.ctx(), req); err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "The webhook is deleted with its messages."})
	h.redirect(v, v.here("/settings/webhooks"))

	return nil
}

func isActive(w *prwardenv1.Webhook) bool { return w.GetState() == prwardenv1.Webhook_active }

// webhookState is the state in words, with the class of its pill.
func webhookState(w *prwardenv1.Webhook) (word, class string) {
	switch {
	case !isActive(w):
		return "disabled", "fail"
	case w.GetFailingSince() != nil:
		return "failing", "fail"
	}

	return "active", "pass"
}

// messageClass is the class of the pill of a message.
func messageClass(m *prwardenv1.WebhookMessage) string {
	switch m.GetState() {
	case prwardenv1.WebhookMessage_delivered:
		return "pass"
	case prwardenv1.WebhookMessage_failed:
		return "fail"
	}

	return "wait"
}
