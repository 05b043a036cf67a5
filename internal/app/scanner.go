package app

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
	"github.com/prwarden/prwarden/internal/server/port"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// Scanner is a scanner process: the scanner's gRPC service on a network
// address, and metrics and health on another.
type Scanner struct {
	services
	registry  *prometheus.Registry
	service   *scanner.Server
	server    *grpc.Server
	ready     *readiness
	at, opsAt net.Listener // opsAt is nil for none
}

// NewScanner makes a scanner and listens; it serves from Start on. c must be
// valid for config.Scanner. An error is a sentence for the operator.
func NewScanner(ctx context.Context, c config.Config, env Environment, log *slog.Logger) (_ *Scanner, err error) {
	background.Reserve()
	log = withTraceIDs(log)
	s := &Scanner{registry: newRegistry(""), services: services{failed: make(chan error, 2)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.free())
		}
	}()

	service, repositories, err := s.newScannerService(c, env, s.registry, log)
	if err != nil {
		return nil, err
	}

	s.service, s.ready = service, newReadiness(repositories.Check, log)
	tracing, err := s.newTracing(ctx, env, "prwarden-scanner", log)
	if err != nil {
		return nil, err
	}

	options := slices.Concat(scanner.NetworkServerOptions(), tracing.server)
	if c.Link.TLSCert != "" {
		loader, err := loadLink(c.Link, s.registry, log)
		if err != nil {
			return nil, err
		}
		creds := credentials.NewTLS(loader.Server(tls.VersionTLS13, "h2"))
		options = append(options, grpc.Creds(tlsfile.LogRefused(creds, log)))
	}

	s.server = newScannerServer(service, log, options...)
	healthpb.RegisterHealthServer(s.server, s.ready.health)
	if s.at, err = s.listen(ctx, "grpc-addr", c.ScannerGRPCAddr); err != nil {
		return nil, err
	}

	// A stranger who only connects keeps no server out, and several servers can
	// share an address.
	s.at = port.Wrap(s.at, port.Options{Total: 512, PerAddress: 64})
	s.opsAt, err = s.listenOps(ctx, c.ScannerOpsAddr, log)
	return s, err
}

// newScannerService makes the cache of repositories, the engine,
// and the gRPC service over them, in a server and in a process of its own alike.
func (s *services) newScannerService(
	c config.Config, env Environment, r *prometheus.Registry, log *slog.Logger,
) (*scanner.Server, *git.Store, error) {
	limits := git.DefaultLimits()
	limits.CacheSize, limits.ScannedSize, limits.Moment = int64(c.CacheSize), int64(c.MaxFileSize), time.Second
	repositories, err := git.New(git.Options{Dir: c.CacheDir, Limits: limits, Env: network(env)})
	if err != nil {
		return nil, nil, err
	}

	memory := memoryLimit(int64(c.MemoryLimit), "/")
	scans := scan.NewScanner(repositories, scan.Options{
		Observe: newScannerMetrics(r).observe, Cache: rulesCache(memory),
		Background: background.NewPool(),
	})
	s.limitMemory(memory, scans.HalveRules, log)
	gauge(r, "prwarden_scanner_rules_cache_bytes", "Estimate of what compiled rules take that are kept.",
		func() float64 { return float64(scans.RulesSize()) })
	service := scanner.NewServer(scans, c.ScanWorkers, log)
	watchScanner(r, service, repositories, limits.CacheSize)
	return service, repositories, nil
}

// network is what git may see of the environment when it uses the network: how
// to get out, and whom to believe.
func network(env Environment) (pairs []string) {
	for _, name := range []string{
		"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
	} {
		if value := env(name); value != "" {
			pairs = append(pairs, name+"="+value)
		}
	}
	return pairs
}

// Addr is where the scanner listens.
func (s *Scanner) Addr() string { return s.at.Addr().String() }

// OpsAddr is where the scanner shows metrics and health, "" for nowhere.
func (s *Scanner) OpsAddr() string {
	if s.opsAt == nil {
		return ""
	}
	return s.opsAt.Addr().String()
}

// Start begins to serve.
func (s *Scanner) Start() {
	s.ready.start()
	s.serve("gRPC", func() error { return s.server.Serve(s.at) })
	s.serveOps(s.opsAt, s.registry, s.ready)
}

// Stop takes no more scans, lets those that run end until ctx does, and then
// hands them back, which takes a moment: their servers put them into the queue
// again, and it counts nowhere. Stopping twice is stopping once.
func (s *Scanner) Stop(ctx context.Context) error {
	return s.stopOnce(func() error {
		s.ready.stop()
		s.service.Drain()
		cut := context.AfterFunc(ctx, func() {
			s.service.HandBack()
			time.AfterFunc(lastSteps, s.server.Stop)
		})
		defer cut()
		s.server.GracefulStop()
		return nil
	})
}
