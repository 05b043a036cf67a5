package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/server/port"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

const (
	// opsTimeout bounds a request for metrics.
	opsTimeout = 10 * time.Second
	// maxOpsConnections bounds the connections of an ops port; more wait to be
	// accepted. Prometheus makes one.
	maxOpsConnections = 64
	// maxScrapes bounds the scrapes at once, of which each may ask the database;
	// the next one is answered 503.
	maxScrapes = 4

	// readinessInterval is how often the gRPC health service is told the state, and
	// readinessTimeout how long a look may take.
	readinessInterval = 5 * time.Second
	readinessTimeout  = 2 * time.Second
	// readinessMemory is how long the result of a look is told to others who ask.
	// Anybody may ask without a key, and each look writes to the database.
	readinessMemory = 500 * time.Millisecond
)

// listen listens until the process ends.
func (s *services) listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		// It is not wrapped: an error of the network stands for a database that
		// can't be reached, which a server waits for.
		cause := err
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			cause = op.Err
		}
		return nil, fmt.Errorf("%s: can't listen on %s: %s", setting, addr, cause.Error())
	}

	s.own(func() error {
		_ = l.Close() // the service on it may have done so
		return nil
	})
	return l, nil
}

// listenOps listens for Prometheus and for probes, unless addr is OpsNone.
func (s *services) listenOps(ctx context.Context, addr string, log *slog.Logger) (net.Listener, error) {
	if addr == config.OpsNone {
		return nil, nil
	}
	if !config.IsLoopback(addr) {
		log.Warn("metrics, which name organizations, are shown without a key on a port that other machines can reach; "+
			"let nothing but Prometheus and probes reach it", "addr", addr)
	}

	l, err := s.listen(ctx, "ops-addr", addr)
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(l, maxOpsConnections), nil
}

// serveOps serves metrics, and probes without a client certificate, on l, of
// servers and scanners alike.
func (s *services) serveOps(l net.Listener, r *prometheus.Registry, ready *readiness) {
	if l == nil {
		return
	}

	server := newOpsServer(r, ready)
	s.serve("metrics", func() error { return server.Serve(l) })
	s.own(server.Close)
}

func newOpsServer(r *prometheus.Registry, ready *readiness) *http.Server {
	mux := http.NewServeMux()
	// A collector that fails, as the one that asks the database may, takes
	// nothing from the others.
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, Timeout: opsTimeout,
	}))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready.Check(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})

	return &http.Server{
		Handler: mux, ReadHeaderTimeout: opsTimeout, ReadTimeout: opsTimeout, WriteTimeout: 2 * opsTimeout,
		IdleTimeout: time.Minute,
	}
}

// openPorts listens on the public ports, fit for strangers.
func (s *Server) openPorts(ctx context.Context, c config.Listen) (err error) {
	certificates, err := s.certificates(c)
	if err != nil {
		return err
	}
	open := func(setting, addr string, protocols ...string) (net.Listener, error) {
		l, err := s.listen(ctx, setting, addr)
		if err != nil {
			return nil, err
		}
		o := port.Options{Trusted: c.TrustedProxies}
		if certificates != nil {
			o.TLS = certificates.Server(tls.VersionTLS12, protocols...)
		}
		return port.Wrap(l, o), nil
	}

	if s.httpAt, err = open("http-addr", c.HTTPAddr, "h2", "http/1.1"); err != nil {
		return err
	}
	if s.grpcAt, err = open("grpc-addr", c.GRPCAddr, "h2"); err != nil {
		return err
	}
	s.opsAt, err = s.listenOps(ctx, c.OpsAddr, s.log)
	return err
}

// certificates loads what the public ports show; nil for plain text.
func (s *Server) certificates(c config.Listen) (*tlsfile.Loader, error) {
	if c.ListenTLSCert == "" {
		for _, addr := range []string{c.HTTPAddr, c.GRPCAddr} {
			if !config.IsLoopback(addr) {
				s.log.Warn("API keys travel in plain text to a port that other machines can reach; give listen_tls_cert and "+
					"listen_tls_key, or let nothing but a proxy that ends TLS reach it", "addr", addr)
			}
		}
		return nil, nil
	}

	files := tlsfile.Files{Cert: c.ListenTLSCert, Key: c.ListenTLSKey, CA: c.ListenTLSClientCA}
	certificates, err := tlsfile.Load(files, s.log)
	if err != nil {
		return nil, fmt.Errorf("TLS of the public ports: %w", err)
	}
	watchCertificate(s.metrics.registry, "ports", certificates)
	return certificates, nil
}

var errStopping = errors.New("the server is stopping")

// readiness says whether a process can do its work, and is not stopping.
type readiness struct {
	look   func(context.Context) error
	health *health.Server
	log    *slog.Logger

	mu     sync.Mutex // held during a look
	looked time.Time
	found  error

	stopping context.Context
	cancel   context.CancelFunc
	loop     sync.WaitGroup
}

func newReadiness(look func(context.Context) error, log *slog.Logger) *readiness {
	r := &readiness{look: look, health: health.NewServer(), log: log}
	r.stopping, r.cancel = context.WithCancel(context.Background())
	return r
}

// Check returns nil when the process is ready, and else why not.
func (r *readiness) Check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping.Err() != nil {
		return errStopping
	}

	if time.Since(r.looked) >= readinessMemory {
		// Others wait for the result, whoever leaves.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readinessTimeout)
		defer cancel()
		r.found, r.looked = r.look(ctx), time.Now()
	}
	return r.found
}

// start keeps the gRPC health service up to date, and logs why the process is
// not ready, which answers to probes don't say.
func (r *readiness) start() {
	r.loop.Go(func() {
		for was := error(nil); r.stopping.Err() == nil; {
			err := r.Check(r.stopping)
			state := healthpb.HealthCheckResponse_SERVING
			if err != nil {
				state = healthpb.HealthCheckResponse_NOT_SERVING
			}
			r.health.SetServingStatus("", state)

			if err == nil && was != nil {
				r.log.Info("ready again")
			}
			if err != nil && was == nil && r.stopping.Err() == nil {
				r.log.Error("not ready", "error", err)
			}
			was = err

			select {
			case <-time.After(readinessInterval):
			case <-r.stopping.Done():
			}
		}
	})
}

// stop makes the process not ready, for good.
func (r *readiness) stop() {
	r.cancel()
	r.loop.Wait()
	r.health.Shutdown()
}
