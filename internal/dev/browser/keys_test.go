//go:build browser

package browser

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// A person comes from the log line to a key that works, and ends it.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()

	b.open("/o/" + org + "/settings/keys")
	assert.Equal(t, "API Keys", b.text("h1"))
	b.fill(`[name=name]`, "ci")
	b.click(`form[action$="/settings/keys"] button`)
	b.run(chromedp.WaitVisible(`#token`, chromedp.ByQuery))
	token := b.text("#token")
	require.Regexp(t, `^prw_`, token)
	client := program.Client{URL: s.url, Token: token}
	_, err := client.Call(t.Context(), http.MethodGet, "/v1/reviews", "")
	require.NoError(t, err)

	b.open("/o/" + org + "/settings/keys")
	assert.Zero(t, b.count("#token"), "it is shown once")
	b.click(`[aria-label="Revoke ci"]`)
	b.run(chromedp.WaitVisible(`.btn.solid`, chromedp.ByQuery))
	b.click(`.btn.solid`)
	b.sees("refused everywhere")
	require.Eventually(t, func() bool {
		_, err := client.Call(t.Context(), http.MethodGet, "/v1/reviews", "")
		var refused *program.Refusal
		return errors.As(err, &refused) && refused.Status == http.StatusUnauthorized
	}, patience, 50*time.Millisecond)

	b.open(s.url + "/sign-in")
	b.quiet()
	stranger := s.newTab(t)
	stranger.open("/setup?token=prw_used")
	assert.Equal(t, "Nothing here", stranger.text("h1"))
}

// Without script a person signs in, makes a key and ends it.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.newTab(t).setUp()
	b := s.newTab(t)
	b.withoutScript()
	b.signIn(owner, password)
	b.open("/o/" + org + "/settings/keys")
	b.fill(`[name=name]`, "plain")
	b.click(`form[action$="/settings/keys"] button`)
	b.run(chromedp.WaitVisible(`#token`, chromedp.ByQuery))
	b.click(`[aria-label="Revoke plain"]`)
	b.run(chromedp.WaitVisible(`.btn.solid`, chromedp.ByQuery))
	b.click(`.btn.solid`)
	b.run(chromedp.WaitVisible(`.toast`, chromedp.ByQuery))
	assert.Contains(t, b.text(".toast"), "revoked")
	b.quiet()
}
