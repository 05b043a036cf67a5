package blackbox_test

import (
	"database/sql"
	"encoding/json"
	"os"
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

// withoutCosts takes out what the matching engine says of rules, which is
// another one's.
func withoutCosts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "matching_cost")
		for _, inner := range v {
			withoutCosts(inner)
		}
	case []any:
		for _, inner := range v {
			withoutCosts(inner)
		}
	}
	return v
}

// withoutLater takes out of a review what the program before did not know, each
// of which must be what it is where nothing is known.
func withoutLater(t *testing.T, review map[string]any) {
	t.Helper()
	none := func(of map[string]any, fields map[string]any) {
		for name, want := range fields {
			assert.Equal(t, want, of[name], name)
			delete(of, name)
		}
	}
	if review["findings"] == nil { // one of a list
		return
	}
	none(review, map[string]any{"suppressed": []any{}, "fixed": []any{}})
	for _, f := range list(review["findings"]) {
		none(f.(map[string]any), map[string]any{"state": "new", "end_column": 0.0, "utf16_column": 0.0, "utf16_end_column": 0.0})
	}
	if review["status"] != "complete" {
		return
	}
	outcome := "pass"
	if counts := review["summary"].(map[string]any); counts["critical"] != 0.0 || counts["high"] != 0.0 {
		outcome = "fail"
	}
	none(review, map[string]any{"verdict": map[string]any{"outcome": outcome, "threshold": "high"}})
}

// TestUpgradeFromSchema1 starts this program on a database that the one before
// made, with what the one before answered as the reference.
func TestUpgradeFromSchema1(t *testing.T) {
	t.Parallel()
	dump, err := os.ReadFile("testdata/schema1.sql")
	require.NoError(t, err)
	data, err := os.ReadFile("testdata/schema1.json")
	require.NoError(t, err)
	var answers []struct {
		Organization, Path string
		Answer             map[string]any
	}
	require.NoError(t, json.Unmarshal(data, &answers))
	require.Len(t, answers, 11)

	h, _ := newSilentHosts(t)
	s := newServer(t, h, serverOptions{organizations: []organization{{"acme", "acme/*"}, {"other", "acme/*"}, {"slow", "acme/*"}}})
	execute(t, s.database, string(dump))
	code, stderr := s.fails(t, "keys", "list", "--database", s.database)
	assert.Equal(t, 3, code)
	assert.Contains(t, stderr, "The database has schema version 1, and this prwarden needs")

	s.start(t)
	defer s.stop(t)
	clients := map[string]*client{}
	for _, org := range []string{"acme", "other", "slow"} {
		clients[org] = s.client(s.key(t, org))
	}
	for _, a := range answers {
		got := clients[a.Organization].do(t, "GET", a.Path, nil)
		require.Equal(t, 200, got.status, got.body)
		m := got.decode(t)
		withoutLater(t, m)
		assert.Equal(t, any(a.Answer), withoutCosts(m), a.Path)
	}

	// What waited or was being scanned when the program before was killed is
	// scanned now.
	list := list(clients["slow"].do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])
	require.Len(t, list, 4)
	for _, r := range list {
		r := r.(map[string]any)
		if r["status"] != "canceled" {
			assert.Contains(t, []any{"queued", "in_progress"}, r["status"], r["review_id"])
		}
	}
	keys := s.command(t, "keys", "list", "--database", s.database)
	for _, id := range []string{"key_sftcbso6ka6tkbdkvf4tbkznxs", "key_6opjh4b7gowqceprgxpq75wtbx", "key_t7vogw5cmsw4pcigykuaopkhzr"} {
		assert.Contains(t, keys, id)
	}
	assert.NotContains(t, keys, "key_jgf7vybekxgblxqg7i7usyanwb", "it is revoked")
}

// TestLaterSQLiteSchema starts this program on databases of later ones.
func TestLaterSQLiteSchema(t *testing.T) {
	t.Parallel()
	s := newServer(t, newHosts(t), serverOptions{})
	s.command(t, "migrate", "--database", s.database)
	const later = "INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, 1); ALTER TABLE reviews ADD COLUMN note TEXT;"

	// One that only adds to the schema takes nothing from this program.
	execute(t, s.database, later)
	s.start(t)
	c := s.client(s.key(t, "acme"))
	c.review(t, "acme/none", 1)
	assert.Equal(t, 200, c.do(t, "GET", "/readyz", nil).status)
	s.stop(t)

	execute(t, s.database, "UPDATE schema_compatibility SET oldest = 1000")
	for _, args := range [][]string{
		{"serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr", "none", "--config", s.config},
		{"keys", "list"},
		{"migrate"},
	} {
		code, stderr := s.fails(t, append(args, "--database", s.database)...)
		assert.Equal(t, 3, code)
		assert.Contains(t, stderr, "The database has schema version 1000, which needs a prwarden for version 1000 or later", args[0])
	}
}
