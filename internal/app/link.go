package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // lets connections ask scanners whether they serve
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/transport/scannergrpc"
)

// How a dead machine at the other end of the link is noticed.
const (
	linkPing        = 20 * time.Second
	linkPingTimeout = 10 * time.Second
	linkMinPing     = 10 * time.Second // a client that pings more often is cut off
)

// linkBuffer is how many bytes the in-memory connection holds each way.
const linkBuffer = 256 << 10

// newScannerServer makes the gRPC server of a scanner, in memory and over TCP
// alike.
func newScannerServer(service *scannergrpc.Server, log *slog.Logger, options ...grpc.ServerOption) *grpc.Server {
	recovered := recovery.WithRecoveryHandlerContext(func(_ context.Context, p any) error {
		log.Error("panic in the scanner", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		return status.Error(codes.Internal, "the scanner met an unexpected fault")
	})
	server := grpc.NewServer(append(append(scannergrpc.ServerOptions(),
		grpc.ChainStreamInterceptor(recovery.StreamServerInterceptor(recovered)),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: linkPing, Timeout: linkPingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: linkMinPing, PermitWithoutStream: true}),
	), options...)...)
	service.Register(server)
	return server
}

// localScanner is a scanner in this process, called through memory.
type localScanner struct {
	server *grpc.Server
	conn   *grpc.ClientConn
	served chan error
}

func startLocalScanner(service *scannergrpc.Server, log *slog.Logger, t tracing) (*localScanner, error) {
	listener := bufconn.Listen(linkBuffer)
	conn, err := grpc.NewClient("passthrough:///scanner", append(t.client(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	)...)
	if err != nil {
		return nil, fmt.Errorf("connect to the scanner in memory: %w", err)
	}
	l := &localScanner{server: newScannerServer(service, log, t.server()...), conn: conn, served: make(chan error, 1)}
	go func() { l.served <- l.server.Serve(listener) }()
	return l, nil
}

func (l *localScanner) stop() error {
	err := l.conn.Close()
	l.server.Stop()
	if served := <-l.served; served != nil && !errors.Is(served, grpc.ErrServerStopped) {
		err = errors.Join(err, served)
	}
	return err
}

// dialScanners returns a connection that hands each scan to the next of the
// configured scanners that is up. One that stops serving is left out.
func dialScanners(c config.Config, t tracing) (*grpc.ClientConn, error) {
	secure := false
	state := resolver.State{}
	for _, addr := range c.Scanners {
		secure = secure || c.TLSTo(addr)
		name, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{
			Addresses: []resolver.Address{{Addr: addr, ServerName: name}},
		})
	}
	creds := insecure.NewCredentials()
	if secure {
		config, err := clientTLS(c.Link)
		if err != nil {
			return nil, err
		}
		creds = credentials.NewTLS(config)
	}
	scanners := manual.NewBuilderWithScheme("scanners")
	scanners.InitialState(state)
	return grpc.NewClient("scanners:///all", append(t.client(),
		grpc.WithNoProxy(), // proxies are for code hosts
		grpc.WithResolvers(scanners),
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}`),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: linkPing, Timeout: linkPingTimeout}),
	)...)
}

// clientTLS is what a server shows to scanners and whom it believes.
func clientTLS(l config.Link) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS13}
	if l.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(l.TLSCert, l.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("tls_cert and tls_key: %w", err)
		}
		t.Certificates = []tls.Certificate{cert}
	}
	if l.TLSCA != "" {
		pool, err := readAuthorities(l.TLSCA)
		if err != nil {
			return nil, err
		}
		t.RootCAs = pool
	}
	return t, nil
}

// serverTLS is what a scanner shows to servers and whom it takes; nil for
// plain text.
func serverTLS(l config.Link) (*tls.Config, error) {
	if l.TLSCert == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(l.TLSCert, l.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("tls_cert and tls_key: %w", err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}}
	if l.TLSCA != "" {
		pool, err := readAuthorities(l.TLSCA)
		if err != nil {
			return nil, err
		}
		t.ClientCAs, t.ClientAuth = pool, tls.RequireAndVerifyClientCert
	}
	return t, nil
}

func readAuthorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tls_ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tls_ca: %s has no certificate in PEM", path)
	}
	return pool, nil
}
