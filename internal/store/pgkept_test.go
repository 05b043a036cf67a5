package store

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
)

// TestSessionsLoseCompiledQueries does to a session what a pooler does, which
// gives it to others and takes back another one, and what a migration does.
func TestSessionsLoseCompiledQueries(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	database, superuser := pgtest.NewWithSuperuser(t)
	s := openAt(t, Options{Database: database, Connections: 1})
	id := "rev_kept"
	_, err := s.CreateReview(ctx, newReview("acme", id), 10)
	require.NoError(t, err)
	s.teller.flush() // what follows has the connection to itself
	windows, _ := s.Windows()
	compiled := func() (n int) {
		t.Helper()
		require.NoError(t, s.read(ctx, "count", everyone, func(t *tx) error {
			return t.get(ctx, &n, `SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'prwarden%'`)
		}))
		return n
	}
	asked := 0
	ask := func() {
		t.Helper()
		r, err := s.GetReview(ctx, "acme", id)
		require.NoError(t, err)
		assert.Equal(t, id, r.ID)
		_, err = s.GetReviewState(ctx, "acme", id)
		require.NoError(t, err)
		_, err = s.GetReview(ctx, "other", id)
		assert.Equal(t, errs.NotFound, errs.KindOf(err), "row-level security holds compiled queries, too")
		load, err := s.Load(ctx, "acme", "acme/shop")
		require.NoError(t, err)
		assert.Equal(t, 1, load.Queued)
		counted, err := windows.CountInWindows(ctx, []auth.Demand{{Name: fmt.Sprint("key:", asked), N: 2}})
		require.NoError(t, err)
		asked++
		assert.Equal(t, 2, counted[0].Taken, "counted once, however often it was sent")
		require.NoError(t, s.notify(ctx, []event{{waitsEvent, ""}}))
	}
	ask()
	n := compiled()
	assert.Positive(t, n)
	ask()
	assert.Equal(t, n, compiled(), "they are kept")

	for _, lose := range []string{"DEALLOCATE ALL", "DISCARD PLANS"} {
		require.NoError(t, s.write(ctx, "lose", everyone, func(t *tx) error {
			_, err := t.exec(ctx, lose)
			return err
		}))
		ask()
		assert.Equal(t, n, compiled(), lose)
	}

	// A column of another type makes what was compiled useless.
	admin, err := sql.Open("postgres", superuser)
	require.NoError(t, err)
	defer func() { assert.NoError(t, admin.Close()) }()
	_, err = admin.ExecContext(ctx, `ALTER TABLE reviews ALTER COLUMN head_sha TYPE VARCHAR(100)`)
	require.NoError(t, err)
	ask()
}

func TestParametersOfCompiledQueries(t *testing.T) {
	t.Parallel()
	questions := []question{{query: "SELECT ?, ?", args: []any{"it's", 7}}, {query: "SELECT 1"}}
	name := nameOf(questions)
	text, err := pgExecute(name, questions)
	require.NoError(t, err)
	assert.Equal(t, "EXECUTE "+name+"_0('it''s', '7'); EXECUTE "+name+"_1", text)
	assert.NotEqual(t, name, nameOf(questions[:1]))
	assert.Contains(t, pgCompile(name, questions), "'PREPARE "+name+"_0 AS SELECT $1, $2'")
	_, err = pgExecute(name, []question{{query: "SELECT ?", args: []any{"a\x00b"}}})
	assert.Error(t, err)
}
