package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/review"
)

const (
	// queueTimeout bounds the look at the queue that a scrape causes.
	queueTimeout = 2 * time.Second
	// maxOrganizations is how many organizations have time series of their own;
	// those with the shortest queues are summed up in otherOrganizations.
	maxOrganizations = 100
	// otherOrganizations is no name of an organization: those have no spaces.
	otherOrganizations = "all others"
)

// queueCollector looks at the queue when Prometheus asks. All servers of a
// database see the same queue.
type queueCollector struct {
	store  review.Overview
	most   func(organization string) int // of its reviews that may wait
	up     *prometheus.Desc
	all    *prometheus.Desc
	queued *prometheus.Desc
	limit  *prometheus.Desc
	oldest *prometheus.Desc
}

// newQueueCollector returns a collector of what waits in store. most says how
// many reviews of an organization may wait.
func newQueueCollector(store review.Overview, most func(organization string) int) *queueCollector {
	organization := []string{"organization"}
	return &queueCollector{
		store: store,
		most:  most,
		up:    prometheus.NewDesc("prwarden_database_up", "Whether the database answered this scrape.", nil, nil),
		all: prometheus.NewDesc(
			"prwarden_reviews_queued", "Reviews that wait, of all organizations; missing while the database is away.", nil,
			nil,
		),
		queued: prometheus.NewDesc("prwarden_organization_reviews_queued",
			"Reviews that wait, of the organizations that have any; of more than 100 the longest queues, and the sum of "+
				"the rest.", organization, nil),
		limit: prometheus.NewDesc("prwarden_organization_reviews_queued_limit",
			"How many reviews may wait, of the organizations that have any.", organization, nil),
		oldest: prometheus.NewDesc(
			"prwarden_organization_oldest_queued_seconds", "Age of the oldest review that waits.", organization, nil,
		),
	}
}

// Describe implements prometheus.Collector.
func (c *queueCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.up, c.all, c.queued, c.limit, c.oldest} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *queueCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	waiting, err := c.store.Waiting(ctx)
	if err != nil {
		gauge(c.up, 0)
		return
	}
	gauge(c.up, 1)
	all := 0
	for _, w := range waiting {
		all += w.Queued
	}
	gauge(c.all, float64(all))
	for _, w := range boundOrganizations(waiting) {
		gauge(c.queued, float64(w.Queued), w.Organization)
		if w.Organization != otherOrganizations {
			gauge(c.limit, float64(c.most(w.Organization)), w.Organization)
		}
		gauge(c.oldest, max(0, w.Oldest.Seconds()), w.Organization)
	}
}

// boundOrganizations sums up what comes after the first maxOrganizations.
func boundOrganizations(waiting []review.Waiting) []review.Waiting {
	if len(waiting) <= maxOrganizations {
		return waiting
	}
	rest := review.Waiting{Organization: otherOrganizations}
	for _, w := range waiting[maxOrganizations:] {
		rest.Queued += w.Queued
		rest.Oldest = max(rest.Oldest, w.Oldest)
	}
	return append(waiting[:maxOrganizations:maxOrganizations], rest)
}
