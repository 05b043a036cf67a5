//go:build browser

package browser

import "testing"

// Every screen is for everybody, in both themes and on both sizes.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.look("setup", s.setUpURL(t))
	b.setUp()
	for name, path := range screens() {
		b.look(name, path)
	}
	s.newTab(t).look("sign-in", "/sign-in")
}

// screens are the paths of all screens, as they are in an installation without reviews.
func screens() map[string]string {
	return map[string]string{
		"keys":      "/o/" + org + "/settings/keys",
		"revoke":    "/o/" + org + "/settings/keys?revoke=key_1",
		"account":   "/account",
		"not-found": "/o/" + org + "/nothing",
	}
}
