package blackbox_test

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// newBackupHosts has a repository acme/api with pull requests 1 to 3.
func newBackupHosts(t *testing.T) *hosts {
	t.Helper()
	h := newHosts(t)
	r := h.create(t, "acme/api", files{"a": "1"})
	for n := range 3 {
		r.pull(n+1, files{"a.txt": fmt.Sprintf("frobnicate(%d)\n", n)})
	}
	return h
}

// postgresProgram runs one of Postgres's programs with more of an environment.
func postgresProgram(t *testing.T, environment []string, name string, args ...string) (string, error) {
	t.Helper()
	path, err := pgtest.Program(name)
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = append(env(t.TempDir()), environment...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func psql(t *testing.T, dsn, statement string) (string, error) {
	t.Helper()
	return postgresProgram(t, nil, "psql", "--dbname", dsn, "--no-align", "--tuples-only", "--command", statement)
}

// newBackupRole makes a role that may read everything, and returns the
// database's address for it.
func newBackupRole(t *testing.T, _, superuser string) string {
	t.Helper()
	address, err := url.Parse(superuser)
	require.NoError(t, err)
	role := "backup_" + strings.TrimPrefix(address.Path, "/")
	out, err := psql(t, superuser, "CREATE ROLE "+role+" LOGIN BYPASSRLS; GRANT pg_read_all_data TO "+role)
	require.NoError(t, err, out)
	t.Cleanup(func() {
		out, err := psql(t, superuser, "DROP ROLE "+role)
		assert.NoError(t, err, out)
	})

	address.User = url.User(role)
	return address.String()
}

// TestPostgresDumpAndRestore does what docs/operations/back-up.md says of backups of
// Postgres, while a server works.
func TestPostgresDumpAndRestore(t *testing.T) {
	t.Parallel()
	h := newBackupHosts(t)

	// The database's owner is subject to row-level security, and asks for all
	// rows. A role for backups is not subject to it.
	const forAll = "PGOPTIONS=-c prwarden.organization=*"
	for name, c := range map[string]struct {
		role        func(t *testing.T, dsn, superuser string) string
		environment []string
		args        []string
	}{
		"by the owner": {func(_ *testing.T, dsn, _ string) string {
			return dsn
		}, []string{forAll}, []string{"--enable-row-security"}},
		"by a role for backups": {newBackupRole, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, superuser := pgtest.NewWithSuperuser(t)
			a := newSharedServer(t, h, dsn, "--migrate", "--scan-workers", "1")
			a.start(t)
			token := a.key(t, "acme")
			addRule(t, a.client(token), todoRule)

			load := newTraffic(t, a.client(token), a.client(token), a.client(token))
			load.await(t, 30)
			before := load.soFar()
			file := filepath.Join(t.TempDir(), "prwarden.dump")
			out, err := postgresProgram(t, c.environment, "pg_dump", append([]string{
				"--dbname", c.role(t, dsn, superuser), "--format", "custom", "--no-unlogged-table-data", "--file", file,
			}, c.args...)...)
			require.NoError(t, err, out)
			load.end(t)
			a.stop(t)

			target, superuser := pgtest.NewWithSuperuser(t)
			out, err = postgresProgram(
				t, nil, "pg_restore", "--dbname", target, "--no-owner", "--no-privileges", "--exit-on-error", file,
			)
			require.NoError(t, err, out)

			// Leases run out by themselves, in 20 seconds, for which nobody waits
			// here.
			out, err = psql(t, superuser, "UPDATE reviews SET lease_expires = 0 WHERE status = 'in_progress'")
			require.NoError(t, err, out)
			b := newSharedServer(t, h, target)
			b.start(t)
			restored := b.client(token)
			require.GreaterOrEqual(t, len(before), 25)
			for _, id := range before {
				m := restored.wait(t, id)
				require.Equal(t, "complete", m["status"], "%v", m)
				require.Len(t, m["findings"], 1)
			}
			restored.scan(t, "acme/api", 2)
			b.stop(t)

			// The second line behind the organization filter is restored, too.
			out, err = psql(t, target, "SELECT count(*) FROM reviews")
			require.Error(t, err, out)
			assert.Contains(t, out, "prwarden.organization")
		})
	}
}

// Without more, pg_dump by the owner says no rather than leave rows out: also
// with --enable-row-security, which alone would dump what the owner sees.
func TestPostgresDumpNeedsToAskForAll(t *testing.T) {
	t.Parallel()
	s := newSharedServer(t, newHosts(t), pgtest.New(t))
	s.command(t, "migrate", "--database", s.database)
	s.key(t, "acme") // an empty table has nothing to leave out
	for _, c := range []struct {
		args []string
		says string
	}{{nil, "row-level security"}, {[]string{"--enable-row-security"}, "prwarden.organization"}} {
		out, err := postgresProgram(t, nil, "pg_dump", append([]string{"--dbname", s.database}, c.args...)...)
		require.Error(t, err, "%v", c.args)
		assert.Contains(t, out, c.says)
	}
}

// TestSQLiteBackup takes a backup of a running server, goes on, and goes back.
func TestSQLiteBackup(t *testing.T) {
	t.Parallel()
	h := newBackupHosts(t)
	s := newServer(t, h, serverOptions{})
	s.start(t)
	token := s.key(t, "acme")
	addRule(t, s.client(token), todoRule)
	load := newTraffic(t, s.client(token), s.client(token), s.client(token))
	load.await(t, 20)
	before := load.soFar()
	file := filepath.Join(s.dir, "backup.db")
	s.command(t, "backup", file, "--database", s.database)
	code, stderr := s.fails(t, "restore", file, "--database", s.database, "--force")
	assert.Equal(t, 3, code)
	assert.Contains(t, stderr, "another prwarden serves this database")
	after := load.end(t)
	s.signal(t, syscall.SIGKILL)
	within(t, "the server ends", s.Exited)

	s.command(t, "restore", file, "--database", s.database, "--force")
	s.start(t)
	defer s.stop(t)
	c := s.client(token)
	for _, id := range before {
		m := c.wait(t, id)
		require.Equal(t, "complete", m["status"], "%v", m)
		require.Len(t, m["findings"], 1)
	}

	missing := 0
	for _, id := range after {
		if c.do(t, "GET", "/v1/reviews/"+id, nil).status == 404 {
			missing++
		}
	}

	assert.Less(t, missing, len(after))
	paths, err := filepath.Glob(strings.TrimPrefix(s.database, "sqlite:") + "*")
	require.NoError(t, err)
	assert.NotContains(t, paths, strings.TrimPrefix(s.database, "sqlite:")+".part")
}
