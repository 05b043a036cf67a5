package blackbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
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
		if f := strings.Fields(fields); len(f) > 1 && f[1] == strconv.Itoa(s.cmd.Process.Pid) {
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

// Killed at random moments, a server loses nothing that it accepted and runs
// nothing to completion twice.
func TestKillNine(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	r := h.create(t, "acme/api", files{"a": "1"})
	const reviews, prs = 200, 20
	for n := 1; n <= prs; n++ {
		r.pull(n, files{"a.txt": fmt.Sprintf("frobnicate(%d)\n", n)})
	}
	s := newServer(t, h, serverOptions{})
	s.start(t)
	t.Cleanup(func() { s.kill(t) })
	c := s.client(s.key(t, "acme"))
	addRule(t, c, todoRule)

	accepted := map[string]int{} // review to pull request
	var pending []string         // of them, those that may not be complete
	kills := 0
	for sent := 0; sent < reviews; {
		burst := 10 + rand.IntN(20) //nolint:gosec // moments, not secrets
		c.base = s.base
		// Every other life completes first what those before accepted, so that no
		// review is lost ten times and fails.
		if kills%2 == 1 {
			for _, id := range pending {
				require.Equal(t, "complete", c.wait(t, id)["status"])
			}
			pending = nil
		}
		// The kill comes while requests are under way: what was answered 202
		// counts, what got no answer does not.
		killed := make(chan struct{})
		first, after := rand.IntN(10), time.Duration(rand.IntN(400))*time.Millisecond //nolint:gosec // likewise
		for n := range burst {
			if n == first { // a life on a slow machine, too, accepts some
				go func() {
					defer close(killed)
					<-time.After(after)
					_ = s.cmd.Process.Kill()
				}()
			}
			number := 1 + sent%prs
			id, ok := c.tryReview("acme/api", number)
			if !ok {
				require.GreaterOrEqual(t, n, first, "nobody kills it yet")
				break
			}
			accepted[id] = number
			pending = append(pending, id)
			sent++
		}
		<-killed
		// No longer than that: the next one waits itself for what this one was just
		// starting.
		within(t, "the server ends", s.exited)
		kills++
		s.start(t)
	}
	c.base = s.base
	for id, number := range accepted {
		m := c.wait(t, id)
		require.Equal(t, "complete", m["status"], "%v", m)
		require.Len(t, m["findings"], 1)
		require.Equal(t, fmt.Sprintf("frobnicate(%d)", number), m["findings"].([]any)[0].(map[string]any)["snippet"])
	}
	listed := 0
	for token := ""; ; {
		path := "/v1/reviews?page_size=200"
		if token != "" {
			path += "&page_token=" + token
		}
		m := c.do(t, "GET", path, nil).decode(t)
		for _, r := range list(m["reviews"]) {
			assert.Equal(t, "complete", r.(map[string]any)["status"])
			listed++
		}
		if token = m["next_page_token"].(string); token == "" {
			break
		}
	}
	// A request that was killed after its commit and before its answer is a
	// review that nobody knows of; there can be one for each kill.
	assert.GreaterOrEqual(t, listed, len(accepted))
	assert.LessOrEqual(t, listed, len(accepted)+kills)
	s.stop(t) // then all that it logged was read
	ended := map[string]int{}
	for line := range strings.Lines(s.logged()) {
		var entry struct{ Msg, Status, ReviewID string }
		if json.Unmarshal([]byte(strings.ReplaceAll(line, "review_id", "ReviewID")), &entry) == nil &&
			entry.Msg == "scan ended" && entry.Status == "complete" {
			ended[entry.ReviewID]++
			assert.Equal(t, 1, ended[entry.ReviewID], "no review was run to completion twice")
		}
	}
	assert.NotEmpty(t, ended)
	t.Logf("%d reviews accepted, %d kills, %d completions logged", len(accepted), kills, len(ended))
}

// tryReview starts a review on a server that may die; ok is false unless it
// was accepted.
func (c *client) tryReview(repo string, number int) (id string, ok bool) {
	body := strings.NewReader(fmt.Sprintf(`{"repo":%q,"pr_number":%d}`, repo, number))
	req, err := http.NewRequest("POST", c.base+"/v1/reviews", body)
	if err != nil {
		return "", false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return "", false
	}
	defer res.Body.Close()
	var answer struct {
		ReviewID string `json:"review_id"`
	}
	if res.StatusCode != 202 || decodeJSON(res.Body, &answer) != nil {
		return "", false
	}
	return answer.ReviewID, true
}

func TestSignalTwiceStopsAtOnce(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	s := newServer(t, h, serverOptions{})
	s.start(t)
	s.client(s.key(t, "acme")).review(t, "acme/api", 1)
	within(t, "git asks the host", asked)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	within(t, "the server ends", s.exited)
}
