package app

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/publish"
)

// newPublisher makes what publishes reviews in pull requests of connections.
func (s *Server) newPublisher(c config.Config) *publish.Publisher {
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prwarden_publications_total", Help: "Attempts to publish a pull request by this server, by how they ended.",
	}, []string{"outcome"})
	for _, o := range publish.Outcomes() {
		ended.WithLabelValues(string(o))
	}
	s.metrics.registry.MustRegister(ended)

	p := publish.NewPublisher(s.store, s.connections, publish.Options{
		Name: workerName(), Log: s.log, Policies: s.policies, Now: s.store.Now, Links: reviewLinks(c.PublicURL),
		OnEnd: func(o publish.Outcome) { ended.WithLabelValues(string(o)).Inc() },
	})
	s.store.OnPublication(p.Wake)

	return p
}

// reviewLinks says where a review is read from outside; nowhere while the public address
// is not known.
func reviewLinks(publicURL string) publish.Links {
	return func(_, reviewID string) string {
		if publicURL == "" {
			return ""
		}

		return strings.TrimRight(publicURL, "/") + "/v1/reviews/" + reviewID
	}
}
