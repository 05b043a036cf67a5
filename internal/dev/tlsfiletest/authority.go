// Package tlsfiletest makes certificates for tests.
package tlsfiletest

import (
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

	"github.com/stretchr/testify/require"
)

// Authority issues certificates. All keys are ECDSA P-256.
type Authority struct {
	File string // its own certificate, as PEM

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one whose certificate is a file that ends with the test.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{
		File: filepath.Join(t.TempDir(), "ca.pem"),
		cert: &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		},
		key: newKey(t),
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	require.NoError(t, err)
	write(t, a.File, "CERTIFICATE", der)
	return a
}

// Leaf is what a certificate is for.
type Leaf struct {
	Name      string           // common name, by which a test tells certificates apart
	Usage     x509.ExtKeyUsage // ExtKeyUsageServerAuth or ExtKeyUsageClientAuth
	DNSNames  []string         // beside 127.0.0.1 and ::1
	Elsewhere bool             // not for 127.0.0.1 and ::1
	Expired   bool             // since a minute
}

// Issue makes a certificate and its key, as PEM files that end with the test.
func (a *Authority) Issue(t testing.TB, leaf Leaf) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.Renew(t, cert, key, leaf)
	return cert, key
}

// Renew replaces the files of a certificate and its key, one after the other
// as programs do that renew certificates.
func (a *Authority) Renew(t testing.TB, cert, key string, leaf Leaf) {
	t.Helper()
	k := newKey(t)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: leaf.Name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{leaf.Usage}, DNSNames: leaf.DNSNames,
	}
	if !leaf.Elsewhere {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	}
	if leaf.Expired {
		template.NotAfter = time.Now().Add(-time.Minute)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(k)
	require.NoError(t, err)
	write(t, cert, "CERTIFICATE", der)
	write(t, key, "PRIVATE KEY", private)
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return k
}

// write replaces a file at once.
func write(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	next := path + ".next"
	require.NoError(t, os.WriteFile(next, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	require.NoError(t, os.Rename(next, path))
}
