package blackbox_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// within waits for a signal that comes soon, or fails.
func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(eventually):
		require.FailNow(t, "waited too long", what)
		panic("unreachable")
	}
}

// children counts the processes that descend from the server.
func (s *server) children(t *testing.T) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	require.NotEmpty(t, stats)
	n := 0
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}

		// The parent is the second field after the name, which is in parentheses.
		_, fields, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
		if f := strings.Fields(fields); len(f) > 1 && f[1] == strconv.Itoa(s.PID()) {
			n++
		}
	}

	return n
}

func TestCancelOfARunningReviewStopsGit(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	s := startServer(t, h, serverOptions{})
	c := s.client(s.key(t, "acme"))
	id := c.review(t, "acme/api", 1)
	within(t, "git asks the host", asked)
	assert.Equal(t, "in_progress", c.do(t, "GET", "/v1/reviews/"+id, nil).decode(t)["status"])
	require.Positive(t, s.children(t))

	require.Equal(t, 200, c.do(t, "POST", "/v1/reviews/"+id+":cancel", nil).status)
	require.Eventually(t, func() bool { return s.children(t) == 0 }, eventually, tick)
	assert.Equal(t, "canceled", c.wait(t, id)["status"])
}

// A graceful stop hands running reviews back without counting anything, and
// ends open watches.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)

	// With a grace that whoever waits for the end does not have.
	s := newServer(t, h, serverOptions{args: []string{"--shutdown-grace", (2 * eventually).String()}})
	quickest := eventually
	for range 12 { // more often than a lease may be lost
		before := len(s.logged())
		s.start(t)
		c := s.client(s.key(t, "acme"))
		if a := c.do(t, "GET", "/v1/reviews", nil); len(list(a.decode(t)["reviews"])) == 0 {
			c.review(t, "acme/api", 1)
		}
		within(t, "git asks the host", asked)
		id := list(c.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])[0].(map[string]any)["review_id"].(string)
		req, err := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/reviews/"+id+":watch", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+c.token)
		res, err := c.http.Do(req)
		require.NoError(t, err)
		s.stop(t)
		told, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Contains(t, string(told), "The server is stopping", "nothing else ended the watch")
		quickest = min(quickest, watchHeld(t, s.logged()[before:]))
	}

	assert.NotContains(t, s.logged(), "were cut off")

	// A watch that held the stop would hold each; a busy machine is not so slow
	// every time.
	assert.Less(t, quickest, 10*time.Second, "an open watch does not hold the stop")
	s.start(t)
	defer s.stop(t)
	c := s.client(s.key(t, "acme"))
	m := list(c.do(t, "GET", "/v1/reviews", nil).decode(t)["reviews"])[0].(map[string]any)
	assert.Contains(t, []any{"queued", "in_progress"}, m["status"])
}

// watchHeld is how long the only watch of a server went on when that was to stop,
// by its log.
func watchHeld(t *testing.T, log string) time.Duration {
	t.Helper()
	var stopping time.Time
	for line := range strings.Lines(log) {
		var entry struct {
			Time      time.Time
			Msg, Path string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		switch {
		case entry.Msg == "stopping":
			stopping = entry.Time
		case entry.Msg == "request" && strings.HasSuffix(entry.Path, ":watch"):
			require.False(t, stopping.IsZero(), "the watch goes on until then")
			return entry.Time.Sub(stopping)
		}
	}

	require.FailNow(t, "no watch has ended", log)
	return 0
}

func TestSecondServerOnOneDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	cmd := exec.Command(binary, "serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr",
		"127.0.0.1:0",
		"--database", s.database, "--config", s.config)
	cmd.Env = env(s.dir)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "another prwarden")
}

func TestSignalTwiceStopsAtOnce(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	s := newServer(t, h, serverOptions{})
	s.start(t)
	s.client(s.key(t, "acme")).review(t, "acme/api", 1)
	within(t, "git asks the host", asked)
	s.signal(t, syscall.SIGTERM)
	_ = s.Signal(syscall.SIGTERM)
	within(t, "the server ends", s.Exited)

	// A server that ends at once may leave a child of git behind, which ends when
	// it has heard its answer.
	h.end()
}

// Every duration in the log says by its name what it counts.
func TestLogHasUnits(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	require.Equal(t, 404, c.do(t, "GET", "/v1/reviews/rev_none", "").status)

	logged := func() bool { return strings.Contains(s.logged(), `"duration_ms":`) }
	require.Eventually(t, logged, eventually, tick, "the request is not in the log")
	for line := range strings.Lines(s.logged()) {
		assert.NotContains(t, line, `"duration":`)
		assert.NotRegexp(t, `"[a-z_]*(after|took|wait|elapsed)":\d`, line)
	}
}
