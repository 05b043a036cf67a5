package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/scanner"
)

// watchPlaces registers how busy a scanner is.
func (m *scannerMetrics) watchPlaces(service *scanner.Server) {
	gauge := func(name, help string, value func(scanner.Load) int) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(value(service.Load())) }))
	}
	gauge("prwarden_scanner_places", "Scans that this scanner does at once.", func(l scanner.Load) int { return l.Places })
	gauge("prwarden_scanner_places_taken", "Places that are taken.", func(l scanner.Load) int { return l.Working })
	gauge("prwarden_scanner_calls_waiting", "Calls that wait for a place.", func(l scanner.Load) int { return l.Waiting })
}

// poolCollector tells of the scanners that a server calls, which come and go.
type poolCollector struct {
	pool          *scanner.Pool
	ready, called *prometheus.Desc
}

// watchPool registers what a server knows of its scanners.
func watchPool(r *prometheus.Registry, pool *scanner.Pool) {
	labels := []string{"scanner"}
	r.MustRegister(poolCollector{
		pool:   pool,
		ready:  prometheus.NewDesc("prwarden_scanner_ready", "Whether a scanner can be reached and serves, by its address.", labels, nil),
		called: prometheus.NewDesc("prwarden_scanner_calls_open", "Calls of this server at a scanner, those that wait for a place there included.", labels, nil),
	})
}

// Describe implements prometheus.Collector.
func (c poolCollector) Describe(d chan<- *prometheus.Desc) {
	d <- c.ready
	d <- c.called
}

// Collect implements prometheus.Collector.
func (c poolCollector) Collect(m chan<- prometheus.Metric) {
	for _, s := range c.pool.States() {
		ready := 0.0
		if s.Ready {
			ready = 1
		}
		m <- prometheus.MustNewConstMetric(c.ready, prometheus.GaugeValue, ready, s.Address)
		m <- prometheus.MustNewConstMetric(c.called, prometheus.GaugeValue, float64(s.Calls), s.Address)
	}
}
