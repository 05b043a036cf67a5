package app_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/app"
)

// collector is an OpenTelemetry collector that keeps what it is sent.
type collector struct {
	mu       sync.Mutex
	received []*collectorpb.ExportTraceServiceRequest
}

// start serves and returns the endpoint.
func (c *collector) start(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		message := &collectorpb.ExportTraceServiceRequest{}
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, message) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.received = append(c.received, message)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// span is a span with the service that sent it.
type span struct {
	*tracepb.Span
	service string
}

func (s span) id() string     { return hex.EncodeToString(s.GetSpanId()) }
func (s span) parent() string { return hex.EncodeToString(s.GetParentSpanId()) }
func (s span) trace() string  { return hex.EncodeToString(s.GetTraceId()) }

// spans are all spans, and everything that was sent as text.
func (c *collector) spans() (all []span, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.received {
		text += prototext.Format(r)
		for _, rs := range r.GetResourceSpans() {
			service := ""
			for _, a := range rs.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					service = a.GetValue().GetStringValue()
				}
			}

			for _, ss := range rs.GetScopeSpans() {
				for _, s := range ss.GetSpans() {
					all = append(all, span{s, service})
				}
			}
		}
	}
	return all, text
}

func environment(m map[string]string) app.Environment {
	return func(name string) string { return m[name] }
}

// One trace leads from the caller's span over the request and the queue to the
// phases of the scan in another process.
//
// Not parallel: the SDK reads the variables of the process.
func TestTraces(t *testing.T) { //nolint:paralleltest
	const traceID, callerID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	c := &collector{}
	endpoint := c.start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	env := environment(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})

	b := setup(t)
	away := b.config
	away.CacheDir = t.TempDir()
	scanner, err := app.NewScanner(t.Context(), away, env, b.logger())
	require.NoError(t, err)
	scanner.Start()
	b.config.Scanners = []string{scanner.Addr()}
	server, err := app.NewServer(t.Context(), b.config, env, b.logger())
	require.NoError(t, err)
	server.Start()
	a := b.api(t, server)
	req, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, a.base+"/v1/reviews", strings.NewReader(`{"repo":"acme/web","pr_number":1}`),
	)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("traceparent", "00-"+traceID+"-"+callerID+"-01")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var created struct {
		ID string `json:"review_id"`
	}

	require.NoError(t, json.NewDecoder(resp.Body).Decode(&created))
	require.Equal(t, "complete", a.finish(t, created.ID)["status"])
	stop(t, server) // sends what is left
	stop(t, scanner)

	all, text := c.spans()
	ours := map[string]span{} // by name, and by id for the parents
	for _, s := range all {
		if s.trace() == traceID {
			ours[s.id()] = s
			ours[s.GetName()+"/"+s.GetKind().String()] = s
		}
	}

	above := func(s span) span { return ours[s.parent()] }
	path := func(s span) (names []string) {
		for ; s.Span != nil; s = above(s) {
			names = append(names, s.service+": "+s.GetName())
		}

		slices.Reverse(names)
		return names
	}

	fetch := ours["fetch/SPAN_KIND_INTERNAL"]
	require.NotNil(t, fetch.Span, "%v", slices.Collect(maps.Keys(ours)))
	assert.Equal(t, []string{
		"prwarden: POST /v1/reviews", "prwarden: process review",
		"prwarden: prwarden.scanner.v1.ScannerService/Scan", "prwarden-scanner: prwarden.scanner.v1.ScannerService/Scan",
		"prwarden-scanner: scan", "prwarden-scanner: fetch",
	}, path(fetch))
	assert.Equal(t, callerID, ours["POST /v1/reviews/SPAN_KIND_SERVER"].parent())

	for _, phase := range []string{"ends", "compare", "cache", "rules"} {
		s := ours[phase+"/SPAN_KIND_INTERNAL"]
		require.NotNil(t, s.Span, phase)
		assert.Equal(t, "scan", above(s).GetName(), phase)
	}

	assert.Contains(t, text, created.ID)

	for _, secret := range []string{a.token, "page.js", "eval"} {
		assert.NotContains(t, text, secret)
	}

	// The lines of the request and of its scan name the trace and the review.
	for _, message := range []string{`"msg":"request"`, `"msg":"scan ended"`, `"msg":"scanned"`} {
		found := false
		for line := range strings.Lines(b.log.String()) {
			found = found || strings.Contains(line, message) && strings.Contains(line, `"trace_id":"`+traceID) &&
				strings.Contains(line, `"review_id":"`+created.ID)
		}
		assert.True(t, found, "no line with %s, the trace and the review in\n%s", message, b.log.String())
	}
}

func TestTracesErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	env := environment(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
	})
	_, err := app.NewServer(t.Context(), b.config, env, b.logger())
	require.ErrorContains(t, err, `OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not supported`)
	_, err = app.NewScanner(t.Context(), b.config, env, b.logger())
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_PROTOCOL")

	// What is said of traces goes before what is said of all signals.
	env = environment(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
	})
	scanner, err := app.NewScanner(t.Context(), b.config, env, b.logger())
	require.NoError(t, err)
	stop(t, scanner)
}
