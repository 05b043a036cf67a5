package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/scanner"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// linkBuffer is how many bytes the in-memory connection holds each way.
const linkBuffer = 256 << 10

// newScannerServer makes the gRPC server of a scanner, in memory and over TCP
// alike.
func newScannerServer(service *scanner.Server, log *slog.Logger, options ...grpc.ServerOption) *grpc.Server {
	recovered := recovery.WithRecoveryHandlerContext(func(_ context.Context, p any) error {
		log.Error("panic in the scanner", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		return status.Error(codes.Internal, "the scanner met an unexpected fault")
	})
	options = append(options, grpc.ChainStreamInterceptor(recovery.StreamServerInterceptor(recovered)))
	server := grpc.NewServer(options...)
	scannerv1.RegisterScannerServiceServer(server, service)
	return server
}

// linkScanner connects to the configured scanners, to each as TLSTo says, or
// makes one in this process.
func (s *services) linkScanner(
	c config.Config, env Environment, r *prometheus.Registry, t tracing, log *slog.Logger,
) (*scanner.Client, error) {
	if len(c.Scanners) == 0 {
		return s.linkLocalScanner(c, env, r, t, log)
	}

	s.limitMemory(memoryLimit(int64(c.MemoryLimit), "/"), nil, log)
	plain, secure := insecure.NewCredentials(), insecure.NewCredentials()
	if slices.ContainsFunc(c.Scanners, c.TLSTo) {
		loader, err := loadLink(c.Link, r, log)
		if err != nil {
			return nil, err
		}
		secure = loader.Credentials(tls.VersionTLS13)
	}

	client := scanner.NewClient(scanner.ClientOptions{
		Scanners: c.Scanners,
		Dial: func(address, authority string) (*grpc.ClientConn, error) {
			creds := plain
			if c.TLSTo(authority) {
				creds = secure
			}
			return grpc.NewClient("passthrough:///"+address, slices.Concat(
				scanner.NetworkDialOptions(), t.client,
				[]grpc.DialOption{grpc.WithAuthority(authority), grpc.WithTransportCredentials(creds)},
			)...)
		},
		Log: log,
	})
	s.own(client.Close)
	watchScanners(r, client)
	return client, nil
}

// linkLocalScanner serves a scanner in this process, called through memory.
func (s *services) linkLocalScanner(
	c config.Config, env Environment, r *prometheus.Registry, t tracing, log *slog.Logger,
) (*scanner.Client, error) {
	service, _, err := s.newScannerService(c, env, r, log)
	if err != nil {
		return nil, err
	}

	listener := bufconn.Listen(linkBuffer)
	server := newScannerServer(service, log, t.server...)
	s.serve("the scanner", func() error { return server.Serve(listener) })
	s.own(func() error {
		server.Stop()
		return nil
	})

	dial := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	conn, err := grpc.NewClient("passthrough:///scanner", append(t.client,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))...)
	if err != nil {
		return nil, fmt.Errorf("connect to the scanner in memory: %w", err)
	}
	conn.Connect()
	s.own(conn.Close)
	return scanner.NewLocalClient(conn), nil
}

// loadLink loads what an end of the link shows and whom it believes.
func loadLink(l config.Link, r *prometheus.Registry, log *slog.Logger) (*tlsfile.Loader, error) {
	loader, err := tlsfile.Load(tlsfile.Files{Cert: l.TLSCert, Key: l.TLSKey, CA: l.TLSCA}, log)
	if err != nil {
		return nil, fmt.Errorf("tls_cert, tls_key and tls_ca: %w", err)
	}
	watchCertificate(r, "link", loader)
	return loader, nil
}

// watchCertificate registers when a certificate ends, if there is one. use is
// ports, the public ones, or link, between server and scanner.
func watchCertificate(r prometheus.Registerer, use string, l *tlsfile.Loader) {
	if l.NotAfter().IsZero() {
		return
	}
	gauge(prometheus.WrapRegistererWith(prometheus.Labels{"use": use}, r),
		"prwarden_tls_certificate_expiry_timestamp_seconds",
		"When a certificate of this process ends, in seconds since 1970, by its use: the public ports, or the link "+
			"between server and scanner.",
		func() float64 { return float64(l.NotAfter().Unix()) })
}
