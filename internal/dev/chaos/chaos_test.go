package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program is the path of prwarden, built by TestMain.
var program string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "chaos-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	program = filepath.Join(dir, "prwarden")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", program,
		"github.com/prwarden/prwarden/cmd/prwarden")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, text)
		return 1
	}
	return m.Run()
}

// TestShortStorm makes a short run and holds it to all invariants. How long recoveries take, and freezes over a lease,
// are for the long form, on a machine that does nothing else.
func TestShortStorm(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"postgres", "sqlite"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			s, _, err := parse([]string{
				"-binary", program, "-database", database, "-reviews", "25", "-for", "5s", "-seed", "1", "-settle", "5m",
				"-clients", "8", "-workers", "3", "-repos", "2", "-pulls", "40", "-most-passing", "0.5", "-kill-every", "1s",
				"-cut-every", "2s", "-hold-every", "2s", "-db-restart-every", "4s", "-freeze-every", "0", "-fill-every", "0",
			}, io.Discard)
			require.NoError(t, err)
			s.dir = t.TempDir()

			var text bytes.Buffer
			v, err := execute(t.Context(), s, &text)
			require.NoError(t, err, text.String())
			v.print(&text)
			assert.True(t, v.held(), text.String())
			assert.Positive(t, v.ended["complete"])
			assert.Positive(t, v.faults[killServer]+v.faults[killScanner])
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
		_, _, err := parse(args, io.Discard)
		assert.ErrorContains(t, err, want)
	}
	s, keep, err := parse([]string{"-database", "sqlite", "-keep"}, io.Discard)
	require.NoError(t, err)
	assert.True(t, keep)
	assert.Equal(t, 1, s.servers)
	assert.Zero(t, s.faults.crash)
}

// TestPulls holds every finding to what git itself shows of the change, which is another way to the same lines.
func TestPulls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := settings{repos: 2, pulls: 40, faults: faultOptions{seed: 7}}
	all, err := makePulls(t.Context(), dir, s)
	require.NoError(t, err)
	require.Len(t, all, 3*2*40)

	kinds := map[string]int{}
	for name, p := range all {
		kinds[p.failure]++
		if p.failure != "" {
			assert.Empty(t, p.findings)
			continue
		}
		bare := filepath.Join(dir, name.repo+".git")
		change := fmt.Sprintf("main...refs/pull/%d/head", name.number)
		out, err := exec.CommandContext(t.Context(), "git", "--git-dir", bare, "diff", "--unified=0", change).Output()
		require.NoError(t, err)
		added := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			added[strings.TrimSpace(line)] = true
		}
		for _, f := range p.findings {
			assert.True(t, added["+"+f.Snippet], f)
			kinds[f.RuleID]++
		}
	}
	for _, kind := range []string{
		"pull_request_not_found", "no_merge_base", "chaos/org-marker", "chaos/repo-marker", "security/no-eval",
	} {
		assert.NotZero(t, kinds[kind], kind)
	}

	again, err := makePulls(t.Context(), t.TempDir(), s)
	require.NoError(t, err)
	assert.Equal(t, all, again, "the seed decides")
}

// TestClientsComplain has servers answer what the API does not promise.
func TestClientsComplain(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"of a 500":                        {http.StatusInternalServerError, `{"message":"Oops."}`},
		"of a 503 that does not say when": {http.StatusServiceUnavailable, `{"message":"busy"}`},
		"of a text instead of JSON":       {http.StatusAccepted, "<html>"},
		"of an answer without an id":      {http.StatusAccepted, `{"status":"queued"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, answer.body, answer.status)
			}))
			defer server.Close()
			c := &clients{servers: []*caller{newCaller(server.Listener.Addr().String())}}
			rec := c.newRecord(pull{repo: "o/r", number: 1})
			assert.False(t, c.create(t.Context(), rand.New(rand.NewPCG(1, 0)), rec))
			assert.Len(t, c.complaints, 1)
		})
	}
}

// TestClientsInsist has a server that is busy at first.
func TestClientsInsist(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if calls++; calls < 3 {
			w.Header().Set("Retry-After", "60")
			http.Error(w, `{"message":"busy"}`, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"status":"queued","estimated_ms":5,"review_id":"rev_%s"}`, q.Header.Get("Idempotency-Key"))
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	c := &clients{servers: []*caller{newCaller(address), newCaller(address)}}
	rec := c.newRecord(pull{repo: "o/r", number: 1})
	require.True(t, c.create(t.Context(), rand.New(rand.NewPCG(1, 0)), rec))
	assert.Equal(t, "rev_chaos-0", rec.id)
	accepted, ended, retries := c.counts()
	assert.Equal(t, []int{1, 0, 2}, []int{accepted, ended, retries})
	assert.Empty(t, c.complaints)
}

func TestLogs(t *testing.T) {
	t.Parallel()
	l := &logs{completed: map[string]int{}}
	assert.True(t, l.take("server0", `{"msg":"serving"}`+"\n"))
	for _, line := range []string{
		`{"msg":"scan ended","status":"complete","review_id":"rev_1"}` + "\n", `{"msg":"request","status":200}` + "\n",
		"prwarden: the database is away\n", "panic: oh\n", "\n", `{"msg":"cut o`,
	} {
		assert.False(t, l.take("server0", line), line)
	}
	assert.Equal(t, map[string]int{"rev_1": 1}, l.completed)
	assert.Equal(t, []string{"server0: panic: oh"}, l.strange)
}

// TestRecoveries has one of each loss, twenty seconds apart.
func TestRecoveries(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return time.Unix(1_700_000_000+int64(seconds), 0) }
	lost := func(k kind, began, ended, pid int) fault {
		return fault{kind: k, began: at(began), ended: at(ended), pid: pid}
	}
	moved := func(seconds int, id, was, is string, failures int) transition {
		return transition{at: at(seconds).UnixMicro(), review: id, was: was, is: is, failures: failures, worker: "host-77/1"}
	}
	server, scanner := lost(killServer, 5, 5, 77), lost(killScanner, 45, 45, 99)
	made := []fault{server, scanner, lost(crashDatabase, 12, 15, 0)}
	transitions := []transition{
		moved(1, "a", "queued", "in_progress", 0),
		moved(2, "b", "queued", "in_progress", 0), moved(3, "b", "in_progress", "complete", 0),
		moved(25, "a", "in_progress", "queued", 0), moved(26, "a", "queued", "in_progress", 0),
		moved(46, "a", "in_progress", "queued", 1), moved(85, "a", "queued", "in_progress", 1),
	}
	probes := []probe{
		{after: server, began: at(5), took: 3 * time.Second}, {after: scanner, began: at(14), took: time.Second}, // disturbed
	}

	all := recoveries(made, probes, transitions)
	assert.Equal(t, []time.Duration{3 * time.Second}, all[0].samples)
	assert.True(t, all[0].over())
	assert.Empty(t, all[1].samples)
	assert.False(t, all[1].over())
	assert.Equal(t, []time.Duration{18 * time.Second}, all[2].samples, "21 s, and the database was away for 3")
	assert.False(t, all[2].over())
	assert.Equal(t, []time.Duration{40 * time.Second}, all[3].samples)
	assert.False(t, (&verdict{recoveries: all}).good())
}
