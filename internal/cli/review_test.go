package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

const (
	complete = `{"review_id":"rev_1","status":"complete","pr_number":17,"repo":"acme/web",
"findings":[{"rule_id":"security/no-eval","severity":"high","file":"a\u001b[2J.js","line":3,"column":5,"message":"Parse the value instead of running it."}],
"summary":{"high":1},"skipped":[]}`
	failed = `{"review_id":"rev_1","status":"failed","pr_number":17,"repo":"acme/web","findings":[],"summary":{},
"error":{"code":"host_unreachable","message":"The code host can't be reached."}}`
	updates = `{"result":{"review_id":"rev_1","status":"queued","files_done":0}}
{"result":{"review_id":"rev_1","status":"in_progress","files_done":0}}
{"result":{"review_id":"rev_1","status":"in_progress","files_done":1,"files_total":3}}
{"result":{"review_id":"rev_1","status":"%s"}}
`
)

// fakeServer answers like a server that has one review.
type fakeServer struct {
	review string // what GET answers
	watch  string // what the stream holds
	status int    // of the creation; 202 when 0
	body   string // of the creation's refusal
}

func (f fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer prw_key":
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodPost && f.status != 0:
		w.WriteHeader(f.status)
		io.WriteString(w, f.body)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"review_id":"rev_1","status":"queued","estimated_ms":2400}`)
	case strings.HasSuffix(r.URL.Path, ":watch") && f.watch == "":
		w.WriteHeader(http.StatusBadGateway)
	case strings.HasSuffix(r.URL.Path, ":watch"):
		io.WriteString(w, f.watch)
	default:
		io.WriteString(w, f.review)
	}
}

type result struct {
	err         error
	out, errOut string
}

func review(t *testing.T, f fakeServer, in cli.ReviewInput) result {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	in.Repo, in.Number = "acme/web", "17"
	var out, errOut strings.Builder
	err := cli.Review(t.Context(), cli.Streams{Out: &out, Err: &errOut, Env: []string{"PRWARDEN_API_KEY=prw_key", "COLUMNS=80"}},
		config.Client{Server: server.URL}, in)
	return result{err, out.String(), errOut.String()}
}

func TestReviewWithoutWaiting(t *testing.T) {
	t.Parallel()
	r := review(t, fakeServer{}, cli.ReviewInput{})
	require.NoError(t, r.err)
	assert.Equal(t, "rev_1\n", r.out)
	assert.Equal(t, "review rev_1 queued, done in about 2s\n", r.errOut)

	r = review(t, fakeServer{}, cli.ReviewInput{JSON: true})
	require.NoError(t, r.err)
	assert.JSONEq(t, `{"review_id":"rev_1","status":"queued","estimated_ms":2400}`, r.out)
}

func TestReviewWaits(t *testing.T) {
	t.Parallel()
	r := review(t, fakeServer{review: complete, watch: fmt.Sprintf(updates, "complete")}, cli.ReviewInput{Wait: true})
	require.NoError(t, r.err)
	assert.Equal(t, `a\x1b[2J.js
  3:5  high      security/no-eval
       Parse the value instead of running it.

1 finding in acme/web#17: 1 high.
`, r.out)
	assert.Equal(t, `review rev_1 queued, done in about 2s
waiting for a worker
scanning: fetching the pull request
`, r.errOut)
}

func TestReviewPollsWhenTheStreamBreaks(t *testing.T) {
	t.Parallel()
	for name, watch := range map[string]string{
		"no stream":    "",
		"cut off":      `{"result":{"status":"in_progress"}}` + "\n",
		"ended by one": `{"error":{"message":"The server is stopping."}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := review(t, fakeServer{review: complete, watch: watch}, cli.ReviewInput{Wait: true})
			require.NoError(t, r.err)
			assert.Contains(t, r.out, "1 finding")
		})
	}
}

func TestReviewJSON(t *testing.T) {
	t.Parallel()
	r := review(t, fakeServer{review: complete, watch: fmt.Sprintf(updates, "complete")}, cli.ReviewInput{Wait: true, JSON: true})
	require.NoError(t, r.err)
	assert.JSONEq(t, complete, r.out)
	assert.NotContains(t, r.out, "\x1b")
}

func TestReviewFails(t *testing.T) {
	t.Parallel()
	watch := fmt.Sprintf(updates, "failed")
	r := review(t, fakeServer{review: failed, watch: watch}, cli.ReviewInput{Wait: true})
	require.ErrorIs(t, r.err, cli.ErrSilent)
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))
	assert.Equal(t, "The review of acme/web#17 failed: The code host can't be reached.\n(host_unreachable)\n", r.out)

	r = review(t, fakeServer{review: failed, watch: watch}, cli.ReviewInput{Wait: true, JSON: true})
	require.ErrorContains(t, r.err, "host_unreachable", "the JSON goes to stdout, so stderr says it")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(r.err))
}

func TestReviewRefused(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]int{
		http.StatusBadRequest:   cli.ExitUsage,
		http.StatusUnauthorized: cli.ExitUsage,
		http.StatusForbidden:    cli.ExitUsage,
		http.StatusNotFound:     cli.ExitUsage,
		http.StatusConflict:     cli.ExitFailed,
	} {
		r := review(t, fakeServer{status: status, body: `{"message":"No\u001b[2J."}`}, cli.ReviewInput{})
		require.ErrorContains(t, r.err, `No\x1b[2J. (HTTP `+fmt.Sprint(status))
		assert.Equal(t, code, cli.ExitCode(r.err))
	}
}

func TestReviewInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fakeServer{}.ServeHTTP(w, r)
			return
		}
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	var out, errOut strings.Builder
	err := cli.Review(ctx, cli.Streams{Out: &out, Err: &errOut, Env: []string{"PRWARDEN_API_KEY=prw_key"}},
		config.Client{Server: server.URL}, cli.ReviewInput{Repo: "acme/web", Number: "17", Wait: true})
	require.ErrorContains(t, err, "review rev_1 goes on")
	assert.Equal(t, cli.ExitFailed, cli.ExitCode(err))
}

// Whoever waits is told that the review goes on without him.
func TestReviewGivesUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fakeServer{}.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"message":"No."}`)
	}))
	defer server.Close()
	err := cli.Review(t.Context(), cli.Streams{Out: io.Discard, Err: io.Discard, Env: []string{"PRWARDEN_API_KEY=prw_key"}},
		config.Client{Server: server.URL}, cli.ReviewInput{Repo: "acme/web", Number: "17", Wait: true})
	require.EqualError(t, err, "waiting for review rev_1, which goes on: No. (HTTP 403)")
	assert.Equal(t, cli.ExitUsage, cli.ExitCode(err))
}

func TestReviewKeyFile(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(fakeServer{})
	defer server.Close()
	file := filepath.Join(t.TempDir(), "key")
	for content, want := range map[string]int{"prw_key\n": cli.ExitOK, "": cli.ExitUsage, "prw_key and more": cli.ExitUsage} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		var out, errOut strings.Builder
		err := cli.Review(t.Context(), cli.Streams{Out: &out, Err: &errOut}, config.Client{Server: server.URL, KeyFile: file},
			cli.ReviewInput{Repo: "acme/web", Number: "#17"})
		assert.Equal(t, want, cli.ExitCode(err), "%q: %v", content, err)
	}
}
