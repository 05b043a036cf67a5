package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/port"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// admit makes what admits requests: servers on one Postgres count together,
// one on SQLite for itself. observe hears what becomes of each request.
func (s *Server) admit(c config.Config, observe func(auth.Outcome)) *auth.Admitter {
	var shared auth.Windows
	if windows, ok := s.store.Windows(); ok {
		shared = windows
	}

	return auth.NewAdmitter(
		s.keys, auth.NewLimiter(shared, time.Now), c.TrustedProxies, auth.DefaultLimit, observe,
	)
}

// newGuard makes what refuses requests when there are too many.
func (s *Server) newGuard(c config.Listen) *overload.Guard {
	guard := overload.NewGuard(overload.DefaultLimits(), c.TrustedProxies, s.log, s.metrics.tooMany)
	s.metrics.registry.MustRegister(guardCollector{guard, prometheus.NewDesc("prwarden_requests_open",
		"Requests that the server has, by what they do: worked on, wait for that, wait for their client, watch.",
		[]string{"state"}, nil)})
	return guard
}

// guardCollector tells how full a guard is.
type guardCollector struct {
	guard *overload.Guard
	open  *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c guardCollector) Describe(to chan<- *prometheus.Desc) { to <- c.open }

// Collect implements prometheus.Collector.
func (c guardCollector) Collect(to chan<- prometheus.Metric) {
	working, waiting := c.guard.Used(overload.LimitWork), c.guard.Waiting(overload.LimitWork)
	open := c.guard.Used(overload.LimitOpen) + c.guard.Used(overload.LimitCalls)

	for state, n := range map[string]int64{
		"working": working, "waiting": waiting, "client": max(0, open-working-waiting),
		"watching": c.guard.Used(overload.LimitWatches),
	} {
		to <- prometheus.MustNewConstMetric(c.open, prometheus.GaugeValue, float64(n), state)
	}
}

// openPorts makes the public listeners fit for strangers.
func (s *Server) openPorts(c config.Listen) error {
	refused := newRefusedConnections(s.metrics.registry, "http", "grpc")
	certificates, err := s.certificates(c)
	if err != nil {
		return err
	}
	wrap := func(name string, l net.Listener, protocols ...string) net.Listener {
		o := port.Options{Trusted: c.TrustedProxies, Refused: refused.WithLabelValues(name).Inc}
		if certificates != nil {
			o.TLS = certificates.Server(tls.VersionTLS12, protocols...)
		}
		return port.Wrap(l, o)
	}
	s.listeners.http = wrap("http", s.listeners.http, "h2", "http/1.1")
	s.listeners.grpc = wrap("grpc", s.listeners.grpc, "h2")
	return nil
}

// certificates loads what the public ports show; nil for plain text.
func (s *Server) certificates(c config.Listen) (*tlsfile.Loader, error) {
	if c.ListenTLSCert == "" {
		for _, addr := range []string{c.HTTPAddr, c.GRPCAddr} {
			if !config.IsLoopback(addr) {
				s.log.Warn(
					"API keys travel in plain text to a port that other machines can reach; give listen_tls_cert and "+
						"listen_tls_key, or let nothing but a proxy that ends TLS reach it",
					"addr", addr,
				)
			}
		}
		return nil, nil
	}
	certificates, err := tlsfile.Load(
		tlsfile.Files{Cert: c.ListenTLSCert, Key: c.ListenTLSKey, CA: c.ListenTLSClientCA}, s.log,
	)
	if err != nil {
		return nil, fmt.Errorf("TLS of the public ports: %w", err)
	}
	watchCertificate(s.metrics.registry, certificateOfPorts, certificates)
	return certificates, nil
}
