package tlsfile

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/credentials"

	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
)

func TestRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	ca := tlsfiletest.NewAuthority(t)
	cert, key := ca.Issue(t, tlsfiletest.Leaf{Name: "scanner", Usage: x509.ExtKeyUsageServerAuth})
	s, _ := eager(t, Files{Cert: cert, Key: key, CA: ca.File})
	stranger, _ := eager(t, Files{CA: ca.File})
	var out bytes.Buffer
	newCredentials := func() credentials.TransportCredentials {
		return LogRefused(
			credentials.NewTLS(s.Server(tls.VersionTLS13, "h2")), slog.New(slog.NewJSONHandler(&out, nil)),
		)
	}
	creds := newCredentials()

	connect := func() (peer string) {
		server, client := pair(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			config := stranger.Client(tls.VersionTLS13)
			config.ServerName, config.NextProtos = "127.0.0.1", []string{"h2"}
			c := tls.Client(client, config)
			if c.Handshake() == nil {
				_, _ = c.Read(make([]byte, 1)) // until it is refused
			}
		}()
		_, _, err := creds.Clone().ServerHandshake(server)
		require.Error(t, err)
		<-done
		return server.RemoteAddr().String()
	}
	first := connect()
	for range 9 {
		connect()
	}
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), "%s", &out)
	assert.Contains(t, out.String(), first)
	assert.Contains(t, out.String(), "client didn't provide a certificate")

	// A probe that only connects.
	out.Reset()
	server, client := pair(t)
	require.NoError(t, client.Close())
	_, _, err := newCredentials().ServerHandshake(server)
	require.Error(t, err)
	assert.Empty(t, out.String())
}
