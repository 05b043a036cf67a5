package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

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
	service.Register(server)
	return server
}

// scannerLink is the way to the scanners, and how to end it.
type scannerLink struct {
	client *scanner.Client
	stop   func() error
}

// linkScanner connects to the configured scanners, or makes one in this process.
// What either tells Prometheus is registered with r.
func linkScanner(
	c config.Config, env Environment, r *prometheus.Registry, log *slog.Logger, t tracing,
) (scannerLink, error) {
	if len(c.Scanners) > 0 {
		return linkScanners(c, r, log, t)
	}
	host, err := newScannerHost(c, env, r, log)
	if err != nil {
		return scannerLink{}, err
	}
	return linkLocalScanner(host.service, log, t)
}

// linkLocalScanner serves a scanner in this process, called through memory.
func linkLocalScanner(service *scanner.Server, log *slog.Logger, t tracing) (scannerLink, error) {
	listener := bufconn.Listen(linkBuffer)
	conn, err := grpc.NewClient("passthrough:///scanner", append(t.client(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
	)...)
	if err != nil {
		return scannerLink{}, fmt.Errorf("connect to the scanner in memory: %w", err)
	}
	server := newScannerServer(service, log, t.server()...)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return scannerLink{client: scanner.NewLocalClient(conn), stop: func() error {
		err := conn.Close()
		server.Stop()
		if served := <-served; served != nil && !errors.Is(served, grpc.ErrServerStopped) {
			err = errors.Join(err, served)
		}
		return err
	}}, nil
}

// linkScanners connects to the configured scanners, to each as TLSTo says.
func linkScanners(c config.Config, r *prometheus.Registry, log *slog.Logger, t tracing) (scannerLink, error) {
	plain, secure := insecure.NewCredentials(), insecure.NewCredentials()
	if slices.ContainsFunc(c.Scanners, c.TLSTo) {
		loader, err := loadLink(c.Link, r, log)
		if err != nil {
			return scannerLink{}, err
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
			return grpc.NewClient("passthrough:///"+address, append(append(scanner.NetworkDialOptions(), t.client()...),
				grpc.WithAuthority(authority),
				grpc.WithTransportCredentials(creds),
			)...)
		},
		Log: log,
	})
	r.MustRegister(newLinkCollector(client))
	return scannerLink{client: client, stop: client.Close}, nil
}

// loadLink loads what an end of the link shows and whom it believes.
func loadLink(l config.Link, r *prometheus.Registry, log *slog.Logger) (*tlsfile.Loader, error) {
	loader, err := tlsfile.Load(tlsfile.Files{Cert: l.TLSCert, Key: l.TLSKey, CA: l.TLSCA}, log)
	if err != nil {
		return nil, fmt.Errorf("tls_cert, tls_key and tls_ca: %w", err)
	}
	watchCertificate(r, certificateOfLink, loader)
	return loader, nil
}

// scannerCredentials are what a scanner shows to servers and whom it takes;
// none for plain text.
func scannerCredentials(l config.Link, r *prometheus.Registry, log *slog.Logger) ([]grpc.ServerOption, error) {
	if l.TLSCert == "" {
		return nil, nil
	}
	loader, err := loadLink(l, r, log)
	if err != nil {
		return nil, err
	}
	creds := tlsfile.LogRefused(credentials.NewTLS(loader.Server(tls.VersionTLS13, "h2")), log)
	return []grpc.ServerOption{grpc.Creds(creds)}, nil
}

// linkCollector shows what a server knows of its scanners, which come and go.
type linkCollector struct {
	client                 *scanner.Client
	ready, called, waiting *prometheus.Desc
}

func newLinkCollector(client *scanner.Client) linkCollector {
	labels := []string{"scanner"}
	return linkCollector{
		client: client,
		ready: prometheus.NewDesc("prwarden_scanner_ready",
			"Whether a scanner can be reached and serves, by its address.", labels, nil),
		called: prometheus.NewDesc("prwarden_scanner_calls_open",
			"Calls of this server at a scanner.", labels, nil),
		waiting: prometheus.NewDesc("prwarden_scans_waiting",
			"Scans of this server that wait for a free slot of a scanner.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c linkCollector) Describe(d chan<- *prometheus.Desc) {
	d <- c.ready
	d <- c.called
	d <- c.waiting
}

// Collect implements prometheus.Collector.
func (c linkCollector) Collect(m chan<- prometheus.Metric) {
	m <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(c.client.Waiting()))
	for _, p := range c.client.Peers() {
		ready := 0.0
		if p.Ready {
			ready = 1
		}
		m <- prometheus.MustNewConstMetric(c.ready, prometheus.GaugeValue, ready, p.Address)
		m <- prometheus.MustNewConstMetric(c.called, prometheus.GaugeValue, float64(p.Calls), p.Address)
	}
}
