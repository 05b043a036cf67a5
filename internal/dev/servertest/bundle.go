// Package servertest starts the whole transport, both protocols with the
// real chain, over fakes of the domain, for the tests of its packages.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/port"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// patience bounds every wait; it is only reached when something is broken.
const patience = 5 * time.Minute

// Epoch is when everything in the fakes was created.
var Epoch = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// Bundle is a running transport.
type Bundle struct {
	Reviews  *Reviews
	Rules    *Rules
	Keys     *auth.Keys
	Handlers *api.Reviews
	Metrics  *grpcprom.ServerMetrics
	Guard    *overload.Guard
	Clock    time.Time    // of the rate limit; it stands still, so that no minute ends during a test
	Client   *http.Client // of the REST API, for its URL only; it follows no redirects
	URL      string       // of the REST API, without /v1
	RESTAddr string
	GRPCAddr string
	REST     *Pipes // instead of the address
	GRPC     *Pipes // instead of the address
	Logs     *Logs
	store    *keyStore
	ready    error
}

// Options are what a test may change.
type Options struct {
	Limit   int            // requests a minute; very many when 0
	Trusted []netip.Prefix // proxies
	Tracer  trace.TracerProvider
	Observe func(rest.Answered)
	Limits  overload.Limits // in place of those of a server
	Port    port.Options    // of both ports
	Pipes   bool            // ports are in memory, for a clock that a test moves
}

// Start starts a transport that ends with the test.
func Start(t testing.TB, o Options) *Bundle {
	t.Helper()
	if o.Limit == 0 {
		o.Limit = 1 << 30
	}
	b := &Bundle{
		Reviews: &Reviews{}, Rules: &Rules{}, Logs: &Logs{}, store: &keyStore{keys: map[string]auth.Key{}},
		Metrics: grpcprom.NewServerMetrics(), Clock: time.Now(),
	}
	log := slog.New(slog.NewJSONHandler(b.Logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.Keys = auth.NewKeys(b.store, time.Now, log)
	b.Handlers = api.NewReviews(b.Reviews, b.Keys, api.SARIF{})
	limiter := auth.NewLimiter(nil, func() time.Time { return b.Clock })
	admitter := auth.NewAdmitter(b.Keys, limiter, o.Trusted, o.Limit, nil)
	limits := overload.DefaultLimits()
	maps.Copy(limits, o.Limits)
	b.Guard = overload.NewGuard(limits, o.Trusted, log, nil)
	admission := rpc.Admission{Admitter: admitter, Guard: b.Guard}
	server, err := rpc.New(rpc.Config{Admission: admission, Metrics: b.Metrics, Log: log, Register: b.register})
	require.NoError(t, err)
	web := httptest.NewUnstartedServer(nil)
	listener := b.listen(t, web, o.Pipes)
	served := make(chan error, 1)
	go func() { served <- server.Serve(port.Wrap(listener, o.Port)) }()

	g, err := rest.New(rest.Config{
		Conn: server.Conn(), Admission: admission, OpenAPI: Document(), Log: log, Tracer: o.Tracer, Observe: o.Observe,
		Ready: func(context.Context) error { return b.ready },
	})
	require.NoError(t, err)
	web.Config = rest.NewServer(g, log)
	if !o.Pipes { // a busy machine is not a slow client
		web.Config.ReadHeaderTimeout, web.Config.ReadTimeout, web.Config.WriteTimeout = patience, patience, patience
	}
	web.Listener = port.Wrap(web.Listener, o.Port)
	web.Start()
	b.URL = web.URL
	if o.Pipes {
		b.URL = "http://pipes"
	}
	transport := &http.Transport{DialContext: b.dial, MaxIdleConnsPerHost: 4}
	b.Client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		b.Handlers.EndWatches()
		transport.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, server.Shutdown(ctx))
		assert.NoError(t, <-served)
	})
	return b
}

// Document is the OpenAPI document: more than a connection holds.
func Document() []byte {
	return fmt.Appendf(nil, `{"openapi":"3.0.0","info":{"description":"%s"}}`, strings.Repeat("x", 4*pipeBuffer))
}

// listen opens both ports, that of REST as the listener of web.
func (b *Bundle) listen(t testing.TB, web *httptest.Server, pipes bool) (grpc net.Listener) {
	t.Helper()
	if pipes {
		require.NoError(t, web.Listener.Close())
		b.REST, b.GRPC = NewPipes(), NewPipes()
		web.Listener = b.REST
		return b.GRPC
	}
	grpc, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b.RESTAddr, b.GRPCAddr = web.Listener.Addr().String(), grpc.Addr().String()
	return grpc
}

func (b *Bundle) register(r grpc.ServiceRegistrar) {
	prwardenv1.RegisterReviewServiceServer(r, b.Handlers)
	prwardenv1.RegisterRuleServiceServer(r, api.NewRules(b.Rules))
	prwardenv1.RegisterKeyServiceServer(r, api.NewKeys(b.Keys))
	healthpb.RegisterHealthServer(r, health.NewServer())
	if s, ok := r.(reflection.GRPCServer); ok {
		reflection.Register(s)
	}
}

// SetReady sets what /readyz finds.
func (b *Bundle) SetReady(err error) { b.ready = err }

// SetKeysDown makes every look at the keys fail, or work again for nil.
func (b *Bundle) SetKeysDown(err error) {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.down = err
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
func (b *Bundle) Conn(t testing.TB) *grpc.ClientConn {
	t.Helper()
	target, options := b.GRPCAddr, []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if b.GRPC != nil {
		target = "passthrough:///pipes"
		dial := func(ctx context.Context, _ string) (net.Conn, error) { return b.GRPC.DialContext(ctx) }
		options = append(options, grpc.WithContextDialer(dial))
	}
	conn, err := grpc.NewClient(target, options...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close()) })
	return conn
}

// dial connects to the port of the REST API.
func (b *Bundle) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if b.REST != nil {
		return b.REST.DialContext(ctx)
	}
	return steady.DialContext(ctx, network, addr)
}

// Answer is a whole REST response.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	JSON   map[string]any // nil when the body is not an object
}

// Reason returns the reason of an error, "" when there is none.
func (a Answer) Reason() string {
	for _, d := range a.details() {
		if r, ok := d["reason"].(string); ok {
			return r
		}
	}
	return ""
}

// Violations returns the fields that an error complains about, and what it
// says of them.
func (a Answer) Violations() map[string]string {
	out := map[string]string{}
	for _, d := range a.details() {
		list, _ := d["field_violations"].([]any)
		for _, v := range list {
			m, _ := v.(map[string]any)
			field, _ := m["field"].(string)
			out[field], _ = m["description"].(string)
		}
	}
	return out
}

func (a Answer) details() []map[string]any {
	var out []map[string]any
	list, _ := a.JSON["details"].([]any)
	for _, d := range list {
		if m, ok := d.(map[string]any); ok {
			out = append(out, m)
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
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.EqualFold(name, "Content-Type") {
			req.Header.Set(name, value)
			continue
		}
		req.Header.Add(name, value)
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
