package load

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.01: 1, 0.5: 50, 0.99: 99, 1: 100} {
		assert.Equal(t, want, Quantile(times, q), q)
	}
	assert.Zero(t, Quantile(nil, 0.5))
	assert.Equal(t, time.Duration(7), Quantile([]time.Duration{7}, 0.99))
}

// counter is a Caller that counts, and fails at one call.
type counter struct {
	calls  *atomic.Int64
	failAt int64
}

func (c counter) Call(context.Context) error {
	if c.calls.Add(1) == c.failAt {
		return errors.New("refused")
	}
	return nil
}

func (counter) Close() error { return nil }

func TestRun(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	three := []Caller{counter{calls: &calls}, counter{calls: &calls}, counter{calls: &calls}}
	r, err := Run(t.Context(), three, time.Minute, 100)
	require.NoError(t, err)
	assert.Equal(t, 100, r.Calls)
	assert.Equal(t, int64(100), calls.Load())
	assert.Positive(t, r.Rate())

	r, err = Run(t.Context(), three, time.Millisecond, 0)
	require.NoError(t, err)
	assert.Equal(t, calls.Load()-100, int64(r.Calls), "until the time is up")

	_, err = Run(t.Context(), []Caller{counter{calls: &calls, failAt: calls.Load() + 5}}, time.Minute, 0)
	assert.ErrorContains(t, err, "refused")
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 5_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/known":
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, r.Method+r.Header.Get("X-Test")+string(body))
		case "/chunks":
			for range 3 {
				_, _ = io.WriteString(w, long)
				_ = http.NewResponseController(w).Flush()
			}
		default:
			http.Error(w, "nothing here", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	addr := server.Listener.Addr().String()
	for _, tc := range []struct {
		request    Request
		body, fail string
	}{
		{Request{Method: "POST", Path: "/known", Header: map[string]string{"X-Test": "!"}, Body: "{}", Want: 202}, "POST!{}", ""},
		{Request{Method: "GET", Path: "/chunks", Want: 200}, strings.Repeat(long, 3), ""},
		{Request{Method: "GET", Path: "/chunks", Want: 202}, "", "answered HTTP/1.1 200 OK"},
		{Request{Method: "GET", Path: "/other", Want: 200}, "", "nothing here"},
	} {
		var body bytes.Buffer
		c, err := DialHTTP(t.Context(), addr, tc.request, &body)
		require.NoError(t, err)
		for range 2 { // the second call finds the end of the first
			err = c.Call(t.Context())
			if tc.fail != "" {
				assert.ErrorContains(t, err, tc.fail)
				continue
			}
			require.NoError(t, err, tc.request.Path)
			assert.Equal(t, tc.body, body.String())
			body.Reset()
		}
		require.NoError(t, c.Close())
		assert.Error(t, c.Call(t.Context()), "a closed connection")
	}
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var token atomic.Value
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		token.Store(strings.Join(md.Get("authorization"), ""))
		return handler(ctx, req)
	}))
	healthpb.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		assert.NoError(t, <-served)
	})
	var answer healthpb.HealthCheckResponse
	c, err := DialGRPC(l.Addr().String(), healthpb.Health_Check_FullMethodName, &healthpb.HealthCheckRequest{},
		metadata.Pairs("authorization", "Bearer x"), func(b []byte) { assert.NoError(t, proto.Unmarshal(b, &answer)) })
	require.NoError(t, err)
	require.NoError(t, c.Call(t.Context()))
	assert.Equal(t, healthpb.HealthCheckResponse_SERVING, answer.GetStatus())
	assert.Equal(t, "Bearer x", token.Load())
	require.NoError(t, c.Close())

	unknown, err := DialGRPC(l.Addr().String(), healthpb.Health_Check_FullMethodName, &healthpb.HealthCheckRequest{Service: "none"}, nil, nil)
	require.NoError(t, err)
	assert.Error(t, unknown.Call(t.Context()))
	require.NoError(t, unknown.Close())
}
