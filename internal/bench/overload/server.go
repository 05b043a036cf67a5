package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// organizations is how many there are: each may have 10,000 reviews waiting,
// and an overload creates more than that.
const organizations = 100

// environment is a database and the servers on it.
type environment struct {
	options
	dir, url string
	out      io.Writer
	servers  []*server
}

// server is a running `prwarden serve`.
type server struct {
	http   string // HOST:PORT
	cmd    *exec.Cmd
	exited chan struct{}
}

func organization(i int) string { return fmt.Sprintf("org%d", i) }

// start starts one more server.
func (e *environment) start(ctx context.Context) (*server, error) {
	config := filepath.Join(e.dir, "prwarden.yaml")
	if len(e.servers) == 0 {
		var b strings.Builder
		b.WriteString("organizations:\n")
		for i := range organizations {
			fmt.Fprintf(&b, "  - name: %s\n    repositories: [\"*/*\"]\n    host: {kind: git, url: \"http://127.0.0.1:9/{repo}.git\"}\n", organization(i))
		}
		if err := os.WriteFile(config, []byte(b.String()), 0o600); err != nil {
			return nil, err
		}
		if e.database == "postgres" {
			if _, err := e.command(ctx, "migrate"); err != nil {
				return nil, err
			}
		}
	}
	log, err := os.Create(filepath.Join(e.dir, fmt.Sprintf("server%d.log", len(e.servers))))
	if err != nil {
		return nil, err
	}
	s := &server{exited: make(chan struct{})}
	s.cmd = exec.Command(e.prwarden, "serve", "--config", config, "--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0",
		"--ops-addr", "none",
		// Nobody listens there: reviews wait, and scans take nothing of the machine.
		"--scanner", "127.0.0.1:9")
	s.cmd.Env = append(os.Environ(), "PRWARDEN_DATABASE="+e.url)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	e.servers = append(e.servers, s)
	lines := bufio.NewReader(stderr)
	for s.http == "" {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("the server ended at its start: %w: %s", err, line)
		}
		_, _ = log.Write(line)
		var m struct {
			Msg  string `json:"msg"`
			HTTP string `json:"http_addr"`
		}
		if json.Unmarshal(line, &m) == nil && m.Msg == "serving" {
			s.http = m.HTTP
		}
	}
	go func() {
		_, _ = io.Copy(log, lines)
		_ = s.cmd.Wait()
		_ = log.Close()
		close(s.exited)
	}()
	return s, nil
}

// died reports whether a server has ended by itself.
func (s *server) died() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

func (e *environment) stop() {
	for _, s := range e.servers {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(30 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
	}
}

// command runs a command of prwarden and returns what it writes.
func (e *environment) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.prwarden, append(args, "--config", filepath.Join(e.dir, "prwarden.yaml"))...)
	cmd.Env = append(os.Environ(), "PRWARDEN_DATABASE="+e.url)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("prwarden %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
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

// spent returns the processor time of the server so far.
func (s *server) spent() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// After the name, which may hold anything, utime and stime are the 12th and
	// 13th field, in hundredths of a second.
	_, rest, _ := bytes.Cut(data, []byte(") "))
	fields := strings.Fields(string(rest))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memory returns the resident memory of the server now, and the most that it
// had, in MiB.
func (s *server) memory() (now, most float64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
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
