package app

import (
	"context"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/prwarden/prwarden/internal/review"
)

// metrics are what a server tells Prometheus. docs/operations.md lists them.
type metrics struct {
	registry *prometheus.Registry
	grpc     *grpcprom.ServerMetrics
	scans    *prometheus.HistogramVec
}

// queueTimeout bounds the look at the queue that a scrape causes.
const queueTimeout = 2 * time.Second

func newMetrics(reviews review.Reviews) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		grpc: grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram(
			grpcprom.WithHistogramBuckets([]float64{.001, .005, .01, .05, .1, .5, 1, 5, 30}))),
		scans: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "prwarden_scan_duration_seconds",
			Help:    "Time of attempts to scan a pull request, by the state that they led the review to and the failure code.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300},
		}, []string{"status", "code"}),
	}
	m.registry.MustRegister(m.grpc, m.scans,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "prwarden_reviews_queued",
			Help: "Reviews that wait for a scan; -1 while the database is away.",
		}, func() float64 { return queued(reviews) }),
	)
	return m
}

func queued(reviews review.Reviews) float64 {
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	load, err := reviews.Load(ctx, "", "")
	if err != nil {
		return -1
	}
	return float64(load.Queued)
}

// scanEnded is the dispatcher's OnEnd.
func (m *metrics) scanEnded(status review.Status, code string, took time.Duration) {
	m.scans.WithLabelValues(string(status), code).Observe(took.Seconds())
}
