package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/upkeep"
)

// newUpkeep makes what keeps the database in shape while the server runs.
func (s *Server) newUpkeep(c config.Config, hub *review.Hub) *upkeep.Loop {
	purged := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prwarden_purged_total", Help: "What this server deleted because it was old, by kind: rows, but for repositories.",
	}, []string{"kind"})
	for kind := range (upkeep.Deleted{}).ByKind() {
		purged.WithLabelValues(kind)
	}
	s.metrics.registry.MustRegister(purged)
	return upkeep.NewLoop(s.store, upkeep.Options{
		Keep: time.Duration(c.KeepReviews), Log: s.log,
		OnPurged: func(d upkeep.Deleted) {
			for kind, n := range d.ByKind() {
				purged.WithLabelValues(kind).Add(float64(n))
			}
		},
		OnFailed: func(id string) {
			s.metrics.ended.WithLabelValues(string(review.Failed), upkeep.CodeOrganizationRemoved).Inc()
			hub.Changed(id)
		},
	})
}
