package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/config"
)

// scanner starts a scanner process of the bundle, with a cache of its own.
func (b *bundle) scanner(t *testing.T, link config.Link) *app.Scanner {
	t.Helper()
	c := b.config
	c.CacheDir = t.TempDir()
	c.Link = link
	s, err := app.NewScanner(t.Context(), c, nil, b.logger())
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { stop(t, s) })
	return s
}

func TestScannersElsewhere(t *testing.T) {
	t.Parallel()
	certs := makeCertificates(t)
	other := makeCertificates(t)
	scannerLink := config.Link{TLSCert: certs.scannerCert, TLSKey: certs.scannerKey, TLSCA: certs.ca}
	tests := []struct {
		name    string
		scanner config.Link
		server  config.Link
		want    string
	}{
		{"plain text on loopback", config.Link{}, config.Link{}, "complete"},
		{"certificates on both sides", scannerLink, config.Link{TLSCert: certs.serverCert, TLSKey: certs.serverKey, TLSCA: certs.ca}, "complete"},
		{"certificate of the scanner only", config.Link{TLSCert: certs.scannerCert, TLSKey: certs.scannerKey}, config.Link{TLSCA: certs.ca}, "complete"},
		{"server without a certificate", scannerLink, config.Link{TLSCA: certs.ca}, "failed"},
		{"scanner of another authority", scannerLink, config.Link{TLSCert: certs.serverCert, TLSKey: certs.serverKey, TLSCA: other.ca}, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			scanner := b.scanner(t, tt.scanner)
			b.config.Link = tt.server
			b.config.Scanners = []string{scanner.Addr()}
			b.config.Organizations[0].Host.URL = "file:///nowhere/{repo}.git" // the server itself has no use for it
			s := b.server(t)
			a := b.api(t, s)
			r := a.finish(t, a.create(t))
			assert.Equal(t, tt.want, r["status"], "%v", r["error"])
			if tt.want == "failed" {
				assert.Equal(t, "scanner_unavailable", r["error"].(map[string]any)["code"])
			}
		})
	}
}

// With two scanners of which one is gone, scans go to the other.
func TestScannerGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gone := b.scanner(t, config.Link{})
	stays := b.scanner(t, config.Link{})
	stop(t, gone)
	b.config.Scanners = []string{gone.Addr(), stays.Addr()}
	a := b.api(t, b.server(t))
	for range 3 {
		assert.Equal(t, "complete", a.finish(t, a.create(t))["status"])
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- app.Scan(ctx, b.config, nil, b.logger()) }()
	require.Eventually(t, func() bool { return len(b.log.String()) > 0 }, patience, 5*time.Millisecond)
	assert.Contains(t, b.log.String(), `"msg":"serving","grpc_addr":"127.0.0.1:`)
	cancel()
	require.NoError(t, <-ended)
}

type certificates struct{ ca, scannerCert, scannerKey, serverCert, serverKey string }

// makeCertificates makes an authority and a certificate for each end, as PEM
// files.
func makeCertificates(t *testing.T) certificates {
	t.Helper()
	dir := t.TempDir()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	issue := func(name string, usage x509.ExtKeyUsage) (cert, key string) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		template := &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		}
		der, err := x509.CreateCertificate(rand.Reader, template, authority, &k.PublicKey, authorityKey)
		require.NoError(t, err)
		private, err := x509.MarshalPKCS8PrivateKey(k)
		require.NoError(t, err)
		return write(name+".pem", "CERTIFICATE", der), write(name+".key", "PRIVATE KEY", private)
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	require.NoError(t, err)
	c := certificates{ca: write("ca.pem", "CERTIFICATE", der)}
	c.scannerCert, c.scannerKey = issue("scanner", x509.ExtKeyUsageServerAuth)
	c.serverCert, c.serverKey = issue("server", x509.ExtKeyUsageClientAuth)
	return c
}
