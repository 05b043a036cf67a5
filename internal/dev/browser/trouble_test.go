//go:build browser

package browser

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

// join makes a member with a role, and returns the tab in which he has signed in.
func (s *site) join(t *testing.T, role string) *tab {
	t.Helper()
	email := role + "@example.com"
	said, err := s.Command(t.Context(), "users", "create", "--organization", org, "--role", role,
		"--email", email, "--name", "Vera "+role, "--public-url", s.url)
	require.NoError(t, err)
	link := strings.Fields(said)
	b := s.newTab(t)
	b.open(link[len(link)-1])
	b.fill(`[name=password]`, password)
	b.click(`main form button`)
	b.run(chromedp.WaitVisible(`.side`, chromedp.ByQuery))

	return b
}

// Pages that can't be shown, because of a role or of a failure, are for everybody, too.
func TestAccessTrouble(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.newTab(t).setUp()
	id := s.review(t, stage.Small)
	failed := s.start(t, stage.Repo, 99)
	require.Eventually(t, func() bool { return s.read(t, failed).Status == "failed" }, patience, tick)

	b := s.join(t, "viewer")
	for name, path := range map[string]string{
		"viewer-keys": "/settings/keys", "viewer-audit": "/audit", "viewer-new": "/reviews/new",
		"viewer-rule": "/rules/new",
	} {
		b.look(name, "/o/"+org+path)
		assert.Equal(t, "You may not do that", b.text("h1"), name)
	}
	b.look("viewer-review", "/o/"+org+"/reviews/"+id)
	b.look("not-scanned", "/o/"+org+"/reviews/"+failed)

	// A table that is gone stands for a database that fails.
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.Dir, "prwarden.db")+"?_pragma=busy_timeout(20000)")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "ALTER TABLE reviews RENAME TO gone")
	require.NoError(t, err)
	b.look("server-failed", "/o/"+org+"/reviews")
	assert.Equal(t, "The server failed", b.text("h1"))
}
