package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
)

// Not parallel: the SDK reads the variables of the process.
func TestTraces(t *testing.T) { //nolint:paralleltest
	var mu sync.Mutex
	var received strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&received, r.Body)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)

	b := setup(t)
	s, err := app.NewServer(t.Context(), b.config, app.Environment{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL}, b.logger())
	require.NoError(t, err)
	s.Start()
	a := b.api(t, s)
	a.finish(t, a.create(t))
	stop(t, s) // sends what is left

	mu.Lock()
	defer mu.Unlock()
	// Protobuf has strings as they are.
	for _, name := range []string{"prwarden.v1.ReviewService/CreateReview", "prwarden.scanner.v1.ScannerService/Scan", "service.name"} {
		assert.Contains(t, received.String(), name)
	}
	assert.NotContains(t, received.String(), a.token)
}

func TestTracesErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	env := app.Environment{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}
	_, err := app.NewServer(t.Context(), b.config, env, b.logger())
	require.ErrorContains(t, err, `OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" is not supported`)
	_, err = app.NewScanner(t.Context(), b.config, env, b.logger())
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_PROTOCOL")
}
