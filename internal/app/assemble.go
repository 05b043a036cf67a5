package app

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/gen/openapi"
	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/transport/gateway"
	"github.com/prwarden/prwarden/internal/transport/grpcserver"
	"github.com/prwarden/prwarden/internal/transport/reviewgrpc"
	"github.com/prwarden/prwarden/internal/transport/scannergrpc"
)

// assemble makes everything between the store and the listeners.
func (s *Server) assemble(ctx context.Context, c config.Config) error {
	builtin, err := defaults.Load()
	if err != nil {
		return err
	}
	policy := c.Policy()
	hub := review.NewHub()
	rules := rule.NewService(s.store, policy, builtin)
	for _, o := range c.Organizations {
		ids, err := rules.Shadowed(ctx, o.Name)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			s.log.Warn("an organization's own rules shadow default rules with the same ids", "organization", o.Name, "rule_ids", ids)
		}
	}
	reviews := review.NewService(s.store, policy, hub, c.ScanWorkers)
	m := newMetrics(s.store)
	s.keys = admission.NewKeys(s.store, time.Now, s.log)
	s.ready = newReadiness(s.store.CheckSchema)
	s.watches = reviewgrpc.NewReviews(reviews, s.keys)
	s.dispatcher = review.NewDispatcher(s.store, scannergrpc.NewClient(s.scanner.conn), rules, hub, review.DispatcherOptions{
		Name: workerName(), Workers: c.ScanWorkers, Log: s.log, OnEnd: m.scanEnded,
	})

	admitter := s.admit(c.Listen, nil)
	chain, err := grpcserver.NewChain(admitter, m.grpc, s.log)
	if err != nil {
		return err
	}
	s.grpc = grpcserver.New(chain, func(r grpc.ServiceRegistrar) {
		prwardenv1.RegisterReviewServiceServer(r, s.watches)
		prwardenv1.RegisterRuleServiceServer(r, reviewgrpc.NewRules(rules))
		prwardenv1.RegisterKeyServiceServer(r, reviewgrpc.NewKeys(s.keys))
		healthpb.RegisterHealthServer(r, s.ready.health)
		if with, ok := r.(reflection.GRPCServer); ok {
			reflection.Register(with)
		}
	}, s.tracing.handler())
	if s.gateway, err = gateway.New(gateway.Config{
		Conn: s.grpc.Conn(), Admitter: admitter, OpenAPI: openapi.JSON(), Ready: s.ready.Check, Log: s.log,
	}); err != nil {
		return err
	}
	s.http = gateway.NewServer(s.gateway, s.log)
	if s.listeners.ops != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
		s.ops = &http.Server{
			Handler: mux, ReadHeaderTimeout: opsTimeout, ReadTimeout: opsTimeout, WriteTimeout: opsTimeout, IdleTimeout: time.Minute,
		}
	}
	return nil
}

// opsTimeout bounds a request for metrics.
const opsTimeout = 10 * time.Second
