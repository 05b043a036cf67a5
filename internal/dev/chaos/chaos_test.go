package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// binary is the path of prwarden, built by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "chaos-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	binary = filepath.Join(dir, "prwarden")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary,
		"github.com/prwarden/prwarden/cmd/prwarden")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, text)
		return 1
	}
	return m.Run()
}

// TestShortStorm makes a short run and holds it to all promises. How long recoveries take, and freezes over a lease,
// are for the long form, on a machine that does nothing else.
func TestShortStorm(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"postgres", "sqlite"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			s, err := parse([]string{
				"-binary", binary, "-database", database, "-reviews", "25", "-for", "5s", "-seed", "1", "-settle", "5m",
				"-clients", "8", "-workers", "3", "-repos", "2", "-pulls", "40", "-most-passing", "0.5", "-kill-every", "1s",
				"-cut-every", "2s", "-hold-every", "2s", "-db-restart-every", "4s", "-freeze-every", "0", "-fill-every", "0",
			}, io.Discard)
			require.NoError(t, err)
			s.dir = t.TempDir()

			var text bytes.Buffer
			v, err := execute(t.Context(), s, &text)
			require.NoError(t, err, text.String())
			v.print(&text)
			assert.Empty(t, v.broken, text.String())
			assert.Positive(t, v.ended["complete"])
			assert.Positive(t, v.faults["kill server"]+v.faults["kill scanner"])
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`unexpected argument "x"`: {"x"},
		`-database is "oracle"`:   {"-database", "oracle"},
		"-clients, -repos":        {"-clients", "0"},
	} {
		_, err := parse(args, io.Discard)
		assert.ErrorContains(t, err, want)
	}
}

// TestPulls holds every finding to what git itself shows of the change, which is another way to the same lines.
func TestPulls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := settings{repos: 2, pulls: 40, seed: 7}
	all, err := makePulls(t.Context(), dir, s)
	require.NoError(t, err)
	require.Len(t, all, 3*2*40)

	kinds := map[string]int{}
	for _, p := range all {
		kinds[p.failure]++
		if p.failure != "" {
			assert.Empty(t, p.findings)
			continue
		}
		change := fmt.Sprintf("main...refs/pull/%d/head", p.number)
		out, err := exec.CommandContext(t.Context(), "git", "--git-dir", filepath.Join(dir, p.repo+".git"),
			"diff", "--unified=0", change).Output()
		require.NoError(t, err)
		for _, f := range p.findings {
			assert.Contains(t, string(out), "+"+f.Snippet+"\n")
			kinds[f.RuleID]++
		}
	}
	for _, kind := range []string{"pull_request_not_found", "no_merge_base", "chaos/org-marker", "security/no-eval"} {
		assert.NotZero(t, kinds[kind], kind)
	}

	again, err := makePulls(t.Context(), t.TempDir(), s)
	require.NoError(t, err)
	assert.Equal(t, all, again, "the seed decides")
}

// TestClients has a server that asks for patience twice, and then answers in some way.
func TestClients(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
		good   bool
	}{
		"as promised":                  {http.StatusAccepted, `{"status":"queued","review_id":"rev_1"}`, true},
		"a 500":                        {http.StatusInternalServerError, `{"message":"Oops."}`, false},
		"a 503 that does not say when": {http.StatusServiceUnavailable, `{"message":"busy"}`, false},
		"a text instead of JSON":       {http.StatusAccepted, "<html>", false},
		"no identifier":                {http.StatusAccepted, `{"status":"queued"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls++; calls < 3 {
					w.Header().Set("Retry-After", "60")
					http.Error(w, `{"message":"busy"}`, http.StatusServiceUnavailable)
					return
				}
				http.Error(w, answer.body, answer.status)
			}))
			defer server.Close()

			c := &clients{servers: []string{server.URL, server.URL}}
			rec := c.newRecord(pull{repo: "o/r", number: 1})
			assert.Equal(t, answer.good, c.create(t.Context(), 0, callTimeout, rec))
			assert.Equal(t, answer.good, len(c.complaints) == 0, c.complaints)
			assert.Equal(t, 2, c.retries)
		})
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	l := &logs{completed: map[string]int{}}
	const text = `{"msg":"scan ended","status":"complete","review_id":"rev_1"}
{"msg":"request","status":200}
prwarden: the database is away
panic: oh

{"msg":"cut o`
	for line := range strings.Lines(text) {
		l.take([]byte(line))
	}
	assert.Equal(t, map[string]int{"rev_1": 1}, l.completed)
	assert.Equal(t, []string{"panic: oh"}, l.strange)
}
