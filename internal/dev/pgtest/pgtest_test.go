package pgtest_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// child is set in a process that TestEndsWithTheProcess starts.
const child = "PRWARDEN_TEST_PGTEST_CHILD"

// patience bounds waits; it is only reached when something is broken.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		runChild(context.Background())
	}
	m.Run()
}

// runChild starts a server, says where it is, and waits to be killed.
func runChild(ctx context.Context) {
	c, err := pgtest.NewCluster(ctx, nil)
	if err == nil {
		err = c.Start(ctx)
	}
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout, c.PID(), c.Dir())
	select {}
}

func TestEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
	require.True(t, ok, line)
	postmaster, err := strconv.Atoi(pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(postmaster, 0))
	require.DirExists(t, dir)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	assert.Eventually(t, func() bool {
		_, err := os.Stat(dir)

		return os.IsNotExist(err)
	}, patience, 20*time.Millisecond)
	assert.Eventually(t, func() bool {
		state, err := os.ReadFile("/proc/" + pid + "/stat")

		return err != nil || strings.Contains(string(state), ") Z ")
	}, patience, 20*time.Millisecond, "the server is still there")
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })

	return db
}

func TestNew(t *testing.T) {
	t.Parallel()
	a, b := open(t, pgtest.New(t)), open(t, pgtest.New(t))
	_, err := a.ExecContext(t.Context(), "CREATE TABLE t (x int)")
	require.NoError(t, err, "its owner may")
	_, err = b.ExecContext(t.Context(), "SELECT * FROM t")
	require.ErrorContains(t, err, "42P01", "another database")
	var super, bypass bool
	require.NoError(t, a.QueryRowContext(t.Context(),
		"SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&super, &bypass))
	assert.False(t, super || bypass)
}

func TestStopAndStart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := pgtest.Start(t, map[string]string{"fsync": "on", "work_mem": "1MB"})
	require.NoError(t, c.CreateDatabase(ctx, "odd name"))
	db := open(t, c.TCPDSN("odd name"))
	get := func(setting string) (value string) {
		require.NoError(t, db.QueryRowContext(ctx, "SHOW "+setting).Scan(&value))

		return value
	}
	assert.Equal(t, "on", get("fsync"))
	assert.Equal(t, "1MB", get("work_mem"))
	_, err := db.ExecContext(ctx, "CREATE TABLE t AS SELECT 1 AS x")
	require.NoError(t, err)
	for _, signal := range []syscall.Signal{pgtest.Fast, pgtest.Immediate, pgtest.Kill} {
		first := c.PID()
		require.NoError(t, c.Stop(signal), signal)
		require.NoError(t, c.Stop(signal), "twice does nothing")
		require.Zero(t, c.PID())
		require.Error(t, db.PingContext(ctx), "nothing of it answers any more")
		require.NoError(t, c.Start(ctx), signal)
		require.NoError(t, c.Start(ctx), "twice does nothing")
		require.NotEqual(t, first, c.PID())
		var x int
		require.NoError(t, db.QueryRowContext(ctx, "SELECT x FROM t").Scan(&x), "the same address and data")
	}
	require.NoError(t, syscall.Kill(c.PID(), syscall.SIGKILL))
	require.Eventually(t, func() bool { return c.PID() == 0 && db.PingContext(ctx) != nil }, patience, 10*time.Millisecond)
	require.NoError(t, c.Start(ctx), "after it ended by itself")
	require.NoError(t, db.PingContext(ctx))
}

func TestStopsWhatATestLeftStopped(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, nil)
	for _, signal := range []syscall.Signal{pgtest.Fast, pgtest.Immediate, pgtest.Kill} {
		require.NoError(t, c.Start(t.Context()), signal)
		require.NoError(t, syscall.Kill(c.PID(), syscall.SIGSTOP))
		require.NoError(t, c.Stop(signal), signal)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	c, err := pgtest.NewCluster(t.Context(), map[string]string{"work_mem": "lots"})
	require.NoError(t, err)
	require.ErrorContains(t, c.Start(t.Context()), `"work_mem"`)
	assert.Zero(t, c.PID())
	require.NoError(t, c.Close())
	assert.NoDirExists(t, c.Dir())
}
