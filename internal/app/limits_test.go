package app_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// twoServers are servers on one Postgres.
func twoServers(t *testing.T) (*bundle, []api) {
	t.Helper()
	b := setup(t)
	b.config.Database, b.config.Migrate = pgtest.New(t), true
	var all []api
	for i := range 2 {
		b.config.CacheDir = fmt.Sprint(b.dir, "/cache", i)
		s := b.server(t)
		all = append(all, api{base: "http://" + s.Addresses().HTTP})
	}
	return b, all
}

func (a api) as(token string) api { return api{base: a.base, token: token} }

// tally counts answers by the window that they name, which a slow machine may
// see more than one of.
type tally struct {
	mu      sync.Mutex
	passed  map[string]int
	refused map[string]int
}

func newTally() *tally { return &tally{passed: map[string]int{}, refused: map[string]int{}} }

// count counts an answer that has the status of those that pass, or is a 429.
func (c *tally) count(t *testing.T, resp *http.Response, pass int) {
	t.Helper()
	window := resp.Header.Get("X-RateLimit-Reset")
	c.mu.Lock()
	defer c.mu.Unlock()
	if resp.StatusCode == http.StatusTooManyRequests {
		c.refused[window]++
		assert.Equal(t, "0", resp.Header.Get("X-RateLimit-Remaining"))
		return
	}

	assert.Equal(t, pass, resp.StatusCode)
	c.passed[window]++
}

// check checks that in each window the first 60 passed, and nobody else.
func (c *tally) check(t *testing.T) {
	t.Helper()
	for window, passed := range c.passed {
		assert.LessOrEqual(t, passed, 60)
		if c.refused[window] > 0 {
			assert.Equal(t, 60, passed)
		}
	}

	for window := range c.refused {
		assert.Contains(t, c.passed, window)
	}
}

func TestServersCountTogether(t *testing.T) {
	t.Parallel()
	b, servers := twoServers(t)
	token := b.key(t, 0)
	ofKey, ofAddress := newTally(), newTally()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				ofKey.count(t, servers[i%2].as(token).request(t, http.MethodGet, "/v1/rules", ""), http.StatusOK)
			}
		})
	}
	all.Wait()
	ofKey.check(t)

	// Strangers count by their address, on each server.
	for range 70 {
		ofAddress.count(t, servers[0].request(t, http.MethodGet, "/v1/rules", ""), http.StatusUnauthorized)
	}
	ofAddress.check(t)
}

// While the database is away, every answer tells where the key stood, who has
// no requests left is told so, and health is told.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Start(t, nil)
	require.NoError(t, cluster.CreateDatabase(context.Background(), "away"))
	b := setup(t)
	b.config.Database, b.config.Migrate = cluster.DSN("away"), true
	s := b.server(t)
	a := api{base: "http://" + s.Addresses().HTTP}
	ask := func(token string) *http.Response { return a.as(token).request(t, http.MethodGet, "/v1/rules", "") }
	inOneWindow := func(of []*http.Response) bool {
		for _, resp := range of {
			if resp.Header.Get("X-RateLimit-Reset") != of[0].Header.Get("X-RateLimit-Reset") {
				return false
			}
		}
		return true
	}

	for round, told := 1, false; !told; round++ {
		require.LessOrEqual(t, round, 5, "each time a minute was over on the way, or it was not known where the keys stood")
		some := b.key(t, 10)
		spent := b.key(t, 1)
		ofSome, ofSpent := []*http.Response{ask(some), ask(some)}, []*http.Response{ask(spent), ask(spent)}
		require.NoError(t, cluster.Stop(pgtest.Kill))
		ofSome, ofSpent = append(ofSome, ask(some)), append(ofSpent, ask(spent))
		assert.Equal(t, http.StatusOK, a.request(t, http.MethodGet, "/healthz", "").StatusCode)
		resp := ofSome[2]
		assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
		assert.NotEmpty(t, resp.Header.Get("Retry-After"))
		assert.Equal(t, "10", resp.Header.Get("X-RateLimit-Limit"))
		if told = inOneWindow(ofSome) && inOneWindow(ofSpent); told {
			assert.Equal(t, "8", resp.Header.Get("X-RateLimit-Remaining"))
			assert.Equal(t, http.StatusTooManyRequests, ofSpent[2].StatusCode)
		}

		require.NoError(t, cluster.Start(context.Background()))
		require.Eventually(t, func() bool { return ask(some).StatusCode == http.StatusOK }, patience, 10*time.Millisecond)
	}
}
