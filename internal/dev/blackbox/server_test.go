package blackbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/program"
	"github.com/prwarden/prwarden/internal/dev/steady"
)

// binary is the path of the program under test, built by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, remove, err := program.Build("cmd/prwarden")
	if err != nil {
		panic(err)
	}
	defer remove()

	binary = filepath.Join(dir, "prwarden")
	return m.Run()
}

// env is what the program under test sees of the environment: nothing of the
// tester's configuration.
func env(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}
}

// server is a running `prwarden serve`.
type server struct {
	dir      string // everything that it writes
	config   string
	database string
	args     []string
	env      []string

	*process        // the present one
	base     string // http://host:port
	grpc     string // host:port
	ops      string
}

// organization is an entry of the configuration.
type organization struct {
	name  string
	repos string // a glob
}

// serverOptions describe a server to start. The zero value is good.
type serverOptions struct {
	organizations []organization // one that may use everything
	config        string         // more YAML
	args          []string       // more arguments
	env           []string       // more of its environment
}

// newServer prepares a server whose organizations read repositories from
// hosts, without starting it.
func newServer(t *testing.T, h *hosts, o serverOptions) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{
		dir:      dir,
		config:   filepath.Join(dir, "prwarden.yaml"),
		database: "sqlite:" + filepath.Join(dir, "prwarden.db"),
		args:     o.args,
		env:      o.env,
	}
	if o.organizations == nil {
		o.organizations = []organization{{"acme", "*/*"}}
	}
	var yaml strings.Builder
	yaml.WriteString("organizations:\n")
	for _, org := range o.organizations {
		fmt.Fprintf(
			&yaml, "  - name: %s\n    repositories: [%q]\n    host: {kind: git, url: %q}\n    rate_limit: %d\n",
			org.name, org.repos, h.url, plenty,
		)
	}
	yaml.WriteString(o.config)
	require.NoError(t, os.WriteFile(s.config, []byte(yaml.String()), 0o600))
	return s
}

// startServer starts a server and stops it, cleanly, when the test ends.
func startServer(t *testing.T, h *hosts, o serverOptions) *server {
	t.Helper()
	s := newServer(t, h, o)
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// start runs the server and waits until it says that it serves.
func (s *server) start(t *testing.T) {
	t.Helper()
	args := append([]string{
		"serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0",
		"--database", s.database, "--config", s.config, "--cache-dir", filepath.Join(s.dir, "cache"),
	}, s.args...)
	s.process = startProcess(t, s.dir, s.env, args...)
	s.base, s.grpc, s.ops = "http://"+s.HTTP, s.GRPC, s.Ops
}

// logged is what all processes of the server have said.
func (s *server) logged() string {
	text, _ := os.ReadFile(program.Options{Dir: s.dir}.LogFile()) // there is none before the first
	return string(text)
}

// stop ends the server as an operator would, and checks that it ends well.
func (s *server) stop(t *testing.T) {
	t.Helper()
	select {
	case <-s.Exited:
		return // the test killed it
	default:
	}
	s.process.stop(t)
}

// plenty is a rate limit that no test reaches by accident.
const plenty = 1_000_000

// key creates a key by the command line and returns its token.
func (s *server) key(t *testing.T, org string, args ...string) string {
	t.Helper()
	return s.keyWithRate(t, org, plenty, args...)
}

func (s *server) keyWithRate(t *testing.T, org string, rate int, args ...string) string {
	t.Helper()
	all := []string{
		"keys", "create", "--org", org, "--name", "test", "--create", "--database", s.database, "--config", s.config,
	}
	if rate > 0 {
		all = append(all, "--rate-limit", fmt.Sprint(rate))
	}
	out := s.command(t, append(all, args...)...)
	return strings.TrimSuffix(out, "\n")
}

// command runs the program and returns its standard output; it must succeed.
func (s *server) command(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = env(s.dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%v: %s", args, stderr.String())
	return string(out)
}

// client calls one server with one key.
type client struct {
	base  string
	token string
	http  *http.Client
}

func (s *server) client(token string) *client {
	return &client{base: s.base, token: token, http: &http.Client{
		Timeout:       eventually,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     transport(),
	}}
}

// transport connects clients with servers.
func transport() *http.Transport {
	return &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 16,
		// Well before a server closes what is idle, which would cost a request that
		// is just being sent.
		IdleConnTimeout: 30 * time.Second,
		DialContext:     steady.DialContext,
	}
}

// answer is a response, read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// decode returns the body as JSON; it must be exactly one object.
func (a answer) decode(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &m), a.body)
	return m
}

// reason returns the reason of an error body.
func (a answer) reason(t *testing.T) string {
	t.Helper()
	for _, d := range list(a.decode(t)["details"]) {
		if d, ok := d.(map[string]any); ok && d["reason"] != nil {
			require.Equal(t, "prwarden", d["domain"], a.body)
			return d["reason"].(string)
		}
	}
	return ""
}

// fields returns the fields that an error body complains of, with what it says.
func (a answer) fields(t *testing.T) map[string]string {
	t.Helper()
	bad := map[string]string{}
	for _, d := range list(a.decode(t)["details"]) {
		d, _ := d.(map[string]any)
		for _, v := range list(d["field_violations"]) {
			v, _ := v.(map[string]any)
			bad[fmt.Sprint(v["field"])] = fmt.Sprint(v["description"])
		}
	}
	return bad
}

const (
	// eventually is how long to wait for what comes within seconds on a machine
	// that has nothing else to do. Only what hangs takes so long: on a machine with
	// twenty times the work it can do, a scan that is one of many took over a minute.
	eventually = 5 * time.Minute

	// tick is the time between looks at a condition that no signal announces.
	tick = 20 * time.Millisecond
)

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// do sends a request. body is sent as it is when it is a string, and as JSON
// otherwise; headers are pairs.
func (c *client) do(t *testing.T, method, path string, body any, headers ...string) answer {
	t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case io.Reader:
		reader = b
	default:
		data, err := json.Marshal(b)
		require.NoError(t, err)
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, c.base+path, reader)
	require.NoError(t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{status: res.StatusCode, header: res.Header, body: string(data)}
}

// review starts a review and returns its identifier.
func (c *client) review(t *testing.T, repo string, number int) string {
	t.Helper()
	a := c.do(t, "POST", "/v1/reviews", map[string]any{"repo": repo, "pr_number": number})
	require.Equal(t, 202, a.status, a.body)
	return a.decode(t)["review_id"].(string)
}

// wait returns the review when it has a final state. It reads the watch stream,
// so that it needs no polling.
func (c *client) wait(t *testing.T, id string) map[string]any {
	t.Helper()
	a := c.do(t, "GET", "/v1/reviews/"+id+":watch", nil)
	require.Equal(t, 200, a.status, a.body)
	a = c.do(t, "GET", "/v1/reviews/"+id, nil)
	require.Equal(t, 200, a.status, a.body)
	m := a.decode(t)
	require.Contains(t, []any{"complete", "failed", "canceled"}, m["status"], a.body)
	return m
}

// scan starts a review, waits for it and returns it.
func (c *client) scan(t *testing.T, repo string, number int) map[string]any {
	t.Helper()
	return c.wait(t, c.review(t, repo, number))
}

// services are gRPC clients of one server with one key.
type services struct {
	reviews prwardenv1.ReviewServiceClient
	rules   prwardenv1.RuleServiceClient
	keys    prwardenv1.KeyServiceClient
}

func (s *server) conn(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (s *server) services(t *testing.T) services {
	t.Helper()
	conn := s.conn(t)
	return services{
		prwardenv1.NewReviewServiceClient(conn), prwardenv1.NewRuleServiceClient(conn),
		prwardenv1.NewKeyServiceClient(conn),
	}
}

// with returns outgoing metadata for calls with a key.
func with(t *testing.T, token string, pairs ...string) metadata.MD {
	t.Helper()
	return metadata.Pairs(append([]string{"authorization", "Bearer " + token}, pairs...)...)
}
