package app_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// callers call a server's two ports by one TLS configuration.
type callers struct {
	addresses app.Addresses
	token     string
	config    *tls.Config
}

// rest reads a page over REST and returns its protocol.
func (c callers) rest(t *testing.T, protocols http.Protocols) (string, error) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: c.config.Clone(), Protocols: &protocols}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+c.addresses.HTTP+"/v1/rules", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", err
	}

	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	return resp.Proto, nil
}

func (c callers) grpc(t *testing.T, creds credentials.TransportCredentials) error {
	t.Helper()
	conn, err := grpc.NewClient(c.addresses.GRPC, grpc.WithTransportCredentials(creds), grpc.WithNoProxy())
	require.NoError(t, err)
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+c.token)
	_, err = prwardenv1.NewRuleServiceClient(conn).ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{})
	return err
}

func protocols(set func(*http.Protocols)) (p http.Protocols) {
	set(&p)
	return p
}

func TestPublicPortsSpeakTLS(t *testing.T) {
	t.Parallel()
	ca := tlsfiletest.NewAuthority(t)
	leaf := tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth}
	b := setup(t)
	b.config.ListenTLSCert, b.config.ListenTLSKey = ca.Issue(t, leaf)
	s := b.server(t)
	loader, err := tlsfile.Load(tlsfile.Files{CA: ca.File}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c := callers{s.Addresses(), b.token(t), loader.Client(tls.VersionTLS12)}

	for want, set := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2.0": func(p *http.Protocols) { p.SetHTTP2(true) },
	} {
		got, err := c.rest(t, protocols(set))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	require.NoError(t, c.grpc(t, credentials.NewTLS(c.config)))

	// Plain text is not spoken there.
	resp, err := http.Get("http://" + c.addresses.HTTP + "/healthz")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	assert.Equal(t, codes.Unavailable, status.Code(c.grpc(t, insecure.NewCredentials())))

	assert.NotContains(t, b.log.String(), "plain text")
}

func TestPublicPortsWantClientCertificates(t *testing.T) {
	t.Parallel()
	ca, clients := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	b := setup(t)
	b.config.ListenTLSCert, b.config.ListenTLSKey = ca.Issue(
		t, tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth},
	)
	b.config.ListenTLSClientCA = clients.File
	s := b.server(t)
	cert, key := clients.Issue(t, tlsfiletest.Leaf{Name: "client", Usage: x509.ExtKeyUsageClientAuth})
	quiet := slog.New(slog.DiscardHandler)
	with, err := tlsfile.Load(tlsfile.Files{Cert: cert, Key: key, CA: ca.File}, quiet)
	require.NoError(t, err)
	without, err := tlsfile.Load(tlsfile.Files{CA: ca.File}, quiet)
	require.NoError(t, err)

	token := b.token(t)
	good := callers{s.Addresses(), token, with.Client(tls.VersionTLS12)}
	bad := callers{s.Addresses(), token, without.Client(tls.VersionTLS12)}
	both := protocols(func(p *http.Protocols) { p.SetHTTP1(true); p.SetHTTP2(true) })
	_, err = good.rest(t, both)
	require.NoError(t, err)
	require.NoError(t, good.grpc(t, with.Credentials(tls.VersionTLS12)))
	_, err = bad.rest(t, both)
	require.Error(t, err)
	assert.Equal(t, codes.Unavailable, status.Code(bad.grpc(t, without.Credentials(tls.VersionTLS12))))
}

func TestServerSaysWhatIsWrongWithItsCertificate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.config.ListenTLSCert, b.config.ListenTLSKey = "/nowhere/cert.pem", "/nowhere/key.pem"
	_, err := app.NewServer(t.Context(), b.config, os.Getenv, b.logger())
	require.ErrorContains(t, err, "/nowhere/cert.pem")
	assert.ErrorContains(t, err, "public ports")
}
