package blackbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// twoServers starts two servers, with one worker each, on one Postgres
// database, and returns clients of both with the same key.
func twoServers(t *testing.T, h *hosts, o serverOptions) (servers [2]*server, clients [2]*client) {
	t.Helper()
	database := pgtest.New(t)
	o.args = append([]string{"--migrate", "--scan-workers", "1"}, o.args...)
	var token string
	for i := range servers {
		s := newServer(t, h, o)
		s.database = database
		s.start(t)
		t.Cleanup(func() { s.stop(t) })
		if i == 0 {
			token = s.key(t, "acme")
		}
		servers[i], clients[i] = s, s.client(token)
	}

	return servers, clients
}

// watch reads a review's stream until it ends and sends each state and
// progress; the channel is closed at the end.
func (c *client) watch(t *testing.T, id string) <-chan map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/reviews/"+id+":watch", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	updates := make(chan map[string]any, 100)
	go func() {
		defer close(updates)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var line struct {
				Result map[string]any `json:"result"`
			}
			if !assert.NoError(t, json.Unmarshal(lines.Bytes(), &line), lines.Text()) {
				return
			}
			if keepAlive, _ := line.Result["keep_alive"].(bool); !keepAlive {
				updates <- line.Result
			}
		}
	}()
	return updates
}

// statuses is what a watch told, each status once in a row.
func statuses(t *testing.T, updates <-chan map[string]any) (all []string) {
	t.Helper()
	for {
		select {
		case u, open := <-updates:
			if !open {
				return all
			}
			status := u["status"].(string)
			if len(all) == 0 || all[len(all)-1] != status {
				all = append(all, status)
			}
		case <-time.After(eventually):
			require.FailNow(t, "the watch does not end")
		}
	}
}

func TestWatchOnWhicheverServer(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	const prs = 6
	r := h.create(t, "acme/api", files{"a": "1"})
	for n := 1; n <= prs; n++ {
		r.pull(n, files{"a.txt": fmt.Sprintf("frobnicate(%d)\n", n)})
	}
	servers, clients := twoServers(t, h, serverOptions{})
	addRule(t, clients[0], todoRule)

	// Each review is watched on both, and so on the one that does not scan it.
	var watches []<-chan map[string]any
	var ids []string
	for n := 1; n <= prs; n++ {
		id := clients[n%2].review(t, "acme/api", n)
		ids = append(ids, id)
		watches = append(watches, clients[0].watch(t, id), clients[1].watch(t, id))
	}

	for _, w := range watches {
		completes(t, w)
	}

	for i, id := range ids {
		for _, c := range clients {
			m := c.wait(t, id)
			require.Equal(t, "complete", m["status"], m)
			assert.Len(t, list(m["findings"]), 1, "pull request %d", i+1)
		}
	}

	assert.NotContains(t, servers[0].logged()+servers[1].logged(), "worker lost")
}

// completes holds that a watch tells of a review that runs once. Whoever looks late sees the rest of it.
func completes(t *testing.T, updates <-chan map[string]any) {
	t.Helper()
	var order []int
	for _, status := range statuses(t, updates) {
		order = append(order, slices.Index([]string{"queued", "in_progress", "complete"}, status))
	}
	assert.IsIncreasing(t, order)
	assert.NotContains(t, order, -1)
	assert.Equal(t, 2, order[len(order)-1])
}

// A review that one server scans is canceled by the other.
func TestCancelOnWhicheverServer(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	servers, clients := twoServers(t, h, serverOptions{})
	watches := map[string]<-chan map[string]any{}
	for n := range 2 { // one for the worker of each
		id := clients[0].review(t, "acme/api", n+1)
		within(t, "git asks the host", asked)
		watches[id] = clients[1].watch(t, id)
	}

	for i, s := range servers {
		require.Positive(t, s.children(t), "server %d scans", i)
	}
	began := time.Now()
	for id, w := range watches {
		assert.Equal(t, "in_progress", within(t, "the state", w)["status"])
		require.Equal(t, 200, clients[1].do(t, "POST", "/v1/reviews/"+id+":cancel", nil).status)
		assert.Equal(t, []string{"canceled"}, statuses(t, w))
	}

	for i, s := range servers {
		require.Eventually(t, func() bool { return s.children(t) == 0 }, eventually, 10*time.Millisecond, "server %d", i)
	}
	t.Logf("both were canceled, and git ended on both servers, after %s", time.Since(began).Round(time.Millisecond))
}

// A server that is stopped past its lease loses its review to the other, which
// scans it again when that has run out, and when it goes on it ends its own scan
// and writes nothing. The log says how long that took, and nothing here limits it.
func TestServerStoppedPastItsLease(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	servers, clients := twoServers(t, h, serverOptions{})
	id := clients[0].review(t, "acme/api", 1)
	within(t, "git asks the host", asked)
	stopped, other := 0, 1
	if servers[1].children(t) > 0 {
		stopped, other = 1, 0
	}
	process := servers[stopped].process
	require.NoError(t, process.Signal(syscall.SIGSTOP))
	began := time.Now()
	continued := false
	t.Cleanup(func() {
		if !continued {
			_ = process.Signal(syscall.SIGCONT)
		}
	})

	within(t, "git asks the host again", asked)
	t.Logf("the review ran again after %s", time.Since(began).Round(10*time.Millisecond))
	require.Positive(t, servers[other].children(t))

	require.NoError(t, process.Signal(syscall.SIGCONT))
	continued = true
	require.Eventually(t, func() bool {
		return servers[stopped].children(t) == 0
	}, eventually, 10*time.Millisecond, "it ends its own scan")
	require.Positive(t, servers[other].children(t), "the other's goes on")
	for _, c := range clients {
		m := c.do(t, "GET", "/v1/reviews/"+id, nil).decode(t)
		assert.Equal(t, "in_progress", m["status"])
	}
	require.Equal(t, 200, clients[stopped].do(t, "POST", "/v1/reviews/"+id+":cancel", nil).status)
	require.Eventually(t, func() bool { return servers[other].children(t) == 0 }, eventually, 10*time.Millisecond)
}

// Whoever has signed in at one server has at the other, until the session ends, also when
// the first is gone.
func TestPersonOnWhicheverServer(t *testing.T) {
	t.Parallel()
	servers, _ := twoServers(t, newHosts(t), serverOptions{})
	owner := servers[0].setUp(t, "acme")
	const page = "/o/acme/settings/keys"
	require.Equal(t, 200, owner.get(t, page).status)
	owner.base = servers[1].base
	require.Equal(t, 200, owner.get(t, page).status)

	require.Equal(t, 303, servers[0].browser(t).post(t, "/sign-in", "email", "owner@example.com", "password", password).status)
	owner.base = servers[0].base
	require.Equal(t, 303, owner.post(t, "/account/sessions", "id", "all").status)
	owner.base = servers[1].base
	require.Eventually(t, func() bool { return owner.get(t, page).status == 303 }, eventually, tick, "it ends at the other")

	owner.base = servers[0].base
	require.Equal(t, 303, owner.post(t, "/sign-in", "email", "owner@example.com", "password", password).status)
	require.Equal(t, 200, owner.get(t, page).status)
	servers[0].kill(t)
	owner.base = servers[1].base
	a := owner.get(t, page)
	require.Equal(t, 200, a.status)
	assert.Contains(t, a.body, "Olga Owner")
	assert.Contains(t, owner.post(t, page, "name", "made there", "scopes", "reviews:read").body, "prw_")
}
