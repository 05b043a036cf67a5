package blackbox_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/migrations"
)

// newSharedServer prepares one of several servers on a Postgres database.
func newSharedServer(t *testing.T, h *hosts, dsn string, args ...string) *server {
	t.Helper()
	s := newServer(t, h, serverOptions{args: args})
	s.database = dsn
	return s
}

// later are this program's migrations with two more, which add to the schema.
func later(t *testing.T) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	names, err := fs.Glob(migrations.Postgres(), "*.sql")
	require.NoError(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(migrations.Postgres(), name)
		require.NoError(t, err)
		all[name] = &fstest.MapFile{Data: data}
	}
	last, err := goose.NumericComponent(names[len(names)-1])
	require.NoError(t, err)
	add := func(to fstest.MapFS, n int64, up string) fstest.MapFS {
		out := fstest.MapFS{}
		for name, file := range to {
			out[name] = file
		}
		out[fmt.Sprintf("%05d_later.sql", n)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + up)}
		return out
	}
	expanded := add(all, last+1, `
SET LOCAL lock_timeout = '2s';
ALTER TABLE reviews ADD COLUMN note TEXT;
ALTER TABLE findings ADD COLUMN confidence INTEGER NOT NULL DEFAULT 0;
CREATE TABLE notes (id TEXT PRIMARY KEY);
`)

	return add(expanded, last+2, "CREATE INDEX later_status ON reviews (status, repo);\n")
}

// migrateBy applies migrations as a later program does.
func migrateBy(t *testing.T, dsn string, files fs.FS) {
	t.Helper()
	db, err := sql.Open("postgres", dsn)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker()
	require.NoError(t, err)
	p, err := goose.NewProvider(
		goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true),
	)
	require.NoError(t, err)
	// As the program does, it tries again what did not get its lock in time, and
	// lets those go first who wait behind it.
	for tries := 1; ; tries++ {
		_, err = p.Up(t.Context())
		var partly *goose.PartialError
		if errors.As(err, &partly) && len(partly.Applied) > 0 {
			tries = 0 // it goes on from there
		}
		var refused *pq.Error
		if !errors.As(err, &refused) || refused.Code != "55P03" || tries == 30 {
			break
		}
		<-time.After(time.Second)
	}
	require.NoError(t, err)
}

// traffic calls servers all the time, and remembers what did not go well.
type traffic struct {
	stop    chan struct{}
	running sync.WaitGroup
	sent    atomic.Int64

	mu       sync.Mutex
	accepted map[string]bool
	wrong    []string
}

func newTraffic() *traffic { return &traffic{stop: make(chan struct{}), accepted: map[string]bool{}} }

func (l *traffic) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// through creates and reads reviews through a server, and looks whether it is
// ready, until the end.
func (l *traffic) through(t *testing.T, c *client) {
	t.Helper()
	c = &client{base: c.base, token: c.token, http: c.http} // the server may get another address
	get := func(path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", c.base+path, nil)
		if err != nil {
			return 0, err.Error()
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		res, err := c.http.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		return res.StatusCode, path
	}
	l.running.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-l.stop:
				return
			default:
			}
			id, ok := c.tryReview("acme/api", 1+n%3)
			l.sent.Add(1)
			if !ok {
				l.complain("a creation through %s", c.base)
				continue
			}
			l.mu.Lock()
			l.accepted[id] = true
			l.mu.Unlock()
			for _, path := range []string{"/v1/reviews/" + id, "/v1/reviews?page_size=5", "/v1/rules", "/readyz"} {
				if status, text := get(path); status != 200 {
					l.complain("%s: %d %s", c.base, status, text)
				}
			}
		}
	})
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
	var ids []string
	for id := range l.accepted {
		ids = append(ids, id)
	}
	return ids
}

// TestUpgradeAndRollback brings the schema of a running database to a later
// version, and starts this program on it.
func TestUpgradeAndRollback(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	r := h.create(t, "acme/api", files{"a": "1"})
	for n := range 3 {
		r.pull(n+1, files{"a.txt": fmt.Sprintf("frobnicate(%d)\n", n)})
	}
	dsn := pgtest.New(t)
	a, b := newSharedServer(t, h, dsn, "--migrate"), newSharedServer(t, h, dsn)
	a.start(t)
	b.start(t)
	token := a.key(t, "acme")

	// No request fails and no server stops being ready.
	load := newTraffic()
	load.through(t, a.client(token))
	load.through(t, b.client(token))
	load.await(t, 10)
	migrateBy(t, dsn, later(t))
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
	assert.Regexp(t, `^version (\d+)\nneeded (\d+)\n$`, status)
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
