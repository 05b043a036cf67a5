package blackbox_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is a request that a receiver got.
type told struct {
	header http.Header
	body   []byte
}

// verify checks a message as its receiver does.
func (m told) verify(t *testing.T, secret string) {
	t.Helper()
	by, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, by.Verify(m.body, m.header))
}

// receiver is what webhooks lead to, with a list of requests for each path. It answers
// with the next status that a test gave it for the path, else with 204.
type receiver struct {
	*httptest.Server
	got      map[string]chan told
	statuses map[string]chan int
}

func newReceiver(t *testing.T, paths ...string) *receiver {
	t.Helper()
	r := &receiver{got: map[string]chan told{}, statuses: map[string]chan int{}}
	for _, path := range paths {
		r.got[path], r.statuses[path] = make(chan told, 100), make(chan int, 100)
	}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		select {
		case status := <-r.statuses[req.URL.Path]:
			w.WriteHeader(status)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
		r.got[req.URL.Path] <- told{req.Header.Clone(), body}
	}))
	t.Cleanup(r.Close)

	return r
}

// believed is the environment of a server that believes the receiver's certificate.
func (r *receiver) believed(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receiver.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	require.NoError(t, os.WriteFile(path, data, 0o600))

	return []string{"SSL_CERT_FILE=" + path}
}

// field returns what a command printed after a name.
func field(t *testing.T, printed, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + `: *(.+)$`).FindStringSubmatch(printed)
	require.NotNil(t, found, printed)

	return found[1]
}

// TestWebhooks has receivers told of a review, which is tried again, sent again, stopped
// and started, all by the command line.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	r, h := newReceiver(t, "/ci", "/slack"), newHosts(t)
	s := startServer(t, h, serverOptions{
		config: "webhooks_allow: [127.0.0.0/8]\n", env: r.believed(t),
		args: []string{"--public-url", "https://prwarden.example.com"},
	})
	h.create(t, "acme/shop", files{"a.js": "a()\n"}).pull(1, files{"a.js": "eval(x)\n"})
	files := t.TempDir()
	keyFile, slackFile := filepath.Join(files, "key"), filepath.Join(files, "slack")
	key := s.key(t, "acme", "--scopes", "reviews:read,reviews:write,webhooks:read,webhooks:write")
	require.NoError(t, os.WriteFile(keyFile, []byte(key), 0o600))
	require.NoError(t, os.WriteFile(slackFile, []byte(r.URL+"/slack?canary\n"), 0o600))
	over := func(args []string) []string {
		return append(append([]string{"webhooks"}, args...), "--server", s.base, "--key-file", keyFile)
	}
	run := func(args ...string) string { return s.command(t, over(args)...) }
	refused := func(args ...string) string {
		_, stderr := s.fails(t, over(args)...)
		return stderr
	}

	made := run("create", "ci", "--url", r.URL+"/ci", "--events", "review.completed")
	id, secret := field(t, made, "webhook_id"), field(t, made, "secret")
	made = run("create", "team", "--format", "slack", "--url-file", slackFile)
	assert.NotContains(t, made, "secret")
	assert.Regexp(t, `(?m)^ci +active +standard +`+regexp.QuoteMeta(r.URL)+`/ci +review\.completed +`+id+`$`, run("list"))
	assert.Equal(t, r.URL+"/…", field(t, run("show", "team"), "url"))

	// The receiver fails, and the message comes again as it was.
	r.statuses["/ci"] <- http.StatusInternalServerError
	review := s.client(key).scan(t, "acme/shop", 1)
	first := within(t, "the receiver is told", r.got["/ci"])
	first.verify(t, secret)
	var body struct {
		Type string         `json:"type"`
		Data map[string]any `json:"data"`
	}
	require.NoError(t, json.Unmarshal(first.body, &body))
	assert.Equal(t, "review.completed", body.Type)
	assert.Equal(t, review["review_id"], body.Data["review_id"])
	assert.Equal(t, review["verdict"].(map[string]any)["outcome"], body.Data["verdict"])
	assert.Equal(t, "https://prwarden.example.com/v1/reviews/"+review["review_id"].(string), body.Data["url"])
	again := within(t, "the message comes again", r.got["/ci"])
	again.verify(t, secret)
	assert.Equal(t, first.body, again.body)
	message := first.header.Get("webhook-id")
	assert.Equal(t, message, again.header.Get("webhook-id"))
	delivered := func(attempts string) func() bool {
		return func() bool {
			return regexp.MustCompile(`review\.completed +delivered +` + attempts + ` +204 +- +` + message).MatchString(run("messages", "ci"))
		}
	}
	require.Eventually(t, delivered("2"), eventually, 10*tick)
	assert.Contains(t, run("messages", "ci", "-o", "json"), `"status":500`)

	var lines []string
	for range 2 {
		m := within(t, "Slack is told", r.got["/slack"])
		assert.Empty(t, m.header.Get("webhook-signature"))
		var slack struct{ Text string }
		require.NoError(t, json.Unmarshal(m.body, &slack))
		lines = append(lines, slack.Text)
	}
	assert.Contains(t, lines[0], "`acme/shop` pull request 1: the review is queued.")
	assert.Contains(t, lines[1], "*fail*, 1 high. <https://prwarden.example.com/v1/reviews/")

	// Sent once more it is signed by the new secret and the one before.
	rotated := field(t, run("rotate", "ci"), "secret")
	run("redeliver", "ci", message)
	redelivered := within(t, "the message is sent once more", r.got["/ci"])
	redelivered.verify(t, secret)
	redelivered.verify(t, rotated)
	assert.Equal(t, message, redelivered.header.Get("webhook-id"))

	r.statuses["/ci"] <- http.StatusGone
	tested := strings.TrimSpace(run("test", "ci"))
	assert.Equal(t, tested, within(t, "the test arrives", r.got["/ci"]).header.Get("webhook-id"))
	require.Eventually(t, func() bool { return field(t, run("show", "ci"), "state") == "disabled" }, eventually, 10*tick)
	assert.Contains(t, run("show", "ci"), "410 Gone")
	assert.Contains(t, refused("test", "ci"), "WEBHOOK_DISABLED")
	assert.Contains(t, run("update", "ci", "--enabled", "--name", "build"), "active")
	run("test", "build")
	within(t, "the test arrives", r.got["/ci"]).verify(t, rotated)

	assert.Contains(t, refused("rotate", "team"), "are not signed")
	assert.Contains(t, refused("create", "x", "--url", "http://127.0.0.1/"), "it must be an https address")
	assert.Contains(t, refused("show", "ci"), "there is no webhook ci")
	run("update", id, "--name", "team")
	assert.Contains(t, refused("show", "team"), "2 webhooks have the name team")
	run("delete", id)
	assert.NotContains(t, run("list"), id)
	for _, private := range []string{"canary", secret, rotated} {
		assert.NotContains(t, s.logged(), private)
	}
}
