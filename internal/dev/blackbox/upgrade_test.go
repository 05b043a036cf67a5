package blackbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/program"
)

// newSharedServer prepares one of several servers on a Postgres database.
func newSharedServer(t *testing.T, h *hosts, dsn string, args ...string) *server {
	t.Helper()
	s := newServer(t, h, serverOptions{args: args})
	s.database = dsn
	return s
}

// traffic calls servers all the time, and remembers what did not go well.
type traffic struct {
	stop    chan struct{}
	running sync.WaitGroup
	sent    atomic.Int64

	mu       sync.Mutex
	accepted []string
	wrong    []string
}

func newTraffic(t *testing.T, through ...*client) *traffic {
	t.Helper()
	l := &traffic{stop: make(chan struct{})}
	for _, c := range through {
		l.through(t, c)
	}
	return l
}

func (l *traffic) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// through creates and reads reviews through a server, and looks whether it is ready, until the end.
func (l *traffic) through(t *testing.T, c *client) {
	t.Helper()
	calls := program.Client{URL: c.base, Token: c.token} // the server may get another address
	l.running.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-l.stop:
				return
			default:
			}
			text, err := calls.Call(t.Context(), "POST", "/v1/reviews", fmt.Sprintf(`{"repo":"acme/api","pr_number":%d}`, 1+n%3))
			var created struct {
				ID string `json:"review_id"`
			}
			l.sent.Add(1)
			if err = errors.Join(err, json.Unmarshal(text, &created)); err != nil {
				l.complain("a creation through %s: %v", c.base, err)
				continue
			}
			l.mu.Lock()
			l.accepted = append(l.accepted, created.ID)
			l.mu.Unlock()
			for _, path := range []string{"/v1/reviews/" + created.ID, "/v1/reviews?page_size=5", "/v1/rules", "/readyz"} {
				if _, err := calls.Call(t.Context(), "GET", path, ""); err != nil {
					l.complain("%s: %s: %v", c.base, path, err)
				}
			}
		}
	})
}

// soFar are the reviews that were accepted until now.
func (l *traffic) soFar() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.accepted)
}

// await waits until so many more reviews were created.
func (l *traffic) await(t *testing.T, more int64) {
	t.Helper()
	until := l.sent.Load() + more
	require.Eventually(t, func() bool { return l.sent.Load() >= until }, 2*eventually, tick)
}

// end stops and returns what was accepted; everything must have gone well.
func (l *traffic) end(t *testing.T) []string {
	t.Helper()
	close(l.stop)
	l.running.Wait()
	require.Empty(t, l.wrong)
	return l.accepted
}

// TestUpgradeAndRollback brings the schema of a running database to a later
// version, and starts this program on it.
func TestUpgradeAndRollback(t *testing.T) {
	t.Parallel()
	h := newBackupHosts(t)
	dsn := pgtest.New(t)
	a, b := newSharedServer(t, h, dsn, "--migrate"), newSharedServer(t, h, dsn)
	a.start(t)
	b.start(t)
	token := a.key(t, "acme")

	// No request fails and no server stops being ready.
	load := newTraffic(t, a.client(token), b.client(token))
	load.await(t, 10)
	out, err := psql(t, dsn, `SET lock_timeout = '2s'; ALTER TABLE reviews ADD COLUMN note TEXT;
		CREATE TABLE notes (id TEXT PRIMARY KEY); CREATE INDEX later_status ON reviews (status, repo);
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, true)`)
	require.NoError(t, err, out)
	load.await(t, 20)

	// Rolling back is starting this program on the later schema.
	rolledBack := newSharedServer(t, h, dsn, "--migrate")
	rolledBack.start(t)
	load.through(t, rolledBack.client(token))
	load.await(t, 15)
	ids := load.end(t)
	c := rolledBack.client(token)
	for _, id := range ids {
		require.Equal(t, "complete", c.wait(t, id)["status"])
	}
	status := a.command(t, "migrate", "status", "--database", dsn)
	assert.Regexp(t, `^version 1000\nneeded (\d+)\n$`, status)
	rolledBack.stop(t)
	a.stop(t)
	b.stop(t)
}

// fails runs the program, which must not succeed, and returns its exit code and
// what it said.
func (s *server) fails(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = env(s.dir)
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%v: %s", args, out)
	return cmd.ProcessState.ExitCode(), string(out)
}
