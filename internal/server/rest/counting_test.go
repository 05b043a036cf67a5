package rest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rest"
)

func TestEveryRequestIsCountedOnce(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{Limit: 20})
	_, token := b.Key(t)
	auth := servertest.Bearer(token)
	requests := []struct{ method, path, body string }{
		{"GET", "/v1/rules", ""}, {"GET", "/v1/nothing", ""}, {"PUT", "/v1/rules", ""}, {"POST", "/v1/rules", "{"},
		{"OPTIONS", "/v1/rules", ""}, {"HEAD", "/v1/rules", ""}, {"GET", "/openapi.json", ""}, {"GET", "/v1/rules/x", ""},
		{"GET", "/v1/reviews/x:watch", ""}, {"DELETE", "/v1/rules/x", ""}, {"GET", "/v1/reviews?x=1", ""},
	}

	left := 20
	for _, r := range requests {
		left--
		a := b.Do(t, r.method, r.path, r.body, auth)
		assert.Equal(t, strconv.Itoa(left), a.Header.Get("X-RateLimit-Remaining"), "%s %s", r.method, r.path)
		assert.Equal(t, "20", a.Header.Get("X-RateLimit-Limit"))
	}

	for range left {
		require.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", auth).Status)
	}

	for _, r := range requests {
		a := b.Do(t, r.method, r.path, r.body, auth)
		assert.Equal(t, 429, a.Status, "%s %s", r.method, r.path)
		wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
		require.NoError(t, err)
		assert.Equal(t, 60, wait)
		assertCommonHeaders(t, a)
	}

	for range 30 {
		health := b.Do(t, "GET", "/healthz", "")
		assert.Equal(t, 200, health.Status)
		assert.Empty(t, health.Header.Get("X-RateLimit-Limit"))
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	b, _ := start(t)
	b.Ready = errors.New("secret")
	a := b.Do(t, "GET", "/readyz", "")
	assert.Equal(t, 503, a.Status)
	assert.NotContains(t, a.Body, "secret")
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.Equal(t, 200, b.Do(t, "GET", "/healthz", "").Status)
}

func TestPanicInTheGateway(t *testing.T) {
	t.Parallel()
	var cause any = "a secret"
	logs := &servertest.Logs{}
	g, err := rest.New(rest.Config{
		OpenAPI: servertest.Document(), Log: slog.New(slog.NewJSONHandler(logs, nil)), Observe: func(rest.Answered) {},
		Ready: func(context.Context) error { panic(cause) },
	})
	require.NoError(t, err)
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/readyz", nil)
	g.ServeHTTP(w, r)
	assert.Equal(t, 500, w.Code)
	assert.Contains(t, w.Body.String(), errs.ReasonInternal)
	assert.NotContains(t, w.Body.String(), "a secret")
	require.Len(t, logs.Lines("unexpected error"), 1)
	assert.Contains(t, logs.Lines("unexpected error")[0]["error"], "a secret")
	cause = http.ErrAbortHandler
	assert.PanicsWithValue(t, cause, func() { g.ServeHTTP(w, r) })
}
