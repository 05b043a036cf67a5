package tlsfile

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
)

// refusalEvery is the least time between two log lines about connections that
// were refused: strangers make as many as they like.
const refusalEvery = 5 * time.Second

// LogRefused makes a gRPC server's credentials log handshakes that fail, which
// gRPC keeps to itself: a line in 5 seconds at most, which counts those since
// the one before. Who only connects and leaves, as probes do, is not logged.
func LogRefused(creds credentials.TransportCredentials, log *slog.Logger) credentials.TransportCredentials {
	return refusing{creds, &refusals{log: log, now: time.Now}}
}

type refusing struct {
	credentials.TransportCredentials
	refusals *refusals
}

// ServerHandshake implements credentials.TransportCredentials.
func (r refusing) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := r.TransportCredentials.ServerHandshake(conn)
	if err != nil && !errors.Is(err, io.EOF) {
		r.refusals.add(conn.RemoteAddr(), err)
	}
	return secure, info, err
}

// Clone implements credentials.TransportCredentials.
func (r refusing) Clone() credentials.TransportCredentials {
	return refusing{r.TransportCredentials.Clone(), r.refusals}
}

// refusals are the handshakes that failed.
type refusals struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	logged time.Time // last
	since  int       // that was
}

func (r *refusals) add(peer net.Addr, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since++
	now := r.now()
	if now.Sub(r.logged) < refusalEvery {
		return
	}
	r.log.Warn("a connection was refused: the TLS handshake failed", "peer", peer.String(), "error", err, "count", r.since)
	r.logged, r.since = now, 0
}
