package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// binary is the path of prwarden, built by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, remove, err := program.Build("cmd/prwarden")
	if err != nil {
		panic(err)
	}
	defer remove()

	binary = filepath.Join(dir, "prwarden")
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
				"-most-passing", "0.5", "-kill-every", "1s", "-cut-every", "1s", "-crash-every", "4s",
				"-freeze-every", "0", "-fill-every", "0",
			})
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

			p := &process{address: server.Listener.Addr().String()}
			c := &clients{servers: []*process{p, p}}
			rec := c.newRecord(pull{repo: "o/r", number: 1})
			_, ok := c.create(t.Context(), rand.New(rand.NewPCG(1, 0)), rec)
			assert.Equal(t, answer.good, ok)
			assert.Equal(t, answer.good, len(c.complaints) == 0, c.complaints)
		})
	}
}

func TestReadLog(t *testing.T) {
	t.Parallel()
	p := &process{name: "server0", Options: program.Options{Dir: t.TempDir()}}
	const text = `{"msg":"request","status":200}
prwarden: the database is away
panic: oh

{"msg":"cut o`
	require.NoError(t, os.WriteFile(p.LogFile(), []byte(text), 0o600))
	strange, err := p.readLog()
	require.NoError(t, err)
	assert.Equal(t, []string{"server0 wrote panic: oh\n"}, strange)
}
