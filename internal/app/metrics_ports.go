package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"github.com/prwarden/prwarden/internal/config"
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
)

// newOpsServer makes the server that Prometheus reads, and probes: of servers
// and scanners alike. It asks for no certificate.
func newOpsServer(r *prometheus.Registry, ready *readiness) *http.Server {
	mux := http.NewServeMux()
	// A collector that fails, as the one that asks the database may, takes
	// nothing from the others.
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, Timeout: opsTimeout,
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
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

// listenOps listens for Prometheus and for probes.
func listenOps(ctx context.Context, addr string, log *slog.Logger) (net.Listener, error) {
	if !config.IsLoopback(addr) {
		log.Warn(
			"metrics, which name organizations, are shown without a key on a port that other machines can reach; let "+
				"nothing but Prometheus and probes reach it",
			"addr", addr,
		)
	}
	l, err := listen(ctx, "ops-addr", addr)
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(l, maxOpsConnections), nil
}

// newRefusedConnections registers the count of connections that ports closed at
// once, from 0 on.
func newRefusedConnections(r *prometheus.Registry, ports ...string) *prometheus.CounterVec {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prwarden_connections_refused_total",
		Help: "Connections that were closed at once because their address had too many, by port.",
	}, []string{"port"})
	for _, name := range ports {
		refused.WithLabelValues(name)
	}
	r.MustRegister(refused)
	return refused
}

// What certificates are for.
const (
	certificateOfPorts = "ports" // the public ones
	certificateOfLink  = "link"  // between server and scanner
)

// watchCertificate registers when a certificate ends, if there is one.
func watchCertificate(r *prometheus.Registry, use string, l *tlsfile.Loader) {
	if l.NotAfter().IsZero() {
		return
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prwarden_tls_certificate_expiry_timestamp_seconds",
		Help: "When a certificate of this process ends, in seconds since 1970, by its use: the public ports, " +
			"or the link between server and scanner.",
		ConstLabels: prometheus.Labels{"use": use},
	}, func() float64 { return float64(l.NotAfter().Unix()) }))
}
