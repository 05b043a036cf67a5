package app_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// hostedPull is a Gitea with a private repository and a pull request, of which git knows
// the head alone.
type hostedPull struct {
	*giteafake.Fake

	url        string
	base, head string
	isPublic   atomic.Bool
	reached    atomic.Int64 // connections
}

const gitToken = "t0k3n-that-reads"

func newHostedPull(t *testing.T, start func(*httptest.Server)) *hostedPull {
	t.Helper()
	h, r := &hostedPull{Fake: giteafake.New(t)}, gittest.New(t)
	h.base = r.Commit(gittest.Text("page.js", "let a = 1;\n"))
	r.Ref("refs/heads/main", h.base)
	h.head = r.Commit(gittest.Text("page.js", "let a = 1;\nlet b = eval(input);\n"), h.base)
	r.Pull(hosttest.Number, h.head)
	h.Push(h.head, false)

	private, public := &gittest.Server{Repo: r, Token: gitToken}, &gittest.Server{Repo: r}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		path, isGit := strings.CutPrefix(q.URL.Path, "/git/"+hosttest.Repo)
		q.URL.Path = "/" + gittest.Name + path
		_, _, isNamed := q.BasicAuth()
		switch {
		case !isGit:
			q.URL.Path = path
			h.ServeHTTP(w, q)
		case h.isPublic.Load() && !isNamed:
			public.ServeHTTP(w, q)
		default:
			private.ServeHTTP(w, q)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			h.reached.Add(1)
		}
	}
	start(server)
	t.Cleanup(server.Close)
	h.url = server.URL

	return h
}

func (a api) review(t *testing.T) map[string]any {
	t.Helper()
	created := a.json(t, http.MethodPost, "/v1/reviews", `{"repo":"acme/web","pr_number":7}`, http.StatusAccepted)

	return a.finish(t, created["review_id"].(string))
}

// TestScanByAConnection scans what the token of a connection opens, and what the host's
// API names. When the host refuses the token, the connection is broken, and only what is
// public is scanned.
func TestScanByAConnection(t *testing.T) {
	t.Parallel()
	h := newHostedPull(t, (*httptest.Server).Start)
	b := setup(t)
	b.config.Connections = []connection.Declared{{
		Organization: "acme", Name: "gitea", Kind: codehost.Gitea, URL: h.url, GitURL: h.url + "/git/{repo}.git",
		Repositories: []string{"acme/*"}, TokenEnv: "GITEA_TOKEN", GitTokenEnv: "GITEA_GIT_TOKEN",
	}}
	environment := map[string]string{"GITEA_TOKEN": hosttest.Token, "GITEA_GIT_TOKEN": gitToken}
	s, err := app.NewServer(t.Context(), b.config, func(name string) string { return environment[name] }, b.logger())
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { stop(t, s) })
	a := b.api(t, s)

	review := a.review(t)
	require.Equal(t, "complete", review["status"], review)
	assert.Equal(t, []any{h.head, h.base, "code_host"}, []any{review["head_sha"], review["base_sha"], review["base_found_by"]})

	h.Revoke()
	review = a.review(t)
	require.Equal(t, "failed", review["status"], review)
	assert.Equal(t, "access_denied", review["error"].(map[string]any)["code"])
	all, err := b.store(t).ListConnections(t.Context(), "acme")
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, connection.Broken, all[0].State)

	h.isPublic.Store(true)
	review = a.review(t)
	require.Equal(t, "complete", review["status"], review)
	assert.Equal(t, []any{h.head, h.base, "default_branch"},
		[]any{review["head_sha"], review["base_sha"], review["base_found_by"]})
	assert.NotContains(t, b.log.String(), gitToken)
	assert.NotContains(t, b.log.String(), hosttest.Token)
}

// TestScanByAConnectionOfATenant holds that a connection that an organization made leads
// to no private address: neither the server nor git reaches it.
func TestScanByAConnectionOfATenant(t *testing.T) {
	t.Parallel()
	h := newHostedPull(t, (*httptest.Server).StartTLS)
	b := setup(t)
	s := b.server(t)
	service, err := app.OpenConnections(t.Context(), b.config, func(string) string { return "" }, b.store(t), b.logger())
	require.NoError(t, err)
	_, err = service.Create(t.Context(), connection.Caller{Organization: "acme"}, connection.Connection{
		Name: "gitea", Kind: codehost.Gitea, URL: h.url, GitURL: h.url + "/git/{repo}.git", Repositories: []string{"acme/*"},
	}, connection.Secrets{Token: hosttest.Token})
	require.NoError(t, err)

	review := b.api(t, s).review(t)
	require.Equal(t, "failed", review["status"], review)
	failure := review["error"].(map[string]any)
	assert.Equal(t, "host_misconfigured", failure["code"])
	assert.Contains(t, failure["message"], "its address is loopback")
	assert.Zero(t, h.reached.Load())
}
