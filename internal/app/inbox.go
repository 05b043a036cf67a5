package app

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prwarden/prwarden/internal/command"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/server/hook"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// reach is what organizations may scan: what the operator allows them, and the
// repositories of their connections, which bring credentials of their own.
type reach struct {
	*organization.Directory

	connections connection.Hosts
}

// reachTimeout bounds the look at the connections of an organization.
const reachTimeout = 2 * time.Second

// Allowed implements review.Organizations and rule.Policy.
func (r reach) Allowed(org, repo string) bool {
	if r.Directory.Allowed(org, repo) {
		return true
	}

	ctx, cancel := context.WithTimeout(context.Background(), reachTimeout)
	defer cancel()
	id, err := r.connections.For(ctx, org, repo)

	return err == nil && id != ""
}

// deliveries take what code hosts tell, and work it off.
type deliveries struct {
	inbox   *inbox.Inbox
	worker  *inbox.Worker
	sweeper *inbox.Sweeper
}

func (s *Server) newDeliveries(c config.Config, reviews *review.Service, rules *rule.Service) deliveries {
	in, scans := inbox.New(s.store), inbox.NewScans(reviews)
	handler := &inbox.Handler{
		Policies: s.policies, Links: reviewLinks(c.PublicURL),
		Hosts: s.connections, PullRequests: s.store, Scans: scans,
		Commands: command.New(s.store, s.triage, scans, rules, s.log),
	}

	return deliveries{
		inbox:   in,
		worker:  inbox.NewWorker(in, handler, inbox.WorkerOptions{Log: s.log, OnEnd: s.metrics.deliveryEnded}),
		sweeper: inbox.NewSweeper(s.store, s.connections, in, s.log),
	}
}

// hooks is what takes deliveries over HTTP.
func (s *Server) hooks(c config.Config, guard *overload.Guard) *hook.Handler {
	return hook.New(hook.Config{
		Hosts: s.connections, Inbox: s.deliveries.inbox, Guard: guard, Trusted: c.TrustedProxies, Now: s.store.Now,
		Log: s.log,
	})
}

func (d deliveries) start() {
	d.worker.Start()
	d.sweeper.Start()
}

func (d deliveries) stop(ctx context.Context) error {
	return errors.Join(d.worker.Stop(ctx), d.sweeper.Stop(ctx))
}

// newDeliveryCounter counts how attempts to work deliveries off ended.
func newDeliveryCounter(with promauto.Factory) *prometheus.CounterVec {
	c := with.NewCounterVec(prometheus.CounterOpts{
		Name: "prwarden_deliveries_total",
		Help: "Attempts to work off what code hosts delivered, by outcome; waiting is one that is tried again.",
	}, []string{"outcome"})
	for _, o := range []inbox.Outcome{inbox.Done, inbox.Ignored, inbox.Failed, inbox.Waiting} {
		c.WithLabelValues(string(o))
	}

	return c
}

// deliveryEnded is the OnEnd of the inbox.
func (m *metrics) deliveryEnded(o inbox.Outcome) { m.deliveries.WithLabelValues(string(o)).Inc() }
