package blackbox_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// hookSecret signs deliveries.
const hookSecret = "a-secret-of-the-webhook-0123"

// connected is a server with a connection to a Gitea, whose repository has a pull request.
type connected struct {
	*server

	gitea      *giteafake.Fake
	repository *repository
	hook       string // address of the webhook
}

// newConnected starts a server whose organization may scan nothing but what its connection
// is for.
func newConnected(t *testing.T) *connected {
	t.Helper()
	h := newHosts(t)
	c := &connected{gitea: giteafake.New(t), repository: h.create(t, hosttest.Repo, files{"a.txt": "a\n"})}
	web := httptest.NewServer(c.gitea)
	t.Cleanup(web.Close)
	c.push(files{"b.txt": "frobnicate(1)\n"})

	secrets := t.TempDir()
	for name, secret := range map[string]string{"token": hosttest.Token, "webhook": hookSecret} {
		require.NoError(t, os.WriteFile(filepath.Join(secrets, name), []byte(secret), 0o600))
	}
	c.server = startServer(t, h, serverOptions{
		organizations: []organization{{"acme", "nothing/*"}},
		config: fmt.Sprintf("connections:\n  - {organization: acme, name: gitea, kind: gitea, url: %q, git_url: %q,\n"+
			"     repositories: [\"acme/*\"], token_file: %q, webhook_secret_file: %q}\n",
			web.URL, h.url, filepath.Join(secrets, "token"), filepath.Join(secrets, "webhook")),
	})
	c.hook = "/hooks/" + c.query(t, `SELECT id FROM connections`)

	return c
}

// push makes a commit the head of the pull request, in git and at the host.
func (c *connected) push(change files) {
	sha := c.repository.commit(fmt.Sprintf("refs/pull/%d/head", hosttest.Number),
		c.repository.sha("refs/heads/main"), change)
	c.gitea.Push(sha, true)
}

// query asks the server's database for one value.
func (s *server) query(t *testing.T, query string) (value string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database, "sqlite:")+"?_pragma=busy_timeout(60000)")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&value))

	return value
}

// deliver has the host deliver an event.
func (c *connected) deliver(t *testing.T, e hosttest.Event, secret string) (again func() (int, string)) {
	t.Helper()
	header, body := c.gitea.Deliver(e, secret)

	return func() (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+c.hook, bytes.NewReader(body))
		require.NoError(t, err)
		r.Header = header.Clone()
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)

		return resp.StatusCode, string(text)
	}
}

// checked waits until the host shows a verdict at the head.
func (c *connected) checked(t *testing.T, want codehost.Verdict) {
	t.Helper()
	head := c.repository.sha(fmt.Sprintf("refs/pull/%d/head", hosttest.Number))
	require.Eventually(t, func() bool {
		check := c.gitea.Check(head)
		return check != nil && check.Verdict == want
	}, eventually, tick)
}

// TestPushStartsAScan follows deliveries of a host to the reviews that they start.
func TestPushStartsAScan(t *testing.T) {
	t.Parallel()
	c := newConnected(t)
	client := c.client(c.key(t, "acme"))
	addRule(t, client, todoRule)
	reviews := func(n int) []map[string]any {
		t.Helper()
		var all []map[string]any
		require.Eventually(t, func() bool {
			all = nil
			a := client.do(t, "GET", "/v1/reviews?repo="+hosttest.Repo, nil)
			for _, r := range list(a.decode(t)["reviews"]) {
				all = append(all, r.(map[string]any))
			}
			return len(all) == n && all[0]["status"] != "queued" && all[0]["status"] != "in_progress"
		}, eventually, tick)
		return all
	}

	opened := c.deliver(t, hosttest.Opened, hookSecret)
	status, text := opened()
	require.Equal(t, 202, status, text)
	assert.JSONEq(t, `{"status":"accepted"}`, text)
	first := reviews(1)[0]
	require.Equal(t, "complete", first["status"], first)
	assert.Equal(t, c.repository.sha("refs/pull/7/head"), first["head_sha"])
	assert.Equal(t, c.repository.sha("refs/heads/main"), first["base_sha"])
	assert.Equal(t, "connection:"+strings.TrimPrefix(c.hook, "/hooks/"), first["created_by"])

	c.checked(t, codehost.Success)

	status, text = opened()
	require.Equal(t, 202, status, text)
	assert.JSONEq(t, `{"status":"duplicate"}`, text)
	c.push(files{"b.txt": "frobnicate(2)\n"})
	status, text = c.deliver(t, hosttest.Pushed, hookSecret)()
	require.Equal(t, 202, status, text)
	second := reviews(2)[0]
	assert.Equal(t, c.repository.sha("refs/pull/7/head"), second["head_sha"])
	require.Equal(t, "complete", second["status"], second)
	whole := client.do(t, "GET", "/v1/reviews/"+second["review_id"].(string), nil).decode(t)
	assert.Equal(t, first["review_id"], whole["previous_review_id"])

	c.checked(t, codehost.Success)

	status, _ = c.deliver(t, hosttest.Labeled, hookSecret)()
	require.Equal(t, 202, status)
	require.Eventually(t, func() bool {
		return c.query(t, `SELECT COUNT(*) FROM deliveries WHERE outcome = 'waiting'`) == "0"
	}, eventually, tick)
	assert.Len(t, reviews(2), 2, "the head was scanned")
	assert.Equal(t, "3", c.query(t, `SELECT COUNT(*) FROM deliveries`))
	assert.NotContains(t, c.logged(), hookSecret)
	assert.NotContains(t, c.logged(), hosttest.Token)
}

// TestUnsignedDeliveries sends what nobody signed, many at a time and large ones.
func TestUnsignedDeliveries(t *testing.T) {
	t.Parallel()
	c := newConnected(t)
	send := c.deliver(t, hosttest.Opened, "wrong")
	for range 300 {
		status, text := send()
		require.Equal(t, 401, status, text)
	}

	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.base+c.hook,
				io.LimitReader(endless{}, 25<<20))
			if !assert.NoError(t, err) {
				return
			}
			r.ContentLength = 25 << 20
			if resp, err := http.DefaultClient.Do(r); err == nil { // it may be answered before all of it is sent
				assert.Contains(t, []int{401, 429, 503}, resp.StatusCode)
				_ = resp.Body.Close()
			}
		})
	}
	all.Wait()

	assert.Less(t, c.peakMemory(t), 512<<20)
	assert.Equal(t, "0", c.query(t, `SELECT COUNT(*) FROM deliveries`))
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Get(c.base + "/readyz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 200, resp.StatusCode)
}

// endless is a body that has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }
