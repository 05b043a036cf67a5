package blackbox_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
)

// canaryApp is a GitHub with an App, which says back what it was told whenever a call of a
// kind comes first.
type canaryApp struct {
	fake       *githubfake.Fake
	server     *httptest.Server
	receiver   *receiver // of outgoing webhooks
	repository *repository
	config     string // of its connection

	mu      sync.Mutex
	refused map[string]bool
	told    map[string]bool // credentials
}

func newCanaryApp(t *testing.T, dir string) *canaryApp {
	t.Helper()
	h := newHosts(t)
	a := &canaryApp{
		fake: githubfake.New(true), receiver: newReceiver(t, "/hook"), refused: map[string]bool{}, told: map[string]bool{},
		repository: h.create(t, hosttest.Repo, files{"a.txt": "a\n"}),
	}
	a.server = httptest.NewServer(a)
	t.Cleanup(a.server.Close)
	a.fake.Push(a.repository.commit(fmt.Sprintf("refs/pull/%d/head", hosttest.Number),
		a.repository.sha("refs/heads/main"), files{"b.js": "eval(x)\n"}), true)
	key := filepath.Join(dir, "app.pem")
	require.NoError(t, os.WriteFile(key, []byte(githubfake.PrivateKey()), 0o600))
	a.config = fmt.Sprintf("  - {organization: apps, name: app, kind: github, url: %q, git_url: %q,\n"+
		"     repositories: [\"acme/*\"], account: acme, app_id: %d, installation_id: %d, private_key_file: %q,\n"+
		"     webhook_secret_env: APP_SECRET}\n", a.server.URL, h.url, githubfake.AppID, githubfake.Installation, key)

	return a
}

// ServeHTTP has the fake answer, unless the call is the first of those that are refused.
func (a *canaryApp) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	said := q.Header.Get("Authorization")
	_, credential, _ := strings.Cut(said, " ")
	refuse := false
	a.mu.Lock()
	a.told[credential] = true
	for _, end := range []string{"/access_tokens", fmt.Sprint("/pulls/", hosttest.Number), "/check-runs"} {
		if strings.HasSuffix(q.URL.Path, end) && (q.Method == http.MethodGet || end == "/access_tokens") {
			refuse, a.refused[end] = !a.refused[end], true
		}
	}
	a.mu.Unlock()
	if refuse {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = fmt.Fprintf(w, `{"message":"you said %s"}`, said)
		return
	}
	a.fake.ServeHTTP(w, q)
}

// liveApp has an App's host tell of a push, until what was found is there and a receiver of
// webhooks is told, too.
func (w *canaryWorld) liveApp(t *testing.T) {
	t.Helper()
	c := w.client(w.key(t, "apps"))
	a := c.do(t, "POST", "/v1/webhooks", map[string]any{
		"name": "hook", "url": w.app.receiver.URL + "/hook", "events": []any{"review.completed"},
	}) // shows the secret, this once
	require.Equal(t, 201, a.status, a.body)
	w.canaries["secret of outgoing webhooks"].text = a.decode(t)["secret"].(string)
	listed := list(w.do(t, c, "GET", "/v1/connections", nil).decode(t)["connections"])
	require.Len(t, listed, 1)
	id := listed[0].(map[string]any)["connection_id"].(string)
	path := "/v1/connections/" + id

	for _, secret := range []string{"another", w.text("secret of an App")} {
		header, body := w.app.fake.Deliver(hosttest.Opened, secret)
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+"/hooks/"+id, bytes.NewReader(body))
		require.NoError(t, err)
		q.Header = header
		resp, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, secret != "another", resp.StatusCode == http.StatusAccepted, string(text))
		w.see(inAnswers, string(text))
	}
	within(t, "the receiver is told", w.app.receiver.got["/hook"])
	head := w.app.repository.sha(fmt.Sprintf("refs/pull/%d/head", hosttest.Number))
	require.Eventually(t, func() bool {
		w.seeGits(t)
		check := w.app.fake.Check(head)
		return check != nil && check.Verdict != codehost.Pending
	}, eventually, tick)

	require.Equal(t, 200, w.do(t, c, "POST", path+":test", map[string]any{}).status)
	for _, path := range []string{
		path, path + "/repositories", "/v1/audit", "/v1/webhooks",
		fmt.Sprintf("/v1/pull-requests/%d?repo=%s", hosttest.Number, hosttest.Repo),
	} {
		a := w.do(t, c, "GET", path, nil)
		require.Equal(t, 200, a.status, a.body)
	}

	w.app.mu.Lock()
	defer w.app.mu.Unlock()
	require.Len(t, w.app.refused, 3, "each was said back once")
	proofs, minted := 0, 0
	for credential := range w.app.told {
		name, allowed := fmt.Sprint("proof of an App ", proofs), []string(nil)
		if strings.HasPrefix(credential, "eyJ") {
			credential = credential[:strings.LastIndex(credential, ".")] // a text may be cut in the signature
			proofs++
		} else {
			name, allowed = fmt.Sprint("token of an installation ", minted), []string{inGitEnv}
			minted++
		}
		w.canaries[name] = &canary{credential, allowed}
	}
	require.Positive(t, proofs)
	require.Positive(t, minted)
}
