//go:build browser

package browser

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

// provider starts an identity provider, which sends people back to a site, and returns
// its address.
func provider(t *testing.T, site string) string {
	t.Helper()
	script, err := filepath.Abs("testdata/provider.mjs")
	require.NoError(t, err)
	modules := os.Getenv("PRWARDEN_BROWSER_MODULES")
	cmd := exec.CommandContext(t.Context(), "node", script, modules, site+"/auth/oidc/callback")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // the context has ended it
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	return strings.TrimSpace(address)
}

// newSiteWithSSO starts a server whose people may sign in at a provider, whose address
// it returns.
func newSiteWithSSO(t *testing.T) (s *site, issuer string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())

	dir := t.TempDir()
	i, err := stage.Install(t.Context(), binary, dir)
	require.NoError(t, err)
	require.NoError(t, stage.MakeRepository(t.Context(), dir))
	issuer = provider(t, "http://"+address)
	file, err := os.OpenFile(i.Config(), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(file, `sign_in:
  oidc:
    name: Acme ID
    issuer: %s
    client_id: prwarden
    scopes: [groups]
    groups_claim: groups
    roles:
      - {group: admins, organization: demo, role: admin}
      - {group: readers, organization: demo, role: viewer}
`, issuer)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	return serve(t, i, "--http-addr", address, "--public-url", "http://"+address), issuer
}

// signInAt signs in at the provider as somebody.
func (b *tab) signInAt(who string) {
	b.t.Helper()
	b.open("/sign-in")
	b.click(`a[href^="/sign-in/oidc"]`)
	b.atProvider(who)
}

// atProvider says there who somebody is.
func (b *tab) atProvider(who string) {
	b.t.Helper()
	b.run(
		chromedp.WaitVisible(`[name=login]`, chromedp.ByQuery),
		chromedp.SendKeys(`[name=login]`, who, chromedp.ByQuery),
		chromedp.SendKeys(`[name=password]`, "any", chromedp.ByQuery),
		chromedp.Submit(`form`, chromedp.ByQuery),
		chromedp.WaitNotPresent(`[name=login]`, chromedp.ByQuery),
		chromedp.Submit(`form`, chromedp.ByQuery), // consent
	)
}

// People sign in at a real provider, and their groups give them roles.
func TestSingleSignOn(t *testing.T) {
	t.Parallel()
	s, issuer := newSiteWithSSO(t)
	ada := s.newTab(t)
	ada.setUp()
	join := func(name, group string) {
		t.Helper()
		answer, err := http.Get(issuer + "/groups?name=" + name + "&group=" + group)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}

	// Nobody has invited mallory, and the provider has not checked eve's email.
	invite := func(email string) {
		t.Helper()
		_, err := s.Command(t.Context(), "users", "create", "--organization", org, "--role", "member",
			"--email", email, "--name", "Somebody", "--public-url", s.url)
		require.NoError(t, err)
	}
	invite("un-eve@example.com")
	for _, who := range []string{"mallory", "un-eve"} {
		b := s.newTab(t)
		b.signInAt(who)
		b.run(chromedp.WaitVisible(`.wrong`, chromedp.ByQuery))
		assert.Zero(t, b.count(".side"), who)
		b.quiet()
	}

	invite("bob@example.com")
	join("bob", "admins")
	b := s.newTab(t)
	b.signInAt("bob")
	b.run(chromedp.WaitVisible(`.side`, chromedp.ByQuery))
	assert.Contains(t, strings.ToLower(b.text(".me")), "admin", "his group made him one")
	b.open("/o/" + org + "/settings/members")
	b.sees("bob@example.com")
	b.quiet()

	// He is in another group by now.
	join("bob", "readers")
	again := s.newTab(t)
	again.signInAt("bob")
	again.run(chromedp.WaitVisible(`.side`, chromedp.ByQuery))
	assert.Contains(t, strings.ToLower(again.text(".me")), "viewer")
	again.open("/o/" + org + "/settings/keys")
	assert.Equal(t, "You may not do that", again.text("h1"))

	// The owner sees what the provider says of him, and stays who he is.
	ada.look("sso", "/o/"+org+"/settings/sso?check")
	ada.sees("The provider answers.")
	ada.click(`a[href$="/settings/sso/try"]`)
	ada.atProvider("bob")
	ada.sees("Your groups give the role viewer in demo.")
	ada.sees("bob@example.com")
	ada.accessible("sso-tried")
	ada.picture("sso-tried")
	assert.Equal(t, "Ada Lovelace", ada.text(".me b"))
	ada.quiet()

	// A callback that nobody began, or that was used, signs nobody in.
	answer, err := http.Get(s.url + "/auth/oidc/callback?code=a&state=b")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.GreaterOrEqual(t, answer.StatusCode, http.StatusBadRequest)
}
