package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/process"
)

// organizations is how many there are: each may have 10,000 reviews waiting,
// and an overload creates more than that.
const organizations = 100

// environment is a database and the servers on it.
type environment struct {
	options
	dir, url string
	out      io.Writer
	servers  []server
}

// server is a running `prwarden serve`.
type server struct{ *process.Process }

func organization(i int) string { return fmt.Sprintf("org%d", i) }

// start starts one more server.
func (e *environment) start(ctx context.Context) (server, error) {
	config := filepath.Join(e.dir, "prwarden.yaml")
	if len(e.servers) == 0 {
		var b strings.Builder
		b.WriteString("organizations:\n")
		for i := range organizations {
			fmt.Fprintf(&b, "  - name: %s\n    repositories: [\"*/*\"]\n    host: {kind: git, url: \"http://127.0.0.1:9/{repo}.git\"}\n", organization(i))
		}
		if err := os.WriteFile(config, []byte(b.String()), 0o600); err != nil {
			return server{}, err
		}
		if e.database == "postgres" {
			if _, err := e.command(ctx, "migrate"); err != nil {
				return server{}, err
			}
		}
	}
	logs := filepath.Join(e.dir, fmt.Sprintf("server%d.log", len(e.servers)))
	p, err := process.Start(ctx, "server", logs, e.environ(), e.prwarden, "serve", "--config", config,
		"--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr", "none",
		// Nobody listens there: reviews wait, and scans take nothing of the machine.
		"--scanner", "127.0.0.1:9")
	if err != nil {
		return server{}, err
	}
	s := server{p}
	e.servers = append(e.servers, s)
	return s, nil
}

func (e *environment) environ() []string { return []string{"PRWARDEN_DATABASE=" + e.url} }

func (e *environment) stop() {
	for _, s := range e.servers {
		_ = s.Stop() // what it did is known
	}
}

// command runs a command of prwarden and returns what it writes.
func (e *environment) command(ctx context.Context, args ...string) (string, error) {
	return process.Output(ctx, e.environ(), e.prwarden, append(args, "--config", filepath.Join(e.dir, "prwarden.yaml"))...)
}

// key makes an API key that may make rate requests a minute; 0 for as many as
// by default.
func (e *environment) key(ctx context.Context, org string, rate int) (string, error) {
	args := []string{"keys", "create", "--org", org, "--name", "overload"}
	if rate > 0 {
		args = append(args, "--rate-limit", strconv.Itoa(rate))
	}
	return e.command(ctx, args...)
}

// spent returns the processor time of the server so far; 0 when it has ended.
func (s server) spent() time.Duration {
	d, _ := s.Spent()
	return d
}

// memory returns the resident memory of the server now, and the most that it
// had, in MiB.
func (s server) memory() (now, most float64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
			now = kib / 1024
		}
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			most = kib / 1024
		}
	}
	return now, most
}
