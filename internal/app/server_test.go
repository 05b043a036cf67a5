package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/organization"
)

// Both ports close at once when a server stops, whatever still runs on one.
func TestStopClosesBothPorts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.server(t)
	a := b.api(t, s)
	slow, err := net.Dial("tcp", s.Addresses().HTTP)
	require.NoError(t, err)
	defer slow.Close()
	body := `{"repo": "acme/api", "pr_number": 1}`
	_, err = fmt.Fprintf(slow, "POST /v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", a.token, len(body))
	require.NoError(t, err)
	answers := bufio.NewReader(slow)
	line, err := answers.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue", "the request runs")

	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	for _, addr := range []string{s.Addresses().HTTP, s.Addresses().GRPC} {
		require.Eventually(t, func() bool {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				conn.Close()
			}
			return err != nil
		}, patience, 5*time.Millisecond, addr)
	}

	_, err = io.WriteString(slow, body)
	require.NoError(t, err)
	_, err = answers.ReadString('\n') // the empty line of the 100
	require.NoError(t, err)
	resp, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, http.StatusAccepted, resp.StatusCode, "what runs may finish")
	require.NoError(t, <-stopped)
}

func TestNewServerErrors(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { taken.Close() }) // after the parallel subtests
	tests := []struct {
		name   string
		change func(b *bundle)
		want   string
	}{
		{"port taken", func(b *bundle) { b.config.GRPCAddr = taken.Addr().String() }, "grpc-addr: can't listen on"},
		{"no folder for the database", func(b *bundle) { b.config.Database = "sqlite:" + b.dir + "/none/x.db" }, "none"},
		{"token not set", func(b *bundle) {
			b.config.Organizations[0].Host.URL = "https://h/{repo}.git"
			b.config.Organizations[0].Host.TokenEnv = "ACME_TOKEN"
		}, "ACME_TOKEN is not set"},
		{"certificate of the link", func(b *bundle) {
			b.config.Scanners, b.config.TLSCA = []string{"127.0.0.1:1"}, b.dir+"/none.pem"
		}, "tls_ca"},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			good := b.config
			good.Organizations = append([]organization.Organization(nil), b.config.Organizations...)
			tt.change(b)
			_, err := app.NewServer(t.Context(), b.config, os.Getenv, b.logger())
			require.ErrorContains(t, err, tt.want)
			b.config = good
			b.server(t) // what it had taken is free again
		})
	}
}

// Not parallel: it counts goroutines. Tests that are parallel wait until it is
// over.
func TestStopLeavesNoGoroutines(t *testing.T) { //nolint:paralleltest
	b := setup(t)
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()

	s, err := app.NewServer(t.Context(), b.config, os.Getenv, b.logger())
	require.NoError(t, err)
	s.Start()
	resp, err := http.Get("http://" + s.Addresses().HTTP + "/readyz")
	require.NoError(t, err)
	resp.Body.Close()
	stop(t, s)

	unstarted, err := app.NewServer(t.Context(), b.config, os.Getenv, b.logger())
	require.NoError(t, err)
	stop(t, unstarted)

	http.DefaultClient.CloseIdleConnections()
	// What was told to end may still be on its way out.
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()

	for runtime.NumGoroutine() > before {
		select {
		case <-tick.C:
		case <-deadline:
			buf := make([]byte, 1<<20)
			require.FailNow(t, "goroutines are left", "%s", buf[:runtime.Stack(buf, true)])
		}
	}
}
