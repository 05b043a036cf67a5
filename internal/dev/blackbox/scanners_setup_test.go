package blackbox_test

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/steady"
)

// scannerProcess is a running `prwarden scanner`.
type scannerProcess struct {
	*process
	dir  string // everything that it writes
	grpc string // HOST:PORT
	ops  string
}

// freeAddr is an address for one program of the test after the other. While none
// listens there no other gets the port.
func freeAddr(t *testing.T) string {
	t.Helper()
	port, err := steady.ReservePort()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, port.Close()) })
	return port.Addr()
}

// startScanner starts a scanner that reads repositories from hosts, on addr,
// "" for a free one. It is killed when the test ends.
func startScanner(t *testing.T, h *hosts, addr string, args ...string) *scannerProcess {
	t.Helper()
	if addr == "" {
		addr = freeAddr(t)
	}
	s := &scannerProcess{dir: t.TempDir()}
	config := filepath.Join(s.dir, "prwarden.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil,
		"organizations:\n  - name: acme\n    repositories: [\"*/*\"]\n    host: {kind: git, url: %q}\n", h.url), 0o600))
	s.process = startProcess(t, s.dir, nil, append([]string{
		"scanner", "--grpc-addr", addr, "--ops-addr", "127.0.0.1:0", "--config", config, "--cache-dir",
		filepath.Join(s.dir, "cache"),
	}, args...)...)
	t.Cleanup(func() { s.kill(t) })
	s.grpc, s.ops = s.GRPC, s.Ops
	return s
}

// gits counts the git processes that work in the scanner's cache, whoever is
// their parent now.
func (s *scannerProcess) gits(t *testing.T) int {
	t.Helper()
	return len(environs(t, "GIT_DIR="+s.dir))
}

// leftovers are files in the cache that git and the scanner have only while
// they work.
func (s *scannerProcess) leftovers(t *testing.T) []string {
	t.Helper()
	var left []string
	require.NoError(t, filepath.WalkDir(filepath.Join(s.dir, "cache"), func(path string, d os.DirEntry, err error) error {
		name := d.Name()
		if strings.HasPrefix(name, "tmp_") || strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, ".writable") {
			left = append(left, path)
		}
		return err
	}))
	return left
}

// metric reads a metric without labels from the scanner's ops port.
func (s *scannerProcess) metric(t *testing.T, name string) float64 {
	t.Helper()
	a := (&client{base: "http://" + s.ops, http: http.DefaultClient}).do(t, "GET", "/metrics", nil)
	require.Equal(t, 200, a.status)
	for line := range strings.Lines(a.body) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			require.NoError(t, err)
			return value
		}
	}

	require.FailNow(t, "no such metric", name)
	return 0
}

// gatedHosts is a code host over HTTP whose gate holds every request for a
// repository until it is opened.
type gatedHosts struct {
	*hosts
	asked chan string // the repository of each request that came to a closed gate
	open  func()      // twice is once
}

// newGatedHosts serves the repositories of real, with a closed gate.
func newGatedHosts(t *testing.T) *gatedHosts {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	require.NoError(t, err)
	real := newHosts(t)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"), Stderr: nil,
		Env: []string{
			"GIT_PROJECT_ROOT=" + real.dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=2",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "GIT_CONFIG_KEY_1=uploadpack.allowFilter",
			"GIT_CONFIG_VALUE_1=true",
		},
		InheritEnv: []string{"PATH"},
	}

	opened := make(chan struct{})
	g := &gatedHosts{asked: make(chan string, 1000), open: sync.OnceFunc(func() { close(opened) })}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-opened:
			backend.ServeHTTP(w, r)
			return
		default:
		}
		repo, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
		g.asked <- repo
		select {
		case <-opened:
			backend.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(g.open)
	g.hosts = &hosts{dir: real.dir, url: server.URL + "/{repo}.git"}
	return g
}

// fleet is a server with scanners elsewhere.
type fleet struct {
	hosts    *gatedHosts
	scanners []*scannerProcess
	server   *server
	client   *client
}

// startFleet starts scanners with two slots each and a server that fills them,
// and repositories acme/r0 … with pull request 1.
func startFleet(t *testing.T, scanners, repositories int) *fleet {
	t.Helper()
	f := &fleet{hosts: newGatedHosts(t)}
	for i := range repositories {
		f.hosts.create(t, fmt.Sprintf("acme/r%d", i), files{"a": "1"}).pull(1, files{"b.js": "eval(x)\n"})
	}
	var addrs []string
	for range scanners {
		s := startScanner(t, f.hosts.hosts, "", "--scan-workers", "2")
		f.scanners = append(f.scanners, s)
		addrs = append(addrs, s.grpc)
	}

	f.server = startServer(t, f.hosts.hosts, serverOptions{args: []string{
		"--scanner", strings.Join(addrs, ","), "--scan-workers", strconv.Itoa(2 * scanners),
	}})
	f.client = f.server.client(f.server.key(t, "acme"))
	return f
}

// fill starts a review for each slot and waits until all of them hang in git.
func (f *fleet) fill(t *testing.T) (ids []string) {
	t.Helper()
	for i := range 2 * len(f.scanners) {
		ids = append(ids, f.client.review(t, fmt.Sprintf("acme/r%d", i), 1))
	}
	for range ids {
		within(t, "git asks the host", f.hosts.asked)
	}
	return ids
}

// idle tells whether nothing of a scan is left.
func (s *scannerProcess) idle(t *testing.T) bool {
	t.Helper()
	return s.gits(t) == 0 && s.metric(t, "prwarden_scanner_slots_taken") == 0
}

// seenScanned watches a review until some files are scanned and some are not. It returns false when the scan was over
// before that could be seen.
func (c *client) seenScanned(t *testing.T, id string) bool {
	t.Helper()
	for update := range c.watch(t, id) {
		done, _ := update["files_done"].(float64)
		total, _ := update["files_total"].(float64)
		if done > 0 && done < total {
			return true
		}
	}

	return false
}

// large makes a repository whose pull request 1 adds many lines to many files.
func (h *hosts) large(t *testing.T, name string, count int, line string) {
	t.Helper()
	r := h.create(t, name, files{"a": "1"})
	var in strings.Builder
	body := strings.Repeat(line+"\n", 100_000/(len(line)+1))
	fmt.Fprintf(
		&in, "commit refs/pull/1/head\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\nfrom %s\n",
		r.sha("refs/heads/main"),
	)
	for i := range count {
		text := fmt.Sprintf("%d\n%s", i, body)
		fmt.Fprintf(&in, "M 100644 inline dir%d/file%d.txt\ndata %d\n%s\n", i%10, i, len(text), text)
	}
	r.git(in.String(), "fast-import", "--quiet")
}
