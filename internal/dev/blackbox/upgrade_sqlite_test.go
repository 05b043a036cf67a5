package blackbox_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

// execute executes statements on an SQLite database that no server has.
func execute(t *testing.T, database, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(database, "sqlite:"))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), statements)
	require.NoError(t, err)
}

// TestLaterSQLiteSchema starts this program on a database of a later one, which
// has only added to the schema.
func TestLaterSQLiteSchema(t *testing.T) {
	t.Parallel()
	s := newServer(t, newHosts(t), serverOptions{})
	s.command(t, "migrate", "--database", s.database)
	execute(t, s.database, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, 1);
		ALTER TABLE reviews ADD COLUMN note TEXT;`)

	s.start(t)
	c := s.client(s.key(t, "acme"))
	c.review(t, "acme/none", 1)
	assert.Equal(t, 200, c.do(t, "GET", "/readyz", nil).status)
	s.stop(t)
}
