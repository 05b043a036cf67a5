package app_test

import (
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/steady"
	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
	"github.com/prwarden/prwarden/internal/review"
)

// keepPort has the scanner that is started next listen on a port that is nobody
// else's when it has stopped.
func (b *bundle) keepPort(t *testing.T) {
	t.Helper()
	port, err := steady.ReservePort()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, port.Close()) })
	b.config.ScannerGRPCAddr = port.Addr()
}

// scanner starts a scanner process of the bundle, with a cache of its own.
func (b *bundle) scanner(t *testing.T, link config.Link) *app.Scanner {
	t.Helper()
	c := b.config
	c.CacheDir = t.TempDir()
	c.Link = link
	s, err := app.NewScanner(t.Context(), c, os.Getenv, b.logger())
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { stop(t, s) })
	return s
}

func TestScannersElsewhere(t *testing.T) {
	t.Parallel()
	authority, other := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	issue := func(leaf tlsfiletest.Leaf) config.Link {
		cert, key := authority.Issue(t, leaf)
		return config.Link{TLSCert: cert, TLSKey: key, TLSCA: authority.File}
	}

	scanner := issue(tlsfiletest.Leaf{Name: "scanner", Usage: x509.ExtKeyUsageServerAuth})
	server := issue(tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageClientAuth})
	believing := func(l config.Link, ca string) config.Link {
		l.TLSCA = ca
		return l
	}

	tests := []struct {
		name            string
		scanner, server config.Link
		called          string // what the server calls the scanner
		refusal         string // what the server's log says of a scanner that it can't reach; "" when it can
	}{
		{"plain text on loopback", config.Link{}, config.Link{}, "127.0.0.1", ""},
		{"certificates on both sides", scanner, server, "127.0.0.1", ""},
		{"certificate of the scanner only", believing(scanner, ""), config.Link{TLSCA: authority.File}, "127.0.0.1", ""},
		{"server without a certificate", scanner, config.Link{TLSCA: authority.File}, "127.0.0.1", "certificate required"},
		{"server of another authority", believing(scanner, other.File), server, "127.0.0.1", "unknown certificate authority"},
		{"scanner of another authority", scanner, believing(server, other.File), "127.0.0.1", "unknown authority"},
		{
			"certificate for its name",
			issue(tlsfiletest.Leaf{Usage: x509.ExtKeyUsageServerAuth, DNSNames: []string{"localhost"}, Elsewhere: true}),
			server, "localhost", "",
		},
		{
			"certificate for another name",
			issue(tlsfiletest.Leaf{Usage: x509.ExtKeyUsageServerAuth, DNSNames: []string{"scanner.example"}, Elsewhere: true}),
			server, "127.0.0.1", "127.0.0.1",
		},
		{
			"scanner shows a client's certificate", issue(tlsfiletest.Leaf{Usage: x509.ExtKeyUsageClientAuth}), server,
			"127.0.0.1", "incompatible key usage",
		},
		{"plain text at a scanner with certificates", scanner, config.Link{}, "127.0.0.1", "a scanner can't be reached"},
		{"certificates at a scanner in plain text", config.Link{}, server, "127.0.0.1", "a scanner can't be reached"},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			scanner := b.scanner(t, tt.scanner)
			b.config.Link = tt.server
			_, port, err := net.SplitHostPort(scanner.Addr())
			require.NoError(t, err)
			b.config.Scanners = []string{net.JoinHostPort(tt.called, port)}
			s := b.server(t)
			a := b.api(t, s)
			id := a.create(t)
			if tt.refusal == "" {
				r := a.finish(t, id)
				assert.Equal(t, "complete", r["status"], "%v", r)
				return
			}

			require.Eventually(t, func() bool {
				return strings.Contains(b.log.String(), "a scanner can't be reached") &&
					strings.Contains(b.log.String(), tt.refusal)
			}, patience, 5*time.Millisecond)
			if tt.scanner.TLSCert != "" {
				require.Eventually(t, func() bool {
					return strings.Contains(b.log.String(), `"msg":"a connection was refused: the TLS handshake failed"`)
				}, patience, 5*time.Millisecond, "its operator is told, too")
			}

			r, err := b.store(t).GetReviewState(t.Context(), "acme", id)
			require.NoError(t, err)
			assert.Equal(t, review.Queued, r.Status, "nobody can scan it")
		})
	}
}

// Certificates, and their authority with them, are renewed while server and
// scanner run: the connection that there is goes on, and new ones are made by
// the new files.
func TestScannerCertificatesAreRenewed(t *testing.T) {
	t.Parallel()
	before, after := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	ofScanner, ofServer := tlsfiletest.Leaf{
		Usage: x509.ExtKeyUsageServerAuth,
	}, tlsfiletest.Leaf{Usage: x509.ExtKeyUsageClientAuth}
	authority := filepath.Join(t.TempDir(), "ca.pem")
	believe := func(a *tlsfiletest.Authority) {
		pem, err := os.ReadFile(a.File)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(authority, pem, 0o600))
	}

	believe(before)
	b := setup(t)
	b.keepPort(t)
	scannerCert, scannerKey := before.Issue(t, ofScanner)
	first := b.scanner(t, config.Link{TLSCert: scannerCert, TLSKey: scannerKey, TLSCA: authority})
	serverCert, serverKey := before.Issue(t, ofServer)
	b.config.Link = config.Link{TLSCert: serverCert, TLSKey: serverKey, TLSCA: authority}
	b.config.Scanners = []string{first.Addr()}
	a := b.api(t, b.server(t))
	assert.Equal(t, "complete", a.finish(t, a.create(t))["status"])

	after.Renew(t, serverCert, serverKey, ofServer)
	after.Renew(t, scannerCert, scannerKey, ofScanner)
	believe(after)
	assert.Equal(t, "complete", a.finish(t, a.create(t))["status"], "by the connection that there is")

	// A scanner that comes to the same address believes the new authority only.
	stop(t, first)
	b.scanner(t, config.Link{TLSCert: scannerCert, TLSKey: scannerKey, TLSCA: authority})
	assert.Equal(t, "complete", a.finish(t, a.create(t))["status"])
}
