package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// codeHost is a code host that takes its time. Under every name it has the
// same small repository with one pull request. It asks git only once for each
// question, so that it costs the machine next to nothing afterwards.
type codeHost struct {
	url     string // of a repository, with {repo}
	delay   time.Duration
	backend cgi.Handler
	server  *http.Server

	mu      sync.Mutex
	answers map[string]*answered
}

// answered is a kept answer; it is an http.ResponseWriter while it is made.
type answered struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) WriteHeader(status int)      { a.status = status }
func (a *answered) Write(p []byte) (int, error) { return a.body.Write(p) }

// pullRequest makes the repository, for git fast-import.
const pullRequest = `blob
mark :1
data <<END
import subprocess
import sys
END
commit refs/heads/main
mark :2
committer Bench <bench@example.com> 1750000000 +0000
data <<END
Start
END
M 100644 :1 app/main.py
blob
mark :3
data <<END
import subprocess
import sys
subprocess.run(sys.argv[1], shell=True)
END
commit refs/pull/1/head
committer Bench <bench@example.com> 1750000001 +0000
data <<END
Change
END
from :2
M 100644 :3 app/main.py
`

// newCodeHost starts a code host whose answers take delay, in a new folder
// below parent.
func newCodeHost(ctx context.Context, parent string, delay time.Duration) (*codeHost, error) {
	dir, err := os.MkdirTemp(parent, "host-")
	if err != nil {
		return nil, err
	}
	repository := filepath.Join(dir, "repository.git")
	git := func(stdin string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
		}
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git("", "init", "--quiet", "--bare", "--initial-branch=main", repository); err != nil {
		return nil, err
	}
	if _, err := git(pullRequest, "--git-dir="+repository, "fast-import", "--quiet"); err != nil {
		return nil, err
	}
	programs, err := git("", "--exec-path")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "gitconfig")
	if err := os.WriteFile(config, []byte("[safe]\n\tdirectory = *\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"), 0o600); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &codeHost{
		url: "http://" + l.Addr().String() + "/{repo}.git", delay: delay, answers: make(map[string]*answered),
		backend: cgi.Handler{
			Path: filepath.Join(programs, "git-http-backend"),
			Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + config},
		},
	}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = h.server.Serve(l) }() // until close
	return h, nil
}

func (h *codeHost) close() error { return h.server.Close() }

var repositoryPath = regexp.MustCompile(`^/[^/]+/[^/]+\.git/`)

// ServeHTTP implements http.Handler.
func (h *codeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(h.delay):
	case <-r.Context().Done():
		return
	}
	a, err := h.answer(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) // the scanner may be gone
}

func (h *codeHost) answer(r *http.Request) (*answered, error) {
	path := repositoryPath.ReplaceAllString(r.URL.Path, "/repository.git/")
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		body = z
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	protocol := r.Header.Get("Git-Protocol")
	key := strings.Join([]string{path, r.URL.RawQuery, protocol, string(text)}, "\n")
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.answers[key]; a != nil {
		return a, nil
	}
	q := r.Clone(context.WithoutCancel(r.Context()))
	q.URL.Path = path
	q.Header.Del("Content-Encoding")
	q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	backend := h.backend
	// CGI has no name for it, but git reads this one.
	backend.Env = append(backend.Env[:len(backend.Env):len(backend.Env)], "GIT_PROTOCOL="+protocol)
	a := &answered{status: http.StatusOK, header: make(http.Header)}
	backend.ServeHTTP(a, q)
	if a.status != http.StatusOK {
		return nil, errors.New("git-http-backend failed: " + a.body.String())
	}
	h.answers[key] = a
	return a, nil
}
