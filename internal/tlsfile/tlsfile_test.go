package tlsfile

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
)

// eager is a Loader that looks at its files before every handshake.
func eager(t *testing.T, files Files) (*Loader, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	l, err := Load(files, slog.New(slog.NewJSONHandler(&out, nil)))
	require.NoError(t, err)
	l.every = 0
	return l, &out
}

// pair returns the two ends of a connection. It has buffers, as both ends may
// send an alert at once.
func pair(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	for _, c := range []net.Conn{server, client} {
		require.NoError(t, c.SetDeadline(time.Now().Add(5*time.Minute)))
		t.Cleanup(func() { c.Close() })
	}
	return server, client
}

// shake makes a connection and returns the names in the certificates that each
// end saw of the other, "" for none.
func shake(t *testing.T, server, client *tls.Config) (seenByClient, seenByServer string, err error) {
	t.Helper()
	a, b := pair(t)
	client = client.Clone()
	client.ServerName = "127.0.0.1"
	s, c := tls.Server(a, server), tls.Client(b, client)
	served := make(chan error, 1)
	go func() {
		defer a.Close()
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte{1}) // with TLS 1.3 the client is done before the server judges it
		}
		served <- err
	}()
	err = c.Handshake()
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	b.Close()
	if served := <-served; err == nil {
		err = served
	}
	if err != nil {
		return "", "", err
	}
	return name(c), name(s), nil
}

func name(c *tls.Conn) string {
	if peers := c.ConnectionState().PeerCertificates; len(peers) > 0 {
		return peers[0].Subject.CommonName
	}
	return ""
}

func TestEachEndShowsAndVerifies(t *testing.T) {
	t.Parallel()
	ours, others := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	issue := func(a *tlsfiletest.Authority, leaf tlsfiletest.Leaf) Files {
		cert, key := a.Issue(t, leaf)
		return Files{Cert: cert, Key: key, CA: ours.File}
	}
	server := tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth}
	client := tlsfiletest.Leaf{Name: "client", Usage: x509.ExtKeyUsageClientAuth}
	open := issue(ours, server)
	open.CA = ""
	expiredServer, expiredClient := server, client
	expiredServer.Expired, expiredClient.Expired = true, true
	elsewhere := server
	elsewhere.Elsewhere, elsewhere.DNSNames = true, []string{"prwarden.example"}

	tests := map[string]struct {
		server, client         Files
		serverSeen, clientSeen string
		fails                  bool
	}{
		"both show": {
			server: issue(ours, server), client: issue(ours, client), serverSeen: "server", clientSeen: "client",
		},
		"server asks for none":           {server: open, client: Files{CA: ours.File}, serverSeen: "server"},
		"client shows none":              {server: issue(ours, server), client: Files{CA: ours.File}, fails: true},
		"client of another authority":    {server: issue(ours, server), client: issue(others, client), fails: true},
		"expired client":                 {server: issue(ours, server), client: issue(ours, expiredClient), fails: true},
		"a server's is no client's":      {server: issue(ours, server), client: issue(ours, server), fails: true},
		"server of another authority":    {server: issue(others, server), client: issue(ours, client), fails: true},
		"system's authorities":           {server: open, client: Files{}, fails: true},
		"expired server":                 {server: issue(ours, expiredServer), client: issue(ours, client), fails: true},
		"server with another name":       {server: issue(ours, elsewhere), client: issue(ours, client), fails: true},
		"a client's is no server's":      {server: issue(ours, client), client: issue(ours, client), fails: true},
		"a server without a certificate": {server: Files{CA: ours.File}, client: issue(ours, client), fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := eager(t, tc.server)
			c, _ := eager(t, tc.client)
			serverSeen, clientSeen, err := shake(t, s.Server(tls.VersionTLS12, "h2"), c.Client(tls.VersionTLS13))
			assert.Equal(t, tc.fails, err != nil, "%v", err)
			assert.Equal(t, tc.serverSeen, serverSeen)
			assert.Equal(t, tc.clientSeen, clientSeen)
		})
	}
}

func TestVersionsAndProtocols(t *testing.T) {
	t.Parallel()
	ca := tlsfiletest.NewAuthority(t)
	cert, key := ca.Issue(t, tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth})
	s, _ := eager(t, Files{Cert: cert, Key: key})
	c, _ := eager(t, Files{CA: ca.File})
	old := c.Client(tls.VersionTLS10)
	old.MaxVersion = tls.VersionTLS11
	_, _, err := shake(t, s.Server(tls.VersionTLS12, "h2"), old)
	require.Error(t, err)
	other := c.Client(tls.VersionTLS12)
	other.NextProtos = []string{"spdy/3"}
	_, _, err = shake(t, s.Server(tls.VersionTLS12, "h2", "http/1.1"), other)
	require.ErrorContains(t, err, "no application protocol")
	assert.False(t, s.NotAfter().IsZero())
	assert.True(t, c.NotAfter().IsZero())
}

func TestFilesAreFollowed(t *testing.T) {
	t.Parallel()
	ca, next := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	leaf := tlsfiletest.Leaf{Name: "first", Usage: x509.ExtKeyUsageServerAuth}
	cert, key := ca.Issue(t, leaf)
	s, log := eager(t, Files{Cert: cert, Key: key})
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	copyFile(t, ca.File, caFile)
	c, _ := eager(t, Files{CA: caFile})
	config := s.Server(tls.VersionTLS12, "h2")
	seen := func() string {
		t.Helper()
		n, _, err := shake(t, config, c.Client(tls.VersionTLS12))
		require.NoError(t, err)
		return n
	}
	assert.Equal(t, "first", seen())
	assert.Empty(t, log.String(), "what did not change is not told")

	good, err := os.ReadFile(cert)
	require.NoError(t, err)
	for _, broken := range [][]byte{good[:len(good)/2], {}, []byte("no certificate")} {
		require.NoError(t, os.WriteFile(cert, broken, 0o600))
		assert.Equal(t, "first", seen())
		assert.Equal(t, "first", seen())
	}
	require.NoError(t, os.Remove(cert))
	assert.Equal(t, "first", seen())
	assert.Equal(t, "first", seen())
	assert.Equal(t, 2, strings.Count(log.String(), "can't be used"), "no certificate and missing, each once: %s", log)

	leaf.Name = "second"
	ca.Renew(t, cert, key+".other", leaf)
	assert.Equal(t, "first", seen(), "a certificate whose key is not there yet")
	require.NoError(t, os.Rename(key+".other", key))
	assert.Equal(t, "second", seen())
	assert.Equal(t, 1, strings.Count(log.String(), "TLS files reloaded"))

	// The other end's authority changes, too.
	leaf.Name = "third"
	next.Renew(t, cert, key, leaf)
	_, _, err = shake(t, config, c.Client(tls.VersionTLS12))
	require.Error(t, err)
	copyFile(t, next.File, caFile)
	assert.Equal(t, "third", seen())
}

// A session that was begun under an authority must not outlive it.
func TestSessionsAreNotResumedPastTheirAuthority(t *testing.T) {
	t.Parallel()
	ca, next := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	cert, key := ca.Issue(t, tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth})
	clientCert, clientKey := ca.Issue(t, tlsfiletest.Leaf{Name: "client", Usage: x509.ExtKeyUsageClientAuth})
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	copyFile(t, ca.File, caFile)
	s, _ := eager(t, Files{Cert: cert, Key: key, CA: caFile})
	c, _ := eager(t, Files{Cert: clientCert, Key: clientKey, CA: ca.File})
	config, client := s.Server(tls.VersionTLS12), c.Client(tls.VersionTLS12)
	client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	for range 2 {
		_, seen, err := shake(t, config, client)
		require.NoError(t, err)
		assert.Equal(t, "client", seen)
	}
	copyFile(t, next.File, caFile)
	_, _, err := shake(t, config, client)
	assert.Error(t, err)
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	ca := tlsfiletest.NewAuthority(t)
	leaf := tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth}
	cert, key := ca.Issue(t, leaf)
	_, otherKey := ca.Issue(t, leaf)
	for name, tc := range map[string]struct {
		files Files
		says  string
	}{
		"no such file":      {Files{Cert: cert + "x", Key: key}, cert + "x"},
		"another's key":     {Files{Cert: cert, Key: otherKey}, otherKey},
		"no key":            {Files{Cert: cert}, "both or neither"},
		"CA is no CA":       {Files{CA: key}, "no certificate"},
		"CA is a directory": {Files{CA: filepath.Dir(key)}, filepath.Dir(key)},
	} {
		_, err := Load(tc.files, slog.New(slog.DiscardHandler))
		assert.ErrorContains(t, err, tc.says, name)
	}
}

func TestCredentialsFollow(t *testing.T) {
	t.Parallel()
	ca, next := tlsfiletest.NewAuthority(t), tlsfiletest.NewAuthority(t)
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	copyFile(t, ca.File, caFile)
	cert, key := ca.Issue(t, tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth})
	s, _ := eager(t, Files{Cert: cert, Key: key})
	c, _ := eager(t, Files{CA: caFile})
	creds := c.Credentials(tls.VersionTLS12).Clone()
	assert.Equal(t, "tls", creds.Info().SecurityProtocol)
	connect := func(authority string) error {
		a, b := pair(t)
		go func() { _ = tls.Server(a, s.Server(tls.VersionTLS12, "h2")).Handshake() }()
		_, _, err := creds.ClientHandshake(context.Background(), authority, b)
		return err
	}
	require.NoError(t, connect("127.0.0.1:443"))
	require.Error(t, connect("192.0.2.1:443"), "the name is checked")
	copyFile(t, next.File, caFile)
	require.Error(t, connect("127.0.0.1:443"))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}
