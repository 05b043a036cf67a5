package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Bounds of waiting for the server.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 60 * time.Second
)

// server is a running `prwarden serve`.
type server struct {
	binary string
	dir    string
	url    string        // of the REST API
	grpc   string        // HOST:PORT
	ready  time.Duration // from start until it served
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone
	err    error         // how, after that
}

// startServer starts the server in dir, which has a folder `repos` with bare
// repositories, and waits until it serves. Its log goes to dir/server.log.
func startServer(binary, dir, httpAddr string) (*server, error) {
	config := filepath.Join(dir, "prwarden.yaml")
	yaml := fmt.Sprintf(`organizations:
  - name: demo
    repositories: ["acme/*"]
    host: {kind: git, url: "file://%s/repos/{repo}.git"}
  - name: github
    repositories: ["*/*"]
    host: {kind: git, url: "https://github.com/{repo}.git"}
`, dir)
	if err := os.WriteFile(config, []byte(yaml), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, err
	}
	s := &server{binary: binary, dir: dir, exited: make(chan struct{})}
	s.cmd = exec.Command(binary, "serve", "--config", config, "--database", s.database(),
		"--http-addr", httpAddr, "--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--cache-dir", filepath.Join(dir, "cache"))
	// Its own group: Ctrl-C is for this program, which stops the server in order.
	s.cmd.SysProcAttr = serverAttributes()
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	serving := make(chan struct{})
	go s.follow(stderr, log, serving)
	select {
	case <-serving:
		s.ready = time.Since(began)
		return s, nil
	case <-s.exited:
		err = errors.New("the server ended at start")
	case <-time.After(startTimeout):
		err = fmt.Errorf("the server does not serve after %s", startTimeout)
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("%w; its log:\n%s", err, text)
}

func (s *server) database() string { return "sqlite:" + filepath.Join(s.dir, "prwarden.db") }

// follow copies the server's log and picks out the line that says where it
// serves.
func (s *server) follow(stderr io.Reader, log *os.File, serving chan<- struct{}) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadBytes('\n')
		_, _ = log.Write(line)
		var entry struct {
			Message string `json:"msg"`
			HTTP    string `json:"http_addr"`
			GRPC    string `json:"grpc_addr"`
		}
		if s.url == "" && json.Unmarshal(line, &entry) == nil && entry.Message == "serving" {
			s.url, s.grpc = "http://"+entry.HTTP, entry.GRPC
			close(serving)
		}
		if err != nil {
			break
		}
	}
	s.err = errors.Join(s.cmd.Wait(), log.Close())
	close(s.exited)
}

// stop ends the server as an operator would.
func (s *server) stop() error {
	select {
	case <-s.exited:
		return s.err
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.exited:
		return s.err
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.exited
		return fmt.Errorf("the server did not stop within %s and was killed", stopTimeout)
	}
}

// createKey makes an API key of an organization and returns its token.
func (s *server) createKey(org string) (string, error) {
	cmd := exec.Command(s.binary, "keys", "create", "--org", org, "--name", "demo",
		"--database", s.database(), "--config", filepath.Join(s.dir, "prwarden.yaml"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("keys create: %w: %s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// freeAddr is preferred when nobody listens there, else any free port of the
// same host.
func freeAddr(preferred string) string {
	l, err := net.Listen("tcp", preferred)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = l.Close()
	return preferred
}
