package tlsfile

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/credentials"
)

// refusalEvery is the least time between two log lines about connections that
// were refused: strangers make as many as they like.
const refusalEvery = 5 * time.Second

// LogRefused makes a gRPC server's credentials log handshakes that fail, which
// gRPC does not: a line in 5 seconds at most. Who only connects and leaves, as
// probes do, is not logged.
func LogRefused(creds credentials.TransportCredentials, log *slog.Logger) credentials.TransportCredentials {
	return refusing{creds, log, &rate.Sometimes{Interval: refusalEvery}}
}

type refusing struct {
	credentials.TransportCredentials
	log   *slog.Logger
	often *rate.Sometimes
}

// ServerHandshake implements credentials.TransportCredentials.
func (r refusing) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := r.TransportCredentials.ServerHandshake(conn)
	if err != nil && !errors.Is(err, io.EOF) {
		r.often.Do(func() {
			r.log.Warn("a connection was refused: the TLS handshake failed", "peer", conn.RemoteAddr().String(), "error", err)
		})
	}

	return secure, info, err
}

// Clone implements credentials.TransportCredentials.
func (r refusing) Clone() credentials.TransportCredentials {
	return refusing{r.TransportCredentials.Clone(), r.log, r.often}
}
