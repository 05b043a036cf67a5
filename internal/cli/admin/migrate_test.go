package admin_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/errs"
)

// TestMigrateAndKeysOnPostgres is what an operator does first.
func TestMigrateAndKeysOnPostgres(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Database = pgtest.New(t)
	run := func(do func(cli.Streams) error) (out string, err error) {
		var stdout, stderr bytes.Buffer
		err = do(cli.Streams{Out: &stdout, Err: &stderr})
		t.Log(stderr.String())
		return stdout.String(), err
	}

	status := func(st cli.Streams) error { return admin.MigrationStatus(t.Context(), st, c) }

	out, err := run(status)
	said := regexp.MustCompile(`^version 0\nneeded (\d+)\npending 00001_initial\.sql\n(?:pending \d{5}_\w+\.sql\n)*$`).FindStringSubmatch(out)
	require.NotNil(t, said, out)
	needed := said[1]
	require.ErrorContains(t, err, "run `prwarden migrate`")
	assert.Equal(t, errs.Unavailable, errs.KindOf(err))

	in := admin.KeyInput{Organization: "default", Name: "ci"}
	for _, do := range []func(cli.Streams) error{
		func(st cli.Streams) error { return admin.CreateKey(t.Context(), st, c, in) },
		func(st cli.Streams) error { return admin.ListKeys(t.Context(), st, c, "") },
		func(st cli.Streams) error { return admin.RevokeKey(t.Context(), st, c, "key_a", false) },
	} {
		_, err = run(do)
		require.ErrorContains(t, err, "run `prwarden migrate`", "a shared database is migrated on purpose only")
	}

	for range 2 {
		_, err = run(func(st cli.Streams) error { return admin.Migrate(t.Context(), st, c) })
		require.NoError(t, err)
		out, err = run(status)
		require.NoError(t, err)
		assert.Equal(t, "version "+needed+"\nneeded "+needed+"\n", out)
	}

	token, err := run(func(st cli.Streams) error { return admin.CreateKey(t.Context(), st, c, in) })
	require.NoError(t, err)
	assert.Regexp(t, `^prw_[0-9A-Za-z]{36}\n$`, token)
	out, err = run(func(st cli.Streams) error { return admin.ListKeys(t.Context(), st, c, "default") })
	require.NoError(t, err)
	assert.Contains(t, out, "default")

	for _, do := range []func(cli.Streams) error{
		func(st cli.Streams) error { return admin.ListKeys(t.Context(), st, c, "nobody") },
		func(st cli.Streams) error {
			return admin.Audit(t.Context(), st, c, admin.AuditInput{Organization: "nobody", Output: "table"})
		},
	} {
		_, err = run(do)
		assert.ErrorContains(t, err, "there is no organization nobody; there are default")
	}
}

// TestNoSQLiteDatabase holds that commands do not make a database on the way.
func TestNoSQLiteDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Default()
	c.Database = "sqlite:" + filepath.Join(dir, "prwarden.db")
	st := cli.Streams{Out: io.Discard, Err: io.Discard}
	none := "there is no database " + filepath.Join(dir, "prwarden.db")
	require.EqualError(t, admin.ListKeys(t.Context(), st, c, ""), none)
	require.EqualError(t, admin.RevokeKey(t.Context(), st, c, "key_a", false), none)
	require.EqualError(t, admin.Audit(t.Context(), st, c, admin.AuditInput{Output: "table"}), none)
	require.EqualError(t, admin.ListOrganizations(t.Context(), st, c), none)
	require.EqualError(t, admin.MigrationStatus(t.Context(), st, c), none)
	require.EqualError(t, admin.Backup(t.Context(), st, c, filepath.Join(dir, "backup.db")), none)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
