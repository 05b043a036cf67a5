package tlsfile

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
)

// Credentials returns the credentials of a gRPC client that follow the files:
// each connection is made by what they hold when it begins.
func (l *Loader) Credentials(minVersion uint16) credentials.TransportCredentials {
	return &following{loader: l, minVersion: minVersion}
}

// following makes the credentials of each handshake anew.
type following struct {
	loader     *Loader
	minVersion uint16
	serverName string // instead of the address's, when not ""
}

func (f *following) now() credentials.TransportCredentials {
	config := f.loader.Client(f.minVersion)
	config.ServerName = f.serverName
	return credentials.NewTLS(config)
}

// ClientHandshake implements credentials.TransportCredentials.
func (f *following) ClientHandshake(
	ctx context.Context, authority string, conn net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	return f.now().ClientHandshake(ctx, authority, conn)
}

// ServerHandshake implements credentials.TransportCredentials; a server uses
// Server instead, so it fails.
func (f *following) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(&tls.Config{MinVersion: f.minVersion}).ServerHandshake(conn)
}

// Info implements credentials.TransportCredentials.
func (f *following) Info() credentials.ProtocolInfo {
	return credentials.NewTLS(&tls.Config{MinVersion: f.minVersion, ServerName: f.serverName}).Info()
}

// Clone implements credentials.TransportCredentials.
func (f *following) Clone() credentials.TransportCredentials {
	c := *f
	return &c
}

// OverrideServerName implements credentials.TransportCredentials.
func (f *following) OverrideServerName(name string) error {
	f.serverName = name
	return nil
}
