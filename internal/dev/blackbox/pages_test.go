package blackbox_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// password is good enough for everybody.
const password = "violet Harbor 7 quilts"

// browser is somebody who reads pages. It follows no redirect.
type browser struct {
	base string
	http *http.Client
	at   string // the page that it shows, from which forms are sent
}

func (s *server) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c := s.client("").http
	c.Jar = jar

	return &browser{base: s.base, http: c}
}

func (b *browser) do(t *testing.T, method, path string, form url.Values) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.base+path, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Referer", b.base+b.at)
	}
	resp, err := b.http.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)

	return answer{resp.StatusCode, resp.Header, string(body)}
}

// get reads a page.
func (b *browser) get(t *testing.T, path string) answer {
	t.Helper()
	b.at = path

	return b.do(t, http.MethodGet, path, nil)
}

// post sends a form, given as names and values in turn.
func (b *browser) post(t *testing.T, path string, fields ...string) answer {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}

	return b.do(t, http.MethodPost, path, form)
}

// sent sends a form that leads to another page, and reads that.
func (b *browser) sent(t *testing.T, path string, fields ...string) answer {
	t.Helper()
	a := b.post(t, path, fields...)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)

	return b.get(t, a.header.Get("Location"))
}

// found returns the first group of a pattern in a page, as people read it.
func (a answer) found(t *testing.T, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(a.body)
	require.NotNil(t, m, "%s in %s", pattern, a.body)

	return html.UnescapeString(m[1])
}

// setUp makes the first user, the owner of the organization, with the link of the log.
func (s *server) setUp(t *testing.T, organization string) *browser {
	t.Helper()
	token := answer{body: s.logged()}.found(t, `/setup\?token=(\w+)`)
	b := s.browser(t)
	a := b.post(t, "/setup", "token", token, "email", "owner@example.com", "name", "Olga Owner",
		"password", password, "organization", organization)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)

	return b
}

// join invites somebody to an organization, who then accepts.
func (s *server) join(t *testing.T, by *browser, organization, role string) *browser {
	t.Helper()
	a := by.post(t, "/o/"+organization+"/settings/invitations", "email", role+"@example.com", "role", role)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	token := a.found(t, `/invitation\?token=(\w+)`)
	b := s.browser(t)
	a = b.post(t, "/invitation", "token", token, "name", "The "+role, "password", password)
	require.Equal(t, http.StatusSeeOther, a.status, a.body)

	return b
}

// TestMembersPage has an owner invite, change, help and remove people.
func TestMembersPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	const page = "/o/acme/settings/members"
	member, admin := s.join(t, owner, "acme", "member"), s.join(t, owner, "acme", "admin")

	refused := member.get(t, page)
	assert.Equal(t, http.StatusForbidden, refused.status)
	assert.Contains(t, refused.body, "This needs the role admin; yours is member.")
	assert.NotContains(t, refused.body, `href="`+page+`"`, "no entry of the menu")
	a := owner.get(t, page)
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "3 members")
	assert.Contains(t, a.body, "<h1>Members</h1>")
	assert.NotContains(t, a.body, "/invitation?token=", "a link is shown once")
	id := a.found(t, `(?s)<li id="(usr_\w+)"[^>]*>\s*<div class="k1">\s*<b>The member</b>`)
	assert.Contains(t, admin.get(t, page).body, "may do more than you", "of the owner")

	a = owner.post(t, "/o/acme/settings/invitations", "email", "member@example.com", "role", "viewer")
	assert.Equal(t, http.StatusConflict, a.status)
	assert.Contains(t, a.body, `role="alert"`)
	a = owner.post(t, "/o/acme/settings/invitations", "email", "eve@example.com", "role", "viewer")
	token := a.found(t, `/invitation\?token=(\w+)`)
	invitation := a.found(t, `value="(inv_\w+)"`)
	a = owner.sent(t, "/o/acme/settings/invitations/revoke", "id", invitation)
	assert.Contains(t, a.body, "The invitation is revoked")
	assert.NotContains(t, a.body, "eve@example.com")
	assert.Equal(t, http.StatusNotFound, s.browser(t).get(t, "/invitation?token="+token).status)

	a = owner.post(t, page+"/reset", "id", id)
	reset := a.found(t, `/reset\?token=(\w+)`)
	const another = "seventeen Marble? otters"
	again := s.browser(t)
	require.Equal(t, http.StatusSeeOther, again.post(t, "/reset", "token", reset, "password", another).status)
	assert.Equal(t, http.StatusNotFound, again.get(t, "/reset?token="+reset).status, "a link works once")
	assert.Equal(t, http.StatusSeeOther, member.get(t, "/account").status, "the sessions before ended")

	assert.Contains(t, owner.get(t, page+"?member="+id).body, "Change role")
	assert.Contains(t, owner.sent(t, page+"/role", "id", id, "role", "admin").body, "The member is now admin")
	assert.Contains(t, owner.get(t, page+"?remove&member="+id).body, "Remove from acme")
	assert.Contains(t, owner.sent(t, page+"/remove", "id", id).body, "2 members")

	own := owner.get(t, page).found(t, `(?s)<li id="(usr_\w+)"[^>]*>\s*<div class="k1">\s*<b>Olga Owner</b>`)
	a = owner.post(t, page+"/remove", "id", own)
	assert.Equal(t, http.StatusConflict, a.status, "the last owner stays")
	assert.Contains(t, a.body, `role="alert"`)
	a = admin.post(t, page+"/role", "id", own, "role", "viewer")
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Contains(t, a.body, "Nobody gives or takes a role")
}

// TestPasswordAgain asks for the password before access is given, and leads back.
func TestPasswordAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	owner := s.setUp(t, "acme")
	s.query(t, "UPDATE sessions SET fresh_until = 0 RETURNING id")
	const page = "/o/acme/settings/members"

	require.Equal(t, http.StatusOK, owner.get(t, page).status)
	invite := []string{"email", "eve@example.com", "role", "viewer"}
	a := owner.post(t, "/o/acme/settings/invitations", invite...)
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Contains(t, a.body, "Your password, please")
	next := a.found(t, `name="next" value="([^"]*)"`)
	assert.Equal(t, page, next, "back to the form")

	wrong := owner.post(t, "/account/confirm", "next", next, "password", "wrong")
	assert.Equal(t, http.StatusUnauthorized, wrong.status)
	assert.Equal(t, next, wrong.found(t, `name="next" value="([^"]*)"`))
	assert.Contains(t, owner.sent(t, "/account/confirm", "next", next, "password", password).body, "<h1>Members</h1>")
	assert.Equal(t, http.StatusCreated, owner.post(t, "/o/acme/settings/invitations", invite...).status)
}

// TestStart leads from / to where somebody has to begin.
func TestStart(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	stranger := s.browser(t)
	require.Equal(t, "/sign-in", stranger.get(t, "/").header.Get("Location"))
	require.Equal(t, "/setup", stranger.get(t, "/sign-in").header.Get("Location"), "there is no user")
	a := stranger.get(t, "/setup")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.body, "there is no user yet", "how to find the line of the log")
	assert.Contains(t, a.body, "prwarden users create --role owner")
	assert.NotContains(t, a.body, "token=")

	owner := s.setUp(t, "acme")
	assert.Equal(t, http.StatusOK, stranger.get(t, "/sign-in").status)
	assert.Equal(t, "/", stranger.get(t, "/setup").header.Get("Location"))
	assert.Equal(t, "/o/acme/", owner.get(t, "/").header.Get("Location"))
	assert.Equal(t, "/o/acme/reviews", owner.get(t, "/o/acme/").header.Get("Location"))
}
