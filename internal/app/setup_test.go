package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/store"
)

// patience bounds every wait; it is only reached when something is broken.
const patience = 3 * time.Minute

// bundle is a configuration with a folder of its own, and a host that has the
// repository acme/web with pull request 1, which adds an eval to a script.
type bundle struct {
	config config.Config
	dir    string
	log    *syncBuffer
}

func setup(t *testing.T) *bundle {
	t.Helper()
	dir := t.TempDir()
	makeRepository(t, filepath.Join(dir, "repos", "acme", "web.git"))
	c := config.Default()
	c.HTTPAddr, c.GRPCAddr, c.OpsAddr, c.ScannerGRPCAddr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Database = "sqlite:" + filepath.Join(dir, "prwarden.db")
	c.CacheDir = filepath.Join(dir, "cache")
	c.ShutdownGrace = 10 * time.Second
	c.Organizations = []organization.Organization{{
		Name: "acme", Repositories: []string{"acme/*"},
		Host: organization.Host{Kind: organization.KindGit, URL: "file://" + dir + "/repos/{repo}.git"},
	}}
	return &bundle{config: c, dir: dir, log: &syncBuffer{}}
}

func (b *bundle) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(b.log, nil)) }

// syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// server starts a server that ends with the test.
func (b *bundle) server(t *testing.T) *app.Server {
	t.Helper()
	s, err := app.NewServer(t.Context(), b.config, os.Getenv, b.logger())
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { stop(t, s) })
	return s
}

type stopper interface{ Stop(context.Context) error }

func stop(t *testing.T, s stopper) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, s.Stop(ctx))
}

// key makes an API key beside the running server, with a rate limit, 0 for the
// default.
func (b *bundle) key(t *testing.T, rate int) string {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Database: b.config.Database})
	require.NoError(t, err)
	_, token, err := auth.NewKeys(db, time.Now, slog.New(slog.DiscardHandler)).
		Issue(t.Context(), "acme", auth.NewKey{Name: "test", RateLimit: rate})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return token
}

func (b *bundle) token(t *testing.T) string {
	t.Helper()
	return b.key(t, 1_000_000)
}

func (b *bundle) store(t *testing.T) *store.Store {
	t.Helper()
	store, err := store.Open(t.Context(), store.Options{Database: b.config.Database})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// api calls the REST API of a server.
type api struct {
	base  string
	token string
}

func (b *bundle) api(t *testing.T, s *app.Server) api {
	t.Helper()
	return api{base: "http://" + s.Addresses().HTTP, token: b.token(t)}
}

func (a api) request(t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+a.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (a api) json(t *testing.T, method, path, body string, status int) map[string]any {
	t.Helper()
	resp := a.request(t, method, path, body)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, status, resp.StatusCode, string(text))
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	return m
}

// create starts a review of the sample pull request and returns its id.
func (a api) create(t *testing.T) string {
	t.Helper()
	return a.json(
		t, http.MethodPost, "/v1/reviews", `{"repo":"acme/web","pr_number":1}`, http.StatusAccepted,
	)["review_id"].(string)
}

// finish waits for a review's end and returns it.
func (a api) finish(t *testing.T, id string) map[string]any {
	t.Helper()
	// The stream ends with the final state.
	_, err := io.Copy(io.Discard, a.request(t, http.MethodGet, "/v1/reviews/"+id+":watch", "").Body)
	require.NoError(t, err)
	return a.json(t, http.MethodGet, "/v1/reviews/"+id, "", http.StatusOK)
}

func makeRepository(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_INDEX_FILE=" + filepath.Join(dir,
				"test-index"),
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "git %v: %s", args, out)
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q", "--bare", "-b", "main", dir)
	parent := ""
	for i, content := range []string{"let a = 1;\n", "let a = 1;\nlet b = eval(input);\n"} {
		blob := git(content, "hash-object", "-w", "--stdin")
		git("", "update-index", "--add", "--cacheinfo", "100644,"+blob+",web/page.js")
		args := []string{"commit-tree", git("", "write-tree"), "-m", fmt.Sprint(i)}
		if parent != "" {
			args = append(args, "-p", parent)
		}
		parent = git("", args...)
		git("", "update-ref", []string{"refs/heads/main", "refs/pull/1/head"}[i], parent)
	}
}
