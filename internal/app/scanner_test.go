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
	"strings"
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
		reached bool
	}{
		{"plain text on loopback", config.Link{}, config.Link{}, true},
		{"certificates on both sides", scannerLink, config.Link{TLSCert: certs.serverCert, TLSKey: certs.serverKey, TLSCA: certs.ca}, true},
		{"certificate of the scanner only", config.Link{TLSCert: certs.scannerCert, TLSKey: certs.scannerKey}, config.Link{TLSCA: certs.ca}, true},
		{"server without a certificate", scannerLink, config.Link{TLSCA: certs.ca}, false},
		{"scanner of another authority", scannerLink, config.Link{TLSCert: certs.serverCert, TLSKey: certs.serverKey, TLSCA: other.ca}, false},
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
			id := a.create(t)
			if !tt.reached {
				// The review waits for a scanner, and the log says why.
				require.Eventually(t, func() bool { return strings.Count(b.log.String(), "scanner_unavailable") > 3 }, patience, 5*time.Millisecond)
				return
			}
			assert.Equal(t, "complete", a.finish(t, id)["status"])
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

// A scanner that has to stop during a scan hands it back, and that is no
// failure of the review.
func TestScannerHandsBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := b.silentHost(t)
	scanner := b.scanner(t, config.Link{})
	b.config.Scanners = []string{scanner.Addr()}
	a := b.api(t, b.server(t))
	id := a.create(t)
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // there is no time left
	require.NoError(t, scanner.Stop(ctx))
	require.Eventually(t, func() bool { return strings.Contains(b.log.String(), "scanner_stopping") }, patience, 5*time.Millisecond)
	r, err := b.store(t).GetReviewState(t.Context(), "acme", id)
	require.NoError(t, err)
	assert.False(t, r.Status.Final())
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
