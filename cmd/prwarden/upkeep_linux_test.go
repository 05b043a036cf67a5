package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, file := "sqlite:"+filepath.Join(dir, "prwarden.db"), filepath.Join(dir, "backup.db")
	must := func(args ...string) string {
		t.Helper()
		code, out, details := prwarden(t, nil, append(args, "--database", database)...)
		require.Equal(t, cli.ExitOK, code, details)
		return out + details
	}
	must("keys", "create", "--create", "--org", "default", "--name", "before")
	assert.Regexp(t, `backup\.db has \d+ bytes, schema version \d+, and was read through\n$`, must("backup", file))
	must("keys", "create", "--org", "default", "--name", "after")

	code, _, details := prwarden(t, nil, "backup", file, "--database", database)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, details, "a backup replaces nothing")
	code, _, details = prwarden(t, nil, "restore", file, "--database", database)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, details, "--force replaces it")
	assert.Contains(t, must("restore", file, "--force"), "keys that were revoked since the backup work again")
	keys := must("keys", "list")
	assert.Contains(t, keys, "before")
	assert.NotContains(t, keys, "after")

	for _, command := range []string{"backup", "restore"} {
		code, _, details := prwarden(t, nil, command, file, "--database", "postgres://localhost/prwarden")
		assert.Equal(t, cli.ExitUsage, code)
		assert.Contains(t, details, "for Postgres use pg_")
		code, _, _ = prwarden(t, nil, command, "--database", database)
		assert.Equal(t, cli.ExitUsage, code, "the file is missing")
	}
}

func TestOrganizations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "prwarden.yaml")
	require.NoError(t, os.WriteFile(config, []byte(`
database: "sqlite:`+filepath.Join(dir, "prwarden.db")+`"
organizations:
  - name: acme
    repositories: ["acme/*"]
    host: {kind: git, url: "https://git.example.com/{repo}.git"}
`), 0o600))
	with := func(args ...string) (code int, out, details string) {
		return prwarden(t, []string{"PRWARDEN_CONFIG=" + config}, args...)
	}
	code, _, details := with("organizations", "list")
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, details, "there is no database")
	code, _, details = with("organizations", "create", "made", "--create", "--max-scans", "2")
	require.Equal(t, cli.ExitOK, code, details)
	for _, org := range []string{"acme", "made"} {
		code, _, details := with("keys", "create", "--org", org, "--name", "n")
		require.Equal(t, cli.ExitOK, code, details)
	}
	list := func() (rows [][]string) {
		code, out, details := with("organizations", "list")
		require.Equal(t, cli.ExitOK, code, details)
		for line := range strings.Lines(out) {
			rows = append(rows, strings.Fields(line))
		}
		return rows[1:]
	}
	acme := []string{"acme", "yes", "acme/*", "https://git.example.com/{repo}.git", "0", "0", "0", "0", "1", "never"}
	made := []string{"made", "no", "*/*", "https://github.com/{repo}.git", "0", "0", "0", "0", "1", "never"}
	assert.Equal(t, [][]string{acme, made}, list())

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"acme", "--yes"}, cli.ExitFailed, "organization acme: a configuration file declares the organization"},
		{[]string{"made"}, cli.ExitUsage, "say --yes if that is meant"},
		{[]string{"nobody", "--yes"}, cli.ExitFailed, "organization nobody: there is no organization with this name"},
		{[]string{"--yes"}, cli.ExitUsage, "accepts 1 arg"},
		{
			[]string{"made", "--yes"}, cli.ExitOK,
			"organization made is gone: 0 reviews with 0 findings, 1 keys, and its rules",
		},
	} {
		code, _, details := with(append([]string{"organizations", "remove"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, details)
		assert.Contains(t, details, c.want)
	}
	assert.Equal(t, [][]string{acme}, list())
}
