// Package tlsfile makes TLS configurations of PEM files and follows the files
// as they change, so that certificates are rotated without a restart.
package tlsfile

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// checkEvery is the least time between two looks at the files. A change holds
// for handshakes that begin later than this after it.
const checkEvery = 2 * time.Second

// Files name what an end of a connection shows and whom it believes.
type Files struct {
	Cert string // certificate chain, leaf first; "" to show none
	Key  string // private key of Cert; both or neither
	// authorities that the other end's certificate must come from; "" for the system's, and for a server, to ask
	// for none
	CA string
}

// Loader has what is in the files. A handshake looks at them when nobody did
// for two seconds: there is nothing to start or to stop. Files that can't be
// used (half written, or a key that isn't the certificate's yet) change
// nothing; they are logged once and looked at again. It is safe for concurrent
// use.
type Loader struct {
	files Files
	log   *slog.Logger
	every time.Duration

	current atomic.Pointer[material]

	mu         sync.Mutex // held by the one handshake that looks
	looked     time.Time
	complained string // what was logged of files that can't be used; "" for nothing
}

// material is what is in the files. It is never changed.
type material struct {
	sum   [sha256.Size]byte // of the files
	certs []tls.Certificate // none or one
	pool  *x509.CertPool    // nil for none
}

// Load reads the files. It fails, naming the file, when one can't be read or
// used.
func Load(files Files, log *slog.Logger) (*Loader, error) {
	l := &Loader{files: files, log: log, every: checkEvery}
	m, err := l.read()
	if err != nil {
		return nil, err
	}

	l.current.Store(m)
	l.looked = time.Now()

	return l, nil
}

// Server returns the configuration of a server that shows the certificate and,
// when Files has a CA, takes only clients that show one from there. protocols
// are those of ALPN, the preferred one first.
func (l *Loader) Server(minVersion uint16, protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: minVersion,
		NextProtos: slices.Clone(protocols), // http.Server looks here
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			m := l.fresh()
			c := &tls.Config{MinVersion: minVersion, NextProtos: slices.Clone(protocols), Certificates: m.certs}
			if m.pool != nil {
				c.ClientCAs, c.ClientAuth = m.pool, tls.RequireAndVerifyClientCert
				// A resumed session was checked by the authorities of its
				// first handshake, which may have been taken out since.
				c.SessionTicketsDisabled = true
			}
			return c, nil
		},
	}
}

// Client returns the configuration of a client by the files as they are now:
// one that connects for long asks anew for each connection.
func (l *Loader) Client(minVersion uint16) *tls.Config {
	m := l.fresh()
	return &tls.Config{MinVersion: minVersion, Certificates: m.certs, RootCAs: m.pool}
}

// NotAfter returns when the certificate ends; zero when there is none.
func (l *Loader) NotAfter() time.Time { return l.fresh().notAfter() }

func (m *material) notAfter() time.Time {
	if len(m.certs) == 0 || m.certs[0].Leaf == nil {
		return time.Time{}
	}
	return m.certs[0].Leaf.NotAfter
}

// fresh returns what is in the files. One caller at a time looks at them, and
// nobody waits for it.
func (l *Loader) fresh() *material {
	if l.mu.TryLock() {
		defer l.mu.Unlock()
		if time.Since(l.looked) >= l.every {
			l.look()
			l.looked = time.Now()
		}
	}
	return l.current.Load()
}

// look takes over what is in the files when that is new and good.
func (l *Loader) look() {
	old := l.current.Load()
	m, err := l.read()
	switch {
	case err != nil && err.Error() != l.complained:
		l.complained = err.Error()
		l.log.Error("new TLS files can't be used; those from before stay in use", "error", err, "not_after", old.notAfter())
	case err == nil:
		l.complained = ""
		if m.sum != old.sum {
			l.current.Store(m)
			l.log.Info("TLS files reloaded", "cert", l.files.Cert, "ca", l.files.CA, "not_after", m.notAfter())
		}
	}
}

func (l *Loader) read() (*material, error) {
	if (l.files.Cert == "") != (l.files.Key == "") {
		return nil, errors.New("a certificate and its key belong together; give both or neither")
	}

	var data [3][]byte
	sum := sha256.New()
	for i, path := range []string{l.files.Cert, l.files.Key, l.files.CA} {
		if path == "" {
			continue
		}

		var err error
		if data[i], err = os.ReadFile(path); err != nil {
			return nil, err
		}
		fmt.Fprintf(sum, "%d %d %s\n", i, len(data[i]), data[i])
	}

	m := &material{sum: [sha256.Size]byte(sum.Sum(nil))}
	if l.files.Cert != "" {
		cert, err := tls.X509KeyPair(data[0], data[1])
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", l.files.Cert, l.files.Key, err)
		}
		m.certs = []tls.Certificate{cert}
	}

	if l.files.CA != "" {
		m.pool = x509.NewCertPool()
		if !m.pool.AppendCertsFromPEM(data[2]) {
			return nil, fmt.Errorf("%s has no certificate in PEM", l.files.CA)
		}
	}

	return m, nil
}
