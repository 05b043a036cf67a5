package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWebhookPages makes a webhook, looks at its deliveries, sends one again, stops,
// starts and deletes it.
func TestWebhookPages(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, "/ci")
	s := startServer(t, newHosts(t), serverOptions{config: "webhooks_allow: [127.0.0.0/8]\n", env: r.believed(t)})
	owner := s.setUp(t, "acme")
	admin, member, viewer := s.join(t, owner, "acme", "admin"), s.join(t, owner, "acme", "member"), s.join(t, owner, "acme", "viewer")
	const page = "/o/acme/settings/webhooks"

	assert.Contains(t, admin.get(t, page).body, "No webhook yet.")
	bad := admin.post(t, page, "name", "ci", "url", "http://x.example", "events", "review.failed", "format", "standard")
	assert.Equal(t, http.StatusBadRequest, bad.status)
	assert.Contains(t, bad.found(t, `role="alert">([^<]*)`), "url")
	assert.Regexp(t, `value="review.failed" checked`, bad.body)
	assert.NotRegexp(t, `value="review.queued" checked`, bad.body)

	a := admin.post(t, page, "name", "ci", "url", r.URL+"/ci?token=canary", "events", "review.failed", "format", "standard")
	require.Equal(t, http.StatusCreated, a.status, a.body)
	secret := a.found(t, `<code id="once">(whsec_[^<]+)</code>`)
	one := page + "/" + a.found(t, `/settings/webhooks/(whk_\w+)`)
	assert.Contains(t, a.body, "Nothing was sent")
	a = admin.get(t, one)
	assert.NotContains(t, a.body, secret, "it is shown once")
	assert.NotContains(t, a.body, "canary")

	r.statuses["/ci"] <- http.StatusInternalServerError
	assert.Contains(t, admin.sent(t, one+"/test").body, "A test is on its way.")
	within(t, "the receiver is told", r.got["/ci"]).verify(t, secret)
	shows := func(what string) (a answer) {
		t.Helper()
		require.Eventually(t, func() bool {
			a = admin.get(t, one)
			return strings.Contains(a.body, what)
		}, eventually, tick)
		return a
	}
	a = shows(`class="pill fail">failing`)
	message := a.found(t, `name="message" value="(msg_\w+)"`)
	assert.Contains(t, a.body, "answered 500")
	admin.sent(t, one+"/redeliver", "message", message)
	within(t, "the message comes again", r.got["/ci"])
	a = shows(`class="pill pass">delivered`)
	assert.Contains(t, a.body, "answered 204")

	changed := admin.sent(t, one, "name", "ci-2", "events", "review.completed", "events", "review.queued")
	assert.Contains(t, changed.body, "<h1>ci-2</h1>")
	assert.Regexp(t, `value="review.queued" checked`, changed.body)
	none := admin.post(t, one, "name", "ci-3")
	assert.Equal(t, http.StatusBadRequest, none.status)
	assert.Contains(t, none.found(t, `role="alert">([^<]*)`), "events: choose at least one")
	rotated := admin.post(t, one+"/rotate")
	assert.NotEqual(t, secret, rotated.found(t, `<code id="once">(whsec_[^<]+)</code>`))
	stopped := admin.sent(t, one+"/enabled", "enabled", "false")
	assert.Contains(t, stopped.body, `class="pill fail">disabled`)
	assert.NotContains(t, stopped.body, "Send a test</button>")
	refused := admin.post(t, one+"/test")
	assert.Equal(t, http.StatusConflict, refused.status)
	assert.Contains(t, refused.body, `role="alert"`)
	assert.Contains(t, admin.sent(t, one+"/enabled", "enabled", "true").body, `class="pill pass">active`)

	for who, b := range map[string]*browser{"member": member, "viewer": viewer} {
		for _, path := range []string{page, one} {
			refused := b.get(t, path)
			assert.Equal(t, http.StatusForbidden, refused.status)
			assert.Contains(t, refused.body, "This needs the role admin; yours is "+who+".")
			assert.NotContains(t, refused.body, `href="`+page+`"`, "no entry of the menu")
		}
		assert.Equal(t, http.StatusForbidden, b.post(t, one+"/delete").status)
	}

	assert.Contains(t, admin.get(t, one+"?delete").body, ">Delete ci-2</button>")
	assert.Contains(t, admin.sent(t, one+"/delete").body, "No webhook yet.")
	assert.Equal(t, http.StatusNotFound, admin.get(t, one).status)
}
