package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/pgtest"
	"github.com/prwarden/prwarden/internal/store/sqlstore"
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

// key makes a key with a rate limit, 0 for the default.
func (b *bundle) key(t *testing.T, rate int) (admission.Key, string) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: b.config.Database})
	require.NoError(t, err)
	key, token, err := admission.NewKeys(store, time.Now, slog.New(slog.DiscardHandler)).
		Issue(t.Context(), "acme", admission.NewKey{Name: "test", RateLimit: rate})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	return key, token
}

func (a api) as(token string) api { return api{base: a.base, token: token} }

func TestServersCountTogether(t *testing.T) {
	t.Parallel()
	b, servers := twoServers(t)
	_, token := b.key(t, 0)
	var accepted, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				switch resp := servers[i%2].as(token).request(t, http.MethodGet, "/v1/rules", ""); resp.StatusCode {
				case http.StatusOK:
					accepted.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
					assert.Equal(t, "0", resp.Header.Get("X-RateLimit-Remaining"))
				default:
					t.Errorf("answered %s", resp.Status)
				}
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 60, accepted.Load())
	assert.EqualValues(t, 100, refused.Load())

	// Strangers count by their address, over both servers too.
	for i := range 61 {
		resp := servers[i%2].request(t, http.MethodGet, "/v1/rules", "")
		want := http.StatusUnauthorized
		if i == 60 {
			want = http.StatusTooManyRequests
		}
		require.Equal(t, want, resp.StatusCode)
		assert.Equal(t, strconv.Itoa(max(0, 59-i)), resp.Header.Get("X-RateLimit-Remaining"))
	}
}

// A key that is revoked elsewhere is soon of no use on any server. The 5 seconds
// are tested to the moment on a clock of the test, in package admission; on this
// one the machine may be busy.
func TestRevocationReachesTheOtherServer(t *testing.T) {
	t.Parallel()
	b, servers := twoServers(t)
	key, token := b.key(t, 100_000)
	for _, s := range servers {
		require.Equal(t, http.StatusOK, s.as(token).request(t, http.MethodGet, "/v1/rules", "").StatusCode)
	}
	revoked := time.Now()
	require.NoError(t, b.store(t).RevokeKey(t.Context(), "acme", key.ID))
	for _, s := range servers {
		require.Eventually(t, func() bool {
			return s.as(token).request(t, http.MethodGet, "/v1/rules", "").StatusCode == http.StatusUnauthorized
		}, patience, 10*time.Millisecond)
	}
	assert.Less(t, time.Since(revoked), 10*time.Second)
}

// While the database is away, every answer tells where the key stood, who has
// no requests left is told so, and health is told.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := pgtest.Start(t, pgtest.Options{})
	require.NoError(t, cluster.CreateDatabase(context.Background(), "away"))
	b := setup(t)
	b.config.Database, b.config.Migrate = cluster.DSN("away"), true
	s := b.server(t)
	a := api{base: "http://" + s.Addresses().HTTP}
	_, some := b.key(t, 10)
	_, spent := b.key(t, 1)
	for range 2 {
		a.as(some).request(t, http.MethodGet, "/v1/rules", "")
		a.as(spent).request(t, http.MethodGet, "/v1/rules", "")
	}
	require.NoError(t, cluster.Kill())
	resp := a.as(some).request(t, http.MethodGet, "/v1/rules", "")
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.NotEmpty(t, resp.Header.Get("Retry-After"))
	assert.Equal(t, "10", resp.Header.Get("X-RateLimit-Limit"))
	assert.Equal(t, "8", resp.Header.Get("X-RateLimit-Remaining"))
	assert.Equal(t, http.StatusTooManyRequests, a.as(spent).request(t, http.MethodGet, "/v1/rules", "").StatusCode)
	assert.Equal(t, http.StatusOK, a.request(t, http.MethodGet, "/healthz", "").StatusCode)

	require.NoError(t, cluster.Start(context.Background()))
	back := time.Now()
	require.Eventually(t, func() bool {
		return a.as(some).request(t, http.MethodGet, "/v1/rules", "").StatusCode == http.StatusOK
	}, patience, 10*time.Millisecond)
	assert.Less(t, time.Since(back), 10*time.Second)
}
