package blackbox_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// Places where a canary may turn up.
const (
	inLogs        = "logs"                  // of all processes, at level debug
	inTraces      = "traces"                // as they are sent
	inMetrics     = "metrics"               //
	inCommands    = "command lines"         // of all processes, git's too
	inGitEnv      = "environment of git"    //
	inDatabase    = "database"              // a dump, or SQLite's files
	inDatabaseLog = "log of the database"   //
	inFiles       = "files"                 // all that the processes write, without the database
	inErrors      = "errors that it says"   // to callers
	inAnswers     = "answers that it gives" // when a call succeeds
)

// canary is a text that was planted somewhere, and the only places where the
// contract allows it.
type canary struct {
	text    string
	allowed []string
}

// canaries are what is planted, by where.
func canaries() map[string]*canary {
	plant := func(allowed ...string) *canary { return &canary{"canary" + strings.ToLower(rand.Text()), allowed} }
	return map[string]*canary{
		// Credentials. What git needs to log in travels in its environment,
		// which only its own user can read, and nowhere else.
		"API key":                  {"", nil},
		"revoked API key":          {"", nil},
		"malformed API key":        {"prw_" + rand.Text() + "0000000000", nil},
		"other credentials":        plant(),
		"token of a code host":     plant(inGitEnv),
		"token of an absent host":  plant(inGitEnv),
		"password of the database": plant(),
		"header for the collector": plant(),
		// Secrets of connections, and the key that seals them.
		"key of secrets":              {base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text())[:32]), nil},
		"token of a connection":       plant(),
		"new token of a connection":   plant(),
		"git token of a connection":   plant(),
		"secret of webhooks":          plant(),
		"declared token":              plant(),
		"declared secret":             plant(),
		"token of no connection":      plant(),
		"made secret of webhooks":     {"", nil}, // which one answer has
		"private key of an App":       {strings.Split(githubfake.PrivateKey(), "\n")[1], nil},
		"secret of an App":            plant(),
		"secret of outgoing webhooks": {"", nil}, // which one answer has
		// What is in repositories. A finding says where it is and shows its
		// line, which a rule that looks for secrets masks.
		"secret that a rule finds": {"ghp_" + strings.ReplaceAll(rand.Text()+rand.Text(), "X", "a")[:36], nil},
		"line that a rule shows":   plant(inDatabase, inAnswers),
		"line without a finding":   plant(),
		"name of a file":           plant(inDatabase, inAnswers),
		"message of a commit":      plant(),
		// What callers send. Rules are there to be kept and given back, and an
		// Idempotency-Key to be compared.
		"message of a rule":   plant(inDatabase, inAnswers),
		"pattern of a rule":   plant(inDatabase, inAnswers),
		"Idempotency-Key":     plant(inDatabase),
		"body with a mistake": plant(inErrors), // to who sent it
		"header":              plant(),
		"metadata":            plant(),
		"query":               plant(),
	}
}

// forms are how the canary's text may look.
func (c *canary) forms() []string {
	forms := []string{c.text, hex.EncodeToString([]byte(c.text))} // as pg_dump writes bytes
	for _, user := range []string{"", "x-access-token:"} {
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(user+c.text)))
	}
	return forms
}

// canaryWorld is a running system with canaries in it.
type canaryWorld struct {
	canaries  map[string]*canary
	dir       string
	env       []string
	server    *process
	scanner   *process // nil when the server scans
	cluster   *pgtest.Cluster
	database  string // of the cluster
	collector *canaryCollector
	host      *canaryHost
	app       *canaryApp
	base      string // of the REST API
	all       []*process
	seen      map[string][]byte // by place
	working   []string          // directories of processes
}

func (w *canaryWorld) text(name string) string { return w.canaries[name].text }

func (w *canaryWorld) see(place, text string) {
	w.seen[place] = append(append(w.seen[place], text...), '\n')
}

// start runs the program with what is planted in the environment, and returns
// when it serves.
func (w *canaryWorld) start(t *testing.T, args ...string) *process {
	t.Helper()
	environment := slices.Clone(w.env)
	if args[0] == "scanner" { // which gets tokens from the server
		environment = slices.DeleteFunc(environment, func(v string) bool { return strings.Contains(v, "_TOKEN=") })
	}
	dir := t.TempDir()
	w.working = append(w.working, dir)
	args = append(args, "--config", filepath.Join(w.dir, "prwarden.yaml"), "--log-level", "debug")
	p := startProcess(t, dir, environment, args...)
	t.Cleanup(func() { p.kill(t) })
	w.all = append(w.all, p)
	return p
}

// logged is what all processes have said.
func (w *canaryWorld) logged() (all string) {
	for _, p := range w.all {
		all += p.Log()
	}
	return all
}

// canaryCollector takes traces, and refuses the first.
type canaryCollector struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  bytes.Buffer
	headers []string
}

func newCanaryCollector(t *testing.T) *canaryCollector {
	t.Helper()
	c := &canaryCollector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is cut off is not looked at
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies.Write(body)
		c.headers = append(c.headers, r.Header.Get("X-Collector-Key"))
		if len(c.headers) == 1 {
			http.Error(w, "no", http.StatusBadRequest)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// canaryHost is a code host that holds requests and then refuses them, saying
// back what it was told.
type canaryHost struct {
	*httptest.Server
	asked   chan string // the Authorization header of each request
	release func()      // twice is once
}

func newCanaryHost(t *testing.T) *canaryHost {
	t.Helper()
	open := make(chan struct{})
	h := &canaryHost{asked: make(chan string, 100), release: sync.OnceFunc(func() { close(open) })}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked <- r.Header.Get("Authorization")
		select {
		case <-open:
		case <-r.Context().Done():
		}
		http.Error(w, "fatal: you said "+r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	t.Cleanup(h.Close)
	t.Cleanup(h.release)
	return h
}

func newCanaryWorld(t *testing.T, postgres bool) *canaryWorld {
	t.Helper()
	w := &canaryWorld{
		canaries: canaries(), dir: t.TempDir(), seen: map[string][]byte{},
		collector: newCanaryCollector(t), host: newCanaryHost(t),
	}
	w.app = newCanaryApp(t, w.dir)
	hosts := newHosts(t)
	repo := hosts.create(t, "acme/shop", files{"a.txt": "a\n"}).pull(1, files{
		w.text("name of a file") + ".go": "token := \"" + w.text("secret that a rule finds") + "\"\n" +
			"shown " + w.text("line that a rule shows") + "\n" + w.text("line without a finding") + "\n",
	})

	repo.git("", "update-ref", "refs/pull/1/head", repo.git("", "commit-tree", "refs/pull/1/head^{tree}",
		"-p", "refs/heads/main", "-m", "Subject, which is shown\n\n"+w.text("message of a commit")))

	organization := func(name, url, more string) string {
		return fmt.Sprintf("  - name: %s\n    repositories: [\"*/*\"]\n    host: {kind: git, url: %q%s}\n", name, url, more)
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "prwarden.yaml"), []byte("organizations:\n"+
		organization("acme", hosts.url, "")+
		organization("private", w.host.URL+"/{repo}.git", ", token_env: HOST_TOKEN")+
		organization("absent", "http://127.0.0.1:1/{repo}.git", ", token_env: ABSENT_TOKEN")+
		organization("apps", "file:///none/{repo}.git", "")+fmt.Sprintf(`
public_url: https://prwarden.example.com
webhooks_allow: [127.0.0.0/8]
secrets: {keys: [{name: k1, env: SEAL_KEY}]}
connections:
  - organization: private
    name: declared
    kind: gitea
    url: %q
    repositories: ["connected/*"]
    token_env: DECLARED_TOKEN
    webhook_secret_env: DECLARED_SECRET
`, w.host.URL)+w.app.config), 0o600))
	w.env = []string{
		"HOST_TOKEN=" + w.text("token of a code host"), "ABSENT_TOKEN=" + w.text("token of an absent host"),
		"SEAL_KEY=" + w.text("key of secrets"), "DECLARED_TOKEN=" + w.text("declared token"),
		"DECLARED_SECRET=" + w.text("declared secret"), "APP_SECRET=" + w.text("secret of an App"),
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + w.collector.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=x-collector-key=" + w.text("header for the collector"),
		"OTEL_BSP_SCHEDULE_DELAY=100",
	}

	w.env = append(w.env, w.app.receiver.believed(t)...)

	w.connect(t, postgres)
	common := []string{
		"--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0", "--cache-dir", filepath.Join(w.dir, "cache"),
	}
	serve := append([]string{"serve", "--http-addr", "127.0.0.1:0"}, common...)
	if postgres {
		w.scanner = w.start(t, append([]string{"scanner"}, common...)...)
		serve = append(serve, "--migrate", "--scanner", w.scanner.GRPC)
	}
	w.server = w.start(t, serve...)
	w.base = "http://" + w.server.HTTP
	w.working = append(w.working, filepath.Join(w.dir, "cache"))
	return w
}

// connect makes the database, whose name holds a password where that can be.
func (w *canaryWorld) connect(t *testing.T, postgres bool) {
	t.Helper()
	if !postgres {
		w.env = append(w.env, "PRWARDEN_DATABASE=sqlite:"+filepath.Join(w.dir, "prwarden.db"))
		return
	}
	w.cluster, w.database = pgtest.Start(t, nil), "canary"
	require.NoError(t, w.cluster.CreateDatabase(t.Context(), w.database))
	password := w.text("password of the database")
	alter := fmt.Sprintf("ALTER ROLE %q PASSWORD '%s'", w.database, password)
	require.NoError(t, w.cluster.Exec(t.Context(), w.database, alter))
	dsn := strings.Replace(w.cluster.TCPDSN(w.database), pgtest.Password, password, 1)
	w.env = append(w.env, "PRWARDEN_DATABASE="+dsn)
}

// key makes an API key by the command line, beside the server.
func (w *canaryWorld) key(t *testing.T, org string) string {
	t.Helper()
	cmd := exec.Command(binary, "keys", "create", "--org", org, "--name", "test", "--scopes",
		"reviews:read,reviews:write,rules:read,rules:write,keys:admin,hosts:read,hosts:write,audit:read,webhooks:read,webhooks:write",
		"--rate-limit", fmt.Sprint(plenty), "--config", filepath.Join(w.dir, "prwarden.yaml"))
	cmd.Env = append(env(t.TempDir()), w.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	w.see(inLogs, stderr.String())
	return strings.TrimSpace(string(out)) // the one place where a key is shown
}

func (w *canaryWorld) client(token string) *client {
	return &client{base: w.base, token: token, http: &http.Client{Timeout: eventually, Transport: transport()}}
}

// do makes a request and keeps what was answered.
func (w *canaryWorld) do(t *testing.T, c *client, method, path string, body any, headers ...string) answer {
	t.Helper()
	a := c.do(t, method, path, body, headers...)
	place := inAnswers
	if a.status >= 400 {
		place = inErrors
	}
	w.see(place, a.body)
	for name, values := range a.header {
		w.see(place, name+": "+strings.Join(values, ","))
	}
	return a
}

// TestCanaries plants secrets wherever something can be planted, has the
// program do what succeeds and what fails, and looks for them wherever
// something can be read.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{
		"one process on SQLite": false, "a server and a scanner on Postgres": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCanaryWorld(t, postgres)
			w.live(t)
			w.fail(t)
			for _, p := range w.all {
				a := (&client{base: "http://" + p.Ops, http: http.DefaultClient}).do(t, "GET", "/metrics", nil)
				require.Equal(t, 200, a.status)
				w.see(inMetrics, a.body)
				w.seeCommand(fmt.Sprintf("/proc/%d", p.PID()))
			}
			for _, p := range slices.Backward(w.all) {
				p.stop(t)
			}
			w.collect(t)
			w.check(t)
		})
	}
}

func (w *canaryWorld) rule() map[string]any {
	return map[string]any{
		"id": "shown", "type": "regex", "pattern": "shown|token|" + w.text("pattern of a rule"),
		"message": w.text("message of a rule"), "severity": "low",
	}
}

// live does what succeeds, with canaries in all that is sent.
func (w *canaryWorld) live(t *testing.T) {
	t.Helper()
	key := w.key(t, "acme")
	w.canaries["API key"].text = key
	c := w.client(key)
	secret := w.text("header")
	header := []string{
		"X-Secret", secret, "Cookie", "session=" + secret, "User-Agent", secret, "Referer", "http://" + secret,
	}

	// The rule also shows the line with the secret that another rule finds.
	require.Equal(t, 201, w.do(t, c, "POST", "/v1/rules", w.rule(), header...).status)
	a := w.do(t, c, "POST", "/v1/reviews", map[string]any{"repo": "acme/shop", "pr_number": 1},
		append(header, "Idempotency-Key", w.text("Idempotency-Key"))...)
	require.Equal(t, 202, a.status, a.body)
	id := a.decode(t)["review_id"].(string)
	w.do(t, c, "GET", "/v1/reviews/"+id+":watch", nil, header...)
	a = w.do(t, c, "GET", "/v1/reviews/"+id, nil, header...)
	require.Equal(t, "complete", a.decode(t)["status"], a.body)
	require.Contains(t, a.body, "secrets/token-wrong-checksum")
	w.do(t, c, "GET", "/v1/rules/shown", nil)
	w.do(t, c, "GET", "/v1/reviews?repo=acme%2Fshop", nil)

	// shows the new key, this once
	a = c.do(t, "POST", "/v1/keys", map[string]any{"name": "other", "scopes": []string{"rules:read"}})
	require.Equal(t, 201, a.status, a.body)
	w.canaries["revoked API key"].text = a.decode(t)["token"].(string)
	require.Equal(t, 204, w.do(t, c, "DELETE", "/v1/keys/"+a.decode(t)["key_id"].(string), nil).status)
	w.do(t, c, "GET", "/v1/keys", nil)

	w.liveConnections(t, c)
	w.liveApp(t)
	conn, err := grpc.NewClient(w.server.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	reviews := prwardenv1.NewReviewServiceClient(conn)
	secret = w.text("metadata")
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, key, "x-secret", secret, "cookie", secret))
	_, err = reviews.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: id})
	require.NoError(t, err)
	for _, token := range []string{w.text("revoked API key"), w.text("malformed API key")} {
		stranger := metadata.NewOutgoingContext(t.Context(), with(t, token))
		_, err = reviews.GetReview(stranger, &prwardenv1.GetReviewRequest{ReviewId: id})
		require.Error(t, err)
		w.see(inErrors, err.Error())
	}

	method := "/prwarden.v1.ReviewService/" + key
	err = conn.Invoke(ctx, method, &prwardenv1.GetReviewRequest{}, &prwardenv1.GetReviewResponse{})
	require.Error(t, err)
	w.see(inErrors, err.Error())
}

// liveConnections makes a connection, and changes all of it.
func (w *canaryWorld) liveConnections(t *testing.T, c *client) {
	t.Helper()
	n := map[string]any{
		"name": "one", "kind": "gitea", "url": "https://127.0.0.1:1", "repositories": []any{"connected/*"},
		"token": w.text("token of a connection"), "git_token": w.text("git token of a connection"),
		"webhook_secret": w.text("secret of webhooks"),
	}
	a := w.do(t, c, "POST", "/v1/connections", n)
	require.Equal(t, 201, a.status, a.body)
	path := "/v1/connections/" + a.decode(t)["connection"].(map[string]any)["connection_id"].(string)
	a = c.do(t, "POST", path+":rotate", map[string]any{
		"token": w.text("new token of a connection"), "new_webhook_secret": true,
	}) // shows the secret, this once
	require.Equal(t, 200, a.status, a.body)
	w.canaries["made secret of webhooks"].text = a.decode(t)["webhook_secret"].(string)
	require.Equal(t, 200, w.do(t, c, "PATCH", path, map[string]any{"name": "two"}).status)
	require.Equal(t, 200, w.do(t, c, "GET", path, nil).status)
	require.Equal(t, 200, w.do(t, c, "GET", "/v1/connections", nil).status)
	a = w.do(t, c, "GET", "/v1/audit", nil)
	require.Contains(t, a.body, "connection.rotate")
}

// failConnections has hosts refuse, one of which says back what it was told.
func (w *canaryWorld) failConnections(t *testing.T, c *client) {
	t.Helper()
	for _, client := range []*client{c, w.client(w.key(t, "private"))} {
		listed := list(w.do(t, client, "GET", "/v1/connections", nil).decode(t)["connections"])
		require.Len(t, listed, 1)
		path := "/v1/connections/" + listed[0].(map[string]any)["connection_id"].(string)
		a := w.do(t, client, "POST", path+":test", map[string]any{})
		if a.status == 200 {
			require.NotEqual(t, "active", a.decode(t)["state"], a.body)
		}
		require.NotEqual(t, 200, w.do(t, client, "GET", path+"/repositories", nil).status)
	}
	for _, field := range []string{"token", "git_token", "private_key", "webhook_secret"} {
		a := w.do(t, c, "POST", "/v1/connections", map[string]any{
			"name": "three", "kind": "gitea", "url": "http://127.0.0.1", "repositories": []any{"connected/*"},
			field: w.text("token of no connection") + " ",
		})
		require.Equal(t, 400, a.status, a.body)
	}
}

// fail does what fails.
func (w *canaryWorld) fail(t *testing.T) {
	t.Helper()
	key, c := w.text("API key"), w.client(w.text("API key"))
	for _, token := range []string{w.text("revoked API key"), w.text("malformed API key"), w.text("other credentials")} {
		require.Equal(t, 401, w.do(t, w.client(token), "GET", "/v1/rules", nil).status)
	}
	login := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+w.text("other credentials")))
	require.Equal(t, 401, w.do(t, w.client(""), "GET", "/v1/rules", nil, "Authorization", login).status)
	const good = `{"repo":"acme/shop","pr_number":1`
	bad := w.text("body with a mistake")
	for _, body := range []string{
		good + `,"more":"` + bad + `"}`, `{"repo":"` + bad, good + "}" + bad,
		`{"repo":"acme/shop","pr_number":["` + bad + `"]}`,
	} {
		require.Equal(t, 400, w.do(t, c, "POST", "/v1/reviews", body).status)
	}
	require.Equal(t, 413, w.do(t, c, "POST", "/v1/reviews", strings.Repeat(bad, 50_000)).status)
	idempotency := []string{"Idempotency-Key", w.text("Idempotency-Key")}
	other := `{"repo":"acme/other","pr_number":1}`
	require.Equal(t, 409, w.do(t, c, "POST", "/v1/reviews", other, idempotency...).status)
	idempotency[1] = w.text("header") + "\xff"
	require.Equal(t, 400, w.do(t, c, "POST", "/v1/reviews", good+"}", idempotency...).status)
	require.Equal(t, 400, w.do(t, c, "GET", "/v1/rules?access_token="+w.text("query"), nil).status)
	require.Equal(t, 400, w.do(t, c, "GET", "/v1/reviews?page_token="+w.text("query"), nil).status)
	require.Equal(t, 404, w.do(t, c, "GET", "/v1/reviews/"+key, nil).status)
	require.Equal(t, 404, w.do(t, c, "GET", "/"+key, nil, "X-Request-Id", key).status)

	w.failScans(t)
	w.failConnections(t, c)
	if w.cluster != nil {
		w.failDatabase(t, c)
	}
}

// failScans has code hosts refuse, and be absent, and looks at git meanwhile.
func (w *canaryWorld) failScans(t *testing.T) {
	t.Helper()
	private := w.client(w.key(t, "private"))
	id := private.review(t, "any/repo", 1)
	said := within(t, "git logs in", w.host.asked)
	if said == "" { // it waits to be asked
		require.FailNow(t, "git did not log in")
	}
	login, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(said, "Basic "))
	require.Contains(t, string(login), w.text("token of a code host"))
	require.Positive(t, w.seeGits(t), "git runs")
	w.host.release()
	a := w.do(t, private, "GET", "/v1/reviews/"+id+":watch", nil)
	require.Equal(t, 200, a.status)
	a = w.do(t, private, "GET", "/v1/reviews/"+id, nil)
	require.Equal(t, "failed", a.decode(t)["status"], a.body)

	absent := w.client(w.key(t, "absent"))
	id = absent.review(t, "any/repo", 1)
	require.Eventually(t, func() bool {
		return strings.Contains(w.logged(), `"msg":"scan ended","review_id":"`+id)
	}, eventually, tick)

	// It has failed for good when whoever runs this was away for as long as it is
	// tried again.
	require.Contains(t, []int{200, 409}, w.do(t, absent, "POST", "/v1/reviews/"+id+":cancel", nil).status)
}

// failDatabase breaks the database off under requests, and has it come back.
func (w *canaryWorld) failDatabase(t *testing.T, c *client) {
	t.Helper()
	body := map[string]any{"repo": "acme/shop", "pr_number": 1}
	require.NoError(t, w.cluster.Stop(pgtest.Immediate))
	require.Equal(t, 503, w.do(t, c, "POST", "/v1/reviews", body, "Idempotency-Key", w.text("Idempotency-Key")).status)
	require.NoError(t, w.cluster.Start(t.Context()))
	require.Eventually(t, func() bool {
		return w.do(t, c, "POST", "/v1/reviews", body, "Idempotency-Key", w.text("Idempotency-Key")).status == 202
	}, eventually, 10*tick)

	// What the database itself writes down of a statement that fails.
	require.Equal(t, 409, w.do(t, c, "POST", "/v1/rules", w.rule()).status)
}

func (w *canaryWorld) seeCommand(folder string) {
	data, _ := os.ReadFile(filepath.Join(folder, "cmdline")) // it may have ended
	w.see(inCommands, string(data))
}

// seeGits keeps the command lines and environments of git's processes, and
// counts them.
func (w *canaryWorld) seeGits(t *testing.T) int {
	t.Helper()
	gits := environs(t, "GIT_DIR="+w.dir)
	for folder, environ := range gits {
		w.see(inGitEnv, environ)
		w.seeCommand(folder)
	}
	return len(gits)
}

// collect reads what is left when the processes have ended.
func (w *canaryWorld) collect(t *testing.T) {
	t.Helper()
	w.collector.mu.Lock()
	w.see(inTraces, w.collector.bodies.String())
	assert.Contains(t, w.collector.headers, w.text("header for the collector"), "the collector is reached with its header")
	w.collector.mu.Unlock()
	w.see(inLogs, w.logged())
	for _, dir := range w.working {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			w.see(inFiles, path+"\n"+string(data))
			return err
		}))
	}

	if w.cluster == nil {
		paths, err := filepath.Glob(filepath.Join(w.dir, "prwarden.db*"))
		require.NoError(t, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			w.see(inDatabase, string(data))
		}

		return
	}

	log, err := os.ReadFile(filepath.Join(w.cluster.Dir(), "log"))
	require.NoError(t, err)
	w.see(inDatabaseLog, string(log))
	text, err := postgresProgram(t, nil, "pg_dump", "--dbname", w.cluster.SuperuserDSN(w.database))
	require.NoError(t, err, text)
	w.see(inDatabase, text)
}

// check looks for every canary in every place. A canary that may be in the
// database or in git's environment has to be there: what is not found where it
// must be would not be found where it must not be.
func (w *canaryWorld) check(t *testing.T) {
	t.Helper()
	places := []string{inLogs, inTraces, inMetrics, inCommands, inGitEnv, inDatabase, inFiles, inErrors, inAnswers}
	if w.cluster != nil {
		places = append(places, inDatabaseLog)
	}
	for _, place := range places {
		require.NotEmpty(t, w.seen[place], place)
	}
	for name, c := range w.canaries {
		require.NotEmpty(t, c.text, name)
		for _, place := range places {
			at := -1
			for _, form := range c.forms() {
				at = max(at, bytes.Index(w.seen[place], []byte(form)))
			}
			switch allowed := slices.Contains(c.allowed, place); {
			case at >= 0 && !allowed:
				around := w.seen[place][max(0, at-300):min(len(w.seen[place]), at+300)]
				assert.Fail(t, "a secret got out", "%s in %s: %q", name, place, around)
			case at < 0 && allowed && place == inDatabase:
				assert.Fail(t, "the search does not find what is there", "%s in %s", name, place)
			}
		}
	}

	login := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + w.text("token of a code host")))
	assert.Contains(t, string(w.seen[inGitEnv]), login, "the search does not find what is there")
}
