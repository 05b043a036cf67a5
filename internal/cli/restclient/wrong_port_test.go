package restclient

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// What will never work fails at once, and says which flag to change.
func TestWrongPort(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	trusting := &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}

	for name, tc := range map[string]struct {
		server string
		config *tls.Config
		says   string
	}{
		"https on a port for http": {strings.Replace(plain.URL, "http:", "https:", 1), nil, "begin --server with http://"},
		"http on a port for https": {strings.Replace(secure.URL, "https:", "http:", 1), nil, "Begin --server with https://"},
		"gRPC":                     {"http://" + serveGRPC(t), nil, "not its gRPC port"},
		"gRPC over TLS": {
			"https://" + serveGRPC(t, grpc.Creds(credentials.NewServerTLSFromCert(&secure.TLS.Certificates[0]))), trusting,
			"Check --server",
		},
		"an unknown authority": {secure.URL, nil, "--ca-file"},
		"another server":       {plain.URL, nil, "Check --server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := New(tc.server, "prw_key", tc.config, func(err error) { assert.NoError(t, err, "tried again") })
			_, _, err := c.GetReview(t.Context(), "rev_1")
			require.ErrorContains(t, err, tc.says)
		})
	}
}

// A gRPC port greets first, which net/http may see before it has asked.
func TestUnaskedGreeting(t *testing.T) {
	t.Parallel()
	err := New("http://a", "prw_key", nil, nil).unreachable(errors.New("readLoopPeekFailLocked: %!w(<nil>)"))
	require.ErrorContains(t, err, "not its gRPC port")
	assert.False(t, passing(err))
}

func serveGRPC(t *testing.T, options ...grpc.ServerOption) (addr string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(options...)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}
