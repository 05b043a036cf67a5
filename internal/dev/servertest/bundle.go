// Package servertest starts the whole transport, both protocols with the
// real chain, over fakes of the domain, for the tests of its packages.
package servertest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/test/bufconn"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/hook"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/port"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/stats"
)

// patience bounds every wait; it is only reached when something is broken.
const patience = 5 * time.Minute

// Epoch is when everything in the fakes was created.
var Epoch = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// checkPage is where a connection shows all reviews; "" for nowhere.
type checkPage string

// Page implements api.CheckPages.
func (p checkPage) Page(context.Context, string, review.Review) (string, error) {
	return string(p), nil
}

// Bundle is a running transport.
type Bundle struct {
	Reviews  *Reviews
	Rules    *Rules
	Keys     *auth.Keys
	Stats    *Stats
	Policies *Policies
	Hooks    *Hooks
	Triage   *Triage
	Diffs    *Diffs
	Handlers *api.Reviews
	Guard    *overload.Guard
	Clock    time.Time    // of the rate limit; it stands still, so that no minute ends during a test
	Client   *http.Client // of the REST API, for its URL only; it follows no redirects
	URL      string       // of the REST API, without /v1
	Ready    error        // what /readyz finds
	Logs     *Logs

	rest, grpc net.Listener
}

// Options are what a test may change.
type Options struct {
	Limit   int // requests a minute; very many when 0
	Observe func(rest.Answered)
	Limits  overload.Limits // in place of those of a server
	Pipes   bool            // ports are in memory, for a clock that a test moves

	CheckPage string // where a connection shows all reviews; nowhere when ""
}

// Start starts a transport that ends with the test.
func Start(t testing.TB, o Options) *Bundle {
	t.Helper()
	o.Limit = cmp.Or(o.Limit, 1<<30)
	if o.Observe == nil {
		o.Observe = func(rest.Answered) {}
	}

	b := &Bundle{
		Reviews: &Reviews{}, Rules: &Rules{}, Stats: &Stats{}, Policies: &Policies{}, Hooks: &Hooks{},
		Triage: &Triage{}, Diffs: &Diffs{},
		Logs: &Logs{}, Clock: time.Now(),
	}
	log := slog.New(slog.NewJSONHandler(b.Logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.Keys = auth.NewKeys(&keyStore{keys: map[string]auth.Key{}}, time.Now, log)
	b.Handlers = api.NewReviews(b.Reviews, b.Keys, api.SARIF{}, checkPage(o.CheckPage), b.Diffs)
	limits := overload.DefaultLimits()
	maps.Copy(limits, o.Limits)
	b.Guard = overload.NewGuard(limits, nil, log, func(overload.Limit) {})
	limiter := auth.NewLimiter(nil, func() time.Time { return b.Clock })
	admission := rpc.Admission{Admitter: auth.NewAdmitter(b.Keys, limiter, nil, o.Limit), Guard: b.Guard}

	numbers := stats.NewService(b.Stats, func() time.Time { return Epoch })
	server := rpc.New(rpc.Config{
		Admission: admission, Metrics: grpcprom.NewServerMetrics(), Log: log,
		Register: api.Services{
			Reviews: b.Handlers, Rules: api.NewRules(b.Rules, b.Rules, numbers, true), Keys: api.NewKeys(b.Keys),
			Policies: api.NewPolicies(policy.NewService(b.Policies, nil)), Audit: api.NewAudit(nil),
			Triage:   api.NewTriage(b.Triage),
			Hosts:    api.NewConnections(nil, nil),
			Accounts: api.NewAccounts(nil),
			Members:  api.NewMembers(nil, nil),
			Webhooks: api.NewWebhooks(nil),
			Pulls:    api.NewPullRequests(nil),
			Stats:    api.NewStats(numbers),
			Health:   health.NewServer(),
		}.Register,
	})
	gateway, err := rest.New(rest.Config{
		Hooks: hook.New(hook.Config{
			Hosts: b.Hooks, Inbox: inbox.New(hookStore{hooks: b.Hooks}), Guard: b.Guard, Now: time.Now, Log: log,
		}),
		Scanner: func() bool { return true },
		Conn:    server.Conn(), Admission: admission, OpenAPI: Document(), Log: log,
		Tracer:  noop.NewTracerProvider().Tracer("test"),
		Observe: o.Observe, Ready: func(context.Context) error { return b.Ready },
	})

	require.NoError(t, err)

	web := rest.NewServer(gateway, log)
	if !o.Pipes { // a busy machine is not a slow client
		web.ReadHeaderTimeout, web.ReadTimeout, web.WriteTimeout = patience, patience, patience
	}

	b.rest, b.grpc = listen(t, o.Pipes), listen(t, o.Pipes)
	b.URL = "http://" + b.rest.Addr().String()
	served := make(chan error, 2)
	go func() { served <- server.Serve(port.Wrap(b.grpc, port.Options{})) }()
	go func() { served <- web.Serve(port.Wrap(b.rest, port.Options{})) }()

	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return b.dial(ctx, b.rest) }
	transport := &http.Transport{MaxIdleConnsPerHost: 4, DialContext: dial}
	b.Client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	t.Cleanup(func() {
		b.Handlers.EndWatches()
		transport.CloseIdleConnections()
		assert.NoError(t, web.Close())
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, server.Shutdown(ctx))
		for range 2 {
			if err := <-served; !errors.Is(err, http.ErrServerClosed) {
				assert.NoError(t, err)
			}
		}
	})

	return b
}

// pipeBuffer is how many bytes a connection in memory holds each way, as a
// socket does.
const pipeBuffer = 64 << 10

// pipes is a listener in memory, whose connections keep deadlines on the clock
// of the test.
type pipes struct{ *bufconn.Listener }

// Addr implements net.Listener: for a URL, the address has to look like one.
func (pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }

func listen(t testing.TB, inMemory bool) net.Listener {
	t.Helper()
	if inMemory {
		return pipes{bufconn.Listen(pipeBuffer)}
	}

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

func (b *Bundle) dial(ctx context.Context, to net.Listener) (net.Conn, error) {
	if p, ok := to.(pipes); ok {
		return p.DialContext(ctx)
	}

	return steady.DialContext(ctx, "tcp", to.Addr().String())
}

// Dial connects to the port of the REST API, or to that of gRPC.
func (b *Bundle) Dial(t testing.TB, toGRPC bool) net.Conn {
	t.Helper()
	to := b.rest
	if toGRPC {
		to = b.grpc
	}
	c, err := b.dial(t.Context(), to)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// Document is the OpenAPI document: more than a connection holds.
func Document() []byte {
	return fmt.Appendf(nil, `{"openapi":"3.0.0","info":{"description":"%s"}}`, strings.Repeat("x", 4*pipeBuffer))
}

// Key makes a key of the organization acme and returns it with its token; with
// all scopes when none is named.
func (b *Bundle) Key(t testing.TB, scopes ...auth.Scope) (auth.Key, string) {
	t.Helper()
	return b.KeyOf(t, "acme", scopes...)
}

// KeyOf is Key for another organization.
func (b *Bundle) KeyOf(t testing.TB, org string, scopes ...auth.Scope) (auth.Key, string) {
	t.Helper()
	if len(scopes) == 0 {
		scopes = auth.Scopes()
	}

	k, token, err := b.Keys.Issue(context.Background(), org, auth.NewKey{Name: "test", Scopes: scopes})
	require.NoError(t, err)
	return k, token
}

// Conn returns a connection to the gRPC port.
func (b *Bundle) Conn(t testing.TB, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return b.dial(ctx, b.grpc) }
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
	conn, err := grpc.NewClient("passthrough:///"+b.grpc.Addr().String(), options...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	return conn
}

// Answer is a whole REST response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	JSON   map[string]any // nil when the body is not an object
}

// detail is the part of an error's details that tests look at.
type detail struct {
	Reason          string
	FieldViolations []struct{ Field, Description string } `json:"field_violations"`
}

func (a Answer) details() []detail {
	var e struct{ Details []detail }
	_ = json.Unmarshal([]byte(a.Body), &e) // what is no error has no details
	return e.Details
}

// Reason returns the reason of an error, "" when there is none.
func (a Answer) Reason() (reason string) {
	for _, d := range a.details() {
		reason += d.Reason
	}
	return reason
}

// Violations returns the fields that an error complains about, and what it
// says of them.
func (a Answer) Violations() map[string]string {
	out := map[string]string{}
	for _, d := range a.details() {
		for _, v := range d.FieldViolations {
			out[v.Field] = v.Description
		}
	}
	return out
}

// Do sends a REST request. Headers are given as `Name: value`; a body gets
// Content-Type application/json unless another is given.
func (b *Bundle) Do(t testing.TB, method, path, body string, headers ...string) Answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}

	if _, given := req.Header["Content-Type"]; body != "" && !given {
		req.Header.Set("Content-Type", "application/json")
	}

	return b.Send(t, req)
}

// Send sends a request and reads the whole answer.
func (b *Bundle) Send(t testing.TB, req *http.Request) Answer {
	t.Helper()
	resp, err := b.Client.Do(req)
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(data)}
	if json.Unmarshal(data, &a.JSON) != nil {
		a.JSON = nil
	}

	return a
}

// Bearer is the header for a token.
func Bearer(token string) string { return "Authorization: Bearer " + token }

// Logs is what was logged.
type Logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns all of it.
func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Lines returns the lines with that message.
func (l *Logs) Lines(message string) []map[string]any {
	var out []map[string]any
	for line := range strings.Lines(l.String()) {
		var m map[string]any
		if json.Unmarshal([]byte(line), &m) == nil && m["msg"] == message {
			out = append(out, m)
		}
	}

	return out
}
