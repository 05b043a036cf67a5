package cli_test

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// A server with a certificate of its own authority, that also wants one of its
// clients.
func TestReviewOverTLS(t *testing.T) {
	t.Parallel()
	ca, other := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	serverCert, serverKey := ca.Issue(t, tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth})
	clientCert, clientKey := ca.Issue(t, tlsfiletest.Leaf{Name: "client", Usage: x509.ExtKeyUsageClientAuth})
	quiet := slog.New(slog.DiscardHandler)
	loader, err := tlsfile.Load(tlsfile.Files{Cert: serverCert, Key: serverKey, CA: ca.File}, quiet)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(fakeServer{})
	server.Config.ErrorLog = slog.NewLogLogger(quiet.Handler(), slog.LevelDebug)
	server.Listener = tls.NewListener(server.Listener, loader.Server(tls.VersionTLS12, "h2", "http/1.1"))
	server.Start()
	t.Cleanup(server.Close)
	https := strings.Replace(server.URL, "http:", "https:", 1)

	for name, tc := range map[string]struct {
		client config.Client
		says   string // "" when it works
	}{
		"works":                    {config.Client{CAFile: ca.File, ClientCert: clientCert, ClientKey: clientKey}, ""},
		"the system knows no such": {config.Client{}, "certificate"},
		"another authority": {
			config.Client{CAFile: other.File, ClientCert: clientCert, ClientKey: clientKey}, "certificate",
		},
		"no certificate of its own": {config.Client{CAFile: ca.File}, "certificate required"},
		"a file that is not there":  {config.Client{CAFile: filepath.Join(t.TempDir(), "none")}, "ca_file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.client.Server = https
			in := asked()
			in.NoWait = true
			var out, errOut strings.Builder
			err := cli.Review(t.Context(), cli.Streams{Out: &out, Err: &errOut, Env: []string{"PRWARDEN_API_KEY=prw_key"}},
				tc.client, in)
			if tc.says == "" {
				require.NoError(t, err)
				assert.Equal(t, "rev_1\n", out.String())
				return
			}

			require.ErrorContains(t, err, tc.says)
		})
	}
}
