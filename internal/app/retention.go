package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/review"
)

// newRetention makes what keeps the database in shape while the server runs.
func (s *Server) newRetention(c config.Config) *review.Retention {
	purged := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prwarden_purged_total", Help: "What this server deleted because it was old, by kind: rows, but for " +
			"repositories.",
	}, []string{"kind"})
	for kind := range (review.Deleted{}).ByKind() {
		purged.WithLabelValues(kind)
	}
	s.metrics.registry.MustRegister(purged)
	return review.NewRetention(s.store, review.RetentionOptions{
		Keep: time.Duration(c.KeepReviews), Log: s.log,
		OnPurged: func(d review.Deleted) {
			for kind, n := range d.ByKind() {
				purged.WithLabelValues(kind).Add(float64(n))
			}
		},
	})
}
