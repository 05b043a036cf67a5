// Package stage puts up what demonstrations and tests of clients play on: the
// real program on a fresh database, and a sample repository with a pull request
// that has mistakes.
package stage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Server is a running `prwarden serve`.
type Server struct {
	Binary string        // the program
	Dir    string        // what it keeps; its log is server.log there
	URL    string        // of the REST API
	GRPC   string        // HOST:PORT
	Ready  time.Duration // from start until it served
	Exited chan struct{} // closed when the process is gone

	cmd *exec.Cmd
	err error // how it ended, after that
}

// Start starts the server in dir, which has a folder `repos` with bare
// repositories, and waits until it serves. Its log goes to dir/server.log.
func Start(binary, dir, httpAddr string) (*Server, error) {
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
	s := &Server{Binary: binary, Dir: dir, Exited: make(chan struct{})}
	s.cmd = exec.Command(binary, "serve", "--config", config, "--database", s.Database(),
		"--http-addr", httpAddr, "--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0",
		"--cache-dir", filepath.Join(dir, "cache"))
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
		s.Ready = time.Since(began)
		return s, nil
	case <-s.Exited:
		err = errors.New("the server ended at start")
	case <-time.After(startTimeout):
		err = fmt.Errorf("the server does not serve after %s", startTimeout)
		_ = s.cmd.Process.Kill()
		<-s.Exited
	}
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("%w; its log:\n%s", err, text)
}

// Database is where the server keeps its data, as --database takes it.
func (s *Server) Database() string { return "sqlite:" + filepath.Join(s.Dir, "prwarden.db") }

// follow copies the server's log and picks out the line that says where it
// serves.
func (s *Server) follow(stderr io.Reader, log *os.File, serving chan<- struct{}) {
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadBytes('\n')
		_, _ = log.Write(line)
		var entry struct {
			Message string `json:"msg"`
			HTTP    string `json:"http_addr"`
			GRPC    string `json:"grpc_addr"`
		}
		if s.URL == "" && json.Unmarshal(line, &entry) == nil && entry.Message == "serving" {
			s.URL, s.GRPC = "http://"+entry.HTTP, entry.GRPC
			close(serving)
		}
		if err != nil {
			break
		}
	}
	s.err = errors.Join(s.cmd.Wait(), log.Close())
	close(s.Exited)
}

// Stop ends the server as an operator would.
func (s *Server) Stop() error {
	select {
	case <-s.Exited:
		return s.err
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.Exited:
		return s.err
	case <-time.After(stopTimeout):
		_ = s.cmd.Process.Kill()
		<-s.Exited
		return fmt.Errorf("the server did not stop within %s and was killed", stopTimeout)
	}
}

// CreateKey makes an API key of an organization, `demo` or `github`, and
// returns its token.
func (s *Server) CreateKey(org string) (string, error) {
	cmd := exec.Command(s.Binary, "keys", "create", "--org", org, "--name", "demo",
		"--rate-limit", "100000", "--database", s.Database(), "--config", filepath.Join(s.Dir, "prwarden.yaml"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("keys create: %w: %s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
